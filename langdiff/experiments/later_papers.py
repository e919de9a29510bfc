"""Claims of later papers on many languages, recomputed from their published figures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.stats import binom, false_discovery_control

from langdiff.base.result import Result
from langdiff.datasets import (
    belebele2024,
    byte_premium2024,
    goldfish2024,
    mielke2019,
    tokenization_lengths2023,
    xmi2020,
)
from langdiff.errors import ConfigError
from langdiff.experiments.claims import UNAVAILABLE, judge

OWN = "identity"  # in place of a printed figure: the published figures among themselves
QUESTIONS, CHANCE, LEVEL = 900, 0.25, 0.05  # of Belebele; of one score
SIZES = ["goldfish_5mb", "goldfish_10mb", "goldfish_100mb", "goldfish_1000mb"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PaperClaims(Result):
    """Claims of a paper compared with values recomputed from its published figures.

    Attributes
    ----------
    paper : str
        Name of the data set.
    claims : DataFrame
        ``paper``, ``claim``, ``published`` (as printed; ``"identity"`` where figures are checked against one another),
        ``recomputed``, ``agreement`` (``"yes"``, ``"nearly"``, ``"no"`` or ``"cannot be recomputed"``), ``note``.
    """

    paper: str
    claims: pd.DataFrame

    printing: ClassVar = {"index": False}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per claim."""
        return self.claims.copy()

    def __repr__(self) -> str:
        """Count the claims that agree."""
        checked = self.claims["agreement"] != UNAVAILABLE
        agreed = int((self.claims["agreement"] == "yes").sum())
        return f"{self.paper}: {agreed} of {int(checked.sum())} claims agree, {int((~checked).sum())} more cannot be \
recomputed"


def reproduce_paper(name: str) -> PaperClaims:
    """Recompute claims of a later paper from the published figures that are part of the package.

    Parameters
    ----------
    name : str
        Name of a data set: ``"belebele2024"``, ``"byte_premium2024"``, ``"goldfish2024"``,
        ``"tokenization_lengths2023"`` or ``"xmi2020"``. For the claims of Mielke et al. (2019) see
        `langdiff.reproduce`.

    Returns
    -------
    PaperClaims
        One row per claim.

    Raises
    ------
    ConfigError
        If there is no such paper.

    Examples
    --------
    >>> reproduce_paper("xmi2020")
    xmi2020: 5 of 5 claims agree, 0 more cannot be recomputed
    """
    if name not in PAPERS:
        raise ConfigError(
            f"unknown paper {name!r}; use one of {', '.join(sorted(PAPERS))}, and mielke2019 by `reproduce`."
        )
    rows = PAPERS[name]()
    frame = pd.DataFrame(rows, columns=["claim", "published", "recomputed", "agreement", "note"])
    frame.insert(0, "paper", name)
    return PaperClaims(paper=name, claims=frame)


Row = tuple[str, str, str, str, str]


def _figure(claim: str, published: str, value: float, note: str = "", look: str = "{:.6g}") -> Row:
    return claim, published, look.format(value), judge(published, value), note


def _identity(claim: str, difference: float, allowed: float) -> Row:
    return claim, OWN, f"largest difference {difference:.2g}", "yes" if difference <= allowed else "no", ""


def _byte_premium() -> list[Row]:
    table = byte_premium2024().figures
    corpora = {"NLLB": "byte_coef_nllb", "FLORES": "byte_coef_flores_2000lines", "Bible": "byte_coef_bible_whole"}
    default = table["byte_coef_nllb"].fillna(table["byte_coef_flores_2000lines"]).fillna(table["byte_coef_bible_whole"])
    usual = table["byte_coef"]
    rows = [
        _figure("languages (and scripts) with a byte premium", "1155", float(usual.notna().sum())),
        _figure("greatest premium over the least", "> 5", float(usual.max() / usual.min()), f"most: {usual.idxmax()}"),
        _identity(
            "the default is that of NLLB, else FLORES, else the Bible", float((usual - default).abs().max()), 1e-9
        ),
    ]
    for one, other in (("NLLB", "FLORES"), ("NLLB", "Bible"), ("FLORES", "Bible")):
        r = float(table[corpora[one]].corr(table[corpora[other]]))
        rows.append(_figure(f"Pearson r of byte premiums, {one} and {other}", "> .90", r))
    factors = table["char_coef_flores_2000lines"] * table["bytes_per_char_flores_2000lines"]
    factors /= table["bytes_per_char_flores_2000lines"]["eng_latn"]
    difference = float((factors - table["byte_coef_flores_2000lines"]).abs().max())
    note = "" if difference < 1e-3 else "the factors were taken from other samples of sentences than the premium"
    claim, published, text, agreement, _ = _identity("the premium is the product of its factors", difference, 1e-3)
    return [*rows, (claim, published, text, agreement, note)]


