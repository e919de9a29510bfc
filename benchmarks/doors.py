"""Null simulators of every door: what intervals cover and how often tests reject where the truth is known.

All simulators are plain NumPy and none is taken from langdiff. Each door is called as users call it, without options
where the default should do. Prints one line a door: what is simulated, units, tables, the figure (with its Monte Carlo
error), the goal, and a verdict.

    OMP_NUM_THREADS=1 python benchmarks/doors.py            # all doors, at most a minute of processor time each
    OMP_NUM_THREADS=1 python benchmarks/doors.py --door parity,curve --tables 200 --seed 3
    OMP_NUM_THREADS=1 python benchmarks/doors.py --markdown # the rows of docs/torture.md
"""

import argparse
import time
import traceback
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.tables.rule import half_width
from langdiff.treebanks.conllu import Tree
from langdiff.treebanks.treebank import Treebank

FEW = "5 documents, log-normal"
COVERAGE, AT_LEAST, FIVE, ONE = (92.0, 98.0), (92.0, 100.0), (0.0, 7.0), (0.0, 2.5)  # goals: intervals; tests at 5, 1 %
D5 = np.array([0.0, 0.05, -0.05, 0.1, -0.1])
VERSES = [1071, 678, 1151, 879, 1007, 433, 437, 257, 149, 155, 104, 95, 89, 47, 113, 83, 46, 25, 303, 108, 105, 61]
VERSES += [105, 13, 14, 25, 404]  # of the books of the New Testament


class Door(NamedTuple):
    """One door: what it is about, what is independent, how many tables by default, goal, and the simulator."""

    about: str
    units: str
    tables: int
    goal: tuple[float, float]
    simulate: Callable[[np.random.Generator], "np.ndarray | list[float]"]  # 1 where it covers (or rejects)


# --- texts and bits --------------------------------------------------------------------------------------------------


def lengths(rng, count, middle=120.0, spread=0.6):
    return np.exp(rng.normal(np.log(middle), spread, count))


def shared_out(total, weights, least=2):
    """Return how many of `total` rows each unit has, at least `least`."""
    counts = np.maximum(least, np.round(total * np.asarray(weights, float) / np.sum(weights)).astype(int))
    while counts.sum() != total:
        counts[np.argmax(counts)] += 1 if counts.sum() < total else -1
    return counts


def labels_of(rng, total, units, spread=0.0):
    return np.repeat(np.arange(units), shared_out(total, np.exp(rng.normal(0, spread, units))))


def books(total):
    return np.repeat(np.arange(27), shared_out(total, VERSES, 1))


def verse_names(labels):
    found, seen = [], {}
    for book in labels:
        k = seen[book] = seen.get(book, -1) + 1
        found.append(f"{40 + book:02d}{k // 25 + 1:03d}{k % 25 + 1:03d}")
    return found


def bits_of(rng, n, d, labels=None, icc=0.1, relative=None, effect=None):
    """Gamma noise (s.d. about .17 at 150 bits, times `relative`); units move each edition by themselves."""
    variance = np.log1p(4.33 / n)[:, None] * (np.ones(len(d)) if relative is None else relative) ** 2
    shape = 1 / np.expm1(variance)
    y = n[:, None] * np.exp(d) * rng.gamma(shape, 1 / shape)
    if labels is not None and icc:
        spread = 0.17 * np.sqrt(icc / (1 - icc))
        y = y * np.exp(rng.normal(-(spread**2) / 2, spread, (labels.max() + 1, len(d))))[labels]
    return y if effect is None else y * np.exp(effect)


def frame(y, names=None):
    return pd.DataFrame(
        y,
        index=names if names is not None else [f"s{i}" for i in range(len(y))],
        columns=[f"e{j}" for j in range(y.shape[1])],
    )


def surprisals(y, names=None, **info):
    table = frame(y, names)
    return ld.Surprisals(bits=table, intent_info=pd.DataFrame(info, index=table.index) if info else None)


def normalized(d):
    return d - np.log(np.mean(np.exp(d)))


def pairs_covered(fit, d):
    """Whether the intervals of all pairs hold the true differences."""
    found = []
    for k in range(len(d)):
        for j in range(k):
            contrast = fit.contrast(f"e{k}", f"e{j}")
            found.append(contrast.low <= d[k] - d[j] <= contrast.high)
    return found


def named(labels, prefix="d"):
    return [f"{prefix}{label}" for label in labels]


def door_fit(rng, documents=12):
    labels = labels_of(rng, 300, documents, 1.0)
    return pairs_covered(ld.fit(surprisals(bits_of(rng, lengths(rng, 300), D5, labels), document=named(labels))), D5)


def door_shuffled(rng):
    labels = labels_of(rng, 450, 30, 0.7)
    place = pd.Series(labels).groupby(labels).cumcount()
    table = frame(
        bits_of(rng, lengths(rng, 450), D5, labels), [f"doc{g}_s{k}" for g, k in zip(labels, place, strict=True)]
    )
    return pairs_covered(ld.fit(table.sample(frac=1, random_state=int(rng.integers(1 << 30)))), D5)


def door_doc_id(rng):
    labels = rng.permutation(labels_of(rng, 450, 30, 0.7))
    return pairs_covered(ld.fit(surprisals(bits_of(rng, lengths(rng, 450), D5, labels), Doc_ID=named(labels))), D5)


