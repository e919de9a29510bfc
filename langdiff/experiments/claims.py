"""Statements of papers, each recomputed from the published figures as far as these allow.

Those of Mielke et al. (2019) are rows of ``mielke2019_claims.csv``, with the kind of statement. Later papers' are
rows of ``later_claims.csv``, whose column ``value`` names what a function of the paper returns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binom, false_discovery_control

from langdiff.datasets import (
    belebele2024,
    byte_premium2024,
    goldfish2024,
    mielke2019,
    tokenization_lengths2023,
    xmi2020,
)
from langdiff.datasets.published_figures import Corpus, Mielke2019, read_shipped
from langdiff.typology.association.correlation import correlation
from langdiff.typology.association.result import Correlations

NAMES: dict[Corpus, str] = {"europarl": "Europarl", "bibles": "Bibles"}
ORDER = ("yes", "nearly", "in part", "no")
COLUMNS = ["claim", "published", "recomputed", "agreement", "note"]
UNAVAILABLE = "cannot be recomputed"
MANY_BIBLES = ["deu", "fra", "eng"]  # the paper looks at translations within these languages (section 4.4)
WEAK, STRONG, SIMILAR = 0.1, 0.8, 0.1  # how "very weak", "strongly" and "similarly" are read, in units of r


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    """Published figures and the tests of them with which claims are compared.

    Attributes
    ----------
    figures : Mielke2019
        The published figures.
    tests : mapping from ``"pearson"`` and ``"spearman"`` to Correlations
        The 32 tests of section 5, adjusted together.
    wals : DataFrame
        Mood's tests over the languages of Table 2.
    categories : DataFrame
        Means of their categories.
    languages : DataFrame
        Predictors of the Bibles' languages without Chinese, whose words spaces do not separate.
    """

    figures: Mielke2019
    tests: Mapping[str, Correlations]
    wals: pd.DataFrame
    categories: pd.DataFrame
    languages: pd.DataFrame

    def row(self, corpus: str, lm: str, predictor: str, test: str) -> pd.Series:
        """Return one of the 32 tests of a kind."""
        return _only(self.tests[test].tests, corpus=corpus, language_model=lm, predictor=predictor)


def _only(frame: pd.DataFrame, **values: str) -> pd.Series:
    """Return the one row that has these values."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame.iloc[0]


def judge(published: str, value: float) -> str:
    """Return a word for whether a figure agrees with a printed one.

    Examples
    --------
    >>> judge(".693", 0.69256), judge(".0009", 0.000976), judge(".486", 0.468), judge("< .001", 0.0026)
    ('yes', 'nearly', 'no', 'no')
    """
    if published[0] in "<>":
        bound = float(published[1:])
        return "yes" if (value > bound) == (published[0] == ">") else "no"
    digits = len(published.partition(".")[2])
    if round(value, digits) == float(published):
        return "yes"
    return "nearly" if abs(value - float(published)) < 10**-digits else "no"


def check_claims(recomputed: Recomputed) -> pd.DataFrame:
    """Return one row per claim: ``claim``, ``where``, ``published``, ``recomputed``, ``agreement``, ``note``."""
    rows = []
    for claim in recomputed.figures.claims.itertuples(index=False):
        text, agreement = KINDS[str(claim.kind)](recomputed, str(claim.published), str(claim.about))
        rows.append((claim.claim, claim.published, text, agreement, claim.note))
    found = pd.DataFrame(rows, columns=COLUMNS)
    found.insert(1, "where", recomputed.figures.claims["where"])
    return found


Verdict = tuple[str, str]


def _figure(column: str) -> Callable[[Recomputed, str, str], Verdict]:
    return lambda recomputed, published, about: _number(published, float(recomputed.row(*about.split())[column]))


def _number(published: str, value: float) -> Verdict:
    return f"{value:.6g}", judge(published, value)


def _both_p(recomputed: Recomputed, published: str, about: str) -> Verdict:
    corpus, lm, predictor = about.split()
    values = {test: float(recomputed.row(corpus, lm, predictor, test)["p"]) for test in recomputed.tests}
    text = ", ".join(f"{test.capitalize()} {value:.2g}" for test, value in values.items())
    return text, max((judge(published, value) for value in values.values()), key=ORDER.index)


