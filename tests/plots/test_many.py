"""Pictures of 106 editions, with names in several scripts: what is written can be read."""

from functools import partial
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.axis import Axis
from matplotlib.text import Annotation, Text

import langdiff as ld
from langdiff import plots
from langdiff.plots.treebanks import METRICS
from langdiff.tables.rule import Scale

NAMES = ("eng-a-name-of-thirty2-letters{:03d}", "العربية{}", "हिन्दी{}", "中文譯本{}")
WIDEST, HIGHEST = 7.1, 9.6  # inches
LEAST = 6.0  # points
STEADY = {  # with as many words whatever the number of editions
    *("plot_bpe_sweep", "plot_certificate", "plot_deletion_bias", "plot_goodness_of_fit", "plot_languages_per_intent"),
    *("plot_multitext", "plot_pareto_front", "plot_perturbation", "plot_power", "plot_residuals"),
    *("plot_size_correlations", "plot_tag_transitions", "plot_tagger_training", "plot_treebank_profile"),
}


def of_editions(names, rng):
    """Yield pictures of difficulties and of training."""
    count = len(names)
    first = pd.Series(rng.normal(0, 0.1, count), index=names)
    first -= first.mean()
    second = first + rng.normal(0, 0.05, count)
    covariance = pd.DataFrame(np.diag(rng.uniform(0.0003, 0.002, count)), names, names)
    effects = ld.Effects.from_covariance(first, covariance=covariance)
    percent = rng.uniform(0, 30, count)
    share = pd.DataFrame({"intents": 4000, "native": (40 * percent).astype(int), "native_percent": percent}, names)
    words = rng.integers(50_000, 100_000, count)
    sizes = pd.DataFrame({"intents": 4000, "words": words, "characters": 6 * words}, names)
    epochs = np.arange(1, 9)
    logs = [
        pd.DataFrame({"edition": name, "lm": "char", "seed": 0, "epoch": epochs}).assign(
            dev_bits_per_character=1.5 + 0.2 * rng.normal() + 1 / epochs
        )
        for name in names
    ]
    yield "plot_difficulties", lambda: plots.plot_difficulties(effects)
    yield "plot_line_follow", lambda: plots.plot_line_follow({"ngram": first, "bpe": second, "char": first + second})
    yield "plot_two_models", lambda: plots.plot_two_models(first, second)
    yield "plot_ranks", lambda: plots.plot_ranks(effects, seed=0, n_draws=200)
    yield "plot_against_truth", lambda: plots.plot_against_truth({"char": effects}, first)
    yield "plot_native_share", lambda: plots.plot_native_share(share)
    yield "plot_corpus_sizes", lambda: plots.plot_corpus_sizes(sizes)
    yield "plot_learning_curves", lambda: plots.plot_learning_curves(pd.concat(logs))
    abilities = ld.Effects.from_covariance(8 * first, covariance=20 * covariance, scale=Scale(quantity="ability"))
    yield "plot_wright_map", lambda: plots.plot_wright_map(abilities, pd.Series(rng.normal(0, 1, 200)))
    groups = ld.Effects.from_covariance(2 * first, covariance=covariance, scale=Scale(unit="log odds"))
    yield "plot_wright_map", lambda: plots.plot_wright_map(abilities, pd.Series(rng.normal(0, 1, 200)), groups)
    languages = pd.Series([f"{NAMES[0].format(k // 3)}" for k in range(count)], names, name="language")
    yield "plot_by_language", lambda: plots.plot_by_language(first, second, edition_info=languages)
    spread = SimpleNamespace(editions=pd.DataFrame({"language": languages, "difficulty": first}), title="char")
    yield "plot_within_languages", lambda: plots.plot_within_languages(spread)
    draws = rng.normal(first.to_numpy(), 0.02, (4, 50, count))
    array = xr.DataArray(draws, dims=("chain", "draw", "edition"), coords={"edition": names})
    posterior = SimpleNamespace(posterior=xr.Dataset({"difficulty": array}))
    yield "plot_posterior", lambda: plots.plot_posterior(posterior)


def of_corpora(names, rng):
    """Yield pictures of corpora and selections."""
    count = len(names)
    have = rng.random((300, count)) < rng.uniform(0.5, 1, count)
    texts = pd.DataFrame(np.where(have, "a text", None), [f"B{k // 30:02d} {k}" for k in range(300)], names)
    multitext = ld.read_frame(texts)
    yield "plot_presence", lambda: plots.plot_presence(multitext)
    yield "plot_intents_per_edition", lambda: plots.plot_intents_per_edition(multitext)
    fit = pd.DataFrame(rng.normal(0.5, 0.5, (count, 40)), names, [f"{k + 1:02d}" for k in range(40)])
    found = pd.DataFrame({"edition": names[:2], "first_document": "05", "last_document": "07", "kind": "shifted"})
    alignment = SimpleNamespace(fit=fit, passages=found, editions=pd.DataFrame({"worst": 0.0}, names))
    yield "plot_alignment", lambda: plots.plot_alignment(alignment)


