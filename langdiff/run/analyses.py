"""The sections of the experiment beyond the regression; each calls the functions that users call."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.corpora.tokenizer import detokenize
from langdiff.errors import DataError, listing
from langdiff.lm.jobs.record import hash_texts
from langdiff.regression import DifficultyFit
from langdiff.run.analysis import Analysis, kept_or_made
from langdiff.run.experiment import Experiment, FileCorpus
from langdiff.run.figure import Figure, draw
from langdiff.run.hashes import hash_files
from langdiff.run.sections import PATHS
from langdiff.tables.divisions import Folds, Parts
from langdiff.tables.multitext import Multitext
from langdiff.tables.surprisals import Surprisals


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What the analyses of a run are made from.

    Attributes
    ----------
    experiment : Experiment
        Settings of the run.
    multitext : Multitext
        The selected texts.
    parts : Parts or Folds
        How they are divided.
    surprisals, fits : dict
        Tables and fits by language model.
    progress : bool or None
        Whether to draw progress bars.
    """

    experiment: Experiment
    multitext: Multitext
    parts: Parts | Folds
    surprisals: Mapping[str, Surprisals]
    fits: Mapping[str, DifficultyFit]
    progress: bool | None

    @property
    def texts(self) -> Multitext:
        """The selected texts as they were read: language models see marks of the tokenizer, which nobody wrote."""
        return self._as_read(self.multitext)

    @property
    def learned(self) -> Multitext:
        """The texts that predictors are measured on: those to learn from, or all where there are none or folds."""
        if isinstance(self.parts, Parts) and len(self.parts.train):
            return self._as_read(self.parts.train)
        return self.texts

    def _as_read(self, texts: Multitext) -> Multitext:
        corpus = self.experiment.corpus
        tokenized = isinstance(corpus, FileCorpus) and corpus.tokenization == "reversible"
        return texts.map_text(detokenize) if tokenized else texts


def check_sections(experiment: Experiment, multitext: Multitext) -> None:
    """Refuse, before training, sections that name what is not there.

    Raises
    ------
    DataError
        If a file or folder, the reference of ``[parity]`` or the original languages for ``[translationese]`` are
        missing.
    """
    for section, keys in PATHS.items():
        for key in keys:
            path = getattr(getattr(experiment, section), key, None)
            if path is not None and not Path(path).exists():
                raise DataError(f"{path}: no such file or directory ({key} in [{section}]).")
    parity, native = experiment.parity, experiment.translationese
    if parity is not None and parity.reference not in multitext.editions:
        known = listing(multitext.editions, most=20)
        raise DataError(f"reference = {parity.reference!r} in [parity] is not a selected edition; there are {known}.")
    if native is not None and native.origins is None and "original_language" not in multitext.intent_info:
        raise DataError(
            "[translationese] needs the original language of each intent, which this corpus does not tell: give a "
            "table as origins, or original_language in [corpus] for the format 'moses'."
        )


def analyse(
    basis: Basis, directory: Path, new: Path, stage: Callable[[str], AbstractContextManager[None]]
) -> dict[str, Analysis]:
    """Do what the sections of the experiment ask for, in the order of `MAKERS`; what is kept is not done again.

    Parameters
    ----------
    basis : Basis
        What they are made from.
    directory, new : Path
        The run directory, and the folder for what is published.
    stage : callable
        Function that returns a context that logs and times the work named.

    Returns
    -------
    dict from str to Analysis
        Results by section.
    """
    found: dict[str, Analysis] = {}
    for name, (depends, make) in MAKERS.items():
        settings = getattr(basis.experiment, name)
        if settings is None and not (name == "predictors" and basis.experiment.correlate is not None):
            continue
        with stage(name):
            found[name] = kept_or_made(
                name,
                partial(_depends, basis, found, name, depends),
                partial(make, basis, found),
                directory,
                new,
            )
    return found


