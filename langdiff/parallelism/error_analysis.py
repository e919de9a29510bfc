"""Kinds of errors in predicted parallelisms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from langdiff.base.io import as_path, parse_json, read_blocks
from langdiff.base.result import Result
from langdiff.base.signature import full_signature, short_hash
from langdiff.errors import DataError
from langdiff.parallelism.documents import Document, Documents, Parallelism, check_documents
from langdiff.parallelism.matching import Overlap, match_branches, maximum_matching, overlaps

CATEGORIES = (*product(["parallelism"], ["FP", "FN"]), *product(["branch", "word"], ["FP", "FN", "FM"]))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParallelismErrors(Result):
    """Differences between predicted and annotated parallelisms, case by case.

    A case is a pair of matched parallelisms, or one that is not matched. Its category is the largest unit that differs
    (``parallelism``, ``branch`` or ``word``), and whether there is too much (``FP``), too little (``FN``) or both
    (``FM``).

    Attributes
    ----------
    cases : DataFrame
        One row per case: ``system``, ``document``, number of the ``reference`` and of the ``hypothesis`` in the
        document, from 1 (missing on the side that has none), ``granularity`` and ``type`` (both missing where the two
        are identical).
    pairs : tuple of (str, str)
        Systems and documents that were compared.
    signature : str
        Settings and a hash of the references, to be quoted with the numbers.
    """

    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    cases: pd.DataFrame
    pairs: tuple[tuple[str, str], ...]
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and document, one column per category (``parallelism FP``, …), and the ``total``.

        The column ``identical`` counts parallelisms without an error, which are not in the total.
        """
        keys = ["system", "document"]
        names = [" ".join(category) for category in CATEGORIES]
        category = (self.cases["granularity"] + " " + self.cases["type"]).fillna("identical")
        counts = pd.crosstab([self.cases[key] for key in keys], category)
        index = pd.MultiIndex.from_tuples(self.pairs, names=keys)
        counts = counts.reindex(index=index, columns=[*names, "identical"], fill_value=0).rename_axis(columns=None)
        counts.insert(len(names), "total", counts[names].sum(axis=1))
        return counts.reset_index()

    def totals(self) -> pd.DataFrame:
        """Return one row per system, with the sums of `to_frame` over documents."""
        return self.to_frame().drop(columns="document").groupby("system", sort=False).sum().reset_index()

    def labels(self, system: str, document: str) -> tuple[dict[int, str], dict[int, str]]:
        """Return the category of each parallelism of a document, such as ``branch FN``, for a picture.

        Parameters
        ----------
        system, document : str
            Names of the system and of the document.

        Returns
        -------
        tuple of two dict from int to str
            Categories by number of the reference, and by number of the hypothesis; identical ones are not in them.

        Raises
        ------
        DataError
            If the system was not compared on the document.
        """
        if (system, document) not in self.pairs:
            raise DataError(f"{system} was not compared on document {document}.")
        rows = self.cases[(self.cases["system"] == system) & (self.cases["document"] == document)]
        rows = rows.dropna(subset=["granularity"])
        names = (rows["granularity"] + " " + rows["type"]).tolist()
        sides = (zip(rows[side], names, strict=True) for side in ("reference", "hypothesis"))
        references, hypotheses = ({int(number): name for number, name in side if not pd.isna(number)} for side in sides)
        return references, hypotheses

    def _lines(self) -> Iterator[str]:
        yield "Cases by category: FP too much, FN too little, FM both"

    def __repr__(self) -> str:
        """Return a line with the number of cases with an error."""
        wrong = int(self.cases["granularity"].notna().sum())
        return f"ParallelismErrors: {wrong:,} of {len(self.cases):,} cases in {len(self.pairs):,} document(s)"


def classify_errors(hypotheses: Mapping[str, Documents], references: Documents) -> ParallelismErrors:
    """Classify the error in each predicted and each annotated parallelism.

    Each predicted parallelism is matched to at most one annotated one, so that as many tokens as can be are common to
    both (the matching of MWO); of matched ones, branches are matched in the same way. Branches without a match decide:
    only annotated ones are ``branch FN``, only predicted ones ``branch FP``, both ``branch FM``. If all are matched,
    tokens of matched branches decide in the same way. An annotated branch of which two were predicted is thus a
    ``branch FP``.

    Parameters
    ----------
    hypotheses : mapping from str to mapping
        By name of the system: its documents by name.
    references : mapping from str to Document
        Annotated documents by name.

    Returns
    -------
    ParallelismErrors
        Cases with their categories.

    Raises
    ------
    ConfigError
        If there are no systems.
    DataError
        If there are no references, a system has a document that the references lack or none at all, or the two
        versions of a document have different numbers of tokens.

    Warns
    -----
    LangdiffWarning
        If a system lacks documents.

    References
    ----------
    Bothwell, DeBenedetto, Crnkovich, Müller and Chiang (2023), "Introducing Rhetorical Parallelism Detection: A New
    Task with Datasets, Metrics, and Baselines", EMNLP, whose analysis was made by hand with these categories.

    Examples
    --------
    >>> from langdiff.parallelism import make_document
    >>> words = "we came , we saw , we stayed".split()
    >>> gold = make_document("1", words, [Parallelism(((0, 2), (3, 5), (6, 8)))])
    >>> guess = make_document("1", words, [Parallelism(((0, 2), (3, 5)))])
    >>> errors = classify_errors({"guess": {"1": guess}}, {"1": gold})
    >>> errors.labels("guess", "1")
    ({1: 'branch FN'}, {1: 'branch FN'})
    """
    check_documents(hypotheses, references)
    rows: list[tuple[Any, ...]] = []
    pairs = []
    for system, documents in hypotheses.items():
        for name in references:
            if name in documents:
                pairs.append((system, name))
                rows += [(system, name, *case) for case in _cases(references[name], documents[name])]
    columns = ["system", "document", "reference", "hypothesis", "granularity", "type"]
    cases = pd.DataFrame(rows, columns=columns).astype({"reference": "Int64", "hypothesis": "Int64"})
    content = [[name, [p.branches for p in one.parallelisms]] for name, one in references.items()]
    parts = {"errors": "parallelism", "reference": short_hash(content)}
    return ParallelismErrors(
        cases=cases.astype({"granularity": object, "type": object}), pairs=tuple(pairs), signature=full_signature(parts)
    )


