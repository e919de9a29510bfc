"""What a run found, in memory or read back from its directory."""

import json
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from langdiff._io import read_table
from langdiff.errors import DataError
from langdiff.regression import DifficultyFit, read_fit
from langdiff.run.directory import EXPERIMENT, MANIFEST
from langdiff.run.experiment import Experiment
from langdiff.surprisals import Surprisals, read_surprisals


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """Surprisals and difficulties of every language model of an experiment.

    Attributes
    ----------
    directory : Path
        Where everything is stored.
    experiment : Experiment
        What was run.
    editions : DataFrame
        One row an edition: language, family, intents, words, characters.
    surprisals, fits : dict
        By name of language model.
    truth : Series or None
        True difficulties (nats) of a synthetic multitext.
    manifest : dict
        Versions, hardware, hashes of the data, sizes of the parts, and ``seconds``: of the stages of the last
        run, and for each language model of the training in all editions, when it was done.
    """

    directory: Path
    experiment: Experiment
    editions: pd.DataFrame
    surprisals: dict[str, Surprisals]
    fits: dict[str, DifficultyFit]
    truth: pd.Series | None
    manifest: dict[str, Any]

    @property
    def report(self) -> Path:
        """Where the report is."""
        return self.directory / "report.html"

    def bits(self) -> pd.DataFrame:
        """Return bits per intent, bits per character and what was replaced, one row per edition × language model."""
        tables = [s.bits_per_character().assign(lm=lm).reset_index() for lm, s in self.surprisals.items()]
        return pd.concat(tables, ignore_index=True)

    def to_frame(self) -> pd.DataFrame:
        """Return one row an edition × language model: difficulty with interval, rank, bits, truth if known."""
        tables = [fit.to_frame().assign(lm=lm).reset_index() for lm, fit in self.fits.items()]
        table = pd.concat(tables, ignore_index=True).merge(self.bits(), on=["edition", "lm"])
        table = table.join(self.editions["language"], on="edition")
        return table if self.truth is None else table.join(self.truth.rename("truth"), on="edition")

    def correlations(self) -> pd.DataFrame:
        """Return one row a pair of models (or model and truth): ``x``, ``y`` and ``pearson_r`` of difficulties."""
        columns = {lm: fit.difficulty for lm, fit in self.fits.items()}
        if self.truth is not None:
            columns["truth"] = self.truth
        rows = [(x, y, columns[x].corr(columns[y])) for x, y in combinations(columns, 2)]
        return pd.DataFrame(rows, columns=["x", "y", "pearson_r"])


def read_run(directory: str | Path) -> RunResult:
    """Read a finished run back from its directory.

    Raises
    ------
    DataError
        If the directory holds no finished run.
    """
    directory = Path(directory)
    try:
        experiment = Experiment.model_validate_json((directory / EXPERIMENT).read_text(encoding="utf-8"))
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        tables = directory / "tables"
        models = experiment.lm.names
        return RunResult(
            directory=directory,
            experiment=experiment,
            editions=pd.read_csv(tables / "editions.csv", index_col="edition", keep_default_na=False),
            surprisals={lm: read_surprisals(directory / "surprisals" / f"{lm}.csv") for lm in models},
            fits={lm: read_fit(directory / "fits" / f"{lm}.json") for lm in models},
            truth=_read_truth(tables / "truth.csv"),
            manifest=manifest,
        )
    except (OSError, ValueError) as error:
        raise DataError(
            f"{directory}: no finished run here ({error}). `langdiff run` makes one, or completes it."
        ) from error


def _read_truth(path: Path) -> pd.Series | None:
    if not path.exists():
        return None
    _, rows = read_table(path)  # not pandas' reader, which rounds the last digit
    truth = {edition: float(value) for _, (edition, value) in rows}
    return pd.Series(truth, name="truth").rename_axis("edition")
