"""Values that later papers on many languages claim, recomputed from their published figures.

The claims are rows of ``later_claims.csv``, whose column ``value`` names what a function of the paper returns.
"""

from collections.abc import Callable

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
from langdiff.datasets.published_figures import read_shipped
from langdiff.experiments.claims import COLUMNS, UNAVAILABLE, judge

QUESTIONS, CHANCE, LEVEL = 900, 0.25, 0.05  # of Belebele; of one score
SIZES = ["goldfish_5mb", "goldfish_10mb", "goldfish_100mb", "goldfish_1000mb"]
Values = dict[str, float | tuple[float, str]]  # with a note


def check_later_claims(paper: str) -> pd.DataFrame:
    """Return one row per claim of a paper, with the columns of `claims.check_claims`."""
    rows, values = [], LATER[paper]()
    table = read_shipped("later_claims.csv", dtype=str, na_values=[])
    for claim in table[table["paper"] == paper].itertuples(index=False):
        found = values.get(claim.value, np.nan)
        value, note = found if isinstance(found, tuple) else (found, claim.note)
        if np.isnan(value):
            text, agreement = "", UNAVAILABLE
        elif claim.allowed:  # the published figures among themselves
            text, agreement = f"largest difference {value:.2g}", "yes" if value <= float(claim.allowed) else "no"
        else:
            text = f"{value:.4f}" if claim.published.startswith(".") else f"{value:.6g}"
            agreement = judge(claim.published, value)
        rows.append((paper, claim.claim, claim.published, text, agreement, note))
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
        **(spread.max() / spread.min()).to_dict(),
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
    for name in table:
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
