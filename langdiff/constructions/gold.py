"""Gold targets: reading, checking and saving the files of targets and of sentences."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from langdiff.base.io import as_path, read_lines, write_text
from langdiff.base.result import Result
from langdiff.base.signature import short_hash
from langdiff.constructions.target import Target, check_column, read_nodes, write_nodes
from langdiff.errors import DataError, Fault, FaultsError, warn
from langdiff.errors import words as words_for

CELLS = 6
TREEBANK = "# treebank ="  # before the sentences of a treebank
Sentences = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class GoldTargets(Result):
    """Sentences and the dependencies that analyses of them must, or must not, contain.

    Attributes
    ----------
    name : str
        Name of the set.
    origin : str
        How the set came about: ``"vetted"``, ``"constructed"``, ``"derived"`` …; empty if unknown.
    sentences : mapping from str to tuple of str
        Words of each item, in order.
    targets : tuple of Target
        Targets, in the order of the file.
    treebanks : mapping from str to str
        Treebank from which each item comes, as far as it is known.
    """

    digits = 1
    printing: ClassVar[Mapping[str, Any]] = {"index": False, "float_format": "{:.1f}".format}

    name: str
    origin: str
    sentences: Sentences
    targets: tuple[Target, ...]
    treebanks: Mapping[str, str] = field(default_factory=dict)

    def treebank_of(self, item: str) -> str:
        """Return the treebank of an item; the name of the gold set, if it is not known.

        Parameters
        ----------
        item : str
            Identifier of the sentence.

        Returns
        -------
        str
        """
        return self.treebanks.get(item, self.name)

    def sel(self, *, items: Iterable[str]) -> "GoldTargets":
        """Return the sentences of some items, and their targets.

        Parameters
        ----------
        items : iterable of str
            Identifiers of the sentences to keep.

        Returns
        -------
        GoldTargets
            They, in the order in which they are.
        """
        kept = set(items)
        return replace(
            self,
            sentences={item: words for item, words in self.sentences.items() if item in kept},
            targets=tuple(target for target in self.targets if target.item in kept),
            treebanks={item: treebank for item, treebank in self.treebanks.items() if item in kept},
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per target: item, phenomenon, polarity, head, type, dependent, distance (words)."""
        rows = [
            {
                "item": target.item,
                "phenomenon": target.phenomenon,
                "polarity": int(target.positive),
                "head": write_nodes(target.heads, self.sentences[target.item]),
                "type": target.type,
                "dependent": write_nodes(target.dependents, self.sentences[target.item]),
                "distance": target.distance,
            }
            for target in self.targets
        ]
        return pd.DataFrame(rows).astype({"distance": float})

    def distances(self) -> pd.DataFrame:
        """Return targets, average and maximum surface distance (words) by phenomenon and type."""
        frame = self.to_frame().groupby(["phenomenon", "type"], sort=False)["distance"]
        return frame.agg(targets="size", average="mean", maximum="max").reset_index()

    def _table(self) -> pd.DataFrame:
        items = self.to_frame().groupby("phenomenon")["item"].nunique()
        table = self.distances()
        table.insert(1, "items", table["phenomenon"].map(items))
        return table

    @property
    def digest(self) -> str:
        """Hash of sentences and targets, for signatures."""
        keys = [(*target.key[:3], target.heads, target.dependents) for target in self.targets]
        return short_hash(keys, [list(self.sentences[target.item]) for target in self.targets])

    def save(self, targets: str | Path, sentences: str | Path | None = None) -> None:
        """Write the two files that `read_gold` reads, or one that `langdiff.read` reads.

        Parameters
        ----------
        targets : str or Path
            File of the targets; without `sentences`, of the whole set.
        sentences : str or Path, optional
            File of the sentences.

        Raises
        ------
        OutputError
            If a file cannot be written.
        """
        if sentences is None:
            super().save(targets)
            return
        rows = self.to_frame()[["item", "phenomenon", "polarity", "head", "type", "dependent"]]
        lines = ["\t".join(map(str, row)) for row in rows.itertuples(index=False)]
        write_text(Path(targets), "\n".join([f"# {self.name} ({self.origin or 'origin unknown'})", *lines, ""]))
        written, treebank = [], ""
        for item, words in self.sentences.items():
            if (own := self.treebanks.get(item, "")) != treebank:
                written.append(f"{TREEBANK} {own}".rstrip())
                treebank = own
            written.append(f"{item}\t{' '.join(words)}")
        write_text(Path(sentences), "\n".join([*written, ""]))

    def __repr__(self) -> str:
        """Return a line with the numbers of items, targets and phenomena."""
        negative = sum(not target.positive for target in self.targets)
        phenomena = len({target.phenomenon for target in self.targets})
        kind = f" ({self.origin})" if self.origin else ""
        return (
            f"GoldTargets {self.name!r}{kind}: {len(self.sentences):,} items, {len(self.targets):,} targets "
            f"({negative:,} negative), {phenomena} phenomena"
        )