def door_copies(rng):
    y = np.tile(bits_of(rng, lengths(rng, 200), D5), (3, 1))
    return pairs_covered(ld.fit(frame(y)), D5)


def door_laplace(rng):
    """Model 2L, whose cells are Laplace but for a tenth of their variance, which verses of a book share."""
    labels, n = books(300), lengths(rng, 300)
    variance = np.log1p(4.33 / n)[:, None]
    noise = np.sqrt(0.1) * rng.normal(size=(27, 5))[labels] + rng.laplace(0, np.sqrt(0.45), (300, 5))
    z = np.log(n)[:, None] + D5 - 0.5 * variance + np.sqrt(variance) * noise
    return pairs_covered(ld.fit(frame(np.exp(z), verse_names(labels)), model="2L"), D5)


def door_noise(rng):
    labels = books(600)
    table = frame(bits_of(rng, lengths(rng, 600), np.zeros(14), labels), verse_names(labels))
    return [float(ld.fit(table, dispersion="common").audit.noise.p_value < 0.01)]


def door_plan(rng):
    y = bits_of(rng, np.full(400, 150.0), D5)  # v = 2ψ′(150/4.33) = .05857: 196 intents for 5 % at power .8
    y[rng.random(y.shape) < 0.4] = np.nan
    table = frame(y)[(~np.isnan(y)).sum(axis=1) > 1]
    row = ld.plan(5, table).to_frame().loc[5.0]
    return [float(row["n_documents_low"] <= 196 <= row["n_documents_high"])]


def door_curve(rng):
    n, relative = lengths(rng, 600), np.array([0.5, 0.7, 1, 1.4, 2.0])
    spread, common = np.sqrt(np.log1p(4.33 / n))[:, None] * relative, rng.normal(size=(600, 5))
    tables, truth = {}, {}
    for size, d in ((100, D5), (1000, D5 / 2)):
        noise = np.sqrt(0.6) * common + np.sqrt(0.4) * rng.normal(size=(600, 5))
        tables[size] = surprisals(n[:, None] * np.exp(d + spread * noise - spread**2 / 2))
        truth[size] = normalized(d)
    found = ld.regression.fit_curve(tables).to_frame().reset_index()
    size = "size" if "size" in found else "train_size"
    hits = []
    for k, d in truth.items():
        rows = found[found[size] == k].set_index("edition").loc[[f"e{j}" for j in range(5)]]
        hits += ((rows["low"].to_numpy() <= d) & (d <= rows["high"].to_numpy())).tolist()
    return hits


def door_paired(rng):
    labels = labels_of(rng, 300, 12, 0.8)
    n, u = lengths(rng, 300), rng.normal(0, 0.06, (12, 5))[labels]
    one, other = D5, D5 + np.array([0.02, -0.02, 0, 0.01, -0.01])
    fits = [
        ld.fit(surprisals(bits_of(rng, n, d, labels, 0.05, effect=u), document=named(labels))) for d in (one, other)
    ]
    rows = ld.table(dict(zip("AB", fits, strict=True)), paired=True).differences
    rows = rows[rows["row"].isin([f"e{j}" for j in range(5)])].set_index("row")
    from scipy.stats import t

    truth = pd.Series(normalized(one) - normalized(other), [f"e{j}" for j in range(5)])
    half = t.ppf(0.975, rows["df"].astype(float)) * rows["std_error"]
    return ((rows["estimate"] - truth[rows.index]).abs() <= half).tolist()


def door_xmi(rng, documents=8):
    labels = labels_of(rng, 160, documents, 1.0)
    alone = rng.gamma(20, 6, 160)
    saved = 40 + rng.normal(0, 6, documents)[labels] + rng.normal(0, 8, 160)
    info = pd.DataFrame({"document": named(labels)}, index=[f"s{i}" for i in range(160)])

    def make(y):
        return ld.Surprisals(bits=pd.DataFrame({"e0": y}, index=info.index), intent_info=info)

    row = ld.xmi(make(alone + 60), make(alone + 60 - saved)).to_frame().iloc[0]
    return [float(row["low"] <= 40 <= row["high"])]


def door_perturbations(rng):
    labels = np.repeat(np.arange(5), 20)
    base, change = lengths(rng, 100), 0.1 + rng.normal(0, 0.05, 5)[labels] + rng.normal(0, 0.05, 100)
    bits = pd.DataFrame({"eng": base, "eng|reverse": base * np.exp(change)}, index=[f"s{i}" for i in range(100)])
    info = pd.DataFrame({"document": named(labels)}, index=bits.index)
    row = ld.experiments.perturbation_contrasts(ld.Surprisals(bits=bits, intent_info=info)).to_frame().iloc[0]
    return [float(row["low"] <= 100 * np.expm1(0.1) <= row["high"])]


def _parity(rng, labels, total):
    y = bits_of(rng, lengths(rng, total, 100, 0.5), D5, labels, 0.2)
    texts = frame(np.maximum(1, np.round(y)))
    info = pd.DataFrame({"document": named(labels)}, index=texts.index)
    bits = bits_of(rng, lengths(rng, total, 100, 0.5), D5, labels, 0.2)
    table = ld.Surprisals(bits=frame(bits), bytes=texts, characters=texts, intent_info=info)
    found = ld.measure_parity(table)
    low, high = (getattr(found, end)["byte_premium"].to_numpy() for end in ("low", "high"))
    truth = np.exp(D5 - D5.mean())
    return ((low <= truth) & (truth <= high)).tolist()


