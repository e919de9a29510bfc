"""Golden cases of annotations: constructions that parsers find, discourse trees, rhetorical parallelism."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.constructions import (
    check_claims,
    compare_annotators,
    constructed_gold,
    default_rules,
    evaluate,
    mine_candidates,
    read_gold,
    read_parses,
    read_rules,
)
from langdiff.datasets import bender2011
from langdiff.discourse import (
    attachments_of,
    binarize,
    compare_trees,
    discourse_similarity,
    evaluate_discourse,
    parse_discourse,
)
from langdiff.discourse.evaluation import error_reduction
from langdiff.discourse.items import relation_class
from langdiff.parallelism import (
    Parallelism,
    Section,
    TaggingScheme,
    annotator_agreement,
    classify_errors,
    compare_treatments,
    make_document,
    parallelism_statistics,
    score_parallelisms,
    split_documents,
    tag_counts,
    tag_transitions,
)
from langdiff.parallelism.taggers.search import draw_settings
from tests.constructions import trees, worked
from tests.golden.record import columns, golden, texts

# constructions


def constructions(function, gold=worked.GOLD):
    """Call a function with the gold targets, rules and parses of the worked example."""
    with tempfile.TemporaryDirectory() as folder:

        def write(name, text):
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            return path

        targets = read_gold(write("gold.tsv", gold), worked.WORDS, name="worked", origin="")
        rules = [
            read_rules(write("cc.rules", worked.RULES), name="cc"),
            read_rules(write("st.rules", worked.STANFORD_RULES), name="st"),
        ]
        parses = [
            read_parses(write("cc.gr", worked.GR), "gr", name="cc"),
            read_parses(write("st.dep", worked.STANFORD), "stanford", name="st"),
        ]
        return function(targets, rules, parses)


@golden
def constructions_scored():
    def score(gold, rules, parses):
        found = evaluate(gold, parses[0], rules[0], missing="raise")
        return {
            "frame": columns(found.to_frame()),
            "phenomena": columns(found.by_phenomenon()),
            "distances": columns(found.by_distance()),
            **texts(found),
        }

    return constructions(score)


@golden
def constructions_compared():
    def score(gold, rules, parses):
        found = evaluate(gold, parses, {"cc": rules[0], "st": rules[1]}, missing="wrong")
        return {"parsers": columns(found.by_parser()), "pairs": columns(found.compare("cc", "st")), **texts(found)}

    return constructions(score)


@golden
def construction_targets():
    return constructions(
        lambda gold, *_: {"distances": columns(gold.distances()), "digest": gold.digest, **texts(gold)}
    )


@golden
def construction_annotators():
    changed = worked.GOLD.replace("withdrew-9\tMOD\thaving-2|been-3|passed-4", "withdrew-9\tMOD\tpassed-4")
    first = constructions(lambda gold, *_: gold)
    second = constructions(lambda gold, *_: gold, changed.replace("i2\titexpl\t0\t*\t!ARG\tit-0\n", ""))
    found = compare_annotators(first, second)
    return {"frame": columns(found.to_frame()), **texts(found)}


@golden
def constructions_mined():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bank.conllu"
        path.write_text(trees.ALL, encoding="utf-8")
        found = mine_candidates(path, phenomena=None, queries=None)
        return {"frequencies": columns(found.frequencies()), "repr": repr(found)}


@golden
def constructions_shipped():
    gold, rules = constructed_gold(), default_rules("ud")
    return {"targets": len(gold.targets), "digests": [gold.digest, rules.digest], "repr": [repr(gold), repr(rules)]}


@golden
def constructions_claimed():
    kinds = {
        "vpart": ("ARG2", "!ARG2"), "vger": ("ARG1/ARG2", "ARG2/MOD"), "control": ("ARG2/ARG3", "ARG1"),
        "tough": ("ARG2:complement", "ARG2:gap"), "rnr": ("ARG2:first", "ARG2:second"), "ned": ("MOD", "ARG1/MOD"),
        "absol": ("ARG1", "MOD"), "argadj": ("MOD", "ARG2/ARG3"), "barerel": ("MOD", "ARG2/MOD"), "itexpl": ("!ARG",),
    }  # fmt: skip
    parsers = ("Enju", "XLE", "C&J", "C&C", "MST", "Stanford", "RASP")
    rows = [
        (phenomenon, kind, parser, (3 * k + 5 * j + 2 * i) % 9 / 10 + 0.1)
        for k, (phenomenon, own) in enumerate(kinds.items())
        for j, kind in enumerate(own)
        for i, parser in enumerate(parsers)
    ]
    scores = pd.DataFrame(rows, columns=["phenomenon", "type", "parser", "recall"])
    return texts(check_claims(scores, bender2011().claims))


# discourse

GOLD = "1 1 S attribution\n2 4 N span\n2 2 N List\n3 3 N List\n4 4 N List\n5 5 S evidence"
PREDICTED = (
    "1 1 S attribution\n2 5 N span\n2 3 N span\n2 2 N List\n3 3 N List\n4 5 S evidence\n4 4 N span\n"
    "5 5 S elaboration-additional"
)
SECOND = "1 1 N span\n2 3 S cause\n2 2 N Contrast\n3 3 N Contrast"
FALSE = "1 2 N span\n1 1 N span\n2 2 S elaboration-additional\n3 3 S cause"


def discourse(text, name):
    """Return a discourse tree of spans."""
    return parse_discourse(text, format="spans", document=name, collapse_unary=False)


REFERENCE = {"one": discourse(GOLD, "one"), "two": discourse(SECOND, "two")}
SYSTEMS = {
    "right": {"one": discourse(GOLD, "one"), "two": discourse(FALSE, "two")},
    "wrong": {"one": discourse(PREDICTED, "one"), "two": discourse(SECOND, "two")},
}


def discourse_evaluated(**options):
    """Evaluate the two systems, naming every option."""
    named = {"binarization": "right", "classes": None, "spans": "edus", "trivial_spans": False, "on_error": "raise"}
    procedures = ("rst-parseval", "parseval")
    return evaluate_discourse(REFERENCE, SYSTEMS, **(named | {"procedures": procedures} | options))


@golden
def discourse_scores():
    found = discourse_evaluated()
    return {
        "micro": columns(found.scores("parseval", "micro")),
        "macro": columns(found.scores("rst-parseval", "macro")),
        "counts": columns(found.counts()),
        **texts(found),
    }


@golden
def discourse_scores_of_classes():
    found = discourse_evaluated(binarization="right_mixed", classes="rst-dt")
    return {"scores": columns(found.scores("parseval", "micro")), **texts(found)}


@golden
def discourse_relations():
    found = discourse_evaluated()
    return {
        "relations": columns(found.relations("parseval", "R")),
        "procedures": columns(found.between_procedures()),
        "averagings": columns(found.averagings()),
    }


@golden
def discourse_differences():
    found = discourse_evaluated().compare(procedure="parseval", metric="F", averaging="micro")
    return {"frame": columns(found.to_frame()), **texts(found)}


@golden
def discourse_systems():
    found = discourse_similarity(
        SYSTEMS | {"gold": REFERENCE}, metric="F", procedure="parseval", averaging="micro", binarization="right",
        classes=None, spans="edus", on_error="raise",
    )  # fmt: skip
    return columns(found)


@golden
def discourse_trees():
    tree = REFERENCE["one"]
    values = {mode: str(attachments_of(binarize(tree, mode))) for mode in ("right", "left", "right_mixed")}
    compared = compare_trees(binarize(tree, "right"), SYSTEMS["wrong"]["one"])
    return {
        **values,
        "tree": texts(tree),
        "compared": texts(compared),
        "reduction": error_reduction(0.5, 0.7, 0.9),
        "class": relation_class("elaboration-additional", "rst-dt"),
    }


# parallelism

P, Q = ((0, 3), (5, 7), (9, 13)), ((20, 24), (25, 29))


def document(name, *sets):
    """Return a document of sixty words in two sections."""
    sections = [Section("1", 0, 30), Section("2", 30, 60)]
    return make_document(name, [f"w{k % 11}" for k in range(60)], [Parallelism(one) for one in sets], sections)


REFERENCES = {"a": document("a", P, Q), "b": document("b", ((31, 34), (36, 39))), "c": document("c", P)}
HYPOTHESES = {
    "near": {
        "a": document("a", ((0, 3), (5, 8), (9, 13)), ((20, 24), (26, 29))),
        "b": document("b", ((31, 34), (36, 39))),
        "c": document("c", ((0, 7), (9, 13))),
    },
    "far": {"a": document("a", ((40, 42), (43, 45))), "b": document("b", ((31, 33), (37, 39))), "c": document("c")},
}


@golden
def parallelism_scores():
    found = score_parallelisms(HYPOTHESES, REFERENCES, beta=1.0)
    return {"frame": columns(found.to_frame()), **texts(found)}


@golden
def parallelism_recall():
    found = score_parallelisms(HYPOTHESES, REFERENCES, beta=2.0)
    return {"outcomes": columns(found.outcomes("MBAWO", side="reference").totals()), **texts(found)}


@golden
def parallelism_errors():
    found = classify_errors(HYPOTHESES, REFERENCES)
    return {"totals": columns(found.totals()), **texts(found)}


@golden
def parallelism_described():
    found = parallelism_statistics(REFERENCES)
    return {"frame": columns(found.to_frame()), "histogram": list(found.histogram), **texts(found)}


@golden
def parallelism_annotators():
    found = annotator_agreement(
        REFERENCES, HYPOTHESES["near"], seed=1, conjunctions=True, interlocks=True, n_draws=100, as_published=False
    )
    return {"frame": columns(found.to_frame()), **texts(found)}


@golden
def parallelism_split():
    rng = np.random.default_rng(1)
    documents = {f"d{k}": document(f"d{k}", *[P, Q, ((31, 34), (36, 39))][: int(rng.integers(1, 4))]) for k in range(8)}
    counts = tag_counts(documents)
    found = split_documents(counts, {"train": 0.6, "dev": 0.2, "test": 0.2})
    return {"counts": columns(counts), "parts": columns(found.parts()), "errors": found.errors(), **texts(found)}


@golden
def parallelism_tags():
    scheme = TaggingScheme("BIOMJ", "TD")
    found = tag_transitions(REFERENCES.values(), scheme, 0)
    return {"tags": " ".join(scheme.encode(REFERENCES["a"], 0)), "transitions": columns(found)}


@golden
def parallelism_treatments():
    table = pd.DataFrame(np.random.default_rng(0).integers(0, 40, (6, 5)) / 40.0).rename(columns="t{}".format)
    found = compare_treatments(table)
    numbers = [found.statistic, found.p_value, found.critical_difference]
    return {"numbers": numbers, "ranks": found.ranks, "pairs": columns(found.pairs), **texts(found)}


@golden
def parallelism_settings():
    return {"settings": [repr(one) for one in draw_settings("learned-word", "BIO-TD", 2, seed=1)]}
