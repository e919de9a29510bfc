"""Tagging schemes: one tag per token for the parallelisms of one stratum, and their decoding."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Self, get_args

import pandas as pd

from langdiff.errors import ConfigError, DataError
from langdiff.parallelism.documents import Branch, Document, Parallelism, strata

Tagset = Literal["BIO", "BIOE", "BIOJ", "BIOM", "BIOJE", "BIOME", "BIOMJ", "BIOMJE"]
Link = Literal["TD", "BD"]
START, STOP = "start", "stop"
TAGS = ("B", "B-X", "I", "J", "E", "M", "O")  # with all links merged into one class
_INSIDE = frozenset("IJE")


@dataclass(frozen=True, slots=True)
class TaggingScheme:
    """A way to write the parallelisms of one stratum as one tag per token.

    ``B`` is the first token of a parallelism's first branch, ``B-d`` that of a later branch, which the link d connects
    to the branch before it; ``I`` are further tokens of a branch, ``O`` tokens outside. Larger tagsets add ``M`` for
    tokens between the branches of a parallelism, ``J`` for the further tokens of later branches, and ``E`` for the
    last token of a branch of two or more.

    Attributes
    ----------
    tagset : {"BIO", "BIOE", "BIOJ", "BIOM", "BIOJE", "BIOME", "BIOMJ", "BIOMJE"}
        Kinds of tags.
    link : {"TD", "BD"}
        What a link counts: tokens from the last one of the branch before (TD), or branches of all parallelisms (BD).

    Raises
    ------
    ConfigError
        If the tagset or the link is unknown.

    References
    ----------
    Bothwell, DeBenedetto, Crnkovich, Müller and Chiang (2023), "Introducing Rhetorical Parallelism Detection: A New
    Task with Datasets, Metrics, and Baselines", EMNLP, section 5; links are negative numbers there.

    Examples
    --------
    >>> from langdiff.parallelism import make_document
    >>> document = make_document("1", "you walk , I run".split(), [Parallelism(((0, 2), (3, 5)))])
    >>> scheme = TaggingScheme("BIOME", "TD")
    >>> " ".join(scheme.encode(document))
    'B E M B-2 E'
    >>> scheme.decode(scheme.encode(document)) == document.parallelisms
    True
    """

    tagset: Tagset
    link: Link

    def __post_init__(self) -> None:
        """Check that there is such a scheme."""
        for what, value, known in (("tagset", self.tagset, get_args(Tagset)), ("link", self.link, get_args(Link))):
            if value not in known:
                raise ConfigError(f"the {what} of a tagging scheme is one of {', '.join(known)}; got {value!r}.")

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the scheme of a name such as ``BIOMJ-TD``.

        Parameters
        ----------
        name : str
            Tagset and link, with a hyphen between them.

        Returns
        -------
        TaggingScheme
            The scheme.

        Raises
        ------
        ConfigError
            If no scheme has that name.

        Examples
        --------
        >>> TaggingScheme.named("BIO-BD")
        TaggingScheme(tagset='BIO', link='BD')
        """
        tagset, _, link = name.partition("-")
        return cls(tagset, link)  # type: ignore[arg-type]  # checked there

    @property
    def name(self) -> str:
        """Tagset and link, such as ``BIOMJ-TD``."""
        return f"{self.tagset}-{self.link}"

    def encode(self, document: Document, stratum: int = 0) -> tuple[str, ...]:
        """Write the parallelisms of one stratum as tags.

        Parameters
        ----------
        document : Document
            Document with its parallelisms.
        stratum : int
            Stratum to write, 0 for the outermost. Tokens of other strata are outside.

        Returns
        -------
        tuple of str
            One tag per token; all are ``O`` for a stratum without parallelisms.

        Raises
        ------
        DataError
            If two branches of one stratum share a token.

        Examples
        --------
        >>> from langdiff.parallelism import make_document
        >>> document = make_document("1", "he came and he saw".split(), [Parallelism(((0, 2), (3, 5)))])
        >>> TaggingScheme("BIO", "TD").encode(document)
        ('B', 'I', 'O', 'B-2', 'I')
        """
        chosen = [one for one, own in zip(document.parallelisms, strata(document), strict=True) if own == stratum]
        tags = ["O"] * len(document.tokens)
        if "M" in self.tagset:
            _fill_hulls(tags, chosen)
        ranks = {branch: rank for rank, branch in enumerate(sorted(b for one in chosen for b in one.branches))}
        for one in chosen:
            before: Branch | None = None
            for branch in one.branches:
                start, end = branch
                inside = "J" if before is not None and "J" in self.tagset else "I"
                tags[start:end] = [inside] * (end - start)
                if "E" in self.tagset:
                    tags[end - 1] = "E"
                tags[start] = "B"
                if before is not None:
                    tags[start] += f"-{start - before[1] + 1 if self.link == 'TD' else ranks[branch] - ranks[before]}"
                before = branch
        return tuple(tags)

    def decode(self, tags: Sequence[str]) -> tuple[Parallelism, ...]:
        """Decode parallelisms from any sequence of tags.

        A branch runs from a ``B`` over all ``I``, ``J`` and ``E`` that follow. One whose link does not lead to the
        latest branch of a parallelism opens a new parallelism. Other tags are skipped. Parallelisms may have a single
        branch, which counts as a wrong prediction.

        Parameters
        ----------
        tags : sequence of str
            One tag per token of a document.

        Returns
        -------
        tuple of Parallelism
            Parallelisms by where they begin.

        Examples
        --------
        >>> [one.branches for one in TaggingScheme("BIO", "TD").decode("B I O B-3 I".split())]
        [((0, 2),), ((3, 5),)]
        """
        found: list[list[Branch]] = []
        latest: dict[int, int] = {}  # place of a parallelism's latest branch -> number of the parallelism
        for rank, (start, end, link) in enumerate(_branches(tags)):
            # places are ends of branches (TD) or their ranks (BD), which two branches cannot share
            wanted, place = (start + 1 - link, end) if self.link == "TD" else (rank - link, rank)
            number = latest.pop(wanted, None) if link else None
            if number is None:
                number = len(found)
                found.append([])
            found[number].append((start, end))
            latest[place] = number
        return tuple(Parallelism(tuple(branches)) for branches in found)