def read_gold(
    targets: str | Path, sentences: str | Path | Sentences, *, name: str | None = None, origin: str = ""
) -> GoldTargets:
    r"""Read targets and their sentences, and check them against each other.

    Parameters
    ----------
    targets : str or Path
        Tab-separated file, ``#`` before comments, one target per line: item, phenomenon, polarity (1: must be present,
        0: must be absent), head, type, dependent. Head and dependent are ``word-position`` (from 0), or the position
        alone; alternatives are joined by ``|``, the words of one predicate by ``+``; ``*`` is any head. Types are
        ARG, ARG1, ARG2, ARG3, MOD, several of them joined by ``/``; ``!`` before the type of a negative target;
        a colon and a name after it tell two targets of one type apart (``ARG2:first``).
    sentences : str, Path or mapping
        Tab-separated file of items and their words, separated by spaces; or a mapping from items to words. A line
        ``# treebank = NAME`` says where the sentences below it come from.
    name : str, optional
        Name of the set; by default that of the file.
    origin : str
        How the set came about, shown wherever the set is.

    Returns
    -------
    GoldTargets
        Sentences and targets.

    Raises
    ------
    FaultsError
        If a line is malformed, a phenomenon is unknown, a position is outside the sentence, polarity and ``!``
        disagree, a target comes twice, an item has no sentence, or a sentence of the file has no target. All faults are
        found before it is raised; each has its line.
    DataError
        If there are no targets, or a file is a treebank.

    Warns
    -----
    LangdiffWarning
        If words differ from those of the sentence, case and punctuation aside.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     gold = Path(folder) / "gold.tsv"
    ...     _ = gold.write_text("v1\tvpart\t1\tcarried-1+out-2\tARG2\tplan-4\n")
    ...     read_gold(gold, {"v1": ("He", "carried", "out", "the", "plan")})
    GoldTargets 'gold': 1 items, 1 targets (0 negative), 1 phenomena
    """
    faults: list[Fault] = []
    given = isinstance(sentences, Mapping)
    texts, banks = (sentences, {}) if isinstance(sentences, Mapping) else read_sentences(sentences, faults)
    path = as_path(targets)
    gold = collect_targets(
        _rows(path), str(path), texts, faults, treebanks=banks, name=name or path.stem, origin=origin
    )
    if not given and (idle := [item for item in texts if item not in gold.sentences]):
        raise FaultsError([Fault(str(sentences), None, f"item {item!r} has no target.") for item in idle])
    return gold


