"""How well models fit, over subsets of the data and settings of the comparison."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from langdiff.errors import ConfigError, listing
from langdiff.regression.check.held_out import Fix, Sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Goodness:
    """Log-likelihoods that models give to intents held out of their fit, over subsets of the data.

    Attributes
    ----------
    results : DataFrame
        One row per setting, subset and model: ``n``, ``fix``, ``subset``, ``model``, ``per_cell`` (log-likelihood of
        log bits, nats per held-out cell) and its ``std_error`` within the subset, ``total``, ``dispersion``, number of
        held-out ``cells``, and whether the fit ``converged``.
    signature : str
        Everything the numbers depend on, to be quoted with them.
    """

    results: pd.DataFrame
    signature: str

    @property
    def settings(self) -> list[tuple[Sizes, Fix]]:
        """Treatments of new sizes, and what stayed as fitted, in the order asked for."""
        pairs = self.results[["n", "fix"]].drop_duplicates()
        return list(pairs.itertuples(index=False, name=None))

    def scores(self, *, n: Sizes | None = None, fix: Fix | None = None) -> pd.DataFrame:
        """Return nats per held-out cell of one setting, as `langdiff.plots.plot_goodness_of_fit` takes them.

        Parameters
        ----------
        n, fix : str, optional
            Setting; by default the first that was asked for.

        Returns
        -------
        DataFrame
            One row per subset, one column per model.

        Raises
        ------
        ConfigError
            If the setting was not asked for.
        """
        setting = (n or self.settings[0][0], fix or self.settings[0][1])
        if setting not in self.settings:
            raise ConfigError(f"setting {setting} was not computed; there are {listing(self.settings)}.")
        rows = self.results[(self.results["n"] == setting[0]) & (self.results["fix"] == setting[1])]
        models = list(rows["model"].unique())
        return rows.pivot(index="subset", columns="model", values="per_cell")[models]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per setting and model, best first within a setting.

        Returns
        -------
        DataFrame
            ``n``, ``fix``, ``model``; ``per_cell``, mean over subsets of the log-likelihood in nats per held-out cell,
            and ``sd``, its standard deviation over subsets; ``difference`` to the best model of the setting, and
            ``difference_std_error`` from the differences within subsets; ``subsets``, ``not_converged``.
        """
        tables = []
        for n, fix in self.settings:
            scores = self.scores(n=n, fix=fix)
            rows = self.results[(self.results["n"] == n) & (self.results["fix"] == fix)]
            behind = scores.sub(scores[scores.mean().idxmax()], axis=0)
            columns = {
                "n": n,
                "fix": fix,
                "model": scores.columns,
                "per_cell": scores.mean(),
                "sd": scores.std(ddof=1),
                "difference": behind.mean(),
                "difference_std_error": behind.std(ddof=1) / np.sqrt(len(scores)),
                "subsets": len(scores),
                "not_converged": (~rows["converged"]).groupby(rows["model"]).sum()[scores.columns],
            }
            tables.append(pd.DataFrame(columns).sort_values("per_cell", ascending=False, kind="stable"))
        return pd.concat(tables, ignore_index=True)

    def summary(self) -> str:
        """Format the table of models, with what is needed to read it."""
        lines = [
            f"{self!r}; log-likelihood of log bits, nats per held-out cell",
            "n: sizes of held-out intents, most likely (map) or integrated out (posterior); fix: what stays as fitted.",
            "",
            self.to_frame().round(4).to_string(index=False),
            "",
            f"[{self.signature}]",
        ]
        return "\n".join(lines)

    def plot(self, ax: "Axes | None" = None, *, n: Sizes | None = None, fix: Fix | None = None, **style: Any) -> "Axes":
        """Draw the scores of one setting; see `langdiff.plots.plot_goodness_of_fit`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. Without axes, `n` and `fix`, all settings are drawn, each in a panel of a new figure, and
            the first panel is returned.
        n, fix : str, optional
            Setting; by default the first that was asked for.
        **style
            Settings for ``Axes.errorbar``, which override the defaults.

        Returns
        -------
        Axes
            The axes drawn on.

        Raises
        ------
        ConfigError
            If the setting was not computed.
        """
        from langdiff.plots import plot_goodness_of_fit  # Matplotlib only when asked for

        chosen = self.settings if ax is None and n is None and fix is None else [(n, fix)]
        panels = [ax]
        if ax is None and len(chosen) > 1:
            import matplotlib.pyplot as plt

            size = (len(chosen) * (1.6 + 0.8 * self.results["model"].nunique()), 3.6)
            panels = list(plt.subplots(ncols=len(chosen), figsize=size, layout="constrained")[1])
        drawn = [
            plot_goodness_of_fit(self.scores(n=a, fix=b), panel, title=f"{a or ''}, {b or ''}".strip(", "), **style)
            for (a, b), panel in zip(chosen, panels, strict=True)
        ]
        return drawn[0]

    def __repr__(self) -> str:
        """Say what was compared."""
        counts = self.results.nunique()
        return (
            f"Goodness of {counts['model']} models over {counts['subset']} subsets of intents, "
            f"{len(self.settings)} setting(s)"
        )