def _between(recomputed: Recomputed, published: str, about: str) -> Verdict:
    test, figure = about.split()
    table = recomputed.figures.europarl
    found = correlation(table["word_types"].to_numpy(dtype=float), table["mcc"].to_numpy(dtype=float), test)
    return _number(published, found.estimate if figure == "estimate" else found.p)


def _deviation(recomputed: Recomputed, published: str, about: str) -> Verdict:
    language, lm = about.split()
    difficulty = recomputed.figures.difficulties("bibles")[lm]
    if language != "all":
        difficulty = difficulty[recomputed.figures.bibles["language"] == language]
    return _number(published, float(difficulty.std(ddof=1)))


def _within(recomputed: Recomputed, published: str, lm: str) -> Verdict:
    """Pool the sample variances within languages, weighted by n - 1, and divide by that over all Bibles."""
    difficulty = recomputed.figures.difficulties("bibles")[lm]
    languages = difficulty.groupby(recomputed.figures.bibles["language"])
    weights = languages.count()[MANY_BIBLES] - 1
    within = (languages.var(ddof=1)[MANY_BIBLES] * weights).sum() / weights.sum()
    return _number(published, float(within / difficulty.var(ddof=1)))


def _hardest(recomputed: Recomputed, published: str, about: str) -> Verdict:
    corpus, lm = about.split()
    order = _averages(recomputed, "bibles" if corpus == "bibles" else "europarl")[lm].sort_values(ascending=False)
    if corpus == "bibles":
        order = order[order.index.isin(recomputed.figures.europarl["language"])]
    names = list(order.index)
    first = names[: names.index(published) + 1]
    return ", ".join(first), "yes" if len(first) == 1 else "no"


def _averages(recomputed: Recomputed, corpus: Corpus) -> pd.DataFrame:
    """Return the mean difficulties of every language under both models."""
    table = recomputed.figures.difficulties(corpus)[["bpe", "char"]]
    return table.groupby(recomputed.figures.editions(corpus)["language"]).mean()


def _mood(recomputed: Recomputed, published: str, about: str) -> Verdict:
    feature, lm = about.split()
    return _number(published, float(_only(recomputed.wals, predictor=feature, language_model=lm)["p"]))


def _category(recomputed: Recomputed, published: str, about: str) -> Verdict:
    feature, category, lm = about.split("|")
    row = _only(recomputed.categories, predictor=feature, category=category, language_model=lm)
    mean, _, deviation = published.partition(" (")
    verdicts = [judge(mean, float(row["mean"]))]
    text = f"{row['mean']:.5f}"
    if deviation:
        verdicts.append(judge(deviation.rstrip(")"), float(row["sd"])))
        text += f" ({row['sd']:.4f})"
    return text, max(verdicts, key=ORDER.index)


def _named(recomputed: Recomputed, _: str, about: str) -> Verdict:
    text, holds = NAMED[about](recomputed)
    return text, holds if isinstance(holds, str) else "yes" if holds else "no"


def _not_significant(predictor: str) -> Callable[[Recomputed], tuple[str, bool]]:
    def check(recomputed: Recomputed) -> tuple[str, bool]:
        tests = pd.concat([result.tests for result in recomputed.tests.values()])
        rows = tests[(tests["predictor"] == predictor) & (tests["corpus"] == "europarl")]
        text = f"p from {rows['p'].min():.3g}, adjusted from {rows['p_adjusted'].min():.3g}"
        return text, not rows["significant"].any()

    return check


def _weak(lm: str, predictor: str) -> Callable[[Recomputed], tuple[str, bool]]:
    def check(recomputed: Recomputed) -> tuple[str, bool]:
        r = float(recomputed.row("bibles", lm, predictor, "pearson")["estimate"])
        return f"Pearson r {r:.3f}", abs(r) < WEAK

    return check


def _strongest(recomputed: Recomputed) -> tuple[str, bool]:
    texts, holds = [], True
    for test, result in recomputed.tests.items():
        rows = result.tests.sort_values("estimate", ascending=False)
        best, second = rows.iloc[0], rows.iloc[1]
        holds &= (best["predictor"], best["corpus"], best["language_model"]) == ("word_types", "bibles", "bpe")
        texts.append(f"{test} {best['estimate']:.3f}, next {second['predictor']} {second['estimate']:.3f}")
    return "; ".join(texts), holds