def _compare(basis: Basis, _: Mapping[str, Analysis]) -> Analysis:
    import langdiff as ld

    settings = basis.experiment.compare
    assert settings is not None  # noqa: S101 for the type checker: `analyse` calls it only then
    asked = basis.experiment.fit.restricted
    # those of others do not compare with them
    restricted = asked and all(variant.restrictable for variant in settings.variants)
    tables = []
    for lm, table in basis.surprisals.items():
        fits: dict[str, DifficultyFit] = {}
        for variant in settings.variants:
            fits[variant.name] = ld.fit(table, model=variant, restricted=restricted, seed=basis.experiment.seed)
        rows = ld.compare(fits).drop(columns="model").rename_axis("model")
        if settings.k:
            held_out = ld.cross_validate(
                table,
                settings.variants,
                n_folds=settings.k,
                clusters=basis.experiment.fit.one_clustering,
                seed=basis.experiment.seed,
                progress=basis.progress,
            )
            columns = ["log_density", "std_error", "difference", "difference_std_error"]
            rows = rows.join(held_out.to_frame()[columns].add_prefix("held_out_"))
        tables.append(_of(lm, rows.reset_index()))
    notes = ["A higher likelihood does not prove a model better, since every intent has a size of its own."]
    if settings.k:
        notes = [f"Held out: mean log density per cell that was left out, in nats, in {settings.k} folds of the cells."]
    if asked and not restricted:
        notes.append(
            "Fitted here by the unrestricted likelihood, unlike in [fit]: not all of these models have a restricted "
            "one, and the two do not compare."
        )
    if len(basis.surprisals) > 1:
        notes.append(_total_bits(basis.surprisals))
    return Analysis(name="compare", table=pd.concat(tables, ignore_index=True), notes=tuple(notes))


def _total_bits(surprisals: Mapping[str, Surprisals]) -> str:
    """Say by what language models compare: the bits of the cells that all of them have."""
    tables = [table.bits for table in surprisals.values()]
    intents = [name for name in tables[0].index if all(name in table.index for table in tables)]
    editions = [name for name in tables[0].columns if all(name in table.columns for table in tables)]
    bits = np.array([table.loc[intents, editions].to_numpy() for table in tables])
    known = ~np.isnan(bits).any(axis=0)
    totals = ", ".join(f"{lm} {of[known].sum():,.0f}" for lm, of in zip(surprisals, bits, strict=True))
    return (
        "Likelihoods of different language models do not compare; bits do. Total bits of the "
        f"{int(known.sum()):,} cells that all have: {totals}."
    )


def _goodness(basis: Basis, _: Mapping[str, Analysis]) -> Analysis:
    import langdiff as ld

    settings = basis.experiment.goodness
    assert settings is not None  # noqa: S101
    tables, notes = [], []
    figures: list[Figure] = []
    for lm, table in basis.surprisals.items():
        found = ld.goodness(table, **settings.arguments(), seed=basis.experiment.seed, progress=basis.progress)
        tables.append(_of(lm, found.to_frame()))
        notes.append(f"{lm}: {found!r} [{found.signature}]")
        for n, fix in found.settings:
            caption = f"Log-likelihood of held-out intents for {lm}, by subset; sizes {n}, {fix} fixed."
            name = f"goodness-{lm}-{n}-{fix.replace('+', '-')}"
            figures.append(draw(name, caption, "goodness", lambda ax, r=found, n=n, fix=fix: r.plot(ax, n=n, fix=fix)))
    return Analysis(
        name="goodness", table=pd.concat(tables, ignore_index=True), notes=tuple(notes), figures=tuple(figures)
    )


def _sample(basis: Basis, _: Mapping[str, Analysis]) -> Analysis:
    import langdiff as ld
    from langdiff.regression import posterior_table

    settings = basis.experiment.sample
    assert settings is not None  # noqa: S101
    tables, notes = [], []
    for lm, table in basis.surprisals.items():
        draws = ld.sample(table, **settings.arguments(), seed=basis.experiment.seed, progress=basis.progress)
        rows = posterior_table(draws)
        estimate = basis.fits[lm].to_frame()
        rows.insert(0, "estimate", estimate["difficulty"] if estimate.index.name == "edition" else np.nan)
        tables.append(_of(lm, rows.reset_index()))
        notes.append(f"{lm}: {ld.diagnose(draws).summary()} [{draws['posterior'].attrs['signature']}]")
    return Analysis(name="sample", table=pd.concat(tables, ignore_index=True), notes=tuple(notes))


