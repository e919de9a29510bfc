"""What is known of the published evaluation of parsers by construction (Bender et al. 2011)."""

from dataclasses import dataclass
from importlib import resources

import pandas as pd

from langdiff.base.numbers import read_exact_csv


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Bender2011:
    """Figures of "Parser Evaluation over Local and Non-Local Deep Dependencies in a Large Corpus" (EMNLP 2011).

    Column ``mark`` says how far a figure can be trusted: ``P``, stated in the text at hand (abstract, introduction,
    section on evaluation, captions); ``M``, from memory of the paper's tables and **not verified**; ``D``, our reading
    of a statement that has no number. The tables themselves, the test set and the expressions could not be obtained.

    Attributes
    ----------
    phenomena : DataFrame, 10 rows
        Indexed by ``phenomenon``: ``percent`` of the sentences of Wikipedia and candidates ``vetted`` (Table 1), both
        with mark M.
    distances : DataFrame
        Dependency types by phenomenon with ``average`` and ``maximum`` surface distance in words (Table 3), mark M.
    facts : DataFrame
        Numbers of the whole study: ``fact``, ``value``, ``mark``.
    claims : DataFrame
        Statements on results, as `langdiff.constructions.check_claims` takes them. The statements are marked P;
        ``bound`` says whether the number in ``holds`` is the paper's (P) or our reading (D).

    Examples
    --------
    >>> figures = bender2011()
    >>> figures
    Bender2011: 10 phenomena, 13 claims; figures marked M are not verified
    >>> figures.phenomena.loc["control", ["percent", "mark"]].to_dict()
    {'percent': 3.78, 'mark': 'M'}
    """

    phenomena: pd.DataFrame
    distances: pd.DataFrame
    facts: pd.DataFrame
    claims: pd.DataFrame

    def __repr__(self) -> str:
        """Give the numbers of phenomena and claims, and a caution."""
        return (
            f"Bender2011: {len(self.phenomena)} phenomena, {len(self.claims)} claims; figures marked M are not verified"
        )


def bender2011() -> Bender2011:
    """Return what is known of the figures of Bender et al. (2011), shipped with the package.

    Returns
    -------
    Bender2011
        Frames of frequencies, distances, facts and claims, each with marks.

    Examples
    --------
    >>> bender2011().facts.set_index("fact").loc["regular expressions"].to_dict()
    {'value': '364', 'mark': 'P'}
    """
    return Bender2011(
        phenomena=_read("phenomena").set_index("phenomenon"),
        distances=_read("distances"),
        facts=_read("facts", dtype=str),
        claims=_read("claims", dtype=str),
    )


def _read(name: str, dtype: type | None = None) -> pd.DataFrame:
    return read_exact_csv(resources.files("langdiff.datasets").joinpath(f"bender2011_{name}.csv"), dtype=dtype)
