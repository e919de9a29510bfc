"""Splits of documents with given shares of annotated and of other tokens; reading their tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.io import as_path, read_table
from langdiff.base.result import Result, rounded
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing, warn
from langdiff.parallelism.documents import Document, strata

PARTS = {"training": 0.7, "validation": 0.1, "optimization": 0.1, "test": 0.1}
COUNTS = ["inner", "outer"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DocumentSplit(Result):
    """A split of documents in parts, with the errors of their shares.

    Attributes
    ----------
    documents : DataFrame
        One row per document in the order of the assignment: ``document``, ``inner``, ``outer`` (tags in and outside of
        branches), ``part``.
    shares : dict from str to float
        Share of the tags that each part should have.

    Examples
    --------
    >>> counts = pd.DataFrame({"inner": [9, 5, 4, 1], "outer": [90, 60, 40, 10]}, index=["a", "b", "c", "d"])
    >>> split = split_documents(counts, {"training": 0.5, "test": 0.5})
    >>> split
    DocumentSplit: 4 documents: 2 training, 2 test; mean squared error 3.46e-04
    """

    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    documents: pd.DataFrame
    shares: dict[str, float]

    def parts(self) -> pd.DataFrame:
        """Return one row per part: ``documents``, ``inner``, ``outer``, the shares of both, and the share wanted."""
        groups = self.documents.groupby("part")
        table = groups[COUNTS].sum().assign(documents=groups.size()).reindex(list(self.shares), fill_value=0)
        for count in COUNTS:
            table[f"{count}_share"] = table[count] / max(table[count].sum(), 1)
        table["share"] = list(self.shares.values())
        return table.reset_index()[["part", "documents", *COUNTS, "inner_share", "outer_share", "share"]]

    def errors(self) -> dict[str, float]:
        """Return the mean squared errors of the shares: ``inner``, ``outer``, and the ``mean`` of both."""
        parts = self.parts()
        found = {count: float(((parts[f"{count}_share"] - parts["share"]) ** 2).mean()) for count in COUNTS}
        return found | {"mean": (found["inner"] + found["outer"]) / 2}

    def tests(self) -> pd.DataFrame:
        """Compare counts of every pair of parts by Welch's t-test (unequal variances, two-sided).

        Returns
        -------
        DataFrame
            One row per pair and count: ``part``, ``other``, ``count``, ``statistic``, ``p_value``; the last two are
            missing where a part has fewer than two documents.
        """
        from scipy.stats import ttest_ind

        groups = {part: self.documents[self.documents["part"] == part] for part in self.shares}
        rows = []
        for (part, own), (other, others) in combinations(groups.items(), 2):
            for count in COUNTS:
                statistic, p_value = np.nan, np.nan
                if min(len(own), len(others)) >= 2:
                    statistic, p_value = ttest_ind(own[count], others[count], equal_var=False)
                rows.append((part, other, count, statistic, p_value))
        return pd.DataFrame(rows, columns=["part", "other", "count", "statistic", "p_value"])

    def _table(self) -> pd.DataFrame:
        return rounded(self.parts(), self.digits)

    def tables(self) -> list[Shown]:
        """Return the parts with errors of their shares, and tests that their documents have as much of everything."""
        errors = ", ".join(f"{name} {error:.2e}" for name, error in self.errors().items())
        tests = self.tests()
        why = "–: no test, because a part has fewer than two documents (or all have equal counts)."
        return [
            Shown(self._table(), "parts", "", [f"Mean squared errors of the shares: {errors}"], self.printing),
            Shown(
                tests.round(4),
                "tests",
                "Welch's t-tests of counts per document",
                [why] if tests["p_value"].isna().any() else [],
                self.printing,
            ),
        ]

    def __repr__(self) -> str:
        """Return a line with the sizes of the parts and the error."""
        parts = self.parts()
        sizes = ", ".join(f"{row.documents} {row.part}" for row in parts.itertuples())
        error = self.errors()["mean"]
        return f"DocumentSplit: {len(self.documents)} documents: {sizes}; mean squared error {error:.2e}"


def tag_counts(documents: Mapping[str, Document]) -> pd.DataFrame:
    """Return how many tags of each document are in branches (inner) and outside (outer), over all strata.

    Parameters
    ----------
    documents : mapping from str to Document
        Documents; each has as many strata as the corpus.

    Returns
    -------
    DataFrame
        ``inner`` and ``outer`` by document.

    Raises
    ------
    DataError
        If branches of one stratum share a token.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> tag_counts({"1": make_document("1", "a b c d e".split(), [Parallelism(((0, 1), (2, 4)))])})
              inner  outer
    document
    1             3      2
    """
    n_strata = 1 + max((max(strata(document), default=0) for document in documents.values()), default=0)
    sizes = [len(document.tokens) for document in documents.values()]
    inner = [
        sum(end - start for one in document.parallelisms for start, end in one.branches)
        for document in documents.values()
    ]
    outer = [n_strata * size - count for size, count in zip(sizes, inner, strict=True)]
    return pd.DataFrame({"inner": inner, "outer": outer}, index=pd.Index(list(documents), name="document"))


def split_documents(counts: pd.DataFrame, shares: Mapping[str, float] | None = None) -> DocumentSplit:
    r"""Split documents so that every part has its share of the tags in branches and of those outside.

    Documents are taken from the largest to the smallest, and each is put where the mean squared error of the shares is
    then smallest:

    .. math:: \tfrac12 \Bigl( \tfrac1k \sum_i (r_i - a_i)^2 + \tfrac1k \sum_i (r_i - b_i)^2 \Bigr)

    with :math:`a_i` and :math:`b_i` the shares of part i in the inner and the outer tags placed so far, and
    :math:`r_i` the share wanted (Bothwell et al. 2023).

    Parameters
    ----------
    counts : DataFrame
        ``inner`` and ``outer`` by document; see `tag_counts`.
    shares : mapping from str to float, optional
        Names of the parts and their shares, which sum to 1; by default ``training`` 0.7, ``validation``,
        ``optimization`` and ``test`` 0.1 each.

    Returns
    -------
    DocumentSplit
        Documents with their parts.

    Raises
    ------
    ConfigError
        If shares are not positive, do not sum to 1, or there is only one.
    DataError
        If there are no documents, one is there twice, or counts are missing, infinite or negative.

    Examples
    --------
    >>> counts = pd.DataFrame({"inner": [9, 5, 4, 1], "outer": [90, 60, 40, 10]}, index=["a", "b", "c", "d"])
    >>> split_documents(counts, {"training": 0.5, "test": 0.5}).to_frame()["part"].tolist()
    ['training', 'test', 'test', 'training']
    """
    wanted = dict(PARTS if shares is None else shares)
    ratios = np.array(list(wanted.values()), float)
    if len(ratios) < 2 or not (ratios > 0).all() or not np.isclose(ratios.sum(), 1):
        raise ConfigError(f"two or more parts have positive shares that sum to 1; got {wanted}.")
    table = _checked(counts)
    totals = np.zeros((len(ratios), 2))  # (parts, inner and outer)
    places = []
    for own in table[COUNTS].to_numpy(float):
        places.append(_best_part(totals, own, ratios))
        totals[places[-1]] += own
    table["part"] = np.array(list(wanted))[places]
    return DocumentSplit(documents=table, shares=wanted)


def read_parts(
    path: str | Path, documents: Mapping[str, Document], names: Iterable[str]
) -> dict[str, dict[str, Document]]:
    r"""Divide documents as a table says, such as a `DocumentSplit` saved as ``.csv``.

    Documents that the table lacks, or that are not there, are left out with a warning.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from langdiff.parallelism import make_document
    >>> documents = {name: make_document(name, ["we", "came"], []) for name in "ab"}
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "parts.csv"
    ...     _ = path.write_text("document,part\na,training\nb,validation\n")
    ...     parts = read_parts(path, documents, ["training", "validation"])
    >>> {part: list(chosen) for part, chosen in parts.items()}
    {'training': ['a'], 'validation': ['b']}
    """
    path = as_path(path)
    header, rows = read_table(path, "\t" if path.suffix == ".tsv" else ",")
    if missing := [name for name in ("document", "part") if name not in header]:
        raise DataError(f"{path}, line 1: no column {missing[0]!r}; it has {', '.join(header)}.")
    table: dict[str, str] = {}
    for line, row in rows:
        name = row[header.index("document")]
        if name in table:
            raise DataError(f"{path}, line {line}: {name!r} is there a second time; a document is in one part.")
        table[name] = row[header.index("part")]
    for what, left in ((f"not in {path}", documents.keys() - table), (f"only in {path}", table.keys() - documents)):
        if left:
            warn(f"{len(left)} document(s) {what}, and left out: {listing(sorted(left))}")
    divided = {part: {name: one for name, one in documents.items() if table.get(name) == part} for part in names}
    for part, chosen in divided.items():
        if not chosen:
            raise DataError(f"{path}: none of the {len(documents)} document(s) is in the part {part!r}.")
    return divided


def _best_part(totals: Floats, own: Floats, ratios: Floats) -> int:
    """Return the part to which the counts of a document, shape (2,), add the smallest error."""
    placed = totals.sum(axis=0) + own
    after = totals + np.eye(len(ratios))[:, :, None] * own  # (candidate, part, inner and outer)
    shares = np.divide(after, placed, out=np.zeros_like(after), where=placed > 0)
    errors = ((ratios[:, None] - shares) ** 2).mean(axis=(1, 2))
    return int(np.argmin(errors.round(12)))  # the first of equal ones, whatever the order of sums makes of them


def _checked(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the documents in the order of the assignment."""
    if missing := [name for name in COUNTS if name not in counts]:
        raise DataError(f"the counts have no column {missing[0]!r}; tag_counts gives such a table.")
    if counts.empty:
        raise DataError("there are no documents to split.")
    if counts.index.has_duplicates:
        raise DataError(f"the document {counts.index[counts.index.duplicated()][0]!r} occurs twice.")
    bad = counts[~((counts[COUNTS] >= 0) & (counts[COUNTS] < np.inf)).all(axis=1)]
    if len(bad):
        raise DataError(
            f"counts of {len(bad)} document(s) are missing, infinite or negative, among them {bad.index[0]!r}."
        )
    table = counts[COUNTS].rename_axis("document").reset_index().astype({"document": str})
    return table.sort_values([*COUNTS, "document"], ascending=False, kind="stable").reset_index(drop=True)
