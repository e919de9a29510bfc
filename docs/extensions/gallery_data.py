"""What the pictures of the gallery show: published figures, and results on data drawn at random."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import langdiff as ld
from langdiff import discourse, parallelism
from langdiff.corpora import native_share
from langdiff.datasets import bothwell2023, mielke2019
from langdiff.experiments import deletion_bias, intent_stability, spread_within_languages
from langdiff.regression import fit_curve, standardized_residuals
from langdiff.treebanks import measure_treebanks, perturbation_curve
from langdiff.treebanks.conllu import Tree
from langdiff.treebanks.treebank import Treebank

MODELS = ("6-grams", "BPE LSTM", "character LSTM")
RELATIONS = ("elaboration", "cause", "contrast", "joint")
WORDS = ("the", "old", "king", "spoke", "and", "the", "young", "king", "heard", "but", "nobody", "wrote", "it", "down")


def gallery_data(n_editions: int = 8) -> dict[str, Any]:
    """Return the results that the snippets of docs/gallery.md draw, by name.

    Parameters
    ----------
    n_editions : int
        Number of editions in results on random data.
    """
    rng = np.random.default_rng(0)
    published = mielke2019()
    languages = pd.concat([published.edition_info(corpus) for corpus in ("europarl", "bibles")])
    return {
        "published": published,
        "languages": languages,
        "spread": spread_within_languages(published.difficulties("bibles")["char"], published.edition_info("bibles")),
        "correlations": ld.correlate(published.difficulties("europarl"), published.predictors("europarl")["mcc"]),
        "bothwell": bothwell2023(),
        "shares": ld.difficulty_shares(ld.datasets.three_corpora()),
        **_corpus(n_editions),
        **_fits(n_editions, rng),
        **_less_data(n_editions),
        **_training(n_editions, rng),
        **_treebanks(rng),
        **_parsers(rng),
        **_discourse(rng),
        **_parallelism(rng),
    }


def _corpus(n_editions: int) -> dict[str, Any]:
    multitext = ld.synthesize(n_intents=400, n_languages=n_editions, missing=0.1, seed=1).multitext
    texts = ld.synthesize(n_intents=400, n_languages=n_editions, seed=1).multitext.to_frame()
    texts.iloc[100:200, 2] = texts.iloc[101:201, 2].to_numpy()  # a line is lost, and another is there twice
    origin = pd.Series(np.resize(multitext.editions, len(multitext.intents)), index=multitext.intents)
    return {
        "multitext": multitext,
        "alignment": ld.corpora.check_alignment(ld.read_frame(texts)),
        "share": native_share(multitext, origin),
        "selection": ld.select(multitext, min_intents=20),
        "front": ld.pareto_front(multitext),
        "parity": ld.measure_parity(multitext, reference=multitext.editions[0]),
        "predictors": ld.predictors(multitext.dropna()),
        "costs": _changed_texts(),
    }


def _changed_texts() -> Any:
    texts = ld.synthesize(n_intents=300, n_languages=3, seed=1).multitext
    changed = ld.corpora.perturb(texts, ["reverse", "reverse-words", "shuffle", "no-vowels"])
    surprisals = ld.compute_surprisals(ld.split(changed), lm="kneser-ney-4", max_replaced=1.0)
    return ld.experiments.perturbation_contrasts(surprisals, clusters=None)


def _fits(n_editions: int, rng: np.random.Generator) -> dict[str, Any]:
    true = rng.normal(0, 0.08, n_editions)
    tables = {}
    for seed, lm in enumerate(MODELS):
        own = true + rng.normal(0, 0.02 * (2 - seed), n_editions)
        made = ld.simulate(400, n_editions, difficulties=own, seed=seed)
        tables[lm] = ld.Surprisals(bits=made.surprisals.bits, lm=lm)
    fits = {lm: ld.fit(table) for lm, table in tables.items()}
    fit, surprisals = fits[MODELS[-1]], tables[MODELS[-1]]
    draws = fit.effects.draws(1000, seed=0).to_numpy().reshape(4, 250, n_editions)
    array = xr.DataArray(draws, dims=("chain", "draw", "edition"), coords={"edition": list(fit.difficulty.index)})
    posterior = xr.Dataset({"difficulty": array}, attrs={"lm": fit.lm, "model": fit.model})
    origin = pd.Series(rng.choice(surprisals.editions[:4], len(surprisals.intents)), index=surprisals.intents)
    differences = ld.translationese(surprisals, origin, min_native=50)
    outcomes = ld.simulate_outcomes(300, n_editions, seed=1).outcomes
    return {
        "fits": fits,
        "fit": fit,
        "surprisals": surprisals,
        "truth": made.difficulty,
        "language_models": ld.table(
            {name: ld.fit(table, clusters=None) for name, table in tables.items()}, paired=True
        ),
        "by_family": ld.table([ld.fit(table) for table in ld.datasets.ntrex10()], by="family"),
        "plan": ld.plan(5, noise=0.17),
        "residuals": standardized_residuals(fit, surprisals),
        "idata": SimpleNamespace(posterior=posterior),
        "curve": _curve(surprisals, rng),
        "comparison_of_models": ld.cross_validate(surprisals.sel(intents=surprisals.intents[:120]), n_folds=4, seed=0),
        "differences": differences,
        "balanced": SimpleNamespace(results={"": differences}, to_frame=differences.to_frame),
        "by_model": _by_model(),
        "abilities": ld.fit_outcomes(outcomes),
    }


def _less_data(n_editions: int) -> dict[str, Any]:
    whole = ld.simulate(400, n_editions, seed=0).surprisals
    return {
        "stability": intent_stability(whole, n_repeats=8, seed=0, progress=False),
        "bias": deletion_bias(whole, n_repeats=4, seed=0, progress=False),
    }


def _curve(surprisals: ld.Surprisals, rng: np.random.Generator) -> Any:
    """Return the difficulties of editions of which each gains by more data at its own rate."""
    gain = rng.uniform(0, 0.4, surprisals.bits.shape[1])
    sizes = (300, 1000, 3000, 10_000)
    bits = {n: surprisals.bits * (1 + gain * (300 / n) ** 0.3) for n in sizes}
    return fit_curve({n: ld.Surprisals(bits=table, lm=surprisals.lm) for n, table in bits.items()}, seed=0)


def _by_model() -> SimpleNamespace:
    models = (("length", np.nan), ("kneser-ney-3", 2.4), ("char-tiny", 2.1), ("char-small", 1.7))
    rows = [
        (lm, edition, bits, sign * 0.02 * (3 - (0 if np.isnan(bits) else bits)), 0.008)
        for edition, sign in (("deu", -1), ("eng", 1))
        for lm, bits in models
    ]
    frame = pd.DataFrame(rows, columns=["lm", "edition", "bits_per_character", "difference", "std_error"])
    return SimpleNamespace(to_frame=lambda: frame)


def _training(n_editions: int, rng: np.random.Generator) -> dict[str, Any]:
    names = [f"e{k + 1}" for k in range(n_editions)]
    epochs = np.arange(1, 13)
    logs = [
        pd.DataFrame({"edition": name, "lm": lm, "seed": 0, "epoch": epochs, "dev_bits_per_character": bits})
        for lm, start in (("char-small", 3.0), ("bpe-small", 2.8))
        for name in names
        for bits in [1.3 + rng.uniform(0, 0.9) + start * np.exp(-epochs / 2.5) + 0.004 * epochs]
    ]
    ratios = pd.Index([0.1, 0.2, 0.4, 0.8, 1.6], name="ratio")
    best, height = rng.uniform(-2, 0, n_editions), rng.uniform(8e5, 1.3e6, n_editions)
    bits = height * (1 + 0.03 * (np.log2(ratios.to_numpy())[:, None] / 1.5 - best) ** 2)
    f1 = 0.4 * (1 - np.exp(-epochs / 4))
    kept = epochs <= 10
    history = {"epoch": epochs, "loss": 0.3 + np.exp(-epochs / 2), "mbawo": f1, "epm": 0.7 * f1, "kept": kept}
    return {
        "logs": pd.concat(logs, ignore_index=True),
        "sweep": SimpleNamespace(lm="bpe-small", dev_bits=pd.DataFrame(bits, ratios, names), best_overall=0.4),
        "history": pd.DataFrame(history),
    }


def _treebanks(rng: np.random.Generator) -> dict[str, Any]:
    shares = {"A": 0.1, "B": 0.3, "C": 0.5, "D": 0.7, "E": 0.9}
    trees = {name: [_tree(later, rng) for _ in range(120)] for name, later in shares.items()}
    banks = [Treebank.from_trees(own, name=name) for name, own in trees.items()]
    comparison = ld.compare_treebanks(banks, seed=0, progress=False)
    return {
        "comparison": comparison,
        "changed": perturbation_curve(banks[0], rates=[0, 0.05, 0.1, 0.2, 0.4], seed=0, progress=False),
        "profile": comparison.profiles["C"],
        "measures": measure_treebanks(trees, progress=False),
    }


def _tree(later: float, rng: np.random.Generator) -> Tree:
    """Draw a tree whose words come after their heads with some probability; the root is at one end of each subtree."""
    n = int(rng.integers(4, 14))
    order = rng.permutation(n) if 0.4 < later < 0.6 else np.argsort(rng.random(n) < later, kind="stable")
    heads = [0] * n
    for place, word in enumerate(order[1:], 1):
        heads[word] = int(order[rng.integers(max(0, place - 3), place)]) + 1
    tags = [("NOUN", "VERB", "ADJ", "ADV", "DET")[k] for k in rng.integers(0, 5, n)]
    relations = [("nsubj", "obj", "amod", "advmod", "det")[k] for k in rng.integers(0, 5, n)]
    relations[order[0]] = "root"
    return Tree(tuple("w" * n), tuple(tags), tuple(heads), tuple(relations))


def _parsers(rng: np.random.Generator) -> dict[str, Any]:
    kinds = [("bare relative", ("head", "verb")), ("raised node", ("first", "second")), ("particle", ("verb",))]
    rows = []
    for phenomenon, types in kinds:
        for kind in types:
            for parser, skill in (("parser A", 0.8), ("parser B", 0.6), ("parser C", 0.5)):
                recall = float(np.clip(skill + rng.normal(0, 0.12), 0.05, 0.98))
                rows.append((phenomenon, kind, parser, recall, max(recall - 0.1, 0), min(recall + 0.08, 1)))
    columns = ["phenomenon", "type", "parser", "recall", "low", "high"]
    return {"recall": pd.DataFrame(rows, columns=columns)}


def _discourse(rng: np.random.Generator) -> dict[str, Any]:
    reference, predicted = (
        discourse.parse_discourse(text, format="spans")
        for text in (
            "1 2 N span\n3 4 S elaboration\n1 1 N joint\n2 2 N joint\n3 3 N span\n4 4 S cause",
            "1 2 N span\n3 4 S cause\n1 1 N span\n2 2 S contrast\n3 3 N span\n4 4 S cause",
        )
    )
    relations = [
        (s, r, rng.uniform(0.1, 0.9), n) for s in "AB" for r, n in zip(RELATIONS, (90, 60, 40, 25), strict=True)
    ]
    return {
        "tree": reference,
        "texts": {
            1: "The king spoke,",
            2: "and the people heard.",
            3: "Nobody wrote it down,",
            4: "for all slept.",
        },
        "trees": discourse.compare_trees(reference, predicted),
        "relations": pd.DataFrame(relations, columns=["system", "relation", "recall", "gold"]),
    }


def _parallelism(rng: np.random.Generator) -> dict[str, Any]:
    scores = pd.DataFrame(rng.normal([0.5, 0.47, 0.4, 0.3], 0.05, (12, 4)), columns=["BIO", "BIOE", "BIOJ", "BIOM"])
    spans = parallelism.Parallelism(((0, 4), (5, 9)))
    document = parallelism.make_document("1", WORDS, [spans])
    shared = rng.integers(0, 8, (2, 200))
    return {
        "ranking": parallelism.compare_treatments(scores),
        "transitions": parallelism.tag_transitions([document], parallelism.TaggingScheme("BIOJE", "TD")),
        "pairs": {
            name: pd.DataFrame({"shared": row, "bin": 10 * row // (row + rng.integers(4, 12, 200))})
            for name, row in zip(("psalms", "sermons"), shared, strict=True)
        },
    }
