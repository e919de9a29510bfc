"""Fits of several tables to the cells that all of them have."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from langdiff.base.types import Floats
from langdiff.errors import ConvergenceWarning, DataError, listing, warn
from langdiff.regression.design import make_design
from langdiff.regression.fitting.audit import residuals_of, test_noise, with_own_dispersions
from langdiff.regression.fitting.errors import FEW_CLUSTERS, ROUNDING
from langdiff.regression.fitting.fixed import Fitting, Fixed, Settings
from langdiff.regression.fitting.influence import Influence, influence_of
from langdiff.regression.fitting.integrated import OwnDispersions, dispersion_groups
from langdiff.regression.fitting.sample import Sample
from langdiff.regression.table import log_bits
from langdiff.regression.units import IndependentUnits
from langdiff.regression.variants.variant import Variant
from langdiff.tables.contrasts import Scale
from langdiff.tables.effects import Effects
from langdiff.tables.surprisals import Surprisals

FEWEST_EDITIONS = 2
FEWEST_INTENTS = 20
DIFFERENCE = Scale(quantity="difference")


def common_cells(tables: Mapping[str, Surprisals]) -> tuple[dict[str, Surprisals], dict[str, int]]:
    """Return the tables of the cells that all have, and the numbers of intents, editions and cells left out."""
    first, *others = tables.values()
    info = next((table.intent_info for table in tables.values() if table.intent_info is not None), None)
    intents = [name for name in first.intents if all(name in table.bits.index for table in others)]
    editions = [name for name in first.editions if all(name in table.bits.columns for table in others)]
    known = np.all([table.bits.loc[intents, editions].notna().to_numpy() for table in tables.values()], axis=0)
    rows, columns = known.any(axis=1), known.any(axis=0)
    several = int((known.sum(axis=1) > 1).sum())
    if columns.sum() < FEWEST_EDITIONS or several < FEWEST_INTENTS:
        sizes = ", ".join(
            f"{len(table.intents):,} × {len(table.editions):,} in {name!r}" for name, table in tables.items()
        )
        raise DataError(
            f"{int(columns.sum())} edition(s) and {several:,} intent(s) with cells of two editions are in all tables "
            f"(intents × editions: {sizes}); at least {FEWEST_EDITIONS} and {FEWEST_INTENTS} are needed. Score the "
            "same texts with each language model, under the same names."
        )
    rows_kept, columns_kept = pd.Index(intents)[rows], pd.Index(editions)[columns]
    mask = known[np.ix_(rows, columns)]
    common = {
        name: Surprisals(
            bits=table.bits.loc[rows_kept, columns_kept].where(mask),
            intent_info=None if info is None else info.reindex(rows_kept),
            lm=table.lm,
            provenance=table.provenance,
        )
        for name, table in tables.items()
    }
    _refuse_equal(common)
    all_intents = set().union(*(table.intents for table in tables.values()))
    all_editions = set().union(*(table.editions for table in tables.values()))
    all_cells = set().union(*(_cells(table, rows_kept, columns_kept) for table in tables.values()))
    return common, {
        "intents": len(all_intents) - len(rows_kept),
        "editions": len(all_editions) - len(columns_kept),
        "cells": len(all_cells) - int(mask.sum()),
    }


def _cells(table: Surprisals, intents: pd.Index, editions: pd.Index) -> set[tuple[int, int]]:
    """Return the places of the cells that a table has among intents and editions that all tables have."""
    known = table.bits.loc[intents, editions].notna().to_numpy()
    return set(zip(*(places.tolist() for places in np.nonzero(known)), strict=True))


def _refuse_equal(tables: Mapping[str, Surprisals]) -> None:
    (first, table), *others = tables.items()
    equal = [name for name, other in others if other.bits.equals(table.bits)]
    if equal:
        raise DataError(
            f"{first!r} and {equal[0]!r} have the same bits in all cells that all tables have: there is no "
            "difference to estimate. Are they the same table?"
        )


@dataclass(frozen=True)
class JointFits:
    """Fits of the same cells by each language model, with their influences."""

    fittings: dict[str, Fitting]
    influences: dict[str, Influence]
    restricted: bool
    dispersion: Literal["common", "edition"]

    @property
    def converged(self) -> bool:
        """Whether all fits converged."""
        return all(fitting.estimate.converged for fitting in self.fittings.values())

    def difference(self, first: str, other: str, signature: str) -> Effects:
        """Return the difficulties by one language model less those by another."""
        one, two = self.influences[first], self.influences[other]
        fitting, apart = self.fittings[first], one.values - two.values
        names = fitting.design.units
        freedom = np.minimum(one.freedom, two.freedom)
        return Effects(
            estimate=pd.Series(fitting.difficulties - self.fittings[other].difficulties, names, name="difference"),
            covariance=pd.DataFrame(apart.T @ apart, names, names),
            scale=DIFFERENCE,
            title=f"{first} against {other}, model {fitting.settings.variant.name}",
            converged=self.converged,
            signature=signature,
            degrees_of_freedom=pd.DataFrame(freedom, names, names),
        )

    def ratio(self, first: str, other: str) -> float:
        """Return how many times as long errors of pairs would be if the tables were independent; see `LmComparison`."""
        one, two = self.influences[first], self.influences[other]
        apart = one.values - two.values
        joint, sums = (_of_pairs(each) for each in (apart.T @ apart, one.covariance + two.covariance))
        return float(np.median(np.sqrt(sums / joint)))


def _of_pairs(covariance: Floats) -> Floats:
    """Return the variances of all differences of two, (J, J) → (J(J − 1)/2,)."""
    own = np.diag(covariance)
    variances: Floats = (own[:, None] + own - 2 * covariance)[np.triu_indices(len(own), 1)]
    return variances


def fit_audited(tables: Mapping[str, Surprisals], variant: Variant, units: IndependentUnits) -> JointFits:
    """Fit tables of the same cells, with dispersions of editions if the noise of editions differs in one of them.

    Raises
    ------
    DataError
        If a table cannot be fitted.

    Warns
    -----
    ConvergenceWarning
        If a fit stopped before its criterion was met.
    LangdiffWarning
        If errors come from few clusters, or the noise differs and dispersions of editions cannot be fitted.
    """
    labels = units.columns[0] if units.columns else None
    common = fit_all(tables, variant, labels)
    tests = {name: test_noise(residuals_of(fitting), fitting, units) for name, fitting in common.fittings.items()}
    unequal = [name for name, test in tests.items() if test.unequal]
    if not unequal:
        return common
    lacks = [found for fitting in common.fittings.values() if isinstance(found := with_own_dispersions(fitting), str)]
    if lacks:
        warn(
            f"noise differs between editions in {listing(unequal)}, but all have one dispersion: {lacks[0]}. "
            "Differences may be biased."
        )
        return common
    return fit_all(tables, variant, labels, own=True)


def fit_all(
    tables: Mapping[str, Surprisals], variant: Variant, labels: pd.Series | None, *, own: bool = False
) -> JointFits:
    """Fit tables of the same cells.

    Parameters
    ----------
    tables : mapping from str to Surprisals
        Table of each language model.
    variant : Variant
        Regression model.
    labels : Series or None
        Cluster of each intent; None if intents are independent.
    own : bool
        Whether editions have dispersions of their own.

    Raises
    ------
    DataError
        If a table cannot be fitted.

    Warns
    -----
    ConvergenceWarning
        If a fit stopped before its criterion was met.
    LangdiffWarning
        If errors come from few clusters.
    """
    incomplete = any(table.bits.isna().to_numpy().any() for table in tables.values())
    restricted = incomplete and variant.restrictable and variant.has_information and not own
    settings = Settings(variant, restricted=restricted, own_dispersions=own)
    fittings: dict[str, Fitting] = {}
    influences: dict[str, Influence] = {}
    for name, table in tables.items():
        design = make_design(table.editions, None, None, None)
        z = log_bits(table, design)
        group = dispersion_groups("edition", table, None)
        fitting = OwnDispersions(z, design, settings, table, group) if own else Fixed(z, design, settings, table)
        fittings[name] = fitting
        if not fitting.estimate.converged:
            warn(
                f"the fit of {name!r}, model {variant.name}, did not converge: {fitting.estimate.message}.",
                ConvergenceWarning,
            )
        influences[name] = influence_of(Sample(fitting, [] if labels is None else [labels]))
    least = min(float(influence.freedom.min()) for influence in influences.values())
    if least < FEW_CLUSTERS - ROUNDING:
        of = "intents" if labels is None else f"clusters by {labels.name}"
        n_clusters = len(next(iter(influences.values())).values)
        warn(
            f"standard errors from {n_clusters} {of} have as few as {least:.1f} degrees of freedom: intervals are "
            "long, and hang on single ones.",
        )
    return JointFits(fittings, influences, restricted, "edition" if own else "common")
