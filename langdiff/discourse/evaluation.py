"""Evaluation of discourse parsers by RST-Parseval and by Parseval on attachment decisions."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import pandas as pd

from langdiff.base.signature import full_signature, short_hash
from langdiff.base.types import OnError, check_choice, check_choices, check_kind, check_on_error
from langdiff.discourse.documents import Spans, pair_documents
from langdiff.discourse.files import Trees, TreeSource, read_documents
from langdiff.discourse.items import (
    METRICS,
    Classes,
    Item,
    Metric,
    Procedure,
    checked_classes,
    found,
    in_characters,
    items_of,
    with_classes,
)
from langdiff.discourse.result import Averaging, DiscourseEvaluation
from langdiff.discourse.rst_xml import Detached
from langdiff.discourse.tree import Binarization, DiscourseTree, binarize
from langdiff.errors import ConfigError, DataError, listing, warn

BOTH: tuple[Procedure, ...] = ("rst-parseval", "parseval")
_COLUMNS = ["procedure", "system", "document", *Item._fields, *METRICS]


def evaluate_discourse(
    reference: Trees | TreeSource,
    predictions: Mapping[str, Trees | TreeSource],
    *,
    binarization: Binarization = "right",
    classes: Classes = None,
    spans: Spans = "edus",
    procedures: Sequence[Procedure] = BOTH,
    trivial_spans: bool = False,
    detached: Detached = "error",
    on_error: OnError = "raise",
) -> DiscourseEvaluation:
    r"""Compare predicted discourse trees with reference trees of the same documents.

    Of each document and metric, true positives are the items of the reference that are predicted, too. Items are
    spans (S), with nuclearity (N), relation (R) or both (F). ``rst-parseval`` takes all nodes except the root, leaves
    included; ``parseval`` all decisions about which two units are joined, and how.

    Parameters
    ----------
    reference : mapping or path
        Trees by name of the document, or files or folders that `read_discourse` reads.
    predictions : mapping
        The same by name of the system. Documents are paired by name.
    binarization : {"right", "right_mixed", "left", "none"}
        How trees of both sides are made binary; see `binarize`. With ``none`` n-ary trees are compared as they are, for
        which only ``rst-parseval`` is defined.
    classes : {"rst-dt", "gum"} or mapping, optional
        Classes that relations are replaced by on both sides; see `relation_class`.
    spans : {"edus", "chars"}
        Whether spans are numbers of EDUs, or of characters, for documents that were segmented differently.
    procedures : sequence of {"rst-parseval", "parseval"}
        Procedures to apply.
    trivial_spans : bool
        Whether three items that are always right are added to each document in ``rst-parseval``, as one parser's
        own evaluation did. It inflates scores.
    detached : {"error", "drop", "attach"}
        How files are read in which segments belong to no part of the tree; see `read_discourse`. What one side has
        dropped, here or when it was read, is dropped from all sides; of nodes with one child, the parent's label stays.
    on_error : {"raise", "skip"}
        Treatment of documents that cannot be compared, because a file is faulty, one side lacks them, or their EDUs
        (characters) are not the same: an error that lists all of them, or they are left out on all sides, so that all
        systems are scored on the same documents. The result lists them (`DiscourseEvaluation.left_out`).

    Returns
    -------
    DiscourseEvaluation
        Counts, and scores made of them.

    Raises
    ------
    ConfigError
        If a setting is unknown, there are no systems, a procedure is given twice, a relation has two classes, or
        Parseval is wanted of trees that are not binary.
    DataError
        If documents cannot be compared (all are named, with the reason) and `on_error` is ``"raise"``, none is left, or
        no document of the reference has more than one EDU.

    Warns
    -----
    LangdiffWarning
        If documents are left out, because they cannot be compared, or of means, because they have one EDU in the
        reference, and so no items; if both sides have different numbers of items though their EDUs are the same.

    References
    ----------
    Morey, Muller and Asher (2017), "How much progress have we made on RST discourse parsing? A replication study of
    recent results on the RST-DT", EMNLP.

    Examples
    --------
    >>> from langdiff.discourse import parse_discourse
    >>> gold = {"rain": parse_discourse("1 1 S cause\n2 3 N span\n2 2 N list\n3 3 N list", format="spans")}
    >>> predicted = {"rain": parse_discourse("1 2 S cause\n3 3 N span\n1 1 N list\n2 2 N list", format="spans")}
    >>> evaluation = evaluate_discourse(gold, {"guess": predicted})
    >>> evaluation
    DiscourseEvaluation of 1 system(s) on 1 document(s), binarization right
    >>> evaluation.scores("rst-parseval", "micro")
               S    N     R     F
    system
    guess   0.75  0.5  0.25  0.25
    """
    _check(predictions, binarization, spans, procedures)
    check_on_error(on_error)
    prepare = _Preparation(binarization, classes)
    given = {system: _given(source, detached) for system, source in predictions.items()}
    paired = pair_documents(_given(reference, detached), given, spans, on_error)
    gold = prepare.trees(paired.gold)
    rows: list[tuple[Any, ...]] = []
    predicted_rows: list[tuple[Any, ...]] = []
    for system, own in paired.systems.items():
        trees = prepare.trees(own)
        for document in gold:
            for procedure in procedures:
                ours, theirs = (_items(tree, procedure, spans) for tree in (gold[document], trees[document]))
                flags = zip(*(found(ours, theirs, metric) for metric in METRICS), strict=True)
                rows += [(procedure, system, document, *item, *flag) for item, flag in zip(ours, flags, strict=True)]
                predicted_rows += [(procedure, system, document, item.relation) for item in theirs]
    if not rows:
        raise DataError(
            "the reference has no items: none of its documents has more than one EDU, so that nothing can be evaluated."
        )
    result = DiscourseEvaluation(
        items=pd.DataFrame(rows, columns=_COLUMNS).astype(dict.fromkeys(METRICS, bool)),
        predicted=pd.DataFrame(predicted_rows, columns=["procedure", "system", "document", "relation"]),
        systems=tuple(predictions),
        documents=tuple(gold),
        procedures=tuple(procedures),
        binarization=binarization,
        trivial_spans=trivial_spans,
        left_out=paired.left_out,
        dropped=paired.dropped,
        signature=_signature(gold, binarization, classes, spans, trivial_spans),
        secondary_edges=sum(tree.secondary_edges for tree in gold.values()),
    )
    _warn(result, spans)
    return result


def discourse_similarity(
    systems: Mapping[str, Trees | TreeSource],
    *,
    metric: Metric = "F",
    procedure: Procedure = "parseval",
    averaging: Averaging = "micro",
    binarization: Binarization = "right",
    classes: Classes = None,
    spans: Spans = "edus",
    detached: Detached = "error",
    on_error: OnError = "raise",
) -> pd.DataFrame:
    r"""Compare systems with each other: each is the reference in turn.

    Parameters
    ----------
    systems : mapping
        Trees, files or folders by name of the system; the reference can be one of them.
    metric : {"S", "N", "R", "F"}
        Metric of the comparison.
    procedure : {"rst-parseval", "parseval"}
        Procedure of the comparison.
    averaging : {"micro", "macro"}
        Whether counts are added up, or F1 is averaged over documents.
    binarization, classes, spans, detached, on_error
        The same as for `evaluate_discourse`.

    Returns
    -------
    DataFrame
        F1 between 0 and 1; row: the reference, column: the compared. It is symmetric, unless means over documents
        leave out a document that has one EDU in one system only (see `evaluate_discourse`).

    Raises
    ------
    ConfigError
        If a setting is unknown, or there are no systems.
    DataError
        If documents or their EDUs differ and `on_error` is ``"raise"``, or no document of one system has more than one
        EDU.

    Warns
    -----
    LangdiffWarning
        If documents are left out, because they cannot be compared.

    Examples
    --------
    >>> from langdiff.discourse import parse_discourse
    >>> one = {"rain": parse_discourse("1 1 S cause\n2 2 N span", format="spans")}
    >>> other = {"rain": parse_discourse("1 1 S result\n2 2 N span", format="spans")}
    >>> float(discourse_similarity({"one": one, "other": other}, metric="N").loc["one", "other"])
    1.0
    """
    if not systems:
        raise ConfigError("there are no systems to compare; give at least one.")
    _check(systems, binarization, spans, [procedure])
    check_on_error(on_error)
    given = {name: _given(source, detached) for name, source in systems.items()}
    first = next(iter(given))
    trees = pair_documents(given[first], given, spans, on_error, reference=first).systems
    rows = {}
    for name, reference in trees.items():
        evaluation = evaluate_discourse(
            reference, trees, binarization=binarization, classes=classes, spans=spans, procedures=[procedure]
        )
        rows[name] = evaluation.scores(procedure, averaging)[metric]
    return pd.DataFrame(rows).T.rename_axis(index="reference", columns="system")


def error_reduction(baseline: float, score: float, ceiling: float) -> float:
    """Return the share of a baseline's errors, relative to a ceiling, that a system avoids.

    References
    ----------
    Morey, Muller and Asher (2017), section 4.

    Examples
    --------
    >>> round(100 * error_reduction(44.6, 46.3, ceiling=55.0), 1)
    16.3
    """
    if not ceiling > baseline:
        raise ConfigError(f"the ceiling ({ceiling:g}) must be above the baseline ({baseline:g}).")
    return (score - baseline) / (ceiling - baseline)


class _Preparation:
    """Preparation of trees for comparison: classes of relations, then binarization."""

    def __init__(self, binarization: Binarization, classes: Classes) -> None:
        self._binarization, self._classes = binarization, checked_classes(classes)

    def trees(self, given: Trees) -> dict[str, DiscourseTree]:
        trees = {name: with_classes(tree, self._classes) for name, tree in given.items()}
        if not trees:
            raise DataError("there are no documents; give at least one.")
        return {name: binarize(tree, self._binarization) for name, tree in trees.items()}


def _given(source: Trees | TreeSource, detached: Detached) -> Trees:
    if not isinstance(source, Mapping):
        return read_documents(source, detached=detached)
    for tree in source.values():
        check_kind(tree, DiscourseTree, "documents are trees by name, as read_discourse reads them")
    return source


def _check(predictions: Mapping[str, Any], binarization: str, spans: str, procedures: Sequence[str]) -> None:
    if not isinstance(predictions, Mapping) or not predictions:
        raise ConfigError("predictions are given by name of the system: {'parser': trees}; there are none.")
    check_choice("binarization", binarization, get_args(Binarization))
    check_choice("spans", spans, get_args(Spans))
    check_choices("procedures", procedures, BOTH)


def _items(tree: DiscourseTree, procedure: Procedure, spans: Spans) -> list[Item]:
    items = items_of(tree, procedure)
    return in_characters(items, tree) if spans == "chars" else items


def _warn(result: DiscourseEvaluation, spans: Spans) -> None:
    if skipped := result.skipped:
        warn(
            f"{len(skipped)} document(s) of one EDU have no items in the reference, and are left out of means over "
            f"documents: {listing(skipped)}."
        )
    if spans == "edus":
        totals = result.counts().groupby(level=["procedure", "system"], sort=False)[["gold", "predicted"]].sum()
        for row in totals[totals["gold"] != totals["predicted"]].reset_index().itertuples():
            warn(
                f"{row.procedure}: the reference has {row.gold:,} items, {row.system} {row.predicted:,}: n-ary trees "
                "are compared as they are, so that precision and recall differ."
            )


def _signature(gold: Trees, binarization: str, classes: Classes, spans: str, trivial_spans: bool) -> str:
    trees = [[name, [list(node) for node in tree.nodes]] for name, tree in sorted(gold.items())]
    named = classes if isinstance(classes, str) else "fine" if classes is None else f"own#{short_hash(dict(classes))}"
    parts = {
        "binarization": binarization,
        "relations": named,
        "spans": spans,
        "trivial_spans": trivial_spans,
        "documents": f"{len(gold)}#{short_hash(trees)}",
    }
    return full_signature(parts)