TAGGING_SCHEMES = tuple(TaggingScheme(tagset, link) for tagset in get_args(Tagset) for link in get_args(Link))


def tag_transitions(documents: Iterable[Document], scheme: TaggingScheme, stratum: int = 0) -> pd.DataFrame:
    """Count transitions between tags over whole documents, with all links as one class ``B-X``.

    Parameters
    ----------
    documents : iterable of Document
        Documents with their parallelisms.
    scheme : TaggingScheme
        Scheme that writes the tags.
    stratum : int
        Stratum to write, 0 for the outermost.

    Returns
    -------
    DataFrame of int
        Counts: one row per tag that is followed (``start`` first), one column per tag that follows (``stop`` last).

    Raises
    ------
    DataError
        If there are no documents, or two branches of one stratum share a token.

    Examples
    --------
    >>> from langdiff.parallelism import make_document
    >>> document = make_document("1", "he came and he saw".split(), [Parallelism(((0, 2), (3, 5)))])
    >>> tag_transitions([document], TaggingScheme("BIO", "TD"))
    to     B  B-X  I  O  stop
    from
    start  1    0  0  0     0
    B      0    0  1  0     0
    B-X    0    0  1  0     0
    I      0    0  0  1     1
    O      0    1  0  0     0
    """
    counts: Counter[tuple[str, str]] = Counter()
    for document in documents:
        merged = ("B-X" if tag.startswith("B-") else tag for tag in scheme.encode(document, stratum))
        counts.update(pairwise([START, *merged, STOP]))
    if not counts:
        raise DataError("there are no documents whose tags could be counted.")
    tags = [tag for tag in TAGS if tag[0] in scheme.tagset]
    rows, columns = [START, *tags], [*tags, STOP]
    cells = [[counts[row, column] for column in columns] for row in rows]
    return pd.DataFrame(cells, index=pd.Index(rows, name="from"), columns=pd.Index(columns, name="to"))


def _fill_hulls(tags: list[str], parallelisms: Sequence[Parallelism]) -> None:
    """Write M from the first to the last branch of each parallelism, each token once."""
    done = 0
    for one in sorted(parallelisms, key=lambda one: one.branches[0]):
        start, end = max(done, one.branches[0][0]), one.branches[-1][1]
        if end > start:
            tags[start:end] = ["M"] * (end - start)
            done = end


def _branches(tags: Sequence[str]) -> Iterable[tuple[int, int, int]]:
    """Yield start, end and link of each branch, the link 0 where there is none."""
    start, link = -1, 0
    for place, tag in enumerate(tags):
        if start >= 0 and tag in _INSIDE:
            continue
        if start >= 0:
            yield start, place, link
            start = -1
        if tag == "B" or tag.startswith("B-"):
            start, link = place, _link(tag[2:])
    if start >= 0:
        yield start, len(tags), link


def _link(text: str) -> int:
    """Return the number of a link; 0 if there is none or it is not a number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0
