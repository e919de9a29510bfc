"""Claims of Mielke et al. (2019) about what makes a language hard, recomputed from its published figures."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Result
from langdiff.base.tolerances import ROUNDING_OF_SINGLES
from langdiff.datasets import mielke2019
from langdiff.datasets.mielke_et_al_2019 import Corpus, LanguageSet, Mielke2019
from langdiff.errors import ConfigError
from langdiff.experiments.claims import ORDER, UNAVAILABLE, Recomputed, check_claims
from langdiff.experiments.paper_figures import save_paper, sizes
from langdiff.typology import adjust, correlate
from langdiff.typology.association.result import Correlations

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TESTED = ["bpe", "char"]  # bpe_best is also published, but not part of the families of tests
SYMBOLS = {"pearson": "r", "spearman": "rho"}
Averaging = Literal["difficulty", "factor"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Reproduction(Result):
    """Claims of sections 4 and 5 of the paper, recomputed from its published difficulties and predictors.

    Attributes
    ----------
    claims : DataFrame, 76 rows
        ``claim``, ``where`` in the paper, ``published``, ``recomputed``, ``agreement`` (``"yes"``, ``"nearly"``: off by
        less than a unit of the last digit, ``"in part"``, ``"no"``, ``"cannot be recomputed"`` from the published
        figures), ``note`` (why it disagrees or cannot be recomputed).
    reference : DataFrame
        Every figure of three tables computed once with SciPy alone: ``table``, ``row``, ``figure``, ``expected``,
        ``recomputed``, ``agreement`` (``"yes"`` within 1e-6, decisions exactly; or ``"no"``).
    pearson, spearman : Correlations
        Two families of 32 tests, as the paper has them.
    wals : Correlations
        Mood's tests of features 26A and 81A over the languages of Table 2.
    """

    claims: pd.DataFrame
    reference: pd.DataFrame
    pearson: Correlations
    spearman: Correlations
    wals: Correlations

    @property
    def exact(self) -> bool:
        """Whether all reference figures were met; if not, this package computes something wrong."""
        return bool((self.reference["agreement"] == "yes").all())

    def to_frame(self) -> pd.DataFrame:
        """Return the claims, then the reference figures, in one table.

        Returns
        -------
        DataFrame
            ``source`` (``"paper"``, or the reference table's name), ``quantity``, ``published``, ``recomputed``
            (as text), ``agreement``, ``note``.
        """
        columns = ["source", "quantity", "published", "recomputed", "agreement", "note"]
        claims = self.claims.rename(columns={"claim": "quantity"}).assign(source="paper")
        reference = self.reference.rename(columns={"table": "source"}).assign(note="")
        reference["quantity"] = reference["row"] + ": " + reference["figure"]
        for name, new in (("expected", "published"), ("recomputed", "recomputed")):
            reference[new] = reference[name].map("{:.12g}".format)
        return pd.concat([claims[columns], reference[columns]], ignore_index=True)

    def table(self, number: Literal[1, 2, 3, 4]) -> pd.DataFrame:
        """Return Table 1 (sizes), 2 (categories), 3 (length in characters) or 4 (word inventory) of the paper.

        Parameters
        ----------
        number : {1, 2, 3, 4}
            Number of the table in the paper.

        Returns
        -------
        DataFrame
            One row per corpus and unit (Table 1: only the training texts, whose sizes are published), one row per
            category (Table 2), or one row per test of a corpus and language model (Tables 3 and 4).

        Raises
        ------
        ConfigError
            If `number` is not 1, 2, 3 or 4.
        """
        if number == 1:
            return sizes(mielke2019())
        if number == 2:
            return self.wals.categories()
        if number not in (3, 4):
            raise ConfigError(f"table {number!r}: must be 1, 2, 3 or 4.")
        tests = pd.concat([self.pearson.tests, self.spearman.tests], ignore_index=True)
        wanted = tests[tests["predictor"] == ("characters" if number == 3 else "word_types")]
        columns = ["corpus", "language_model", "test", "n", "estimate", "low", "high", "p", "p_adjusted", "significant"]
        return wanted[columns].reset_index(drop=True)

    def save(self, directory: str | Path, *, kind: str = "svg") -> pd.DataFrame:  # type: ignore[override]  # a folder
        """Write Figures 3 to 5, Tables 1 to 4 (CSV), and ``index.md``, which says what each shows and what agrees.

        Parameters
        ----------
        directory : str or Path
            Folder to write to; made if it is missing.
        kind : str
            Format of the figures: ``"svg"``, ``"png"`` or ``"pdf"``.

        Returns
        -------
        DataFrame
            One row per file: ``of`` (the paper), ``file``, ``shows``, ``agreement``.

        Raises
        ------
        ConfigError
            If Matplotlib cannot write such figures.
        OutputError
            If a file cannot be written.
        """
        return save_paper(self, Path(directory), kind)

    def counts(self) -> pd.DataFrame:
        """Return one row per source: number of ``figures``, and how many agree."""
        frame = self.to_frame()
        table = pd.crosstab(frame["source"], frame["agreement"]).reindex(columns=[*ORDER, UNAVAILABLE], fill_value=0)
        table.insert(0, "figures", table.sum(axis=1))
        return table.rename_axis(columns=None).reindex(frame["source"].unique())

    def tables(self) -> list[Shown]:
        """Return all claims, and the number of reference figures that agree."""
        unavailable = self.claims["agreement"] == UNAVAILABLE
        checked, unchecked = self.claims[~unavailable], self.claims[unavailable]
        notes = []
        for title, rows in (
            ("Where they differ:", checked[checked["note"] != ""]),
            ("What cannot be recomputed:", unchecked),
        ):
            notes += ["", title, *(f"  {row.claim} ({row.published}): {row.note}" for row in rows.itertuples())]
        claims = checked.drop(columns="note")
        return [
            Shown(claims, "claims", notes=notes[1:], printing={"index": False}),
            Shown(self.counts(), "figures", "Numbers of figures that agree"),
        ]

    def plot(self, ax: "Axes | None" = None, *, predictor: str = "mcc", **style: Any) -> "Axes":
        """Draw difficulty against a predictor, as in Figure 5 for MCC; see `langdiff.plots.plot_correlation`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw in; by default a new figure.
        predictor : str
            Predictor on the horizontal axis, one of those of `pearson`.
        **style
            Options of `langdiff.plots.plot_correlation`.

        Returns
        -------
        Axes
            Axes with the drawing.

        Raises
        ------
        ConfigError
            If no test has that predictor.
        """
        axes: Axes = self.pearson.plot(predictor, ax, **style)
        return axes

    def __repr__(self) -> str:
        """Return the numbers of claims and figures that agree."""
        agreed = self.claims["agreement"].value_counts()
        met = int((self.reference["agreement"] == "yes").sum())
        unavailable = int(agreed.get(UNAVAILABLE, 0))
        return (
            f"Reproduction: {agreed.get('yes', 0)} of {len(self.claims) - unavailable} claims agree, "
            f"{agreed.get('nearly', 0)} nearly, {unavailable} more cannot be recomputed; "
            f"{met:,} of {len(self.reference):,} reference figures met"
        )


def reproduce() -> Reproduction:
    """Recompute claims of Mielke et al. (2019) from the published figures, which are part of the package.

    Returns
    -------
    Reproduction
        The claims of sections 4 and 5 with published and recomputed figures, claims of other sections that cannot
        be recomputed from published figures, and the tests themselves.

    Raises
    ------
    DataError
        If the files of published figures are missing from the installed package or damaged.

    Examples
    --------
    >>> reproduce()
    Reproduction: 62 of 68 claims agree, 2 nearly, 8 more cannot be recomputed; 724 of 724 reference figures met
    """
    figures = mielke2019()
    wals = _mood(figures, "reconstruction", "factor")
    calls = {test: [_correlate(figures, corpus, test) for corpus in get_args(Corpus)] for test in SYMBOLS}
    families = {test: adjust(results) for test, results in calls.items()}
    with_mood = {test: adjust([*results, wals], within=None) for test, results in calls.items()}
    best = {test: _correlate(figures, "europarl", test, ["bpe_best"]) for test in SYMBOLS}
    recomputed = Recomputed(
        figures=figures,
        tests=families,
        wals=wals.tests,
        categories=wals.categories(),
        languages=calls["pearson"][1].samples[0].predictors,
    )
    reference = [*_check_correlations(figures, families, with_mood, best), *_check_wals(figures)]
    frame = pd.concat(reference, ignore_index=True)
    met = np.isclose(frame["expected"], frame["recomputed"], rtol=0, atol=ROUNDING_OF_SINGLES, equal_nan=True)
    return Reproduction(
        claims=check_claims(recomputed),
        reference=frame.assign(agreement=np.where(met, "yes", "no")),
        pearson=families["pearson"],
        spearman=families["spearman"],
        wals=wals,
    )


def _correlate(figures: Mielke2019, corpus: Corpus, test: str, lms: list[str] = TESTED) -> Correlations:
    chinese = figures.editions(corpus)["language"] == "cmn"  # no spaces, so no words to count
    return correlate(
        figures.difficulties(corpus).loc[~chinese, lms],
        figures.predictors(corpus),
        edition_info=figures.edition_info(corpus),
        corpus=corpus,
        tests=[test],  # type: ignore[list-item]
    )


def _mood(figures: Mielke2019, languages: LanguageSet, averaging: Averaging) -> Correlations:
    return correlate(
        figures.difficulties("bibles"),
        figures.wals_features(languages),
        edition_info=figures.edition_info("bibles"),
        corpus="bibles",
        tests=["mood"],
        averaging=averaging,
    )


def _compare(
    table: str, key: list[str], expected: pd.DataFrame, found: pd.DataFrame, figures: dict[str, str]
) -> pd.DataFrame:
    """Return one row per expected figure; `figures` maps its column to that of `found`. Figures not found are NaN."""
    found = found[[*key, *figures.values()]].rename(columns={new: f"found {old}" for old, new in figures.items()})
    both = expected.merge(found, on=key, how="left", validate="one_to_one")
    label = both[key].astype(str).agg(" ".join, axis=1)
    parts = [
        pd.DataFrame(
            {
                "table": table,
                "row": label,
                "figure": figure,
                "expected": both[figure].astype(float),
                "recomputed": both[f"found {figure}"].astype(float),
            }
        )
        for figure in figures
    ]
    return pd.concat(parts)


def _check_correlations(
    figures: Mielke2019,
    families: dict[str, Correlations],
    with_mood: dict[str, Correlations],
    best: dict[str, Correlations],
) -> list[pd.DataFrame]:
    key = ["corpus", "language_model", "predictor"]
    expected = figures.expected_correlations
    in_family = expected[expected["language_model"].isin(TESTED)]
    tables = []
    for test, symbol in SYMBOLS.items():
        found = pd.concat([families[test].tests, best[test].tests])
        columns = {f"{test}_{symbol}": "estimate", f"{test}_p": "p"} | ({"n": "n"} if test == "pearson" else {})
        tables.append(_compare("correlations", key, expected, found, columns))
        for size, result in (("m32", families[test]), ("m36", with_mood[test])):
            columns = {f"{test}_rejected_{size}": "significant"}
            tables.append(_compare("correlations", key, in_family, result.tests, columns))
    return tables


def _check_wals(figures: Mielke2019) -> list[pd.DataFrame]:
    moods, means = [], []
    for languages in get_args(LanguageSet):
        for averaging in get_args(Averaging):
            result = _mood(figures, languages, averaging)
            setting = {"language_set": languages, "averaging": averaging}
            tests = result.tests.rename(columns={"predictor": "feature"}).assign(**setting)
            points = pd.concat([result.points(feature).assign(feature=feature) for feature in ("26A", "81A")])
            medians = points.groupby(["feature", "language_model"])["difficulty"].median().rename("median")
            moods.append(tests.merge(medians.reset_index(), on=["feature", "language_model"]))
            wide = result.categories().pivot(
                index=["predictor", "category"], columns="language_model", values=["n", "mean", "sd"]
            )
            wide.columns = ["_".join(pair) for pair in wide.columns]
            names = {"predictor": "feature", "category": "value_name"}
            means.append(wide.reset_index().rename(columns=names).assign(**setting))
    key = ["feature", "language_set", "averaging"]
    columns = {"n": "n", "grand_median": "median", "statistic": "estimate", "p": "p"}
    tables = [_compare("mood", [*key, "language_model"], figures.expected_mood, pd.concat(moods), columns)]
    columns = {f"{figure}_{lm}": f"{figure}_{lm}" for figure in ("mean", "sd") for lm in TESTED} | {"n": "n_bpe"}
    found = pd.concat(means)
    return [*tables, _compare("categories", [*key, "value_name"], figures.expected_categories, found, columns)]
