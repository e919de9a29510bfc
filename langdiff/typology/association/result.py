"""The outcome of tests of predictors against difficulties."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from langdiff.errors import ConfigError, DataError
from langdiff.typology.association.categories import category_means
from langdiff.typology.association.comparison import COLUMNS, format_models
from langdiff.typology.association.outcome import RELATED
from langdiff.typology.association.sample import Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KEY = ["predictor", "language_model", "corpus"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Correlations:
    """Tests of predictors against difficulties, adjusted together.

    Attributes
    ----------
    tests : DataFrame
        One row per test: ``predictor``, ``language_model``, ``corpus``, ``test``, ``given`` (predictors held
        fixed), ``n`` (languages tested), ``missing`` (languages without a value), ``statistic`` (what the
        estimate is), ``estimate``, ``low`` and ``high`` (95 % interval; NaN where the test has none), ``p``
        (two-sided), ``p_adjusted`` (Benjamini–Hochberg), ``significant``, and ``reason`` (why there is no p, or
        what limits it).
    samples : tuple of Sample
        Languages, difficulties and predictors that were tested, one sample per corpus.
    alpha : float
        False discovery rate at which `significant` was decided.
    signature : str
        The settings, to be quoted with the figures.
    relatedness : DataFrame
        Models behind the tests ``"phylo"``, ``"area"`` and ``"phylo+area"``, and independence, with the shares of the
        variance that follow tree and distance; see `langdiff.typology.compare_relatedness`.

    Examples
    --------
    >>> import langdiff as ld
    >>> figures = ld.datasets.mielke2019()
    >>> result = ld.correlate(
    ...     figures.difficulties("europarl")["bpe"], figures.predictors("europarl"), corpus="europarl"
    ... )
    >>> result
    Correlations: 20 tests (europarl), 0 significant at false discovery rate 0.05
    >>> result.points("mcc").columns.tolist()
    ['corpus', 'language_model', 'name', 'family', 'predictor', 'difficulty']
    """

    tests: pd.DataFrame
    samples: tuple[Sample, ...]
    alpha: float
    signature: str
    relatedness: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COLUMNS)))

    @property
    def family_size(self) -> int:
        """Number of tests with a p: the m of Benjamini and Hochberg."""
        return int(self.tests["p"].notna().sum())

    def to_frame(self) -> pd.DataFrame:
        """Return `tests`."""
        return self.tests.copy()

    def categories(self) -> pd.DataFrame:
        """Return mean difficulties of the categories of each categorical predictor (Mielke et al. 2019, Table 2).

        Returns
        -------
        DataFrame
            ``predictor``, ``language_model``, ``corpus``, ``category``, ``n``, ``mean``, ``sd`` (nats).
        """
        tables = []
        for sample in self.samples:
            tested = set(self.tests.loc[self.tests["corpus"] == sample.corpus, "predictor"])
            for name in sample.predictors:
                if name not in tested or is_numeric_dtype(sample.predictors[name]):
                    continue
                for lm in sample.difficulty:
                    both = sample.difficulty[lm].notna() & sample.predictors[name].notna()
                    means = category_means(sample.difficulty[lm][both], sample.predictors[name][both])
                    means = means.reset_index().astype({"category": str})
                    means["predictor"], means["language_model"], means["corpus"] = str(name), str(lm), sample.corpus
                    tables.append(means)
        columns = [*KEY, "category", "n", "mean", "sd"]
        return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)

    def points(self, predictor: str) -> pd.DataFrame:
        """Return the data of the tests of a predictor: one row per language, language model and corpus.

        Parameters
        ----------
        predictor : str
            Name of the predictor.

        Returns
        -------
        DataFrame
            ``corpus``, ``language_model``, ``name`` (of the language or edition), ``family``, the ``predictor``'s
            value and ``difficulty`` (nats).

        Raises
        ------
        ConfigError
            If the predictor is in no sample.
        """
        having = [sample for sample in self.samples if predictor in sample.predictors]
        if not having:
            known = sorted({str(name) for sample in self.samples for name in sample.predictors})
            raise ConfigError(f"unknown predictor {predictor!r}; there are {', '.join(known)}.")
        parts = [
            pd.DataFrame(
                {
                    "corpus": sample.corpus,
                    "language_model": lm,
                    "name": sample.difficulty.index.astype(str),
                    "family": None if sample.family is None else sample.family.to_numpy(),
                    "predictor": sample.predictors[predictor].array,  # keeps the order of categories
                    "difficulty": sample.difficulty[lm].to_numpy(),
                }
            )
            for sample in having
            for lm in sample.difficulty
        ]
        return pd.concat(parts, ignore_index=True).dropna(subset=["predictor", "difficulty"])

    def summary(self) -> str:
        """Format the tests, smallest p-value first, with the number of tests and what is doubtful."""
        found = int(self.tests["significant"].sum())
        head = (
            f"{self.family_size} tests with a p, Benjamini-Hochberg over all of them at false discovery rate "
            f"{self.alpha:g}: {found} significant"
        )
        table = self.tests.sort_values(["p", *KEY], kind="stable")
        blank = [name for name in ("corpus", "given", "reason") if not table[name].str.len().any()]
        table = table.drop(columns=[*blank, *(["missing"] if not table["missing"].any() else [])])
        shown = table.assign(
            **{name: table[name].map("{:.3f}".format).replace("nan", "") for name in ("estimate", "low", "high")},
            **{name: table[name].map("{:.2g}".format).replace("nan", "") for name in ("p", "p_adjusted")},
            significant=table["significant"].map({True: "yes", False: ""}),
        )
        lines = [head, "", shown.to_string(index=False), ""]
        categories = self.categories()
        if len(categories):
            lines += ["Means of categories, nats:", categories.round(4).to_string(index=False), ""]
        if len(self.relatedness):
            lines += ["Shares of the variance that follow tree and distance:", format_models(self.relatedness), ""]
        return "\n".join([*lines, *self._cautions(), f"[{self.signature}]"])

    def _cautions(self) -> list[str]:
        """Say how many families stand behind the languages, where known."""
        aware = {"mixed", "permutation", *RELATED}
        naive = sorted(set(self.tests["test"]) - aware)
        cautions = []
        for sample in self.samples:
            if sample.family is None or not naive:
                continue
            sizes = sample.family.value_counts()
            rows = f"{sizes.sum()} of {sample.corpus}" if sample.corpus else f"{sizes.sum()}"
            cautions.append(
                f"The {rows} are in {len(sizes)} families, the largest of {sizes.iloc[0]}; {', '.join(naive)} take "
                "them as independent."
            )
        return [*cautions, ""] if cautions else []

    def plot(self, predictor: str | None = None, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw difficulty against a predictor; see `langdiff.plots.plot_correlation`.

        Parameters
        ----------
        predictor : str, optional
            Predictor to draw; by default the numeric one with the smallest p-value.
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        **style
            Options of Matplotlib for the points.

        Raises
        ------
        DataError
            If no predictor was named and none is numeric.
        """
        from langdiff.plots.typology import plot_correlation  # Matplotlib only when asked for

        return plot_correlation(self, self.strongest() if predictor is None else predictor, ax, **style)

    def strongest(self) -> str:
        """Return the numeric predictor with the smallest p.

        Raises
        ------
        DataError
            If no numeric predictor was tested.
        """
        names = {n for s in self.samples for n in s.predictors if is_numeric_dtype(s.predictors[n])}
        tested = self.tests[self.tests["p"].notna() & self.tests["predictor"].isin(names)]
        if tested.empty:
            raise DataError("no numeric predictor was tested; name the categorical one to be drawn.")
        return str(tested["predictor"].iloc[int(tested["p"].argmin())])

    def __repr__(self) -> str:
        """Say how many tests there were and what they found."""
        found = int(self.tests["significant"].sum())
        corpora = ", ".join(sample.corpus or "unnamed" for sample in self.samples)
        return (
            f"Correlations: {self.family_size} tests ({corpora}), {found} significant at false discovery rate "
            f"{self.alpha:g}"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(repr(self))}</p>{self.tests.to_html(escape=True, index=False)}"