def _translationese(basis: Basis, _: Mapping[str, Analysis]) -> Analysis:
    from langdiff.experiments import read_origins, translationese

    settings = basis.experiment.translationese
    assert settings is not None  # noqa: S101
    origins = None if settings.origins is None else read_origins(settings.origins)
    fitting = basis.experiment.fit.arguments()
    del fitting["formula"]
    tables, notes = [], []
    figures: list[Figure] = []
    for lm, table in basis.surprisals.items():
        found = translationese(
            table,
            origins,
            languages=settings.languages,
            min_native=settings.min_native,
            edition_info=basis.multitext.edition_info,
            **fitting,
            seed=basis.experiment.seed,
        )
        tables.append(_of(lm, found.to_frame().reset_index()))
        notes.append(f"{lm}: {found!r} [{found.fit.signature}]")
        caption = f"Native minus translated texts for {lm}, in nats, with 95 % intervals."
        rows = 4 + len(found.cells)
        figures.append(
            draw(f"translationese-{lm}", caption, "translationese", lambda ax, r=found: r.plot(ax), rows=rows)
        )
    return Analysis(
        name="translationese",
        table=pd.concat(tables, ignore_index=True),
        notes=tuple(notes),
        figures=tuple(figures),
    )


def _predictors(basis: Basis, _: Mapping[str, Analysis]) -> Analysis:
    import langdiff as ld
    from langdiff.typology import read_wals

    settings = basis.experiment.predictors
    given: dict[str, Any] = {} if settings is None else settings.model_dump(exclude_none=True)
    if same_as := given.pop("same_as", None):
        given["wals"] = read_wals(given["wals"], same_as=same_as)
    found = ld.predictors(basis.learned, **given, progress=basis.progress)
    notes = [
        f"{predictor} is missing in {len(rows)} edition(s): {', '.join(rows['edition'])} ({reason})"
        for (predictor, reason), rows in found.missing.groupby(["predictor", "reason"], sort=False)
    ]
    return Analysis(name="predictors", table=found.to_frame().reset_index(), notes=tuple(notes))


def _correlate(basis: Basis, found: Mapping[str, Analysis]) -> Analysis:
    import langdiff as ld

    settings = basis.experiment.correlate
    assert settings is not None  # noqa: S101
    if found["predictors"].table.empty:
        raise DataError("there are no predictors.")
    given: dict[str, Any] = settings.model_dump(exclude_none=True)
    given["average"] = None if given.pop("unit") == "edition" else "language"
    result = ld.correlate(
        dict(basis.fits),
        found["predictors"].table.set_index("edition"),
        edition_info=basis.multitext.edition_info,
        corpus=basis.experiment.name,
        **given,
        seed=basis.experiment.seed,
    )
    table = result.to_frame().sort_values("p", kind="stable").drop(columns="corpus")
    table = table[[name for name in table if name not in ("given", "reason") or table[name].str.len().any()]]
    head = (
        f"{result.family_size} tests have a p; Benjamini and Hochberg's procedure over all of them, at a false "
        f"discovery rate of {settings.alpha:g}, finds {int(table['significant'].sum())} significant."
    )
    figures: tuple[Figure, ...] = ()
    if table["p"].notna().any():
        strongest = result.strongest()
        caption = f"Difficulty against {strongest}, the number with the smallest p."
        figures = (draw("correlate", caption, "correlate", lambda ax: result.plot(strongest, ax)),)
    return Analysis(
        name="correlate",
        table=table.reset_index(drop=True),
        notes=(head, f"[{result.signature}]"),
        figures=figures,
    )


