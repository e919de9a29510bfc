"""Results of a run, in memory or read from its directory."""

from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.cells import read_exact_csv, unguarded
from langdiff.base.checksums import DamageError, read_checksums
from langdiff.base.io import as_path, parse_json, read_bytes, read_table
from langdiff.base.result import read
from langdiff.base.suspicion import LEFT_OUT_COLUMNS
from langdiff.errors import DataError
from langdiff.lm.baselines import compare_with_baselines
from langdiff.regression import DifficultyCurve, DifficultyFit
from langdiff.run.analysis import Analysis
from langdiff.run.directory import EDITIONS, EXPERIMENT, FORMAT_VERSION, MANIFEST, PRESENCE
from langdiff.run.experiment import Core
from langdiff.run.experiment_file import parse_settings
from langdiff.run.settings import SECTIONS
from langdiff.tables.multitext import FAULT_COLUMNS
from langdiff.tables.surprisal_files import read_surprisals
from langdiff.tables.surprisals import Surprisals

REPAIR = "`langdiff run` with the same experiment makes all that is missing or damaged again."
DRAWN = ("figures", "report.html")  # from the other files, and read by nobody but people


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """Surprisals and difficulties of every language model of an experiment.

    Attributes
    ----------
    directory : Path
        Directory of the run, where everything is stored.
    experiment : Experiment
        Settings of the run.
    editions : DataFrame
        One row per edition: language, family, intents, words, characters.
    surprisals, fits : dict
        Surprisals of the test part and fits, by name of language model.
    truth : Series or None
        True difficulties (nats) of a synthetic multitext.
    manifest : dict
        Versions, hardware, hashes of the data, what was left out as faulty and the faults, sizes of the parts,
        ``failed``: what was wrong, by language model and edition; ``folds_not_compared``: why, by language model; and
        ``seconds``: the time of each stage of the last run, and for each language model that of its training in all
        editions, whenever it was trained.
    presence : DataFrame or None
        One row per edition of the corpus, if the experiment selects: ``language``, number and ``percent`` of the
        ``intents`` that it has, and whether it was ``selected``.
    analyses : dict from str to Analysis
        What the sections of the experiment found, by name: each has a ``table`` and ``notes``.
    """

    directory: Path
    experiment: Core
    editions: pd.DataFrame
    surprisals: dict[str, Surprisals]
    fits: dict[str, DifficultyFit]
    truth: pd.Series | None
    manifest: dict[str, Any]
    presence: pd.DataFrame | None = None
    analyses: dict[str, Analysis] = field(default_factory=dict)

    @property
    def baselines(self) -> pd.DataFrame | None:
        """Baselines of each edition from n-grams and compressors (`langdiff.lm.measure_baselines`), if measured."""
        found: pd.DataFrame | None = self._of("baselines")
        return found

    @property
    def folds(self) -> pd.DataFrame | None:
        """Differences between the models of the folds (`langdiff.regression.compare_folds`), if there are folds.

        One row per edition × language model.
        """
        found: pd.DataFrame | None = self._of("folds")
        return found

    @property
    def curve(self) -> DifficultyCurve | None:
        """Difficulties at several sizes of the training data, if the experiment has a ``[curve]``."""
        found: DifficultyCurve | None = self._of("curve")
        return found

    def _of(self, section: str) -> Any:
        return self.analyses[section].result if section in self.analyses else None

    @property
    def failed(self) -> pd.DataFrame:
        """Editions that could not be trained or scored, one row per edition × language model: lm, edition, error."""
        rows = [
            (lm, edition, why) for lm, editions in self.manifest["failed"].items() for edition, why in editions.items()
        ]
        return pd.DataFrame(rows, columns=["lm", "edition", "error"])

    @property
    def report(self) -> Path:
        """Path of the report."""
        return self.directory / "report.html"

    @property
    def left_out(self) -> pd.DataFrame:
        """Texts left out because files of the corpus are faulty; see `langdiff.Multitext`."""
        return pd.DataFrame(self.manifest.get("left_out", []), columns=list(LEFT_OUT_COLUMNS))

    @property
    def skipped(self) -> pd.DataFrame:
        """Faults of the texts that were left out; see `langdiff.Multitext`."""
        return pd.DataFrame(self.manifest.get("skipped", []), columns=list(FAULT_COLUMNS))

    def bits(self) -> pd.DataFrame:
        """Return bits per intent and per character, and shares replaced, one row per edition × language model."""
        tables = [s.bits_per_character().assign(lm=lm).reset_index() for lm, s in self.surprisals.items()]
        return pd.concat(tables, ignore_index=True)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition × language model: difficulty with interval, rank, bits, truth if known."""
        tables = [fit.to_frame().assign(lm=lm).reset_index() for lm, fit in self.fits.items()]
        table = pd.concat(tables, ignore_index=True).merge(self.bits(), on=["edition", "lm"])
        table = table.join(self.editions["language"], on="edition")
        return table if self.truth is None else table.join(self.truth.rename("truth"), on="edition")

    def by_model(self) -> pd.DataFrame:
        """Return difficulties and bits side by side: one row per edition, hardest by the first language model first."""
        columns = {}
        for lm, fit in self.fits.items():
            columns[f"{lm} %"] = fit.to_frame()["percent"]
            columns[f"{lm} ±"] = fit.to_frame()["percent_std_error"]
            columns[f"{lm} bits/char"] = self.surprisals[lm].bits_per_character()["bits_per_character"]
        if self.truth is not None:
            columns["truth %"] = 100 * np.expm1(self.truth)
        table = pd.DataFrame(columns).rename_axis("edition")
        return table.sort_values(table.columns[0], ascending=False)

    def against_baselines(self) -> pd.DataFrame:
        """Compare the networks with the baselines; see `langdiff.lm.compare_with_baselines`.

        Warns
        -----
        LangdiffWarning
            If networks need more bits than a baseline.
        """
        if self.baselines is None:
            raise DataError(
                f"{self.directory}: this run measured no baselines. Run the experiment again, with baselines = true in "
                "[lm]."
            )
        compared = [table for lm, table in self.surprisals.items() if self.experiment.lm.has_baselines(lm)]
        return compare_with_baselines(compared, self.baselines)

    def correlations(self) -> pd.DataFrame:
        """Return one row per pair of models (or model and truth): ``x``, ``y`` and ``pearson_r`` of difficulties."""
        columns = {lm: fit.difficulty for lm, fit in self.fits.items()}
        if self.truth is not None:
            columns["truth"] = self.truth
        rows = [(x, y, columns[x].corr(columns[y])) for x, y in combinations(columns, 2)]
        return pd.DataFrame(rows, columns=["x", "y", "pearson_r"])


def read_run(directory: str | Path) -> RunResult:
    """Read a finished run back from its directory.

    Parameters
    ----------
    directory : str or Path
        Directory that `langdiff.run_experiment` wrote.

    Returns
    -------
    RunResult
        Surprisals, fits and manifest of the run.

    Raises
    ------
    DataError
        If the directory does not hold a finished run, or one of another format version, or a file that is read is
        damaged; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> from langdiff.run import Experiment, run_experiment
    >>> settings = {
    ...     "name": "small",
    ...     "corpus": {"format": "synthetic", "n_intents": 60, "n_languages": 2},
    ...     "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = run_experiment(Experiment.model_validate(settings), folder, progress=False)
    ...     list(read_run(folder).fits)
    ['kneser-ney-2']
    """
    directory = as_path(directory)
    try:
        manifest = parse_json(read_bytes(directory / MANIFEST))
        version = manifest.get("format_version")
    except OSError as error:
        raise DataError(f"{directory}: not a finished run ({error}). {REPAIR}") from error
    except (ValueError, AttributeError) as error:  # of JSON that is not an object
        raise DataError(f"{directory / MANIFEST}: damaged: {error}. {REPAIR}") from error
    try:
        kept = read_checksums(directory)
        if damaged := [why for name, why in kept.damage().items() if name.split("/")[0] not in DRAWN]:
            raise DataError(f"{' '.join(damaged[:5])} {len(damaged)} file(s) cannot be trusted. {REPAIR}")
    except DamageError as error:
        if version != FORMAT_VERSION:
            raise DataError(
                f"{directory / MANIFEST}: format version {version!r}; this langdiff reads {FORMAT_VERSION}. Repeat the "
                "run with `langdiff run`, or read it with the version that wrote it."
            ) from error
        raise DamageError(f"{error} {REPAIR}") from error
    experiment = parse_settings(kept.read(EXPERIMENT))
    models = experiment.lm.names
    return RunResult(
        directory=directory,
        experiment=experiment,
        editions=_read_editions(directory / EDITIONS),
        surprisals={lm: read_surprisals(directory / "surprisals" / f"{lm}.csv") for lm in models},
        fits={lm: read(directory / "fits" / f"{lm}.json", DifficultyFit) for lm in models},
        truth=_read_truth(directory / "tables/truth.csv"),
        manifest=manifest,
        presence=_read_editions(directory / PRESENCE) if (directory / PRESENCE).exists() else None,
        analyses={name: found for name, kind in SECTIONS.items() if (found := kind.read(directory))},
    )


def _read_truth(path: Path) -> pd.Series | None:
    if not path.exists():
        return None
    _, rows = read_table(path)  # not pandas' reader, which rounds the last digit
    truth = {edition: float(value) for _, (edition, value) in rows}
    return pd.Series(truth, name="truth").rename_axis("edition")


def _read_editions(path: Path) -> pd.DataFrame:
    """Read the table of editions, whose names may be numbers."""
    return unguarded(read_exact_csv(path, dtype={"edition": str}, keep_default_na=False)).set_index("edition")
