"""Ready-made artificial languages, and random ones."""

from itertools import permutations
from typing import Any

import numpy as np

from langdiff.corpora.synthetic.language import SyntheticLanguage
from langdiff.corpora.synthetic.scripts import SCRIPTS

_ANY_ORDER = {"".join(order): 1.0 for order in permutations("SOV")}

DEFAULT_LANGUAGES = (
    SyntheticLanguage(name="agglutinating-sov", order="SOV", case="accusative", verb_agreement=True),
    SyntheticLanguage(name="free-order", order=_ANY_ORDER, case="accusative", script="cyrillic"),
    SyntheticLanguage(name="isolating-svo", morphology="isolating", adjective="after", closed=0.6),
    SyntheticLanguage(
        name="synonyms-svo", morphology="isolating", synonyms=(0.5, 0.5), verb_agreement=True, script="greek"
    ),
    SyntheticLanguage(
        name="fusional-concord",
        order={"SVO": 0.6, "OVS": 0.2, "SOV": 0.2},
        morphology="fusional",
        case="accusative",
        verb_agreement=True,
        adjective_agreement=True,
        adjective="after",
        script="deseret",
    ),
    SyntheticLanguage(
        name="prefixing-vso",
        order="VSO",
        affixes="prefix",
        case="ergative",
        verb_agreement=True,
        adjective="after",
        script="hebrew",
    ),
    SyntheticLanguage(name="syllabic-sov", order="SOV", case="accusative", synonyms=(0.7, 0.3), script="hangul"),
    SyntheticLanguage(
        name="free-order-synonyms",
        order=_ANY_ORDER,
        morphology="fusional",
        case="ergative",
        synonyms=(0.5, 0.5),
        script="devanagari",
    ),
)


def draw_language(name: str, rng: np.random.Generator) -> SyntheticLanguage:
    """Draw the parameters of a language at random.

    Parameters
    ----------
    name : str
        Name of the edition.
    rng : Generator
        Source of random numbers.
    """

    def pick(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    orders = list(_ANY_ORDER)
    fixed = pick(*orders)
    case = pick("none", "accusative", "ergative")
    free = case != "none" and rng.random() < 0.5
    synonyms = pick(1, 1, 2, 3)
    return SyntheticLanguage(
        name=name,
        order=dict(zip(orders, rng.dirichlet(np.ones(6)).tolist(), strict=True)) if free else fixed,
        morphology=pick("isolating", "agglutinating", "fusional"),
        affixes=pick("suffix", "prefix"),
        case=case,
        verb_agreement=pick(True, False),
        adjective_agreement=pick(True, False),
        adjective=pick("before", "after"),
        synonyms=tuple(rng.dirichlet(np.ones(synonyms)).tolist()),
        script=pick(*SCRIPTS),
        closed=float(rng.random()),
    )
