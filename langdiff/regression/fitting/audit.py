"""The audit of a fit: what is independent, whether noise is equal, and what missing cells do."""

from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype
from scipy.linalg import LinAlgError
from scipy.sparse import csr_array

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, option, warn
from langdiff.regression.clustering import AS_ASKED, FEWEST_CLUSTERS, AnyClusters, independent_units
from langdiff.regression.design import Design
from langdiff.regression.fitting.errors import BLOCK, FEWEST_INTENTS
from langdiff.regression.fitting.fixed import Fitting, Fixed
from langdiff.regression.fitting.integrated import OwnDispersions, Random, dispersion_groups
from langdiff.regression.fitting.sample import Uncertainty
from langdiff.regression.kernel.clusters import MANY_ROWS, adjusted_influences
from langdiff.regression.kernel.integrated.comparisons import log_total_ratio
from langdiff.regression.kernel.optimizers import Optimizer
from langdiff.regression.kernel.residual_tests import (
    likeness_of_neighbours,
    likeness_within,
    noise_of_rows,
    noise_parts,
)
from langdiff.regression.kernel.two_way import blocks_of, disconnecting_clusters
from langdiff.regression.records import Audit, IntentsCompared, MissingCells, NoiseTest, OrderTest
from langdiff.tables.influences import Covariance, Influence, Units, joint_test
from langdiff.tables.rule import MANY, JointTest
from langdiff.tables.surprisals import Surprisals
from langdiff.tables.units import IndependentUnits

BLOCKS = 10  # of neighbouring rows, where these are alike
FARTHEST = 5.0  # nats from the average, a factor of 148, at which a difficulty is not one of a language
FAR = 2.0  # standard errors by which two kinds of ratios differ
DOUBTED = 0.01  # p up to which a column is named
FEWEST_TESTED = 3  # editions, for a test of equal noise
MOST_COST = 1e8  # intents × editions², up to which dispersions of systems are fitted by default: half a minute


class Within:
    """Residuals within the rows that were fitted, 0 where missing, made for the rows that are asked for."""

    def __init__(self, fitting: Fitting, shape: tuple[int, int]) -> None:
        self._fitting, self.shape = fitting, shape

    def __getitem__(self, rows: slice | Integers) -> Floats:
        return self._fitting.within(rows)


class Residuals(NamedTuple):
    """Residuals within the rows that were fitted, (I, J), with their variance under equal noise."""

    within: Floats | Within
    observed: Booleans | None  # None if all are
    variance: Floats  # (I,)


def find_units(table: Surprisals, design: Design, z: Floats, clusters: AnyClusters | None) -> IndependentUnits:
    """Return what is independent in a table, by default such that editions stay connected without any unit."""
    usable = partial(_can_be_spared, design, ~np.isnan(z))
    return independent_units(table.intents, table.intent_info, clusters, bits=table.bits.to_numpy(), usable=usable)


def _can_be_spared(design: Design, observed: Booleans, labels: pd.Series) -> bool:
    """Return whether editions stay connected without any one cluster."""
    return not len(disconnecting_clusters(design.observed(observed), pd.factorize(labels)[0], most=1))


def residuals_of(fitting: Fitting) -> Residuals:
    """Return the residuals of a fit."""
    used, found, observed = fitting.used, fitting.parameters, fitting.observed
    if not used.all():
        observed = observed[used]
    if fitting.settings.variant.common_variance:
        variance = np.ones(len(observed))
    else:
        sizes = found.log_intent_size
        variance = np.logaddexp(0.0, np.log(found.dispersion) - sizes)
    intents, editions = observed.shape
    return Residuals(Within(fitting, (intents, editions)), None if observed.all() else observed, variance)