def _tokenization() -> list[Row]:
    counts = tokenization_lengths2023().figures.drop(columns="Language")
    english = counts["cl100k_base"] / counts["cl100k_base"]["eng_Latn"]
    spread = (counts - 2010)[["CANINE", "ByT5"]]
    ratio = spread.max() / spread.min()
    return [
        _figure("cl100k_base: tokens of the longest edition by those of English", "15", float(english.max()),
                f"longest: {english.idxmax()}"),
        _figure("characters (CANINE): longest by shortest edition", "> 4", float(ratio["CANINE"]),
                "without the 2,010 special tokens"),
        _figure("bytes (ByT5): longest by shortest edition", "> 4", float(ratio["ByT5"]),
                "without the 2,010 special tokens"),
        _identity("UTF-32 counts the same as CANINE", float((counts["UTF-32"] - counts["CANINE"]).abs().max()), 0),
    ]  # fmt: skip


def _xmi() -> list[Row]:
    table = xmi2020().figures
    into = (table["bits_lm"] - table["bits_mt_into"] - table["xmi_into"]).abs()
    out_of = (table["bits_lm_english"] - table["bits_mt_out_of"] - table["xmi_out_of"]).abs()
    harder = int((table["xmi_into"] > table["xmi_out_of"]).sum())
    difficulty = mielke2019().europarl.loc[table.index]
    r = {name: np.corrcoef(np.log(table["bits_lm"]), difficulty[f"factor_{name}"])[0, 1] for name in ("bpe", "char")}
    beside = f"beside: r of ln bits of the language models with the difficulty factors of 2019 is {r['bpe']:.3f} (BPE) "
    return [
        _identity("XMI into a language is the difference of bits, 20 rows", float(into.max()), 1e-4),
        _identity("XMI out of a language is the difference of bits, 20 rows", float(out_of.max()), 1e-4),
        _figure("mean XMI from English into the languages", "102.16", float(table["xmi_into"].mean())),
        _figure("mean XMI from the languages into English", "96.91", float(table["xmi_out_of"].mean())),
        _figure("languages whose XMI is greater out of English than into it", "20", float(harder),
                beside + f"and {r['char']:.3f} (characters)"),
    ]  # fmt: skip


def _goldfish() -> list[Row]:
    table = goldfish2024().figures
    bloom = table[table["in_bloom7b1"]]
    own = table[table["goldfish_used"] == table.index].dropna(subset=SIZES)
    rho = float(own[SIZES[0]].corr(own[SIZES[-1]], method="spearman"))
    return [
        _figure("percent of BLOOM's languages on which it is worse than bigrams", "43",
                100 * float((bloom["bloom7b1"] > bloom["ngram2"]).mean()), f"{len(bloom)} languages"),
        ("percent of XGLM 4.5B's languages on which it is worse than bigrams", "24", "", UNAVAILABLE,
         "the list of its languages is not among the figures"),
        ("languages on which Goldfish are better than all larger models", "98", "", UNAVAILABLE,
         "the figures of MaLA-500 are not among them; "
         f"beside: Spearman's rho of 5 MB and 1 GB on {len(own)} languages is {rho:.3f}"),
    ]  # fmt: skip


def _belebele() -> list[Row]:
    table = belebele2024().figures.drop(columns="goldfish_used")
    p = pd.DataFrame(binom.sf(table - 1, QUESTIONS, CHANCE), table.index, table.columns)
    q = pd.DataFrame(false_discovery_control(p.to_numpy().ravel()).reshape(p.shape), p.index, p.columns)
    nowhere = sorted(q.index[(q >= LEVEL).all(axis=1)])
    rows = [
        _figure(f"median accuracy of {name}", median, float(table[name].median() / QUESTIONS), look="{:.4f}")
        for name, median in zip(table, (".2828", ".2989", ".3000", ".3000", ".2972"), strict=True)
    ]
    rows += [
        _figure(f"highest accuracy of {name}", most, float(table[name].max() / QUESTIONS), look="{:.4f}")
        for name, most in zip(table, (".3256", ".4000", ".3733", ".4078", ".4033"), strict=True)
    ]
    return [
        *rows,
        _figure("scores above chance at p < .05, of 610", "486", float((p < LEVEL).sum().sum()),
                f"by model {' '.join(map(str, (p < LEVEL).sum()))}"),
        _figure("scores above chance at a false discovery rate of .05", "477", float((q < LEVEL).sum().sum()),
                f"by model {' '.join(map(str, (q < LEVEL).sum()))}"),
        _figure("languages in which no model is above chance", "9", float(len(nowhere)), " ".join(nowhere)),
    ]  # fmt: skip


PAPERS: dict[str, Callable[[], list[Row]]] = {
    "belebele2024": _belebele,
    "byte_premium2024": _byte_premium,
    "goldfish2024": _goldfish,
    "tokenization_lengths2023": _tokenization,
    "xmi2020": _xmi,
}
