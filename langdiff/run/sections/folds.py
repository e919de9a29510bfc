"""Folds of ``[split]``: how much their language models differ."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from langdiff.base.cells import read_exact_csv, unguarded
from langdiff.base.io import parse_json, read_bytes
from langdiff.errors import ConfigError, DataError
from langdiff.regression import compare_folds
from langdiff.run.analysis import Analysis
from langdiff.run.directory import MANIFEST
from langdiff.run.html import tables_of
from langdiff.run.settings import Basis, Section, section

if TYPE_CHECKING:
    from langdiff.run.settings import Core, RunResult

TABLE = "tables/folds.csv"
NOT_COMPARED = "folds_not_compared"  # in the manifest: why, by language model

logger = logging.getLogger(__name__)


@section(
    "folds",
    title="Folds",
    heading="Do the models of the folds agree?",
    explains="Every intent was measured by a model that had not seen its fold. In nats: the difficulty, its standard "
    "error from intents, the one that allows for models, too, and the standard deviation between the difficulties of "
    "single folds beside the one to expect if the models were alike. Model sd is the standard deviation of a "
    "difficulty between models, p value of all the test that it is zero.",
    in_file=False,
    kept=False,
)
class FoldsCompared(Section):
    """Comparison of the models of folds, for experiments with ``folds`` in ``[split]``."""

    @classmethod
    def asked_by(cls, experiment: "Core") -> Self | None:
        """Return the section if the experiment has folds."""
        return None if experiment.split.folds is None else cls()

    def make(self, basis: Basis) -> Analysis:
        """Compare the models of the folds; if that fails, the run continues without the comparison."""
        experiment = basis.experiment
        # the model of the run; errors are those of the clusters and of the folds
        without = ("clusters", "errors")
        settings: dict[str, Any] = experiment.fit.arguments(without=without)
        by_group = experiment.fit.one_clustering in ("auto", None, "fold")
        clusters = experiment.split.groups if by_group else experiment.fit.one_clustering
        info = basis.multitext.edition_info  # by whose columns dispersions may be named
        tables, reasons = [], {}
        for lm, table in basis.surprisals.items():
            try:
                result = compare_folds(table, clusters=clusters, seed=experiment.seed, edition_info=info, **settings)
            except (ConfigError, DataError) as error:
                reasons[lm] = str(error)
                logger.warning("%s: the models of the folds are not compared: %s", lm, error)
            else:
                of_all = {"model_sd": result.model_sd, "p_value_of_all": result.p_value}
                tables.append(result.to_frame().assign(lm=lm, **of_all))
        return _analysis(pd.concat(tables).reset_index() if tables else None, reasons)

    @classmethod
    def read(cls, directory: Path) -> Analysis | None:
        """Read the comparison, whose editions may be numbers."""
        path = directory / TABLE
        reasons = parse_json(read_bytes(directory / MANIFEST)).get(NOT_COMPARED, {})
        if not path.exists():
            return _analysis(None, reasons) if reasons else None
        table = unguarded(read_exact_csv(path, dtype={"edition": str}, keep_default_na=False, na_values=[""]))
        return _analysis(table, reasons)

    @classmethod
    def tables(cls, run: "RunResult") -> list[dict[str, str]]:
        """Return the comparison, the language model in the first column."""
        return [] if run.folds is None else tables_of(run.folds.set_index("lm").reset_index())


def _analysis(table: pd.DataFrame | None, reasons: Mapping[str, str]) -> Analysis:
    return Analysis(
        name="folds",
        table=pd.DataFrame() if table is None else table,
        notes=tuple(f"{lm}: the models of the folds are not compared: {why}" for lm, why in reasons.items()),
        result=table,
        facts={NOT_COMPARED: dict(reasons)},
    )