def of_results(names, rng):
    """Yield pictures of results with many editions, models or sizes."""
    count = len(names)
    difficulty = pd.DataFrame(rng.normal(0, 0.1, (count, 5)), names, [100, 200, 400, 800, 1600])
    long = difficulty.rename_axis("edition").reset_index().melt("edition", var_name="size", value_name="difficulty")
    bounds = SimpleNamespace(
        lm="char",
        match="intents",
        difficulty=difficulty,
        to_frame=lambda: long.assign(low=long["difficulty"] - 0.05, high=long["difficulty"] + 0.05),
        sizes=list(difficulty.columns),
        correlations=len,
    )
    yield "plot_difficulty_curves", lambda: plots.plot_difficulty_curves(bounds)
    yield "plot_rank_changes", lambda: plots.plot_rank_changes(bounds)
    differences = pd.DataFrame({"row": names, "kind": "edition", "column": "A − B", "df": 30.0, "std_error": 0.02})
    tests = pd.DataFrame({"one": ["A"], "other": ["B"], "column": ["A − B"]})
    table = SimpleNamespace(
        tests=tests, differences=differences.assign(estimate=rng.normal(0, 0.1, count)), warnings=()
    )
    estimates = pd.concat([differences.assign(column=lm, estimate=rng.normal(0, 0.1, count)) for lm in "AB"])
    lines = pd.DataFrame({"row": names, "kind": "edition", "name": names})
    heads = pd.DataFrame({"row": names[0], "kind": "group", "name": f"family of {names[0]}"}, [0])
    forest = SimpleNamespace(
        estimates=estimates,
        lines=pd.concat([heads, lines]),
        differences=table.differences,
        columns=("A", "B"),
        **{"unit": "percent", "highest": "hardest", "of": "edition", "warnings": ()},
    )
    yield "plot_forest", lambda: plots.plot_forest(forest)
    yield "plot_lm_differences", lambda: plots.plot_lm_differences(table)
    info = pd.DataFrame({"kind": "numeric", "unit": "bits"}, ["entropy"])
    predictors = SimpleNamespace(values=pd.DataFrame({"entropy": rng.normal(5, 1, count)}, names), info=info)
    yield "plot_predictor", lambda: plots.plot_predictor(predictors, "entropy")
    char = pd.Series(rng.normal(0, 0.1, count), names, name="char")
    result = ld.correlate(char, predictors.values)
    yield "plot_correlation", lambda: plots.plot_correlation(result, "entropy")
    level = pd.Series(np.resize(["SOV order of words", "SVO order of words", "no dominant order"], count), names)
    grouped = ld.correlate(char, level.rename("81A").to_frame())
    yield "plot_correlation", lambda: plots.plot_correlation(grouped, "81A")
    premium = pd.DataFrame({"byte_premium": rng.uniform(0.7, 3, count)}, names)
    ends = {"low": premium * 0.9, "high": premium * 1.1}
    parity = SimpleNamespace(
        reference=names[0], compared_with=f"their {names[0]}", originals=(names[0],), estimates=premium, **ends
    )
    parity.sorting = "byte_premium"
    yield "plot_parity", lambda: plots.plot_parity(parity)