def _parity(basis: Basis, _: Mapping[str, Analysis]) -> Analysis:
    import langdiff as ld

    settings = basis.experiment.parity
    assert settings is not None  # noqa: S101
    tables, notes = [], []
    figures: list[Figure] = []
    for lm, table in basis.surprisals.items():
        scored = settings.reference in table.editions
        if not scored:
            notes.append(f"{lm}: {settings.reference} could not be scored, so that there are no bits to compare with.")
        found = ld.measure_parity(
            basis.texts,
            surprisals=table if scored else None,
            clusters=_clusters_of_intents(basis),
            reference=settings.reference,
            n_resamples=settings.bootstrap,
            **settings.model_dump(exclude={"reference", "bootstrap"}),
            seed=basis.experiment.seed,
        )
        tables.append(_of(lm, found.to_frame().rename_axis("edition").reset_index()))
        notes.append(f"{lm}: [{found.signature}]")
        if not figures:  # bytes are the same for all language models
            caption = f"Bytes of the same content, in units of those of {settings.reference}, with 95 % intervals."
            rows = len(found.estimates)
            figures.append(draw("parity", caption, "parity", lambda ax, r=found: r.plot("byte_premium", ax), rows=rows))
    return Analysis(
        name="parity", table=pd.concat(tables, ignore_index=True), notes=tuple(notes), figures=tuple(figures)
    )


def _clusters_of_intents(basis: Basis) -> str | pd.Series | None:
    """Return the clusters of the fit, also for texts, which do not know in which fold they were measured."""
    clusters = basis.experiment.fit.one_clustering
    return basis.parts.fold if clusters == "fold" and isinstance(basis.parts, Folds) else clusters


def _of(lm: str, rows: pd.DataFrame) -> pd.DataFrame:
    rows.insert(0, "lm", lm)
    return rows


def _tables(basis: Basis, _: Mapping[str, Analysis]) -> list[Any]:
    """Return what analyses of the surprisals depend on."""
    info = [table.intent_info for table in basis.surprisals.values() if table.intent_info is not None]
    return [
        basis.experiment.fit.model_dump(mode="json"),
        list(basis.surprisals),
        *(table.bits for table in basis.surprisals.values()),
        *info,
        basis.multitext.edition_info.drop(columns="path", errors="ignore"),
    ]


def _learned(basis: Basis, _: Mapping[str, Analysis]) -> list[Any]:
    """Return what predictors depend on."""
    texts = basis.learned
    info = texts.edition_info.drop(columns="path", errors="ignore")
    return [basis.experiment.corpus.format, info, [hash_texts(texts.text(edition)) for edition in texts.editions]]


def _fits_and_predictors(basis: Basis, found: Mapping[str, Analysis]) -> list[Any]:
    fits = [[lm, fit.signature] for lm, fit in basis.fits.items()]
    difficulties = [fit.difficulty for fit in basis.fits.values()]
    info = basis.multitext.edition_info.drop(columns="path", errors="ignore")
    return [fits, *difficulties, found["predictors"].table, info]


def _texts_and_tables(basis: Basis, found: Mapping[str, Analysis]) -> list[Any]:
    texts = basis.texts
    return [*_tables(basis, found), [hash_texts(texts.text(edition)) for edition in texts.editions]]


Depends = Callable[[Basis, Mapping[str, Analysis]], list[Any]]
Make = Callable[[Basis, Mapping[str, Analysis]], Analysis]

MAKERS: dict[str, tuple[Depends, Make]] = {
    "compare": (_tables, _compare),
    "goodness": (_tables, _goodness),
    "sample": (_tables, _sample),
    "translationese": (_tables, _translationese),
    "predictors": (_learned, _predictors),
    "correlate": (_fits_and_predictors, _correlate),
    "parity": (_texts_and_tables, _parity),
}


def _depends(basis: Basis, found: Mapping[str, Analysis], name: str, depends: Depends) -> list[Any]:
    """Return all that a section depends on: settings, hashes of the files that they name, and data."""
    settings = getattr(basis.experiment, name)
    given: list[Any] = [basis.experiment.seed]
    if settings is not None:
        paths = [getattr(settings, key) for key in PATHS.get(name, ())]
        files = [hash_files(Path(path)) for path in paths if path is not None]
        given += [settings.model_dump(mode="json"), files]
    return [*given, *depends(basis, found)]