def _similar(recomputed: Recomputed) -> tuple[str, bool]:
    ratio, types = (
        [float(recomputed.row("bibles", "bpe", name, test)["estimate"]) for test in recomputed.tests]
        for name in ("type_token_ratio", "word_types")
    )
    text = f"Pearson {ratio[0]:.3f} to {types[0]:.3f}, Spearman {ratio[1]:.3f} to {types[1]:.3f}"
    return text, all(abs(a - b) < SIMILAR for a, b in zip(ratio, types, strict=True))


def _entropy(recomputed: Recomputed) -> tuple[str, bool]:
    entropy, types = (recomputed.languages[name].to_numpy(dtype=float) for name in ("unigram_entropy", "word_types"))
    r = correlation(entropy, types, "pearson").estimate
    return f"{r:.6g}", r > STRONG


def _spread(recomputed: Recomputed) -> tuple[str, str]:
    texts, higher = [], []
    for corpus, name in NAMES.items():
        sd = recomputed.figures.difficulties(corpus).std(ddof=1)
        texts.append(f"{name} {sd['char']:.3f} against {sd['bpe']:.3f}")
        higher.append(bool(sd["char"] > sd["bpe"]))
    return ", ".join(texts), "yes" if all(higher) else "in part" if any(higher) else "no"


def _merges(recomputed: Recomputed) -> tuple[str, bool]:
    table = recomputed.figures.difficulties("europarl")
    r = correlation(table["bpe"].to_numpy(), table["bpe_best"].to_numpy(), "pearson").estimate
    return f"Pearson r {r:.3f}", r > 1 - WEAK


def _extreme(hardest: bool, expected: set[str]) -> Callable[[Recomputed], tuple[str, bool]]:
    def check(recomputed: Recomputed) -> tuple[str, bool]:
        means = [_averages(recomputed, corpus).mean(axis=1) for corpus in NAMES]
        both = pd.concat(means, axis=1, join="inner").mean(axis=1).sort_values(ascending=not hardest)
        first = [str(name) for name in both.index[:3]]
        return ", ".join(first), set(first[:2]) == expected

    return check


KINDS: dict[str, Callable[[Recomputed, str, str], Verdict]] = {
    "estimate": _figure("estimate"),
    "p": _figure("p"),
    "both_p": _both_p,
    "between": _between,
    "deviation": _deviation,
    "within": _within,
    "hardest": _hardest,
    "unavailable": lambda *_: ("", UNAVAILABLE),
    "mood": _mood,
    "category": _category,
    "named": _named,
}
NAMED: dict[str, Callable[[Recomputed], tuple[str, bool] | tuple[str, str]]] = {
    "dependency_length_not_significant": _not_significant("dependency_length"),
    "mcc_not_significant": _not_significant("mcc"),
    "characters_weak": _weak("bpe", "characters"),
    "word_types_strongest": _strongest,
    "word_types_no_effect": _weak("char", "word_types"),
    "type_token_ratio_similar": _similar,
    "entropy_correlated": _entropy,
    "spread": _spread,
    "merges": _merges,
    "hardest": _extreme(True, {"deu", "hun"}),
    "easiest": _extreme(False, {"eng", "lit"}),
}


QUESTIONS, CHANCE, LEVEL = 900, 0.25, 0.05  # of Belebele; of one score
SIZES = ["goldfish_5mb", "goldfish_10mb", "goldfish_100mb", "goldfish_1000mb"]
Values = dict[str, float | tuple[float, str]]  # with a note


def check_later_claims(paper: str) -> pd.DataFrame:
    """Return one row per claim of a paper, with the columns of `claims.check_claims`."""
    rows, values = [], LATER[paper]()
    table = read_shipped("later_claims.csv", dtype=str, na_values=[])
    chosen = table[table["paper"] == paper].drop(columns="paper")
    for claim, published, allowed, name, note in chosen.itertuples(index=False, name=None):
        found = values.get(name, np.nan)
        value, note = found if isinstance(found, tuple) else (found, note)
        if np.isnan(value):
            text, agreement = "", UNAVAILABLE
        elif allowed:  # the published figures among themselves
            text, agreement = f"largest difference {value:.2g}", "yes" if value <= float(allowed) else "no"
        else:
            text = f"{value:.4f}" if published.startswith(".") else f"{value:.6g}"
            agreement = judge(published, value)
        rows.append((paper, claim, published, text, agreement, note))
    return pd.DataFrame(rows, columns=["paper", *COLUMNS])