def read_error_labels(path: str | Path, sides: Mapping[str, Document]) -> dict[str, dict[int, str]]:
    """Read the kinds of errors of a document from saved cases, for `passage_text` and `passage_html`.

    Parameters
    ----------
    path : str or Path
        Cases of one system as JSON, a list of objects with the columns of `ParallelismErrors.cases`, as
        ``langdiff parallelism score --table cases --json`` prints them.
    sides : mapping from str to Document
        The annotated and the predicted version of one document, in this order, by the name that each is shown with.

    Returns
    -------
    dict from str to dict from int to str
        For each side, the category by number of the parallelism, such as ``branch FN``; identical ones are not in it.

    Raises
    ------
    DataError
        If the file cannot be read as cases, has more than one system, or none of the document.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from langdiff.parallelism import make_document
    >>> words = "we came , we saw".split()
    >>> gold = make_document("1", words, [Parallelism(((0, 2), (3, 5)))])
    >>> guess = make_document("1", words, [Parallelism(((1, 2), (3, 5)))])
    >>> cases = classify_errors({"guess": {"1": guess}}, {"1": gold}).cases
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "cases.json"
    ...     _ = path.write_text(cases.to_json(orient="records"))
    ...     read_error_labels(path, {"annotated": gold, "predicted": guess})
    {'annotated': {1: 'word FN'}, 'predicted': {1: 'word FN'}}
    """
    path = as_path(path)
    document = next(iter(sides.values())).name
    found: dict[str, dict[int, str]] = {name: {} for name in sides}
    systems, documents = set(), set()
    try:
        for case in parse_json("".join(block.text for block in read_blocks(path, errors=None))):
            systems.add(case["system"])
            documents.add(case["document"])
            if case["document"] != document or case["type"] is None:
                continue
            for name, side in zip(sides, ("reference", "hypothesis"), strict=True):
                if case[side] is not None:
                    found[name][int(case[side])] = f"{case['granularity']} {case['type']}"
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        what = "not the cases that `langdiff parallelism score --table cases --json` prints"
        raise DataError(f"{path}: {what} ({error}).") from error
    if len(systems) > 1:
        raise DataError(f"{path}: there are cases of {len(systems)} systems; score one system at a time to show it.")
    if document not in documents and any(side.parallelisms for side in sides.values()):
        raise DataError(f"{path}: there are no cases of document {document!r}; score it, too.")
    return found


def _cases(reference: Document, hypothesis: Document) -> list[tuple[int | None, int | None, str | None, str | None]]:
    """Return numbers of both sides, granularity and type of each case, references first."""
    gold, predicted = reference.parallelisms, hypothesis.parallelisms
    shared = overlaps(gold, predicted)
    matched = maximum_matching({pair: sum(one.tokens for one in found) for pair, found in shared.items()})
    rows: list[tuple[int | None, int | None, str | None, str | None]] = []
    for row, one in enumerate(gold):
        if row in matched:
            column = matched[row]
            rows.append((row + 1, column + 1, *_category(one, predicted[column], shared[row, column])))
        else:
            rows.append((row + 1, None, "parallelism", "FN"))
    taken = set(matched.values())
    return rows + [(None, k + 1, "parallelism", "FP") for k in range(len(predicted)) if k not in taken]


def _category(
    reference: Parallelism, hypothesis: Parallelism, shared: Sequence[Overlap]
) -> tuple[str, str] | tuple[None, None]:
    pairs = match_branches(shared)
    missing, extra = len(reference.branches) - len(pairs), len(hypothesis.branches) - len(pairs)
    if missing or extra:
        return "branch", _type(missing, extra)
    for ours, theirs, tokens in pairs:
        (start, end), (begin, stop) = reference.branches[ours], hypothesis.branches[theirs]
        missing += end - start - tokens
        extra += stop - begin - tokens
    return ("word", _type(missing, extra)) if missing or extra else (None, None)


def _type(missing: int, extra: int) -> str:
    return "FM" if missing and extra else "FN" if missing else "FP"
