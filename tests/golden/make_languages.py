"""Golden cases of languages: tests against properties of languages, trees and distances, measures of treebanks."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.treebanks import SimilaritySettings, dependency_length, head_pos_entropy, perturbation_curve
from langdiff.typology import compare_relatedness, propagate_errors, read_tree, regress
from langdiff.typology.association.result import benjamini_hochberg
from tests.golden.make_texts import multitext
from tests.golden.record import columns, golden, texts, without_hashes

NAMES = [f"f{family}l{k}" for family in range(4) for k in range(5)]


def languages():
    """Return difficulties of twenty languages in four families, three predictors, and places."""
    rng = np.random.default_rng(6)
    family = rng.normal(0, 0.4, 4).repeat(5)
    frame = pd.DataFrame(rng.normal(size=(20, 3)), index=NAMES, columns=["x", "y", "w"])
    frame["x"] += family
    frame["w"] += 0.5 * frame["x"]
    places = {"latitude": rng.uniform(-40, 60, 20), "longitude": np.linspace(-60, 60, 20)[rng.permutation(20)]}
    near = 0.12 * np.sin(places["longitude"] / 18)  # neighbours are alike
    difficulty = 0.05 * frame["x"] + 0.05 * family + near + rng.normal(0, 0.01, 20)
    return difficulty.round(4).rename("lm"), frame.round(3), pd.DataFrame(places, index=NAMES).round(2)


def tree():
    """Return the tree of the four families."""
    families = [f"((f{k}l0:1,f{k}l1:1):1,(f{k}l2:1,(f{k}l3:1,f{k}l4:1):1):1):1" for k in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.nwk"
        path.write_text("(" + ",".join(families) + ");\n", encoding="utf-8")
        return read_tree(path)


def correlate(predictors, **options):
    """Test predictors against difficulties, naming every option."""
    named = {
        "edition_info": None, "corpus": "golden", "tests": ["pearson"], "only": (), "given": (), "tree": None,
        "coordinates": None, "averaging": "difficulty", "average": "language", "interval": "fisher", "min_level": 3,
    }  # fmt: skip
    return ld.correlate(languages()[0], predictors, **(named | options))


def of_tests(found):
    """Return what is recorded of tests."""
    return {"frame": columns(found.to_frame()), **texts(found)}


@golden
def typology_plain():
    return of_tests(correlate(languages()[1], tests=["pearson", "spearman", "kendall"]))


@golden
def typology_given():
    return of_tests(correlate(languages()[1], tests=["pearson"], only=["x"], given=["w"]))


@golden
def typology_bootstrap():
    return of_tests(correlate(languages()[1], only=["x"], interval="bootstrap", n_resamples=99, seed=1))


@golden
def typology_permutation():
    info = pd.DataFrame({"language": NAMES, "family": [name[:2] for name in NAMES]}, index=NAMES)
    return of_tests(
        correlate(languages()[1], only=["x"], tests=["permutation"], n_resamples=99, seed=1, edition_info=info)
    )


@golden
def typology_tree_and_area():
    places = languages()[2]
    found = correlate(
        languages()[1], only=["x"], tests=["pearson", "phylo", "area", "phylo+area"], tree=tree(), coordinates=places
    )
    return without_hashes(of_tests(found), "relatives")


@golden
def typology_categories():
    order = pd.Series(["SOV", "SVO", "VSO", "SVO"] * 5, index=NAMES, name="order").astype("category")
    return of_tests(correlate(order, tests=["kruskal"]))


@golden
def typology_adjusted():
    found = ld.adjust([correlate(languages()[1][[name]]) for name in ("x", "y")], alpha=0.05)
    return of_tests(found)


@golden
def typology_published():
    figures = mielke2019()
    found = ld.correlate(
        figures.difficulties("bibles")["bpe"], figures.predictors("bibles"),
        edition_info=figures.edition_info("bibles"), corpus="bibles",
        tests=["pearson", "spearman"], only=["word_types"], averaging="difficulty",
        average="language", interval="fisher", min_level=3,
    )  # fmt: skip
    return without_hashes(of_tests(found), "data")


@golden
def typology_regression():
    found = regress(
        languages()[0], languages()[1], only=(), tests=["independent", "phylo"], tree=tree(), averaging="difficulty",
        alpha=0.05,
    )  # fmt: skip
    return {"terms": columns(found.terms), "r_squared": found.r_squared, **texts(found)}


@golden
def typology_relatedness():
    difficulty, predictors, places = languages()
    found = compare_relatedness(
        difficulty, predictors[["x"]], corpus="golden", tree=tree(), coordinates=places, averaging="difficulty"
    )
    return without_hashes(of_tests(found), "relatives")


@golden
def typology_errors_carried():
    difficulty, predictors, _ = languages()
    covariance = pd.DataFrame(0.02**2 * np.eye(20), NAMES, NAMES)
    effects = ld.Effects.from_covariance(difficulty, covariance=covariance, title="lm")
    found = propagate_errors(effects, predictors, tests=["pearson"], only=["x"], n_draws=200, seed=1)
    return of_tests(found)


@golden
def typology_p_values():
    adjusted, rejected = benjamini_hochberg(np.array([0.001, 0.02, 0.03, 0.2, 0.8]), alpha=0.05)
    return {"adjusted": adjusted, "rejected": rejected}


@golden
def predictors_of_texts():
    found = ld.predictors(
        multitext(30), tokenized=False, entropy="miller-madow", compressor="zlib", treebanks=None, lexicons=None,
        syncretism="count", wals=None, progress=False,
    )  # fmt: skip
    frame = found.to_frame().select_dtypes("number")
    return {"frame": columns(frame), **texts(found)}


# treebanks

UPOS = ("NOUN", "VERB", "ADP", "DET", "PUNCT")
DEPRELS = {"NOUN": "nsubj", "VERB": "advcl", "ADP": "case", "DET": "det", "PUNCT": "punct"}


def conllu(seed, *, n_sentences=25, final=0.5):
    """Return random trees as CoNLL-U; words are attached one by one, before their head with a given chance."""
    rng = np.random.default_rng(seed)
    lines = []
    for sentence in range(n_sentences):
        order = [0]
        head = {}
        for word in range(1, int(rng.integers(3, 10))):
            head[word] = int(rng.integers(word))
            order.insert(order.index(head[word]) + int(rng.random() >= final), word)
        place = {word: k + 1 for k, word in enumerate(order)}
        lines.append(f"# sent_id = s{sentence}")
        upos = rng.choice(UPOS, size=len(order), p=[0.4, 0.2, 0.15, 0.15, 0.1])
        for k, word in enumerate(order):
            kind = "VERB" if word == 0 else str(upos[k])
            above, deprel = (place[head[word]], DEPRELS[kind]) if word else (0, "root")
            lines.append(f"{k + 1}\t{kind.lower()}{word % 3}\t_\t{kind}\t_\t_\t{above}\t{deprel}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def with_banks(function):
    """Call a function with the paths of three treebanks."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, seed, final in (("early", 1, 0.2), ("late", 2, 0.8), ("mixed", 3, 0.5)):
            paths[name] = Path(folder) / f"{name}.conllu"
            paths[name].write_text(conllu(seed, final=final), encoding="utf-8")
        return function(paths)