def _rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of the lines of a file that are neither empty nor comments."""
    refuse_treebank(path)
    for number, line in read_lines(as_path(path)):
        if line.strip() and not line.startswith("#"):
            yield number, line.split("\t")


def refuse_treebank(path: str | Path) -> None:
    """Refuse a treebank where a file of targets or of their sentences is asked for."""
    if {".conllu", ".conll"} & set(as_path(path).suffixes):
        mined = words_for(python=f"mined_gold({str(path)!r}) has", command=f"give mined --sentences {path} for")
        own = words_for(python="mine_candidates finds", command=f"find with langdiff constructions mine {path}")
        scores = words_for(
            python="evaluate_attachment scores", command=f"score with langdiff constructions attachment {path}"
        )
        raise DataError(
            f"{path} is a treebank, and targets or their sentences are asked for: {mined} the mined set, {own} "
            f"candidates of your own, or {scores} heads and relations."
        )


def collect_targets(
    rows: Iterable[tuple[int, list[str]]],
    source: str,
    sentences: Sentences,
    faults: list[Fault],
    *,
    treebanks: Mapping[str, str],
    name: str,
    origin: str,
) -> GoldTargets:
    """Return the targets of numbered rows and the sentences that have targets; see `read_gold`."""
    found: dict[object, Target] = {}
    different = []
    for number, cells in rows:
        try:
            target, unlike = _read_target(cells, number, sentences)
            if target.key in found:
                raise ValueError(f"the same target as in line {found[target.key].line}.")
        except ValueError as error:
            faults.append(Fault(source, number, str(error)))
            continue
        found[target.key] = target
        different += [f"line {number}: {what}" for what in unlike]
    if faults:
        raise FaultsError(faults)
    if not found:
        raise DataError(f"{source}: the file has no targets.")
    if different:
        message = f"{len(different)} words are not those of the sentence: {'; '.join(different[:5])}."
        warn(f"{source}: {message} Are positions counted from 0?")
    gold = GoldTargets(
        name=name, origin=origin, sentences=sentences, targets=tuple(found.values()), treebanks=treebanks
    )
    return gold.sel(items={target.item for target in gold.targets})


def read_sentences(path: str | Path, faults: list[Fault]) -> tuple[Sentences, dict[str, str]]:
    """Return the words of each item of a file, and its treebank where lines ``# treebank = NAME`` say it."""
    refuse_treebank(path)
    sentences: dict[str, tuple[str, ...]] = {}
    treebanks: dict[str, str] = {}
    treebank = ""
    for number, line in read_lines(as_path(path)):
        if line.startswith(TREEBANK):
            treebank = line.removeprefix(TREEBANK).strip()
        if not line.strip() or line.startswith("#"):
            continue
        item, _, text = line.partition("\t")
        words = tuple(text.split())
        if not item or not words or "\t" in text:
            faults.append(Fault(str(path), number, "not an item, a tab and words separated by spaces."))
        elif item in sentences:
            faults.append(Fault(str(path), number, f"item {item!r} comes twice."))
        else:
            sentences[item] = words
            treebanks |= {item: treebank} if treebank else {}
    return sentences, treebanks


def _read_target(cells: list[str], number: int, sentences: Sentences) -> tuple[Target, list[str]]:
    """Return the target of a line, and its words that differ from the sentence."""
    if len(cells) != CELLS:
        raise ValueError(f"{len(cells)} cells separated by tabs; a target has {CELLS}.")
    item, phenomenon, polarity, head, kind, dependent = (cell.strip() for cell in cells)
    check_column(phenomenon, kind)
    if polarity not in ("0", "1") or (polarity == "0") != kind.startswith("!"):
        raise ValueError(f"polarity {polarity!r} contradicts type {kind!r}; it is 0 for types with !, else 1.")
    if item not in sentences:
        raise ValueError(f"item {item!r} has no sentence.")
    tokens = sentences[item]
    heads, words = read_nodes(head)
    dependents, more = read_nodes(dependent)
    if not dependents:
        raise ValueError("only the head may be *.")
    outside = sorted({place for node in heads + dependents for place in node if place >= len(tokens)})
    if outside:
        raise ValueError(f"position {outside[0]} is outside the sentence, whose words are 0 to {len(tokens) - 1}.")
    unlike = [f"{word!r} for {tokens[place]!r}" for place, word in words + more if _bare(word) != _bare(tokens[place])]
    return Target(item, phenomenon, polarity == "1", heads, kind, dependents, number), unlike


def _bare(word: str) -> str:
    """Return a word without case and punctuation."""
    return re.sub(r"\W", "", word).casefold()