def find_order(
    residuals: Residuals, fitting: Fitting, units: IndependentUnits
) -> tuple[IndependentUnits, OrderTest | None]:
    """Return the units and the test of order: blocks of neighbouring rows where these are alike.

    The test is made where each intent is a unit by default, and sizes are fixed.
    """
    rows: Floats | Within = residuals.within
    intents = fitting.table.intents
    of_intents = units.kind == "copies" or (units.kind == "intents" and not units.source)
    if not of_intents or fitting.settings.random is not None or rows.shape[0] < FEWEST_INTENTS:
        return units, None
    first = np.arange(len(intents))
    if units.columns:
        codes = pd.factorize(units.columns[0])[0]
        first = np.unique(codes, return_index=True)[1][codes]
    if fitting.table.columns is not None:  # translations are those of all systems
        if fitting.table.columns["language"].nunique() < 2:
            return units, None
        rows = _means_by(rows, residuals.observed, _codes(fitting.table.columns["language"]))
    new = (first == np.arange(len(first)))[fitting.used]  # of copies, the first
    variance = residuals.variance
    test = likeness_of_neighbours(rows, variance) if new.all() else likeness_of_neighbours(rows[new], variance[new])
    order = OrderTest(statistic=test.statistic, p_value=test.p_value)
    if not order.alike:
        return units, order
    labels = pd.Series(BLOCKS * np.arange(len(intents)) // len(intents) + 1, intents, name=BLOCK)
    if not _can_be_spared(fitting.design, fitting.observed, labels):
        lacking = "Blocks of rows are not the units, as without one some editions could not be compared."
        return replace(units, notes=(lacking, *units.notes)), order
    blocks = replace(units, kind="blocks", name=str(labels.name), count=BLOCKS, source=order.words, labels=labels)
    return blocks, order


def doubt_units(residuals: Residuals, fitting: Fitting, units: IndependentUnits) -> IndependentUnits:
    """Return units with a note on columns that would make errors longer, which warn; of units by default only."""
    info = fitting.table.intent_info
    if info is None or units.kind == "given" or units.source == AS_ASKED or not fitting.estimate.converged:
        return units
    rows = residuals.within[:] / residuals.variance[:, None]
    weight = 1 / residuals.variance[:, None]
    rows /= np.sum(weight if residuals.observed is None else weight * residuals.observed, axis=0)
    codes, doubts = codes_of(fitting, units), []
    for name, of in info[fitting.used].items():
        column = np.asarray(pd.factorize(of)[0])
        count = int(column.max()) + 1
        if of.isna().any() or is_float_dtype(of) or not FEWEST_CLUSTERS <= count <= len(rows) / 2:
            continue
        effect, p = likeness_within(rows, codes, column)
        if p <= DOUBTED and _can_be_spared(fitting.design, fitting.observed, info[name]):
            doubts.append(
                f"{name}: errors would be {np.sqrt(effect):.1f} times as long by {name} ({count:,} values); "
                f"{option('clusters', str(name))}"
            )
    for doubt in doubts:
        warn(f"{doubt}.")
    return replace(units, notes=(*units.notes, *(f"{doubt[0].upper()}{doubt[1:]}." for doubt in doubts)))


def _codes(names: pd.Series) -> Integers:
    return np.asarray(pd.factorize(names)[0])


def _means_by(rows: Floats | Within, observed: Booleans | None, group: Integers) -> Floats:
    """Return the means of rows over columns of a group, shape (I, groups); 0 where none is observed."""
    member = csr_array((np.ones(len(group)), (np.arange(len(group)), group)))
    counts = member.sum(axis=0) if observed is None else observed.astype(float) @ member
    sums = np.vstack([np.asarray(rows[part] @ member) for part in blocks_of(*rows.shape)])
    means: Floats = sums / np.maximum(counts, 1.0)
    return means


def codes_of(fitting: Fitting, units: IndependentUnits) -> Integers | None:
    """Return the unit of each fitted intent; of two kinds that cross, the fewer ones. None where each is a unit."""
    if not units.columns:
        return None
    fewest = min(units.columns, key=lambda labels: labels.nunique())
    return np.asarray(pd.factorize(fewest[fitting.used])[0])


def test_noise(residuals: Residuals, fitting: Fitting, units: IndependentUnits) -> NoiseTest:
    """Test whether editions have equal noise, or systems in a crossed table; say why where that cannot be tested."""
    columns = fitting.table.columns
    of: Literal["edition", "system"] = "edition" if columns is None else "system"
    model, (intents, editions) = fitting.settings.variant, residuals.within.shape
    why = ""
    if not model.has_information:
        why = f"model {model.name} has one dispersion"
    elif editions < FEWEST_TESTED:
        why = "there are two editions"
    elif intents < FEWEST_INTENTS:
        why = f"there are fewer than {FEWEST_INTENTS} intents"
    elif not fitting.estimate.converged:
        why = "the fit did not converge"
    if why:
        return NoiseTest(why=why, of=of)
    group = None if columns is None else _codes(columns["system"])
    test = equality_of_noise(residuals, codes_of(fitting, units), group)
    lacks = "no three editions have enough intents in common" if np.isnan(test.p) else ""
    return NoiseTest(statistic=test.statistic, p_value=test.p, why=lacks, of=of)


def equality_of_noise(residuals: Residuals, codes: Integers | None, group: Integers | None = None) -> JointTest:
    """Test that editions, or groups of them, have the same noise: by F with many units, else by their sign flips."""
    if codes is None and group is None and residuals.within.shape[0] >= MANY_ROWS:
        mean, covariance, cells = noise_of_rows(*residuals)
        if (
            cells.min() > MANY * (len(mean) - 1)
            and (test := joint_test(mean, Covariance(covariance, cells - 1), len(mean) - 1)).by
        ):
            return test
    found = noise_parts(residuals.within, residuals.observed, residuals.variance, codes, group)
    if found is None:
        return JointTest("", float("nan"), 0, float("nan"), float("nan"))
    mean, parts, share, cells, names = found
    units = Units("unit", pd.Index([f"{name:09d}" for name in names]))
    influence = Influence(parts - share * mean, share if share.shape[1] > 1 else share[:, 0], units)
    centre = np.eye(len(mean)) - cells / cells.sum()
    return joint_test(centre @ mean, influence.pick(np.arange(len(mean)), cells / cells.sum()), len(mean) - 1, cells)


def with_own_dispersions(common: Fitting) -> OwnDispersions | str:
    """Fit each edition, or each system, with a dispersion of its own, or return why that cannot be, in words."""
    settings, table = common.settings, common.table
    of = "edition" if table.columns is None else "system"
    if table.columns is not None and len(table.intents) * len(table.editions) ** 2 > MOST_COST:
        return f"the table is large; fit with {option('dispersion', 'system')} takes minutes, or hours"
    if settings.random not in (None, Random()):
        return "sizes have a distribution of another kind"
    own = settings._replace(
        own_dispersions=True,
        restricted=False,  # where sizes are integrated out, nothing is left to make up for
        optimizer=Optimizer("auto", settings.optimizer.max_iterations),
    )
    try:
        shared = common.shared if isinstance(common, Fixed) else None
        group = dispersion_groups(of, table, None)
        found = OwnDispersions(common.design, own, table, group, shared)
    except ConfigError:
        return "in model 1, difficulties that editions share need one"
    except (DataError, LinAlgError):
        return "the table does not identify more"
    if not found.estimate.converged:
        return f"the fit with one per {of} did not converge"
    if found.unequal.boundary.any():
        return f"with one per {of} some are 0"
    if not (np.abs(found.difficulties) <= FARTHEST).all():
        return f"with one per {of} some difficulties are extreme"
    return found


def unequal_noise(
    residuals: Residuals, common: Fitting, units: IndependentUnits, noise: NoiseTest, *, automatic: bool
) -> tuple[Fitting, NoiseTest]:
    """Return the fit of a table with unequal noise, and what was done; without `automatic` nothing is."""
    if not automatic:
        return common, replace(noise, why="that was asked for")
    found = with_own_dispersions(common)
    if isinstance(found, str):
        noise = replace(noise, why=found, totals=totals_of(common, units, *noisiest_pair(residuals)))
        warn_of_noise(noise)
        return common, noise
    return found, replace(noise, fitted="edition", largest_change=largest_change(common, found))


def largest_change(before: Fitting, after: Fitting) -> float:
    """Return by how much a difference between two editions changes at most, in percent."""
    return float(100 * np.expm1(np.ptp(after.difficulties - before.difficulties)))


def noisiest_pair(residuals: Residuals) -> tuple[int, int]:
    """Return the editions with the most and the least noise, between which a common dispersion errs most."""
    squared = residuals.within[:] ** 2 / residuals.variance[:, None]
    cells = len(squared) if residuals.observed is None else residuals.observed.sum(axis=0)
    mean = squared.sum(axis=0) / np.maximum(cells, 1)
    return int(mean.argmax()), int(mean.argmin())


def totals_of(fitting: Fitting, units: IndependentUnits, one: int, other: int) -> str:
    """Return the ratio of the total bits of two editions beside that of the fit, in words."""
    table, codes = fitting.table, codes_of(fitting, units)
    try:
        found = log_total_ratio(table.bits.to_numpy()[fitting.used], one, other, codes)
    except DataError:  # too few intents in common
        return ""
    fitted = fitting.estimate.c[one] - fitting.estimate.c[other]
    names = table.editions
    return (
        f"Total bits of {names[one]} differ from those of {names[other]} by {100 * np.expm1(found.estimate):+.2g} ± "
        f"{100 * np.exp(found.estimate) * found.std_error:.2g} %, in the fit by {100 * np.expm1(fitted):+.2g} %."
    )


def totals_of_two(fitting: Fitting, units: IndependentUnits) -> str:
    """Return the ratio of the total bits of two editions in words if it is not that of the fit; otherwise nothing."""
    bits, codes = fitting.table.bits.to_numpy()[fitting.used], codes_of(fitting, units)
    if codes is None:
        codes = np.arange(len(bits))
    try:
        clusters = fitting.clusters(codes)
    except (LinAlgError, DataError):
        return ""
    means = bits.mean(axis=0)
    of_totals = np.bincount(codes, bits[:, 0] / means[0] - bits[:, 1] / means[1]) / len(bits)
    of_fit = adjusted_influences(clusters, "CR0") @ np.array([1.0, -1.0])
    apart = float(np.log(means[0] / means[1]) - (fitting.estimate.c[0] - fitting.estimate.c[1]))
    error = float(np.linalg.norm(of_totals - of_fit))
    return totals_of(fitting, units, 0, 1) if abs(apart) > FAR * error else ""


def warn_of_noise(noise: NoiseTest) -> None:
    """Warn that noise is unequal and has one dispersion."""
    warn(
        f"noise differs between {noise.of}s (p = {noise.p_value:.2g}), but all have one dispersion: {noise.why}. "
        f"Ratios of expected bits may be biased. {noise.totals}"
    )


def warn_of_missing(missing: MissingCells) -> None:
    """Warn that difficulties depend on how sizes of intents are treated."""
    warn(
        f"{missing.percent:.0f} % of the cells are missing, and fixed and random intents differ by up to "
        f"{missing.largest:.2g} % ({missing.edition}), p = {missing.p_value:.2g}: one of the two is biased. Choose "
        "`intents` by why cells are missing."
    )


def missing_cells(fitting: Fitting, compared: IntentsCompared | None) -> MissingCells:
    """Return how much is missing and what that does."""
    percent = 100 * float(1 - fitting.observed.mean())
    if compared is None:
        return MissingCells(percent=percent)
    distance = compared.difference.abs()
    worst, largest = distance.idxmax(), float(100 * np.expm1(distance.max()))
    return MissingCells(percent=percent, p_value=compared.p_value, largest=largest, edition=str(worst))


def conclude(
    fitting: Fitting,
    uncertainty: Uncertainty,
    units: IndependentUnits,
    order: OrderTest | None,
    noise: NoiseTest,
    missing: MissingCells,
) -> Audit:
    """Return the audit, and warn if errors take intents to be independent that were found not to be."""
    source, least = uncertainty.source, float(np.min(uncertainty.freedom))
    freedom = "" if not np.isfinite(least) else f", {least:,.1f} degrees of freedom or more"
    if source.kind == "information":
        freedom = "" if not np.isfinite(least) else f", {least:,.0f} degrees of freedom"
    kind = {
        "information": "the information",
        "sandwich": f"sandwich {source.correction}",
        "bootstrap": f"bootstrap of {source.n_resamples:,} samples",
    }.get(source.kind, source.kind)
    taken = ""
    if source.kind == "information" and units.columns and fitting.estimate.converged:
        taken = f"They take {len(units.columns[0]):,} intents as independent, although they are of {units.words}"
        warn(
            f"errors take {len(units.columns[0]):,} intents as independent, although they are of {units.words}: leave "
            f"{option('errors')} out, or use {option('errors', 'sandwich')}."
        )
    return Audit(
        clusters=units,
        order=order,
        noise=noise,
        missing=missing,
        errors=f"{kind}{freedom}",
        design_effect=source.design_effect,
        taken=taken,
    )
