"""Scores of predicted parallelisms, by document, by parallelism and in total."""

import math
import warnings
from collections.abc import Mapping, Sequence

import langdiff
from langdiff.base.signature import join_signature, name_of_number, short_hash
from langdiff.errors import ConfigError, DataError, LangdiffWarning, listing
from langdiff.parallelism.documents import Document
from langdiff.parallelism.score_table import ScoreTable
from langdiff.parallelism.scores import ParallelismScores, with_ratios

Documents = Mapping[str, Document]


def score_parallelisms(
    hypotheses: Mapping[str, Documents], references: Documents, *, beta: float = 1.0
) -> ParallelismScores:
    r"""Compare predicted parallelisms with annotated ones by four metrics.

    Of each document, parallelisms of both sides are matched one to one so that the sum of their scores is as large as
    can be, :math:`w^*`; then

    .. math:: P = w^* / \sum_x \mathrm{size}(x), \quad R = w^* / \sum_y \mathrm{size}(y), \quad
              F_\beta = (1 + \beta^2) P R / (\beta^2 P + R)

    with sums over the predicted parallelisms x and the annotated y; of several documents, the three sums are added
    up first. A quotient whose denominator is 0 is 0.

    * EPM (exact parallelism match): 1 for the same set of branches; size 1.
    * MPBM (maximum parallel branch match): number of identical branches if there are at least two; size: branches.
    * MBAWO (maximum branch-aware word overlap): tokens that branches matched one to one have in common, if at least
      two pairs of branches have some; size: tokens. Of several best matchings of branches, one with the most pairs
      counts, so that scores do not depend on the order of the sides.
    * MWO (maximum word overlap): tokens in common; size: tokens.

    Parameters
    ----------
    hypotheses : mapping from str to mapping
        By name of the system: its documents by name, as `read_parallelisms` returns them with ``predicted=True``. A
        system may lack documents, which its totals then leave out.
    references : mapping from str to Document
        Annotated documents by name.
    beta : float
        Weight of recall: β > 1 counts it more than precision.

    Returns
    -------
    ParallelismScores
        Tables of scores.

    Raises
    ------
    ConfigError
        If there are no systems, or `beta` is not a positive number.
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
    Task with Datasets, Metrics, and Baselines", EMNLP, section 4.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> words = "we came , we saw , we stayed".split()
    >>> gold = make_document("1", words, [Parallelism(((0, 2), (3, 5), (6, 8)))])
    >>> guess = make_document("1", words, [Parallelism(((0, 2), (3, 5)))])
    >>> scores = score_parallelisms({"guess": {"1": guess}}, {"1": gold})
    >>> scores
    ParallelismScores of 1 system(s) on 1 document(s): F of MBAWO 0.8
    >>> scores.to_frame()[["metric", "matched", "precision", "recall", "f"]].round(3)
      metric  matched  precision  recall    f
    0    EPM        0        0.0   0.000  0.0
    1   MPBM        2        1.0   0.667  0.8
    2  MBAWO        4        1.0   0.667  0.8
    3    MWO        4        1.0   0.667  0.8
    """
    if not (math.isfinite(beta) and beta > 0):
        raise ConfigError(f"beta is a positive number; got {beta!r}.")
    check_documents(hypotheses, references)
    table = ScoreTable()
    for system, documents in hypotheses.items():
        for name in references:
            if name in documents:
                table.add(system, name, references[name], documents[name])
    content = [[name, len(one.tokens), [p.branches for p in one.parallelisms]] for name, one in references.items()]
    parts = {"metrics": "parallelism", "beta": name_of_number(beta), "reference": short_hash(content)}
    return ParallelismScores(
        documents=with_ratios(table.documents(), beta),
        systems=tuple(hypotheses),
        beta=float(beta),
        signature=join_signature(parts | {"version": langdiff.__version__}),
        _table=table,
    )


def check_documents(hypotheses: Mapping[str, Documents], references: Documents) -> None:
    """Refuse documents that cannot be compared, and warn of those that systems lack.

    Raises
    ------
    ConfigError
        If there are no systems.
    DataError
        If there are no references, a system has other documents or none, or numbers of tokens differ.
    """
    if not hypotheses:
        raise ConfigError("there are no systems to score; give at least one.")
    if not references:
        raise DataError("there are no reference documents.")
    for system, documents in hypotheses.items():
        if more := [name for name in documents if name not in references]:
            raise DataError(f"{len(more)} document(s) of {system} are not among the references: {listing(more)}.")
        if not documents:
            raise DataError(f"{system} has no documents.")
        for name, document in documents.items():
            _check_tokens(system, document.tokens, name, references[name].tokens)
        if less := [name for name in references if name not in documents]:
            warnings.warn(
                f"{system} lacks {len(less)} of {len(references)} document(s): {listing(less)}. Its totals leave "
                "them out; compare systems on the same documents only.",
                LangdiffWarning,
                stacklevel=3,
            )


def _check_tokens(system: str, ours: Sequence[str], name: str, theirs: Sequence[str]) -> None:
    if len(ours) == len(theirs):
        return
    pairs = enumerate(zip(ours, theirs, strict=False))
    first = next((place for place, (one, other) in pairs if one != other), min(len(ours), len(theirs)))
    raise DataError(
        f"document {name} has {len(ours):,} tokens in {system} and {len(theirs):,} in the reference, and they differ "
        f"from token {first} on (counted from 0). Both versions must be tokenised alike."
    )