def of_experiments(names, rng):
    """Yield pictures of experiments."""
    count, kinds = len(names), ["reverse", "shuffle", "no-vowels"]
    corpora = pd.DataFrame({"corpus": ["Bibles", "Europarl", "news"]}, ["a", "b", "c"])
    difficulties = pd.DataFrame(rng.normal(0, 0.1, (count, 3)), names, corpora.index)
    pairs = [("Bibles", "Europarl"), ("Bibles", "news"), ("Europarl", "news")]
    shares = SimpleNamespace(difficulties=difficulties, facets=corpora, n_left_out=0)
    frame = pd.DataFrame({"share": [0.6, 0.4], "low": [0.5, 0.3], "high": [0.7, 0.5]}, ["language", "language:corpus"])
    shares.to_frame = lambda: frame
    shares.correlations = pd.DataFrame(pairs, columns=["one", "other"]).assign(n=count, pearson=0.7, low=0.5, high=0.8)
    for kind in ("shares", "stacked", "ranks", "correlations"):
        yield "plot_shares", partial(plots.plot_shares, shares, kind)
    yield "plot_shares", lambda: plots.plot_shares(dict.fromkeys(names, shares), "stacked")
    sizes = [100, 200, 400]
    rows = [(size, name, rng.normal(0, 0.1), 0.02) for name in names for size in sizes]
    stability = pd.DataFrame(rows, columns=["size", "edition", "difficulty", "sd"])
    yield "plot_intent_stability", lambda: plots.plot_intent_stability(stability)
    rows = [
        (name, kind, percent, percent - 1, percent + 1)
        for name in names
        for kind in kinds
        for percent in rng.uniform(0, 9, 1)
    ]
    costs = pd.DataFrame(rows, columns=["edition", "kind", "percent", "low", "high"])
    contrasts = SimpleNamespace(
        to_frame=lambda: costs,
        by_kind=lambda: costs.pivot(index="kind", columns="edition", values="percent").loc[kinds, names],
        lm="char",
    )
    yield "plot_perturbation_contrasts", lambda: plots.plot_perturbation_contrasts(contrasts)
    counted = pd.DataFrame({"native": 300, "translated": 6000, "difference": rng.normal(0, 0.03, count)}, names)
    counted["high"] = counted["difference"] + 0.02
    fit = SimpleNamespace(effects=SimpleNamespace(converged=True, title="char, model 2"))
    translated = SimpleNamespace(fit=fit, to_frame=lambda: counted)
    yield "plot_translationese", lambda: plots.plot_translationese(translated)
    balanced = SimpleNamespace(results={"": translated}, to_frame=lambda: counted)
    yield "plot_balanced", lambda: plots.plot_balanced(balanced)
    rows = [
        (lm, name, bits, rng.normal(0, 0.03), 0.01)
        for name in names
        for lm, bits in (("length", np.nan), ("kneser-ney-3", 2.4), ("char-tiny", 2.1))
    ]
    columns = ["lm", "edition", "bits_per_character", "difference", "std_error"]
    by_model = pd.DataFrame(rows, columns=columns)
    yield "plot_translationese_by_model", lambda: plots.plot_translationese_by_model(by_model)


def of_treebanks(names, rng):
    """Yield pictures of treebanks."""
    count = len(names)
    maps = dict.fromkeys(
        ("mean", *METRICS),
        pd.DataFrame(rng.uniform(0, 1, (count, count)), names, names).where(~np.eye(count, dtype=bool), 0),
    )
    comparison = SimpleNamespace(divergence=maps, noise=maps["mean"])
    yield "plot_divergences", lambda: plots.plot_divergences(comparison)
    yield "plot_metric_maps", lambda: plots.plot_metric_maps(comparison)
    measured = pd.DataFrame({"dependency_length": rng.uniform(2, 3, count)}, names)
    measured["dependency_length_function"] = measured["dependency_length"] + 0.3
    measures = SimpleNamespace(table=measured, over="types")
    yield "plot_treebank_measures", lambda: plots.plot_treebank_measures(measures)


def of_parsers(names, rng):
    """Yield pictures of parsers, taggers and discourse trees."""
    count = len(names)
    rows = [
        (f"phenomenon {k // 4}", name, parser, rng.uniform(0.2, 0.9)) for k, name in enumerate(names) for parser in "AB"
    ]
    recall = pd.DataFrame(rows, columns=["phenomenon", "type", "parser", "recall"])
    yield "plot_constructions", lambda: plots.plot_constructions(recall)
    by_parser = recall[recall["type"].isin(names[:4]) & (recall["parser"] == "A")]
    many = pd.concat([by_parser.assign(parser=name) for name in names])
    yield "plot_constructions", lambda: plots.plot_constructions(many)
    spans = "\n".join(f"{k} {k} N joint" for k in range(1, count + 1))
    tree = ld.discourse.parse_discourse(spans, format="spans")
    texts = {k + 1: name for k, name in enumerate(names)}
    yield "plot_discourse_tree", lambda: plots.plot_discourse_tree(tree.to_frame(), texts=texts)
    yield "plot_discourse_comparison", lambda: ld.discourse.compare_trees(tree, tree).plot(texts=texts)
    rows = [(system, name, rng.uniform(0, 1), 40) for system in ("A", "B") for name in names]
    relations = pd.DataFrame(rows, columns=["system", "relation", "recall", "gold"])
    yield "plot_discourse_relations", lambda: plots.plot_discourse_relations(relations)
    ranks = pd.DataFrame({"treatment": names, "rank": np.sort(rng.uniform(1, count, count))})
    yield "plot_average_ranks", lambda: plots.plot_average_ranks(ranks, [names[:3]], 2.0)
    rows = [(name, f"tags{k}", "TD", rng.uniform(0.2, 0.6)) for name in names for k in range(5)]
    scores = pd.DataFrame(rows, columns=["model", "tagset", "link", "f1"])
    yield "plot_scheme_scores", lambda: plots.plot_scheme_scores(scores)
    pairs = {name: pd.DataFrame({"bin": rng.integers(0, 10, 50), "shared": rng.integers(0, 4, 50)}) for name in names}
    yield "plot_lexical_overlap", lambda: plots.plot_lexical_overlap(pairs)


