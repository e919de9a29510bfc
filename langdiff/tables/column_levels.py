"""Levels of columns with their joint errors, and linear functions of them: means, interaction, contrasts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy.stats import t as student

from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.contrasts import Contrast, Scale
from langdiff.tables.crossing import LEVELS, check_columns
from langdiff.tables.effects import NINETY_FIVE, Effects
from langdiff.tables.projections import Projection

Of = Literal["languages", "systems"]
MOST_COLUMNS = 2000  # up to which matrices of columns × columns are made
MEAN = Scale(centre="mean")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ColumnLevels:
    """Levels of columns with a factor of their covariance; for the attributes see `langdiff.TwoWay`."""

    levels: pd.Series
    columns: pd.DataFrame
    factor: Floats
    reference: Floats | None = None
    degrees_of_freedom: float | pd.Series = np.inf
    scale: Scale = field(default_factory=lambda: MEAN)
    system_scale: Scale = field(default_factory=lambda: MEAN)
    additive: bool = False
    at_chance: tuple[str, ...] = ()
    converged: bool = True
    title: str = ""
    signature: str = ""

    def __post_init__(self) -> None:
        """Check shapes, and that all languages and systems are connected."""
        count = len(self.levels)
        check_columns(self.columns, self.levels.index)
        for name, part in (("factor", self.factor), ("reference", self.reference)):
            if part is not None and (part.ndim != 2 or part.shape[1] != count):
                raise DataError(f"the {name} of {count} levels must have {count} columns, got shape {part.shape}.")
        if self.converged and not np.isfinite(self.levels.to_numpy(dtype=float)).all():
            bad = self.levels.index[~np.isfinite(self.levels.to_numpy(dtype=float))]
            raise DataError(f"{len(bad)} levels are not finite numbers: {listing(bad)}.")
        _ = self._all  # refuses what is not connected

    @cached_property
    def _all(self) -> Projection:
        return Projection(self.columns)

    @cached_property
    def languages(self) -> Effects:
        """Mean of the levels of each language over systems, centred."""
        return self.effects("languages")

    @cached_property
    def systems(self) -> Effects:
        """Mean of the levels of each system over languages, centred; of outcomes turned into abilities."""
        return self.effects("systems")

    @cached_property
    def interaction(self) -> Effects:
        """Residual of each level, indexed by language and system; sums to 0 over both if no column is missing.

        Positive: harder for that system in that language than both suggest, also for outcomes.

        Raises
        ------
        DataError
            If there are more than 2,000 columns, whose covariance is not computed (`flags` has all cells); or the
            levels come from an additive fit.
        """
        self._has_interaction()
        if len(self.levels) > MOST_COLUMNS:
            raise DataError(
                f"the covariance of {len(self.levels):,} cells is not computed (most {MOST_COLUMNS:,}); flags() has "
                "their estimates, errors and tests."
            )
        factor = self._all.residual(self.factor)
        own = self._own_freedom(self._all.residual(np.eye(len(self.levels))))
        reference = None if self.reference is None else self._all.residual(self.reference)
        return self._make(self._all.residual(self.levels.to_numpy()), factor, own, reference, self._index, self.scale)

    def _has_interaction(self) -> None:
        if self.additive:
            raise DataError(
                "the levels come from a fit without interaction, since some columns are at chance: "
                f"{listing(self.at_chance)}."
            )

    @property
    def _index(self) -> pd.MultiIndex:
        return pd.MultiIndex.from_frame(self.columns[list(LEVELS)])

    def effects(
        self, of: str = "languages", *, over: Iterable[str] | None = None, weights: Mapping[str, float] | None = None
    ) -> Effects:
        """Return means of the levels by language or by system, or the levels of one system or in one language.

        Parameters
        ----------
        of : str
            ``"languages"``, ``"systems"``, or the name of a system, whose languages are then compared, or of a
            language, in which systems are.
        over : iterable of str, optional
            Systems that the means of languages are over, or languages that the means of systems are over; all by
            default.
        weights : mapping or Series, optional
            Weight of each of them in the means, such as the speakers of languages; by default all are equal.

        Returns
        -------
        Effects
            Relative to their average.

        Raises
        ------
        ConfigError
            If a name or weight cannot be used.
        DataError
            If the columns that remain are not connected.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> two_way = ld.fit(tables).two_way
        >>> two_way.effects("systems", weights={"e1": 3, "e2": 1, "e3": 1}).estimate.index.tolist()
        ['llama', 'gpt2']
        """
        if of not in ("languages", "systems"):
            if over is not None or weights is not None:
                raise ConfigError(f"{option('over')} and {option('weights')} are for means, not for one system.")
            return self._of_one(of)
        averaged = LEVELS[of == "languages"]  # the system, where languages are shown
        keep, weight = _chosen(self.columns[averaged], averaged, over, weights)
        whole = keep.all() and weight is None
        part = self._all if whole else Projection(self.columns[keep], None if weight is None else weight[keep])

        def project(rows: Floats) -> Floats:
            return part.means(rows[..., keep], of)

        names = pd.Index(part.names(of), name=of.removesuffix("s"))
        own = self._own_freedom(part.weights(of), keep) if isinstance(self.degrees_of_freedom, pd.Series) else None
        scale = self.scale if of == "languages" else self.system_scale
        sign = -1.0 if scale.quantity == "ability" else 1.0
        reference = None if self.reference is None else sign * project(self.reference)
        estimate, factor = sign * project(self.levels.to_numpy()), sign * project(self.factor)
        return self._make(estimate, factor, own, reference, names, scale)

    def _of_one(self, name: str) -> Effects:
        """Return the levels of one system, or in one language, relative to their average."""
        found = [level for level in LEVELS if (self.columns[level] == name).any()]
        if len(found) != 1:
            why = "is both a language and a system" if found else "is neither a language nor a system"
            raise ConfigError(
                f"{name!r} {why}. Give 'languages', 'systems', one of {listing(self.columns['language'].unique())}, or "
                f"one of {listing(self.columns['system'].unique())}."
            )
        keep = (self.columns[found[0]] == name).to_numpy()
        other = LEVELS[found[0] == "language"]
        scale = self.scale if other == "language" else self.system_scale
        sign = -1.0 if scale.quantity == "ability" else 1.0

        def centre(rows: Floats) -> Floats:
            part = rows[..., keep]
            centred: Floats = sign * (part - part.mean(axis=-1, keepdims=True))
            return centred

        names = pd.Index(self.columns.loc[keep, other], name=other)
        own = None
        if isinstance(self.degrees_of_freedom, pd.Series):
            own = self._own_freedom(np.eye(int(keep.sum())) - 1 / keep.sum(), keep)
        reference = None if self.reference is None else centre(self.reference)
        return self._make(centre(self.levels.to_numpy()), centre(self.factor), own, reference, names, scale)

    def _make(
        self,
        estimate: Floats,
        factor: Floats,
        own: Floats | None,
        reference: Floats | None,
        names: pd.Index,
        scale: Scale,
    ) -> Effects:
        """Return effects with the covariance of a factor, and degrees of freedom `own` of each."""
        freedom: float | pd.DataFrame
        if isinstance(self.degrees_of_freedom, pd.Series) and own is not None:
            of_pairs = np.minimum(own[:, None], own)
            freedom = pd.DataFrame(of_pairs, names, names)
        else:
            freedom = float(np.min(self.degrees_of_freedom))
        return Effects(
            estimate=pd.Series(estimate, names, name=scale.quantity),
            covariance=pd.DataFrame(factor.T @ factor, names, names),
            scale=scale,
            title=self.title,
            converged=self.converged,
            signature=self.signature,
            degrees_of_freedom=freedom,
            reference=None if reference is None else pd.DataFrame(reference.T @ reference, names, names),
        )

    @cached_property
    def _variance(self) -> Floats:
        """Variances of the levels, shape (P,)."""
        variance: Floats = np.einsum("kp,kp->p", self.factor, self.factor)
        return variance

    def _own_freedom(self, weights: Floats, keep: Booleans | slice = slice(None)) -> Floats:
        r"""Return the degrees of freedom of contrasts with given weights, (M, P) → (M,).

        :math:`1/\nu = \sum_j p_j/\nu_j` with the shares :math:`p_j = a_j^2 v_j / \sum_k a_k^2 v_k` of columns in the
        variance; not above that of the shares of clusters, by Jensen's inequality.
        """
        freedom = np.broadcast_to(np.asarray(self.degrees_of_freedom, dtype=float), len(self.levels))[keep]
        parts = weights**2 * self._variance[keep]
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = parts.sum(axis=-1) / (parts / freedom).sum(axis=-1)
        return np.where(np.isfinite(found), found, freedom.min())

    def contrast(self, languages: Sequence[str] | None = None, systems: Sequence[str] | None = None) -> Contrast:
        """Compare two languages, two systems, or the difference of two languages between two systems.

        Parameters
        ----------
        languages : pair of str, optional
            Language, and the one that it is compared with.
        systems : pair of str, optional
            System, and the one that it is compared with. With both, the contrast is the difference of the languages
            under the first system less that under the second.

        Returns
        -------
        Contrast
            With its own standard error, from the joint covariance; of systems a difference of abilities where these are
            shown.

        Raises
        ------
        ConfigError
            If a name is unknown, or a pair is not two.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> ld.fit(tables).two_way.contrast(["e1", "e2"], ["llama", "gpt2"]).name
        '(e1 - e2) under llama less under gpt2'
        """
        for name, pair in (("languages", languages), ("systems", systems)):
            if pair is not None and (isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]):
                raise ConfigError(f"{option(name)} must be a pair of names, got {pair!r}.")
        if languages is None and systems is None:
            raise ConfigError("a contrast needs a pair of languages, of systems, or both.")
        if systems is None:
            return self.effects("languages").contrast(*(languages or ()))
        if languages is None:
            return self.effects("systems").contrast(*systems)
        self._has_interaction()
        places = pd.MultiIndex.from_frame(self.columns[list(LEVELS)])
        cells = [(language, system) for system in systems for language in languages]
        where = places.get_indexer(pd.MultiIndex.from_tuples(cells))
        if (where < 0).any():
            lacking = [f"{cell[0]} under {cell[1]}" for cell, place in zip(cells, where, strict=True) if place < 0]
            raise ConfigError(f"there is no column {listing(lacking)}.")
        weights = np.zeros(len(self.levels))
        weights[where] = 1.0, -1.0, -1.0, 1.0
        estimate = float(weights @ self.levels.to_numpy(dtype=float))
        std_error = float(np.linalg.norm(self.factor @ weights))
        freedom = float(self._own_freedom(weights))
        half = float(student.ppf(NINETY_FIVE, freedom)) * std_error
        return Contrast(
            name=f"({languages[0]} - {languages[1]}) under {systems[0]} less under {systems[1]}",
            estimate=estimate,
            std_error=std_error,
            low=estimate - half,
            high=estimate + half,
            scale=self.scale,
            degrees_of_freedom=freedom,
        )


def _chosen(
    names: pd.Series, what: str, over: Iterable[str] | None, weights: Mapping[str, float] | None
) -> tuple[Booleans, Floats | None]:
    """Return which columns take part in means, and their weights."""
    known = set(names)
    keep = np.ones(len(names), dtype=bool)
    if over is not None:
        asked = [over] if isinstance(over, str) else list(over)
        unknown = [name for name in asked if name not in known]
        if unknown or not asked:
            raise ConfigError(f"{option('over')}: unknown {what}(s) {listing(unknown)}; there are {listing(known)}.")
        keep = np.asarray(names.isin(asked), dtype=bool)
    if weights is None:
        return keep, None
    given = pd.Series(weights, dtype=float)
    lacking = sorted(set(names[keep]) - set(given.index))
    if lacking:
        raise ConfigError(f"{option('weights')}: no weight of {len(lacking)} {what}(s): {listing(lacking)}.")
    weight: Floats = np.asarray(names.map(given), dtype=np.float64)
    bad = ~(np.isfinite(weight) & (weight > 0)) & keep
    if bad.any():
        raise ConfigError(f"{option('weights')} must be positive numbers; see {listing(names[bad].unique())}.")
    return keep, weight