def read(path):
    """Read a treebank, naming every option."""
    return ld.read_treebank(path, name=path.stem, strict=False, punctuation=True, strip_subtypes=False)


@golden
def treebanks_measured():
    def measure(paths):
        found = ld.measure_treebanks(paths, over="tokens", punctuation=None, progress=False)
        return {"frame": columns(found.to_frame()), **texts(found)}

    return with_banks(measure)


@golden
def treebanks_measured_over_types():
    def measure(paths):
        found = ld.measure_treebanks(paths, over="types", punctuation=False, progress=False)
        return {"frame": columns(found.to_frame()), **texts(found)}

    return with_banks(measure)


@golden
def treebank_head_entropy():
    def measure(paths):
        found = head_pos_entropy(paths["early"], over="tokens", lowercase=True, punctuation=False, root=False)
        return {"mean": found.mean, "skew": found.skew, **texts(found)}

    return with_banks(measure)


@golden
def treebank_dependency_length():
    def measure(paths):
        found = dependency_length(paths["late"], heads="function", punctuation=False)
        return {"mean": found.mean, "head_final": found.head_final, **texts(found)}

    return with_banks(measure)


def compared(settings, **options):
    """Compare the three treebanks, naming every option."""

    def compare(paths):
        named = {"equalize": None, "n_repeats": 2, "noise": False, "punctuation": True, "seed": 1, "progress": False}
        banks = [read(path) for path in paths.values()]
        found = ld.compare_treebanks(banks, settings=settings, **(named | options))
        return {"mean": columns(found.divergence["mean"]), **texts(found)}

    return with_banks(compare)


@golden
def treebanks_compared():
    return compared(SimilaritySettings(divergence="kl", alpha=0.5, label="upos+deprel", levels="separate"))


@golden
def treebanks_compared_with_noise():
    return compared(SimilaritySettings(divergence="js", alpha=0.5, label="deprel"), noise=True, equalize="sentences")


@golden
def treebanks_correlated():
    return compared(SimilaritySettings(divergence="correlation", label="upos", levels="pooled"), punctuation=False)


@golden
def treebank_perturbed():
    def perturb(paths):
        found = perturbation_curve(
            read(paths["mixed"]), rates=[0.0, 0.3], kinds=["heads", "order"], settings=SimilaritySettings(),
            n_repeats=2, seed=1, progress=False,
        )  # fmt: skip
        return {"frame": columns(found.to_frame().tail(6)), **texts(found)}

    return with_banks(perturb)