def texts_of(artist, renderer):
    """Yield the texts that are drawn."""
    for child in artist.get_children():
        if not child.get_visible():
            continue
        if isinstance(child, Axis):
            labels = [label for tick in child._update_ticks() for label in (tick.label1, tick.label2)]
            yield from (label for label in (*labels, child.label) if label.get_visible() and label.get_text().strip())
        elif isinstance(child, Text):
            hidden = isinstance(child, Annotation) and not child._check_xy(renderer)
            yield from [child] * (bool(child.get_text().strip()) and not hidden)
        else:
            yield from texts_of(child, renderer)


def faults(figure):
    """Return pairs of texts that overlap, texts that are too small, and texts that leave the figure."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    texts = list(dict.fromkeys(texts_of(figure, renderer)))
    boxes = np.array([Text.get_window_extent(text, renderer).extents for text in texts])
    small = [text.get_text() for text in texts if text.get_fontsize() < LEAST]
    edges = figure.bbox.extents
    outside = ((boxes[:, :2] < edges[:2] - 1) | (boxes[:, 2:] > edges[2:] + 1)).any(axis=1)
    shared = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:]) - np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    pairs = np.argwhere(np.triu((shared[..., 0] > 1) & (shared[..., 1] > 1.5), 1))
    overlapping = [(texts[one].get_text(), texts[other].get_text()) for one, other in pairs]
    return overlapping, small, [text.get_text() for text, out in zip(texts, outside, strict=True) if out]


GROUPS = (of_editions, of_corpora, of_results, of_experiments, of_treebanks, of_parsers)


def calls(group, count, kinds):
    """Yield the names of functions with calls that draw so many editions, treebanks, systems or sizes."""
    return group([kinds[k % len(kinds)].format(k) for k in range(count)], np.random.default_rng(0))


@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning", "ignore:Glyph")  # fonts that are not installed
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize(
    ("count", "kinds"), [(6, NAMES), pytest.param(20, NAMES[:1], marks=pytest.mark.slow), (106, NAMES)], ids=str
)
def test_what_is_written_can_be_read(group, count, kinds):
    for name, draw in calls(group, count, kinds):
        draw()
        figure = plt.gcf()
        assert faults(figure) == ([], [], []), name
        width, height = figure.get_size_inches()
        assert (width <= WIDEST, height <= HIGHEST) == (True, True), name
        plt.close(figure)


def test_every_picture_is_among_them():
    drawn = {name for group in GROUPS for name, _ in calls(group, 6, NAMES)}
    assert (drawn & STEADY, drawn | STEADY) == (set(), set(plots.__all__))


@pytest.mark.parametrize(("count", "columns"), [(40, 1), (80, 2), (106, 3)])
def test_each_edition_is_in_one_of_the_columns(count, columns):
    names = [f"e{k}" for k in range(count)]
    estimate = pd.Series(np.linspace(-0.5, 0.5, count), names)
    ld.Effects.from_covariance(estimate, covariance=pd.DataFrame(np.eye(count) * 0.01, names, names)).plot()
    axes = [ax for ax in plt.gcf().axes if ax.get_yticklabels()]
    plt.gcf().canvas.draw()
    shown = [label.get_text().split(" ")[0].strip("\u200e") for ax in axes for label in ax.get_yticklabels()]
    assert len(axes) == columns
    assert sorted(name for name in shown if name) == sorted(names)
    plt.close("all")


def test_faults_are_found():
    ax = plt.subplots()[1]
    ax.text(0.5, 0.5, "one", fontsize=5)
    ax.text(0.5, 0.5, "other")
    ax.text(1.3, 0.5, "outside of the figure")
    assert faults(ax.figure) == ([("one", "other")], ["one"], ["outside of the figure"])
    plt.close(ax.figure)