def _byte_premium() -> Values:
    table = byte_premium2024().figures
    nllb, flores, bible = (f"byte_coef_{corpus}" for corpus in ("nllb", "flores_2000lines", "bible_whole"))
    default, usual = table[nllb].fillna(table[flores]).fillna(table[bible]), table["byte_coef"]
    factors = table["char_coef_flores_2000lines"] * table["bytes_per_char_flores_2000lines"]
    factors /= table["bytes_per_char_flores_2000lines"]["eng_latn"]
    return {
        "languages": float(usual.notna().sum()),
        "ratio": (float(usual.max() / usual.min()), f"most: {usual.idxmax()}"),
        "default": float((usual - default).abs().max()),
        "nllb flores_2000lines": float(table[nllb].corr(table[flores])),
        "nllb bible_whole": float(table[nllb].corr(table[bible])),
        "flores_2000lines bible_whole": float(table[flores].corr(table[bible])),
        "factors": float((factors - table[flores]).abs().max()),
    }


def _tokenization() -> Values:
    counts = tokenization_lengths2023().figures.drop(columns="Language")
    english = counts["cl100k_base"] / counts["cl100k_base"]["eng_Latn"]
    spread = counts[["CANINE", "ByT5"]] - 2010
    return {
        "english": (float(english.max()), f"longest: {english.idxmax()}"),
        **{name: float(spread[name].max() / spread[name].min()) for name in ("CANINE", "ByT5")},
        "UTF-32": float((counts["UTF-32"] - counts["CANINE"]).abs().max()),
    }


def _xmi() -> Values:
    table = xmi2020().figures
    difficulty = mielke2019().europarl.loc[table.index]
    r = {name: np.corrcoef(np.log(table["bits_lm"]), difficulty[f"factor_{name}"])[0, 1] for name in ("bpe", "char")}
    beside = (
        f"beside: r of ln bits of the language models with the difficulty factors of 2019 is {r['bpe']:.3f} (BPE) and "
        f"{r['char']:.3f} (characters)"
    )
    return {
        "into": float((table["bits_lm"] - table["bits_mt_into"] - table["xmi_into"]).abs().max()),
        "out of": float((table["bits_lm_english"] - table["bits_mt_out_of"] - table["xmi_out_of"]).abs().max()),
        "mean into": float(table["xmi_into"].mean()),
        "mean out of": float(table["xmi_out_of"].mean()),
        "harder": (float((table["xmi_into"] > table["xmi_out_of"]).sum()), beside),
    }


def _goldfish() -> Values:
    table = goldfish2024().figures
    bloom = table[table["in_bloom7b1"]]
    own = table[table["goldfish_used"] == table.index].dropna(subset=SIZES)
    rho = float(own[SIZES[0]].corr(own[SIZES[-1]], method="spearman"))
    beside = (
        f"the figures of MaLA-500 are not among them; beside: Spearman's rho of 5 MB and 1 GB on {len(own)} languages "
        f"is {rho:.3f}"
    )
    bigrams = 100 * float((bloom["bloom7b1"] > bloom["ngram2"]).mean())
    return {"bloom": (bigrams, f"{len(bloom)} languages"), "beside": (np.nan, beside)}


def _belebele() -> Values:
    table = belebele2024().figures.drop(columns="goldfish_used")
    p = pd.DataFrame(binom.sf(table - 1, QUESTIONS, CHANCE), table.index, table.columns)
    q = pd.DataFrame(false_discovery_control(p.to_numpy().ravel()).reshape(p.shape), p.index, p.columns)
    nowhere = sorted(q.index[(q >= LEVEL).all(axis=1)])
    found: Values = {"nowhere": (float(len(nowhere)), " ".join(nowhere))}
    for name, values in (("by p", p), ("by rate", q)):
        above = (values < LEVEL).sum()
        found[name] = (float(above.sum()), f"by model {' '.join(map(str, above))}")
    for name in map(str, table):
        found[f"median {name}"] = float(table[name].median() / QUESTIONS)
        found[f"highest {name}"] = float(table[name].max() / QUESTIONS)
    return found


LATER: dict[str, Callable[[], Values]] = {
    "belebele2024": _belebele,
    "byte_premium2024": _byte_premium,
    "goldfish2024": _goldfish,
    "tokenization_lengths2023": _tokenization,
    "xmi2020": _xmi,
}