def door_parity(rng):
    return _parity(rng, books(400), 400)


def door_parity_few(rng, documents=8):
    return _parity(rng, labels_of(rng, 160, documents, 1.0), 160)


def door_gini(rng):
    labels, rates = labels_of(rng, 100, 10, 0.5), np.array([[1, 1.4, 2.2, 3.0], [1, 1.2, 1.5, 2.0]])
    size = lengths(rng, 100, 30, 0.5)
    own = rng.normal(0, 0.1, (labels.max() + 1, 4))[labels]  # of a translation of a document, in both tokenizers
    old, new = (frame(rng.poisson(size[:, None] * np.exp(own) * rate) + 1.0) for rate in rates)
    info = pd.DataFrame({"document": named(labels)}, index=old.index)
    found = ld.measure_parity(old, tokenizers={"new": new}, clusters=info["document"])
    contrast = found.gini().contrast("token_premium_new", "token_premium")
    t = rates * size.mean() * np.exp(0.005) + 1
    gini = np.abs(t[:, :, None] - t[:, None]).sum(axis=(1, 2)) / (8 * t.sum(axis=1))
    return [float(contrast.low <= gini[1] - gini[0] <= contrast.high)]


def door_totals(rng):
    labels = labels_of(rng, 240, 8, 1.0)
    table = surprisals(bits_of(rng, lengths(rng, 240, 100, 0.5), D5, labels, 0.2), document=named(labels))
    contrast = ld.regression.compare_totals(table, "e3", "e4")
    return [float(contrast.low <= 0.2 <= contrast.high)]


def door_translationese(rng):
    labels = np.repeat(np.arange(24), 20)
    origin = np.array(["aa", "bb", "cc"])[labels % 3]
    effect = np.where(origin[:, None] == np.array(["aa", "bb", "cc"]), -0.03, 0.0)
    y = bits_of(rng, lengths(rng, 480), np.array([0, 0.05, -0.05]), labels, 0.1, effect=effect)
    names = [f"d{g}_s{i % 20 + 1}" for i, g in enumerate(labels)]
    table = pd.DataFrame(y, index=names, columns=["aa", "bb", "cc"])
    found = ld.translationese(ld.Surprisals(bits=table), pd.Series(origin, table.index), min_native=100).to_frame()
    return ((found["low"] <= -0.03) & (found["high"] >= -0.03)).tolist()


_HELD = {}


def door_held_out(rng):
    """Read the ± of a held-out likelihood as readers do: by the interval of the result, else two errors."""
    if not _HELD:
        own = np.random.default_rng(5)
        _HELD["fit"] = ld.fit(frame(bits_of(own, lengths(own, 300), D5)), clusters=None)
        labels = np.repeat(np.arange(1000), 10)
        large = _documents(own, labels)
        _HELD["truth"] = ld.held_out_log_likelihood(_HELD["fit"], large, clusters=None).per_cell
    labels = labels_of(rng, 80, 6, 0.8)
    found = ld.held_out_log_likelihood(_HELD["fit"], _documents(rng, labels))
    low = getattr(found, "low", found.per_cell - 1.959964 * found.std_error)
    high = getattr(found, "high", found.per_cell + 1.959964 * found.std_error)
    return [float(low <= _HELD["truth"] <= high)]


def _documents(rng, labels):
    noisy = np.exp(rng.normal(0, 0.15, labels.max() + 1))[labels]  # documents that are harder to predict
    n = lengths(rng, len(labels))
    y = n[:, None] * np.exp(
        D5 + rng.normal(size=(len(labels), 5)) * np.sqrt(np.log1p(4.33 / n))[:, None] * noisy[:, None]
    )
    return surprisals(y, document=named(labels))


def door_stack_test(rng):
    labels, n = np.repeat(np.arange(12), 15), lengths(rng, 180)
    u = rng.normal(0, 0.05, (12, 6))[labels]
    tables = {
        name: surprisals(bits_of(rng, n, np.zeros(6), labels, 0.0, effect=u), document=named(labels)) for name in "AB"
    }
    p = ld.fit(tables).two_way.test().loc["languages", "p"]
    return [np.nan if pd.isna(p) else float(p < 0.05)]


def door_order(rng):
    """Return 1 where adjusted p-values hang on the order or the names of editions."""
    labels = labels_of(rng, 120, 10, 0.5)
    y = bits_of(rng, lengths(rng, 120), D5, labels)
    table = surprisals(y, document=named(labels))
    swap = rng.permutation(5)
    other = ld.Surprisals(bits=table.bits.iloc[:, swap], intent_info=table.intent_info)
    p, q = (ld.fit(each).pairs().frame["p_adjusted"] for each in (table, other))
    one, two = ({frozenset(key): value for key, value in series.items()} for series in (p, q))
    return [float(max(abs(one[key] - two[key]) for key in one) > 1e-9)]


# --- answers ---------------------------------------------------------------------------------------------------------


