"""``[curve]``: difficulties at several sizes of the training data."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pandas as pd
from pydantic import Field, field_validator

from langdiff.base.result import read
from langdiff.errors import ConfigError
from langdiff.experiments.curves import check_sizes, curve_where_possible, size_caches, smallest_train
from langdiff.lm.automatic import Automatic
from langdiff.regression import DifficultyCurve
from langdiff.run.analysis import Analysis, Figure, draw
from langdiff.run.html import html_table, percent
from langdiff.run.settings import Basis, Section, Training, section, seeds_of_folds

if TYPE_CHECKING:
    from langdiff.run.settings import Core, RunResult

CURVE = "curve.json"
JOBS = "curve-jobs"  # language models of smaller training data, one folder per size


@section("curve", title="Sizes", heading="Does it hold with more data?", files=(CURVE,))
class CurveSettings(Section):
    """``[curve]``: difficulties at several sizes of the training data; see `langdiff.difficulty_curve`.

    ``train_sizes`` are numbers of training intents. The regression model and its clusters are those of ``[fit]``, the
    way of scoring, the device and the workers those of ``[lm]``; any number of characters may be replaced, as small
    sizes know few.
    """

    train_sizes: list[int] = Field(min_length=2)
    lm: str = "kneser-ney-6"
    match: Literal["intents", "bytes", "characters"] = "intents"
    n_seeds: int = Field(1, ge=1)

    @field_validator("train_sizes")
    @classmethod
    def _sizes_rise(cls, sizes: list[int]) -> list[int]:
        if sizes[0] < 2 or any(b <= a for a, b in pairwise(sizes)):
            raise ValueError("train_sizes must rise, the first at least 2")
        return sizes

    def agrees(self, experiment: "Core") -> None:
        """Check that language models are trained and that curves can be fitted by the regression."""
        if experiment.lm.hf is not None:
            raise ValueError("a curve needs language models that are trained: leave [curve] out, or hf")
        if isinstance(experiment.fit.clusters, tuple):
            raise ValueError("a curve takes one kind of clusters: name one in [fit], or leave [curve] out")
        if experiment.fit.model == "3":
            raise ValueError("curves are fitted with model '1', '2', '2L' or '2C', not '3'")
        try:
            recipe, _ = experiment.lm.find(self.lm, experiment.lm.scoring)
        except ConfigError as error:
            raise ValueError(f"'curve.lm': {error}") from error
        if isinstance(recipe, Automatic):
            raise ValueError(f"'curve.lm': name a recipe, not {self.lm!r}: all sizes have the same")

    def needs(self, basis: Basis) -> None:
        """Check that no size exceeds the training part."""
        check_sizes(self.train_sizes, smallest_train(basis.parts), self.match)

    def make(self, basis: Basis) -> Analysis:
        """Train on several sizes of the training data, store the language models, and fit each size."""
        experiment = basis.experiment
        curve, failed = curve_where_possible(
            basis.parts,
            sizes=self.train_sizes,
            lm=experiment.lm.find(self.lm).recipe,
            match=self.match,
            n_seeds=self.n_seeds,
            model=experiment.fit.model,  # type: ignore[arg-type]  # `agrees` saw to it
            clusters=experiment.fit.one_clustering,
            seed=experiment.seed,
            scoring=experiment.lm.scoring,
            max_replaced=1.0,  # small sizes know few characters, which is part of what they show
            compute=experiment.lm.compute(basis.directory / JOBS, basis.executor, basis.progress),
            least=2,
        )
        return _analysis(curve, {f"{curve.lm} (curve)": failed} if failed else {})

    def find(self, basis: Basis, new: Path) -> Analysis:
        """Compute and save the curve; its language models are stored."""
        made = self.make(basis)
        made.result.save(new / CURVE)
        return made

    def trainings(self, experiment: "Core", directory: Path) -> list[Training]:
        """Return the language models of every size, order of the intents and fold."""
        recipe, folds = experiment.lm.find(self.lm).recipe, experiment.split.folds
        return [
            Training(
                cache=each.folder,
                recipe=recipe,
                seed=seeds_of_folds(recipe, each.seed, folds)[(each.fold or 1) - 1],
                table=self.about.name,
                labels={"fold": each.fold, "size": each.size, "seed": each.seed},
            )
            for each in size_caches(directory / JOBS, self.train_sizes, experiment.seed, self.n_seeds, folds)
        ]

    @classmethod
    def read(cls, directory: Path) -> Analysis | None:
        """Return the curve that was saved."""
        return _analysis(read(directory / CURVE, DifficultyCurve)) if (directory / CURVE).exists() else None

    @classmethod
    def explain(cls, run: "RunResult") -> str:
        """Describe the measurement of the curve, and how strongly ranks depend on the size."""
        curve: DifficultyCurve = run.analyses[cls.about.name].result
        several = curve.n_seeds > 1
        orders = f" (means over {curve.n_seeds} orders)" if several else ""
        alike = (
            f"Editions read as many {curve.match} as the one that needs fewest for so many intents. "
            if curve.match != "intents"
            else ""
        )
        errors = (
            "and of orders, with the training of the language models"
            if several
            else "not the order or the training of the language models"
        )
        return (
            f"Difficulties for {curve.lm} trained on parts of the training data, each the beginning of the same random "
            f"order{orders}, and measured on the same intents. {alike}± is one standard error, in percentage points; "
            f"it describes the sampling of intents{' ' if several else ', '}{errors}. "
            f"{int(curve.changes()['significant'].sum())} pair(s) of editions change places between the smallest and "
            "the largest size, at a false discovery rate of 5 %."
        )

    @classmethod
    def tables(cls, run: "RunResult") -> list[dict[str, str]]:
        """Return percent above average and standard error at every size, one row per edition."""
        curve: DifficultyCurve = run.analyses[cls.about.name].result
        columns = {f"{size:,}: %": percent(curve.effects(size).to_frame()) for size in curve.sizes}
        table = pd.DataFrame(columns).sort_values(f"{curve.sizes[-1]:,}: %", ascending=False)
        return [{"caption": "", "same": "", "table": html_table(table.rename_axis("edition").reset_index())}]

    @classmethod
    def pictures(cls, run: "RunResult") -> Iterable[Figure]:
        """Draw the curve, the ranks and the correlations between sizes."""
        from langdiff.plots import plot_difficulty_curves, plot_rank_changes, plot_size_correlations

        curve: DifficultyCurve = run.analyses[cls.about.name].result
        small, large = curve.sizes[0], curve.sizes[-1]
        changed = int(curve.changes()["significant"].sum())
        title = f"{changed} pair(s) of editions change places between {small:,} and {large:,} intents"
        drawn = {
            "curve": (
                plot_difficulty_curves,
                title,
                "Difficulty by size of the training data, with bands of 95 %.",
                "line plot",
            ),
            "curve-ranks": (
                plot_rank_changes,
                "",
                "Ranks by size of the training data; lines that cross change places.",
                "line plot",
            ),
            "curve-correlations": (
                plot_size_correlations,
                "",
                "Spearman's correlation between sizes, with 95 % intervals.",
                "heat map",
            ),
        }
        for name, (plot, found, caption, kind) in drawn.items():
            part = cls.about.name
            yield draw(
                name, caption, part, lambda ax, plot=plot: plot(curve, ax), title=found, wide=bool(found), kind=kind
            )


def _analysis(curve: DifficultyCurve, failed: Mapping[str, Mapping[str, str]] | None = None) -> Analysis:
    table = curve.to_frame().set_index("edition").reset_index()
    return Analysis(name="curve", table=table, result=curve, failed=failed or {})