def answers(rng, items, passages, column, languages, spread=0.7):
    labels, systems = np.repeat(np.arange(passages), items // passages), np.array([0.0, 0.5, 1.0])
    eta = (
        systems[None, None]
        - languages[None, :, None]
        - 1.2 * rng.normal(size=(items, 1, 1))
        - (
            0.6 * rng.normal(size=(items, len(languages)))
            + spread * rng.normal(size=(passages, len(languages)))[labels]
        )[:, :, None]
    )
    right = (rng.random(eta.shape) < 1 / (1 + np.exp(-eta))).astype(float)
    names = [f"l{k}@s{m}" for k in range(len(languages)) for m in range(3)]
    wide = pd.DataFrame(right.reshape(items, -1), index=[f"q{i}" for i in range(items)], columns=names)
    columns = pd.DataFrame([name.split("@") for name in names], index=names, columns=["language", "system"])
    info = pd.DataFrame({column: named(labels, "p")}, index=wide.index)
    return ld.Outcomes(successes=wide, items=info, columns=columns)


def _answers_covered(rng, column, passages, items):
    truth = np.linspace(-0.5, 0.5, 5)
    fit = ld.fit_outcomes(answers(rng, items, passages, column, truth))
    effects = fit.two_way.effects("languages")
    hits = []
    for k in range(5):
        for j in range(k):
            contrast = effects.contrast(f"l{k}", f"l{j}")
            hits.append(contrast.low <= truth[k] - truth[j] <= contrast.high)
    return hits


def door_outcomes(rng):
    return _answers_covered(rng, "passage", 10, 150)


def door_outcomes_book(rng):
    return _answers_covered(rng, "book", 20, 200)


def door_outcomes_talk(rng):
    return _answers_covered(rng, "talk", 20, 200)


def door_outcomes_test(rng):
    p = ld.fit_outcomes(answers(rng, 150, 10, "passage", np.zeros(6))).two_way.test().loc["languages", "p"]
    return [np.nan if pd.isna(p) else float(p < 0.05)]


def door_outcomes_interaction(rng):
    p = (
        ld.fit_outcomes(answers(rng, 160, 20, "passage", np.linspace(-0.4, 0.4, 4)))
        .two_way.test()
        .loc["interaction", "p"]
    )
    return [np.nan if pd.isna(p) else float(p < 0.05)]


EASE = {"en": 0.9, "de": 0.5, "fr": 0.3, "fi": -0.3, "ru": -0.4, "tr": -1.0}
ABLE = {"A": 0.3, "B": -0.4, "C": 0.9}


@cache
def _guessing(drop, seed):
    """Return the fit of 120 items at chance 1/4 where B is `drop` lower in ru and tr, and the true levels."""
    rng = np.random.default_rng(seed)
    level = pd.DataFrame({name: {of: a + ease for of, ease in EASE.items()} for name, a in ABLE.items()})
    level.loc[["ru", "tr"], "B"] -= drop
    eta = level.to_numpy() + 0.85 * rng.normal(size=(120, 1, 1))
    right = rng.random(eta.shape) < 0.25 + 0.75 / (1 + np.exp(-eta))
    columns = pd.DataFrame([(of, name) for of in EASE for name in ABLE], columns=["language", "system"])
    columns.index = columns["language"] + "@" + columns["system"]
    wide = pd.DataFrame(right.reshape(120, -1).astype(float), [f"i{i}" for i in range(120)], columns.index)
    return ld.fit_outcomes(ld.Outcomes(successes=wide, columns=columns), chance=0.25), level


def door_at_chance(rng, what, drop=1.5):
    fit, level = _guessing(drop, int(rng.integers(2**32)))
    low = fit.guessing[fit.guessing["at_chance"]]
    systems = {name.split("@")[1] for name in low.index}
    if what == "joint":
        return [float(fit.profiles.loc["interaction", "p"] < 0.05)]
    if what == "profile":
        return [float(fit.profiles.loc["B", "p"] < 0.05)]
    if what == "bound":
        apart = level["B"].mean() - level[["A", "C"]].to_numpy().mean()
        return [float(fit.bounds["B"] >= apart)] if systems == {"B"} else [np.nan]
    if what == "cells":  # interactions of all columns at chance, beside systems and languages that have none
        there = [of for of in EASE if not any(name.startswith(f"{of}@") for name in low.index)]
        others = [name for name in ABLE if name not in systems]
        hits = []
        for column, least in low["interaction_low"].dropna().items():
            language, name = column.split("@")
            own = level.loc[language, name] - level.loc[language, others].mean() - level.loc[there, name].mean()
            hits.append(-least >= own + level.loc[there, others].to_numpy().mean())
        return [float(all(hits))] if len(hits) > 1 else [np.nan]
    hits = []
    for name in {"A", "C"} - systems:
        effects, true = fit.two_way.effects(name), level[name].mean() - level[name]
        half = half_width(effects.std_error, np.diag(effects.degrees_of_freedom))
        hits += [abs(effects.estimate - true[effects.estimate.index]) <= half]
    return np.concatenate(hits) if hits else [np.nan]


def _scored(kind, eta, rng):
    """Return scores, ratings or counts of cells with some level (log odds, or logarithms of rates)."""
    if kind == "normal":
        p = 1 / (1 + np.exp(-eta))
        return rng.beta(8 * p, 8 * (1 - p))
    if kind == "poisson":
        return rng.poisson(np.exp(eta)).astype(float)
    noise = rng.logistic(size=eta.shape)
    return 1.0 + sum((eta + noise > cut).astype(float) for cut in (-1.5, -0.5, 0.5, 1.5))


def door_scores(rng, kind="normal", items=200, documents=0, missing=0.0):
    """Two languages × three systems; truths of scores are those of 4,000 items without noise of columns."""
    languages, systems = np.array([0.0, -0.4]), np.array([-0.5, 0.0, 0.5])
    level = (languages[:, None] + systems).ravel()
    level[-1] += 0.3  # an interaction
    spread = {"normal": 1.0, "ordinal": 1.2, "poisson": 0.8}[kind]
    translations = {"normal": 0.4, "ordinal": 0.0, "poisson": 0.3}[kind]
    eta = level + spread * rng.normal(size=(items, 1)) + translations * rng.normal(size=(items, 6))
    labels = np.arange(items) % max(documents, 1)
    if documents:
        eta = eta + 0.4 * rng.normal(size=(documents, 6))[labels]
    truth = level
    if kind == "normal":
        z, w = np.polynomial.hermite_e.hermegauss(40)
        sd = np.sqrt(spread**2 + translations**2 + (0.16 if documents else 0))
        truth = (w / w.sum()) @ (1 / (1 + np.exp(-(level + sd * z[:, None]))))
    y = _scored(kind, eta + (0.5 if kind == "poisson" else 0), rng)
    y[rng.random(y.shape) < missing] = np.nan
    names = [f"{a}@{b}" for a in ("l0", "l1") for b in ("s0", "s1", "s2")]
    wide = pd.DataFrame(y, [f"q{i}" for i in range(items)], names)
    columns = pd.DataFrame([name.split("@") for name in names], names, ["language", "system"])
    info = pd.DataFrame({"document": named(labels)}, wide.index) if documents else pd.DataFrame(index=wide.index)
    kept = wide.notna().any(axis=1)
    table = ld.Outcomes(scores=wide[kept], items=info[kept], columns=columns)
    two_way = ld.fit_outcomes(table, model=kind).two_way
    true = truth.reshape(2, 3) * (-1 if kind == "ordinal" else 1)  # of ordinal ones levels are difficulties
    pairs = [
        (two_way.languages.contrast("l1", "l0"), true[1].mean() - true[0].mean()),
        (two_way.systems.contrast("s2", "s0"), (true[:, 2] - true[:, 0]).mean() * (-1 if kind == "ordinal" else 1)),
        (two_way.contrast(["l1", "l0"], ["s2", "s0"]), true[1, 2] - true[0, 2] - true[1, 0] + true[0, 0]),
    ]
    return [contrast.low <= value <= contrast.high for contrast, value in pairs]


def door_runs(rng):
    """Two equal runs whose passages are gained or lost together."""
    labels = labels_of(rng, 120, 30, 0.5)
    right = rng.random((120, 2)) < 1 / (1 + np.exp(-rng.normal(0, 1, (30, 2))[labels]))
    info = pd.DataFrame({"passage": named(labels)}, index=[f"s{i}" for i in range(120)])
    runs = [ld.Outcomes(successes=pd.DataFrame({"m": run.astype(float)}, info.index), items=info) for run in right.T]
    return [float(ld.compare_runs(*runs).to_frame()["p"].iloc[0] < 0.05)]


def door_abilities(rng):
    """Two systems on 5 documents; clusters named."""
    ability, labels = np.array([-0.5, 0.0, 0.5]), np.repeat(np.arange(5), 40)
    eta = (ability + rng.normal(0, 0.4, (5, 3)))[labels] - rng.normal(size=(200, 1))
    right = (rng.random(eta.shape) < 1 / (1 + np.exp(-eta))).astype(float)
    wide = pd.DataFrame(right, index=[f"i{i}" for i in range(200)], columns=list("abc"))
    info = pd.DataFrame({"document": named(labels)}, index=wide.index)
    contrast = ld.fit_outcomes(ld.Outcomes(successes=wide, items=info), clusters="document").abilities.contrast(
        "c", "a"
    )
    return [float(contrast.low <= 1.0 <= contrast.high)]


# --- trees -----------------------------------------------------------------------------------------------------------


def chain(rng, edus, right):
    """Return a right-branching tree whose relations are right with some probability."""
    nodes = [(1, edus, "Root", "---")]
    for first in range(1, edus):
        relation = "cause" if rng.random() < right else "contrast"
        nodes += [(first, first, "Nucleus", "span"), (first + 1, edus, "Satellite", relation)]
    return ld.discourse.DiscourseTree(nodes=nodes)


def door_discourse(rng, documents=8):
    sizes = np.maximum(3, np.exp(rng.normal(2.7, 0.8, documents)).astype(int))
    shared = 0.5 + rng.normal(0, 0.5, documents)

    def logistic(x):
        return 1 / (1 + np.exp(-x))

    gold = {f"d{k}": chain(rng, n, 1.0) for k, n in enumerate(sizes)}
    systems = {
        name: {f"d{k}": chain(rng, n, logistic(shared[k] + rng.normal(0, 0.6))) for k, n in enumerate(sizes)}
        for name in "AB"
    }
    found = ld.discourse.evaluate_discourse(gold, systems, procedures=["parseval"])
    return [float(found.compare(metric="R").frame["p"].iloc[0] < 0.05)]


_TRUTH = {}


def trees(rng, near, documents=25, sentences=250):
    """Trees whose words have nearer or farther heads, and more or fewer nouns, by document."""
    found = []
    for count in shared_out(sentences, np.exp(rng.normal(0, 0.5, documents))):
        p, noun = 1 / (1 + np.exp(-rng.normal([near, 0.2], 0.4)))
        for k in range(count):
            n = int(rng.integers(3, 13))
            heads = np.maximum(np.arange(n) + 1 - rng.geometric(p, n), 1)
            upos = np.where(rng.random(n) < noun, "NOUN", "VERB").tolist()
            forms = [f"w{word}" for word in np.minimum(rng.zipf(1.5, n), 300)]
            relations = rng.choice(["nsubj", "obj", "obl"], n, p=[noun / 2, 0.5, 0.5 - noun / 2]).tolist()
            heads[0], relations[0] = 0, "root"
            if rng.random() < noun:  # heads come after
                heads = np.where(heads > 0, n + 1 - heads, 0)[::-1]
                relations.reverse()
            found.append(Tree(tuple(forms), tuple(upos), tuple(heads.tolist()), tuple(relations), opens=k == 0))
    return found


def measured(rng):
    return ld.measure_treebanks({"a": trees(rng, 0.5)}, progress=False).to_frame().iloc[0]


def compared(rng, noise=True):
    banks = [Treebank.from_trees(trees(rng, near), name=name) for name, near in (("a", 0.3), ("b", 0.9))]
    found = ld.compare_treebanks(banks, noise=noise, n_repeats=1, progress=False).to_frame()
    return found[(found["reference"] == "a") & (found["compared"] == "b")].set_index("metric")


def door_measures(rng):
    """Entropies hang on the size, so that the truth is the mean of other tables of this size."""
    names = ["hpe_mean", "dependency_length", "head_final"]
    if "measures" not in _TRUTH:
        _TRUTH["measures"] = np.mean(
            [measured(np.random.default_rng([9, k]))[names].to_numpy(float) for k in range(300)], 0
        )
    row = measured(rng)
    return [row[f"{n}_low"] <= t <= row[f"{n}_high"] for n, t in zip(names, _TRUTH["measures"], strict=True)]


def door_divergences(rng):
    if "divergences" not in _TRUTH:
        others = [compared(np.random.default_rng([9, k]), noise=False)["divergence"] for k in range(300)]
        _TRUTH["divergences"] = pd.concat(others, axis=1).mean(axis=1)
    rows = compared(rng)
    return ((rows["low"] <= _TRUTH["divergences"]) & (_TRUTH["divergences"] <= rows["high"])).tolist()


def door_attachment(rng, documents=12):
    """Two equal parsers on documents of unequal length; document × parser effects."""
    labels, rows = labels_of(rng, 180, documents, 1.0), []
    words = rng.integers(5, 40, 180)
    for parser in "AB":
        right = 1 / (1 + np.exp(-(1.5 + rng.normal(0, 0.4, documents))))[labels]
        hits = rng.binomial(words, right)
        rows.append(
            pd.DataFrame(
                {
                    "parser": parser,
                    "sentence": [f"s{i}" for i in range(180)],
                    "document": labels,
                    "length": words,
                    "gold": words,
                    "predicted": words,
                    "aligned": words,
                    "uas": hits,
                    "las": hits,
                    "clas": hits,
                    "mlas": hits,
                    "gold_content": words,
                    "predicted_content": words,
                }
            )
        )
    none = pd.DataFrame(columns=["parser", "relation", "gold", "predicted", "uas", "las"])
    scores = ld.constructions.AttachmentScores(
        name="x",
        counts=pd.concat(rows, ignore_index=True),
        relations=none,
        constructions=none,
        left_out={"A": (), "B": ()},
        signature="x",
    )
    return [float(scores.compare("las").frame["p"].iloc[0] < 0.05)]


def door_recall(rng, documents=100):
    """Score one parser on 400 targets in 100 sentences; those of a document (or sentence) are right together."""
    sizes = rng.integers(1, 8, 100)
    ability = 1 / (1 + np.exp(-(1.4 + rng.normal(0, 1.5, documents))))
    own = labels_of(rng, 100, documents, 0.3) if documents < 100 else np.arange(100)
    truth = _mean_logistic(1.4, 1.5)
    item = np.repeat(np.arange(100), sizes)
    right = rng.random(len(item)) < ability[own[item]]
    judged = pd.DataFrame(
        {
            "parser": "A",
            "target": np.arange(len(item)),
            "item": named(item, "s"),
            "document": named(own[item]),
            "phenomenon": "rnr",
            "type": "ARG2",
            "polarity": "positive",
            "distance": 3.0,
            "outcome": np.where(right, "found", "not found"),
            "correct": right,
        }
    )
    coverage = pd.DataFrame(
        {"parser": ["A"], "treebank": ["x"], "items": [100], "no_parse": [0], "empty": [0], "by_text": [0]}
    )
    scores = ld.constructions.ConstructionScores(
        name="x", origin="x", judgements=judged, coverage=coverage, left_out=(), signature="x"
    )
    row = scores.to_frame().iloc[0]
    return [float(row["low"] <= truth <= row["high"])]


def _mean_logistic(mean, spread):
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(weights @ (1 / (1 + np.exp(-(mean + spread * nodes)))) / weights.sum())


def door_agreement(rng):
    """F of two annotators over 10 documents: the second finds each parallelism of the first by document."""
    parallel, make = ld.parallelism.Parallelism, ld.parallelism.make_document
    one, other, logit = {}, {}, rng.normal(0.8, 1.0, 10)
    counts = rng.integers(4, 12, 10)
    for k in range(10):
        tokens = [f"w{i}" for i in range(int(counts[k]) * 8)]
        spans = [parallel([(8 * i, 8 * i + 3), (8 * i + 4, 8 * i + 7)]) for i in range(counts[k])]
        kept = [span for span in spans if rng.random() < 1 / (1 + np.exp(-logit[k]))]
        one[f"d{k}"], other[f"d{k}"] = make(f"d{k}", tokens, spans), make(f"d{k}", tokens, kept)
    found = ld.parallelism.annotator_agreement(one, other).to_frame().set_index("metric").loc["EPM"]
    recall = _mean_logistic(0.8, 1.0)
    return [float(found["low"] <= 2 * recall / (1 + recall) <= found["high"])]


DOORS = {
    "fit": Door("fit: column document", "12 documents, log-normal", 60, COVERAGE, door_fit),
    "shuffled": Door("fit: names doc3_s12, rows shuffled", "30 documents", 40, COVERAGE, door_shuffled),
    "doc_id": Door("fit: column Doc_ID", "30 documents", 40, COVERAGE, door_doc_id),
    "copies": Door("fit: every intent three times, apart", "200 intents", 40, COVERAGE, door_copies),
    "laplace": Door("fit: Model 2L, a tenth shared", "27 books", 40, (93.0, 98.0), door_laplace),
    "noise": Door("fit: test of equal noise at 1 %, 14 editions", "27 books", 80, ONE, door_noise),
    "plan": Door("plan: pilot with 40 % missing", "400 intents", 40, AT_LEAST, door_plan),
    "curve": Door("fit_curve: noise of editions .5 to 2", "600 intents", 25, COVERAGE, door_curve),
    "paired": Door("table: paired differences of two fits", "12 documents, log-normal", 40, COVERAGE, door_paired),
    "order": Door("pairs: p_adjusted by the order of editions", "10 documents", 20, (0.0, 0.0), door_order),
    "stack_test": Door("two_way.test of bits: languages, at 5 %", "12 documents", 60, FIVE, door_stack_test),
    "xmi": Door("xmi", "8 documents, log-normal", 1500, COVERAGE, door_xmi),
    "perturbations": Door("perturbation_contrasts", "5 documents", 400, COVERAGE, door_perturbations),
    "parity": Door("measure_parity: byte premium", "27 books", 120, COVERAGE, door_parity),
    "parity_few": Door("measure_parity: byte premium", "8 documents, log-normal", 80, COVERAGE, door_parity_few),
    "gini": Door("measure_parity: Gini of two tokenizers", "10 documents", 400, COVERAGE, door_gini),
    "totals": Door("compare_totals", "8 documents, log-normal", 400, COVERAGE, door_totals),
    "translationese": Door("translationese", "24 documents", 25, COVERAGE, door_translationese),
    "held_out": Door("held-out likelihood per cell", "6 documents, log-normal", 400, COVERAGE, door_held_out),
    "outcomes": Door("fit_outcomes: pairs of languages", "10 passages", 120, COVERAGE, door_outcomes),
    "outcomes_book": Door("fit_outcomes: column book", "20 books", 40, COVERAGE, door_outcomes_book),
    "outcomes_talk": Door("fit_outcomes: column talk", "20 talks", 40, COVERAGE, door_outcomes_talk),
    "outcomes_test": Door("two_way.test of answers: languages, at 5 %", "10 passages", 60, FIVE, door_outcomes_test),
    "interaction": Door(
        "two_way.test of answers: interaction, at 5 %", "20 passages", 240, FIVE, door_outcomes_interaction
    ),
    "chance": Door("chance: languages of A and C", "120 items", 100, COVERAGE, partial(door_at_chance, what="levels")),
    "chance_joint": Door(
        "chance: interaction, at 5 %", "120 items", 100, FIVE, partial(door_at_chance, what="joint", drop=0.0)
    ),
    "chance_power": Door(
        "chance: interaction, found", "120 items", 100, (55.0, 100.0), partial(door_at_chance, what="joint")
    ),
    "chance_profile": Door(
        "chance: profile of B, found", "120 items", 100, (70.0, 100.0), partial(door_at_chance, what="profile")
    ),
    "chance_bound": Door(
        "chance: bound of B's mean", "120 items", 100, AT_LEAST, partial(door_at_chance, what="bound")
    ),
    "chance_cells": Door(
        "chance: bounds of cells, together", "120 items", 100, AT_LEAST, partial(door_at_chance, what="cells", drop=2.0)
    ),
    "abilities": Door("fit_outcomes: contrast of abilities", "5 documents", 1000, COVERAGE, door_abilities),
    "scores": Door("fit_outcomes: scores, 20 % missing", "200 items", 500, COVERAGE, partial(door_scores, missing=0.2)),
    "scores_few": Door("fit_outcomes: scores", "20 documents", 500, COVERAGE, partial(door_scores, documents=20)),
    "ratings": Door("fit_outcomes: ratings", "200 items", 150, COVERAGE, partial(door_scores, kind="ordinal")),
    "counts": Door("fit_outcomes: counts", "200 items", 500, COVERAGE, partial(door_scores, kind="poisson")),
    "runs": Door("compare_runs: equal runs, at 5 %", "30 passages", 400, FIVE, door_runs),
    "discourse": Door("discourse compare, micro, at 5 %", "8 documents", 900, FIVE, door_discourse),
    "discourse_16": Door(
        "discourse compare, micro, at 5 %", "16 documents", 600, FIVE, partial(door_discourse, documents=16)
    ),
    "attachment": Door("attachment compare, LAS, at 5 %", "12 documents, log-normal", 800, FIVE, door_attachment),
    "recall": Door("constructions: recall", "100 sentences", 400, COVERAGE, door_recall),
    "five_recall": Door("constructions: recall", "5 documents", 400, COVERAGE, partial(door_recall, documents=5)),
    "five_fit": Door("fit", FEW, 400, COVERAGE, partial(door_fit, documents=5)),
    "five_xmi": Door("xmi", FEW, 1500, COVERAGE, partial(door_xmi, documents=5)),
    "five_parity": Door("measure_parity: byte premium", FEW, 400, COVERAGE, partial(door_parity_few, documents=5)),
    "five_discourse": Door("discourse compare, micro, at 5 %", FEW, 900, FIVE, partial(door_discourse, documents=5)),
    "five_attachment": Door("attachment compare, LAS, at 5 %", FEW, 800, FIVE, partial(door_attachment, documents=5)),
    "measures": Door("measure_treebanks", "25 documents, log-normal", 300, COVERAGE, door_measures),
    "divergences": Door("compare_treebanks", "2 × 25 documents", 100, COVERAGE, door_divergences),
    "agreement": Door("parallelism: F of annotators", "10 documents", 300, COVERAGE, door_agreement),
}


def run(name: str, door: Door, tables: int, seed: int, *, markdown: bool = False) -> str:
    """Return the line of one door, or its row of a Markdown table."""
    shares, began, failed = [], time.process_time(), ""
    for table in range(tables):
        try:
            shares.append(np.nanmean(np.asarray(door.simulate(np.random.default_rng([seed, table])), dtype=float)))
        except Exception as error:
            failed = failed or f"{type(error).__name__}: {str(error)[:120]}"
    spent = time.process_time() - began
    known = np.array([share for share in shares if not np.isnan(share)])
    head = f"{name:15} {door.about:46} {door.units:25}"
    if not len(known):
        return f"{head} NOT MEASURED: {failed or 'NaN'}"
    mean = 100 * known.mean()
    exact = set(np.unique(known)) <= {0.0, 1.0}
    p = known.mean()
    error = 100 * (
        np.sqrt((p * (1 - p) + 0.25 / len(known)) / len(known)) if exact else known.std(ddof=1) / np.sqrt(len(known))
    )
    low, high = door.goal
    verdict = "holds"
    if mean + 2 * error < low or mean - 2 * error > high:
        verdict = "FAILS"
    elif not low <= mean <= high:
        verdict = "unsure: more tables"
    if high == COVERAGE[1] and mean - 2 * error > high:
        verdict = "too wide"
    lost = f"; {tables - len(known)} without a number ({failed or 'NaN'})" if len(known) < tables else ""
    goal = "no change" if high == 0 else f"{low:g}–{high:g}" if low else f"≤ {high:g}"
    if markdown:
        return f"| {door.about} | {door.units} | {len(known)} | {mean:.1f} ± {error:.1f} | {goal} | {verdict}{lost} |"
    return f"{head} {len(known):4} {mean:5.1f} ± {error:3.1f}  {goal:9} {verdict}  ({spent:.0f} s){lost}"


def main() -> None:
    """Run the doors that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--door", default="all", help="names, separated by commas: " + ", ".join(DOORS))
    parser.add_argument("--tables", type=int, help="tables of each door (default: a minute at most)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", action="store_true", help="print rows of a table in Markdown")
    parser.add_argument("--trace", action="store_true", help="show where a door raises")
    given = parser.parse_args()
    names = list(DOORS) if given.door == "all" else given.door.split(",")
    if unknown := [name for name in names if name not in DOORS]:
        parser.error(f"no door {', '.join(unknown)}; there are {', '.join(DOORS)}")
    warnings.simplefilter("ignore")
    if given.markdown:
        print("| door | units | tables | percent | goal | verdict |\n|---|---|---|---|---|---|")
    else:
        print(f"{'door':15} {'what':46} {'units':25} tables percent  goal      verdict")
    for name in names:
        if given.trace:
            try:
                DOORS[name].simulate(np.random.default_rng([given.seed, 0]))
            except Exception:
                traceback.print_exc()
        tables = given.tables or DOORS[name].tables
        print(run(name, DOORS[name], tables, given.seed, markdown=given.markdown), flush=True)


if __name__ == "__main__":
    main()
