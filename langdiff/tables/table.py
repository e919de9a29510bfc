"""`table`: fits side by side, with groups, contrasts, ranks and paired differences."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from langdiff.base.signature import name_of_seed
from langdiff.base.types import check_choice, check_share, generator
from langdiff.errors import ConfigError, listing, option
from langdiff.tables.edition_info import joined_info, printed_names, spread_notes
from langdiff.tables.effect_sources import HasEffects, HasPosterior, as_effects
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Influence
from langdiff.tables.paired import (
    Contrasts,
    Difference,
    Source,
    as_first,
    contrasts_of,
    difference,
    shared_texts,
    systems_of,
)
from langdiff.tables.pairs import Adjustment, compare_contrasts
from langdiff.tables.table_result import Table

Paired = bool | Literal["first", "mean"]
NO_GROUP = "no {}"


def table(
    fits: Any,
    *,
    by: str | None = None,
    rows: Literal["editions", "groups"] = "editions",
    contrasts: Contrasts | None = None,
    paired: Paired | None = None,
    adjust: Adjustment | None = "max-t",
    level: float = 0.95,
    scale: Literal["percent", "nats"] | None = None,
    order: Literal["first", "name", "family", "mean"] = "first",
    names: Mapping[str, str] | str | None = None,
    edition_info: pd.DataFrame | None = None,
    caption: str = "",
    label: str = "",
    note_editions: bool = True,
    seed: int | np.random.Generator = 0,
) -> Table:
    """Put fits side by side: estimates ± standard errors with rank sets, groups, contrasts, and differences.

    Parameters
    ----------
    fits : fit, Effects, posterior, or list or mapping of them
        Results with effects, a column each, by name in a mapping; otherwise named by their language models or titles. A
        fit of a stack gives a column for each system.
    by : str, optional
        Column of the properties of editions, such as ``"family"``, by which rows are grouped. A group of two or more
        editions has its mean over editions.
    rows : {"editions", "groups"}
        Whether rows are editions, or means of groups alone.
    contrasts : str or list, optional
        ``"pairs"`` for all pairs of rows, ``"vs NAME"`` for all differences from one, or a list of contrasts such as
        ``"deu - mean(fra, spa)"``, ``"Germanic - Romance"`` or pairs of lists of names. They are one family for each
        fit. A name is an edition first, then a group; write ``"edition:X"`` or ``"family:X"`` where it is both.
    paired : {"first", "mean"} or bool, optional
        Differences between fits: of each from the first or from the mean of all; True for those from the first, False
        for none. By default of two fits, if they are shown to be of the same texts, or of different texts.
    adjust : {"max-t", "holm", "bh"} or None
        Adjustment of p-values of contrasts; see `langdiff.Effects.pairs`. Rank sets are those of max-t always.
    level : float
        Probability of simultaneous intervals and rank sets.
    scale : {"percent", "nats"}, optional
        Unit of print; by default percent for difficulties, and log odds for abilities.
    order : {"first", "name", "family", "mean"}
        Order of rows: by estimates of the first fit, by name, by group, or by the mean over fits; the highest first.
    names : mapping or str, optional
        Names to print by code; the column of the properties of editions that has them, such as ``"name"``; or
        ``"english"``, for editions called by codes of ISO 639, such as ``"deu"`` or ``"eng-GB"``.
    edition_info : DataFrame, optional
        Properties of editions, indexed by edition, beside those that fits know.
    caption, label : str
        Of the table in LaTeX; the caption is the sentences by default.
    note_editions : bool
        Whether to set differences of languages beside those of two editions of one; see `langdiff.edition_spread`.
    seed : int or numpy.random.Generator
        Seed of the draws behind simultaneous inference.

    Returns
    -------
    Table
        All numbers in frames, and the table as text, Markdown, LaTeX and HTML.

    Raises
    ------
    ConfigError
        If fits have several units or one name, a setting is unknown, or a name of a contrast is.
    DataError
        If contrasts or differences are asked for whose errors are not known.

    Notes
    -----
    Paired differences are those of the fits as they are, relative to the average of the editions that both have. Their
    covariance is that of the differences of influences of the same clusters (CR2), so that what both fits have of the
    same texts cancels. Rank sets never promise that two editions are equal.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks with applications to mobility across neighbourhoods
    and academic achievement across countries", Review of Economic Studies 91.

    Examples
    --------
    >>> import langdiff as ld
    >>> fits = [ld.fit(table) for table in ld.datasets.ntrex10()]
    >>> made = ld.table(fits, by="family", contrasts=["Germanic - Romance"])
    >>> print(made.sentences()[0])
    Hungarian is hardest under kneser-ney-3 (+8.4 ± 0.7 %; rank 1 of 10), Vietnamese easiest (−13.3 ± 0.5 %; rank 10).
    >>> made.contrasts[["column", "percent"]].round(1).values.tolist()
    [['kneser-ney-3', -2.0], ['kneser-ney-6', 0.5], ['kneser-ney-3 − kneser-ney-6', -2.5]]
    """
    _check(rows, order, scale, paired, by, level)
    sources = _sources(fits)
    unit = _unit(sources, scale)
    info = joined_info([edition_info, *(each.edition_info for each in sources)])
    groups = _groups(info, by, sources)
    differences, remarks = _differences(sources, paired)
    shown = [*((each.name, each.effects) for each in sources), *((each.name, each.effects) for each in differences)]
    counts, estimates, compared = [], [], []
    for place, (name, effects) in enumerate(shown):
        grouped = None if groups is None else _of_groups(effects, groups)
        of_rows = grouped if rows == "groups" and grouped is not None else effects
        is_fit = place < len(sources)
        frame = _estimates(name, of_rows, "edition" if of_rows is effects else "mean", groups, level, ranked=is_fit)
        if groups is not None and grouped is not None and rows == "editions":
            several = groups[effects.estimate.index].value_counts()
            means = _estimates(name, grouped, "mean", None, level, ranked=False)
            frame = pd.concat([frame, means[means["row"].map(several).fillna(0) > 1]], ignore_index=True)
        if not is_fit:
            frame = _with_p(frame, of_rows, seed)
        elif of_rows.known and len(of_rows.estimate) >= 2:
            all_pairs = of_rows.pairs(level=level, seed=seed).frame
            counts.append(
                {"column": name, "differ": int((all_pairs["verdict"] == "differ").sum()), "pairs": len(all_pairs)}
            )
        estimates.append(frame)
        if contrasts is not None:
            compared.append(
                contrasts_of(name, of_rows, contrasts, groups if of_rows is effects else None, by, adjust, level, seed)
            )
    of_fits = pd.concat(estimates[: len(sources)], ignore_index=True)
    of_pairs = (
        pd.concat(estimates[len(sources) :], ignore_index=True)
        if differences
        else of_fits.iloc[:0].assign(p=0.0, p_adjusted=0.0)
    )
    all_contrasts = (
        pd.concat(as_first(compared), ignore_index=True) if compared else pd.DataFrame({"column": [], "row": []})
    )
    editions = [str(edition) for each in sources for edition in each.effects.estimate.index]
    if isinstance(edition_info, pd.DataFrame) and not set(map(str, edition_info.index)) & set(editions):
        raise ConfigError(
            f"{option('edition_info')}: no row for any of {len(set(editions))} editions, such as {editions[0]!r}. "
            f"Editions there are called {listing(edition_info.index)}."
        )
    codes = printed_names(info, names, editions)
    spoken = codes or printed_names(info, "name" if info is not None and "name" in info else None, editions)
    several_estimands = len({each.effects.scale.estimand for each in sources}) > 1
    known_units = sources[0].effects
    if note_editions and unit != "log odds" and known_units.unit_name == "edition" and rows == "editions":
        remarks += [note.removesuffix(".") for note in spread_notes(known_units.estimate, info)]
    return Table(
        estimates=of_fits,
        contrasts=all_contrasts,
        differences=of_pairs,
        tests=pd.DataFrame(
            [(each.name, each.one, each.other, *each.test[:5]) for each in differences],
            columns=["column", "one", "other", "by", "statistic", "df", "df_residual", "p"],
        ),
        counts=pd.DataFrame(counts, columns=["column", "differ", "pairs"]),
        columns=tuple(each.name for each in sources),
        heads=tuple(each.effects.scale.estimand if several_estimands else "" for each in sources),
        lines=_lines(of_fits, groups, order, codes, rows),
        spoken=spoken,
        unit=unit,
        highest=known_units.scale.first,
        of=str(by) if rows == "groups" and by else known_units.unit_name,
        level=level,
        remarks=tuple(_remarks(sources, unit, contrasts, all_contrasts, adjust, level, remarks, differences)),
        warnings=tuple(
            f"The fit of {each.name or 'this table'} did NOT CONVERGE: do not use it."
            for each in sources
            if not each.effects.converged
        ),
        caption=caption,
        label=label,
        signature=_signature(sources, adjust, contrasts, level, seed),
    )


def _check(rows: str, order: str, scale: str | None, paired: object, by: str | None, level: float) -> None:
    for what, value, allowed in (
        ("rows", rows, ("editions", "groups")),
        ("order", order, ("first", "name", "family", "mean")),
        ("scale", scale, (None, "percent", "nats")),
        ("paired", paired, (None, True, False, "first", "mean")),
    ):
        check_choice(what, value, allowed)
    if rows == "groups" and by is None:
        raise ConfigError(
            f"{option('rows', 'groups')} needs {option('by', 'family')}, or another column of the properties of "
            "editions."
        )
    if order == "family" and by is None:
        raise ConfigError(f"{option('order', 'family')} needs {option('by')}, the column that has the groups.")
    check_share("level", level, above=0.5)


def _sources(fits: Any) -> list[Source]:
    single = isinstance(fits, Effects | HasEffects | HasPosterior | pd.Series | pd.DataFrame)
    if isinstance(fits, Mapping) and not isinstance(fits, HasPosterior):
        given = [(str(name), fit) for name, fit in fits.items()]
    elif single:
        given = [("", fits)]
    elif isinstance(fits, Iterable):
        given = [("", fit) for fit in fits]
    else:
        raise ConfigError(f"fits must be a fit, or a list or mapping of fits, not {type(fits).__name__}.")
    if not given:
        raise ConfigError("there is no fit to show.")
    found = []
    for name, fit in given:
        source = _source(name, fit)
        crossed = getattr(fit, "columns", None) if not isinstance(fit, pd.DataFrame) else None
        if isinstance(crossed, pd.DataFrame) and "system" in crossed and source.influence is not None:
            found += systems_of(source, crossed, name or "the fit")
        else:
            found.append(source)
    return _unlike(found)


def _source(name: str, fit: Any) -> Source:
    effects = as_effects(fit)
    plain = isinstance(fit, pd.Series | pd.DataFrame)
    own = str("" if plain else getattr(fit, "lm", "")) or effects.title
    influence = getattr(fit, "influence", None)
    info = None if plain else getattr(fit, "edition_info", None)
    errors = getattr(getattr(fit, "errors", None), "words", "") if not plain else ""
    cells, sizes = getattr(fit, "cells", None), getattr(fit, "intent_size", None)
    size = ""
    if isinstance(cells, int) and isinstance(sizes, pd.Series):
        missing = len(sizes) * len(effects.estimate) - cells
        size = f"{len(sizes):,} intents × {len(effects.estimate):,} {effects.unit_name}s"
        size += f", {missing:,} cells missing" if missing > 0 else ""
    count = getattr(getattr(fit, "errors", None), "n_clusters", 0) if not plain else 0
    known = influence if isinstance(influence, Influence) else None
    return Source(name or own, effects, known, info if isinstance(info, pd.DataFrame) else None, errors, size, count)


def _unlike(sources: list[Source]) -> list[Source]:
    """Return sources whose names differ, if need be by the part of the signature in which they differ."""
    names = [each.name for each in sources]
    twice = {name for name in names if names.count(name) > 1}
    found = []
    for each in sources:
        if each.name in twice:
            others = [other for other in sources if other.name == each.name and other is not each]
            parts = each.effects.signature.split("|")
            own = [part for part in parts if all(part not in other.effects.signature.split("|") for other in others)]
            own = [part for part in own if not part.startswith(("bits:", "texts:"))] or own
            if not own:
                raise ConfigError(
                    f"two fits are called {each.name!r}, and their signatures do not differ: give a mapping from name "
                    "to fit."
                )
            found.append(each._replace(name=f"{each.name} {own[0]}".strip()))
        else:
            found.append(each)
    if len({each.name for each in found}) < len(found):
        raise ConfigError("several fits have one name: give a mapping from name to fit.")
    return found


def _unit(sources: list[Source], scale: str | None) -> str:
    units = list(dict.fromkeys(each.effects.scale.unit for each in sources))
    if len(units) > 1:
        raise ConfigError(f"fits are in different units: {listing(units)}. Make a table of each.")
    if units[0] != "nats":
        if scale == "percent":
            raise ConfigError(f"{option('scale', 'percent')} is for difficulties in nats; these are in {units[0]}.")
        return units[0]
    return scale or "percent"


def _groups(info: pd.DataFrame | None, by: str | None, sources: list[Source]) -> "pd.Series[Any] | None":
    if by is None:
        return None
    if info is None or by not in info:
        none = f"none: give {option('edition_info')}, a table of the editions"
        there = none if info is None else listing(info.columns)
        raise ConfigError(f"{option('by', by)}: no such column of the properties of editions; there are {there}.")
    editions = list(dict.fromkeys(name for each in sources for name in each.effects.estimate.index))
    found = info[by].reindex(editions)
    missing = found.isna() | found.astype(str).isin(["", "nan"])
    labels = found.astype(str).where(~missing, NO_GROUP.format(by))
    clash = set(labels[~missing]) & set(map(str, editions)) - {str(e) for e in editions if labels[e] == str(e)}
    if clash:
        raise ConfigError(f"groups named like editions: {listing(sorted(clash))}. Rename the groups.")
    return labels


def _of_groups(effects: Effects, groups: "pd.Series[Any]") -> Effects:
    """Return the means of groups over their editions, with their joint covariance."""
    own = groups[effects.estimate.index]
    labels = list(dict.fromkeys(own))
    weights = np.array([(own == label).to_numpy(dtype=float) / (own == label).sum() for label in labels])
    return effects.linear(weights, pd.Index(labels, name="group"), effects.scale)


def _estimates(
    name: str, effects: Effects, kind: str, groups: "pd.Series[Any] | None", level: float, *, ranked: bool
) -> pd.DataFrame:
    index, nats = effects.estimate.index, effects.scale.unit == "nats"
    estimate, error = effects.estimate.to_numpy(dtype=float), effects.std_error.to_numpy(dtype=float)
    frame = pd.DataFrame(
        {
            "column": name,
            "row": index.map(str),
            "kind": kind,
            "group": "" if groups is None else groups.reindex(index).to_numpy(),
            "estimate": estimate,
            "std_error": error,
            "df": np.diag(effects._freedom()),
        }
    )
    if nats:
        frame["percent"], frame["percent_std_error"] = 100 * np.expm1(estimate), 100 * np.exp(estimate) * error
    frame["rank"] = (-effects.estimate).rank(method="min").to_numpy()
    frame[["rank_low", "rank_high"]] = np.nan
    if ranked and effects.known and len(index) > 1:
        sets = effects._rank_sets if level == 0.95 else effects._joint.rank_sets(effects._maxima, level)
        frame[["rank_low", "rank_high"]] = sets.reindex(index).to_numpy(dtype=float)
    return frame


def _with_p(frame: pd.DataFrame, effects: Effects, seed: int | np.random.Generator) -> pd.DataFrame:
    """Add single p-values of differences and those adjusted for all of them (max-t)."""
    frame = frame.assign(p=np.nan, p_adjusted=np.nan)
    if effects.known:
        count, names = len(effects.estimate), effects.estimate.index
        tested = compare_contrasts(effects._joint, pd.DataFrame(np.eye(count), names, names), seed=seed)
        frame.loc[: count - 1, ["p", "p_adjusted"]] = tested[["p", "p_adjusted"]].to_numpy()
    return frame


def _differences(sources: list[Source], paired: Paired | None) -> tuple[list[Difference], list[str]]:
    if paired is False or len(sources) < 2:
        if paired not in (None, False):
            raise ConfigError("differences need two fits or more.")
        return [], []
    first, *others = sources
    if paired == "mean":
        if len(sources) < 3:
            raise ConfigError(
                f"{option('paired', 'mean')} is for three fits or more; with two use {option('paired', 'first')}."
            )
        return [difference(each, sources, f"{each.name} − mean") for each in sources], []
    if paired is None:
        return ([], []) if len(others) > 1 else _of_two(first, others[0])
    return [difference(first, [other], f"{first.name} − {other.name}") for other in others], []


def _of_two(first: Source, other: Source) -> tuple[list[Difference], list[str]]:
    """Return the difference of two fits shown to be of the same texts or of others, or why there is none."""
    name, same = f"{first.name} − {other.name}", shared_texts(first, other)
    common = first.effects.estimate.index.intersection(other.effects.estimate.index)
    if len(common) < 2 or first.effects.scale.unit != "nats":
        return [], []
    estimands = {each.effects.scale.estimand for each in (first, other)} - {""}
    if len(estimands) > 1:
        return [], [f"no differences: one fit is about {' and the other about '.join(sorted(estimands))}"]
    if same is None and first.effects.known and other.effects.known:
        return [difference(first, [other], f"{name} (other texts)", independent=True)], []
    one, two = first.influence, other.influence
    if one is None or two is None:
        return [], []
    if not same:
        why = "no differences: same names, but nothing shows that the texts are the same"
        return [], [f"{why}: {option('paired', True)}"]
    if one.units.kind != two.units.kind:
        return [], [f"no differences: errors of one fit are by {one.units.kind}, of the other by {two.units.kind}"]
    return [difference(first, [other], name)], []


def _lines(
    estimates: pd.DataFrame, groups: "pd.Series[Any] | None", order: str, names: Mapping[str, str], rows: str
) -> pd.DataFrame:
    """Return the rows in the order of print."""
    own = estimates[estimates["kind"] == ("edition" if rows == "editions" else "mean")]
    first = own.drop_duplicates("row").set_index("row")["estimate"]
    mean = own.groupby("row", sort=False)["estimate"].mean()
    value = mean if order == "mean" else first
    kind = "edition" if rows == "editions" else "mean"
    ordered = (
        sorted(value.index, key=lambda row: names.get(row, row))
        if order == "name"
        else list(value.sort_values(ascending=False, kind="stable").index)
    )
    shown = []
    if groups is None or rows == "groups":
        shown = [(row, kind, "", names.get(row, row)) for row in ordered]
    else:
        of = {str(edition): group for edition, group in groups.items()}
        heads = list(dict.fromkeys(of[row] for row in ordered)) if order != "family" else sorted(set(of.values()))
        heads.sort(key=lambda head: head.startswith("no "))
        with_mean = set(estimates[estimates["kind"] == "mean"]["row"])
        for head in heads:
            shown.append((head, "group", head, head))
            shown += [(row, kind, head, names.get(row, row)) for row in ordered if of[row] == head]
            shown += [(head, "mean", head, "mean")] if head in with_mean else []
    return pd.DataFrame(shown, columns=["row", "kind", "group", "name"])


def _remarks(
    sources: list[Source],
    unit: str,
    contrasts: Contrasts | None,
    compared: pd.DataFrame,
    adjust: Adjustment | None,
    level: float,
    further: list[str],
    differences: list[Difference],
) -> list[str]:
    scale = sources[0].effects.scale
    name = sources[0].effects.unit_name
    if unit == "percent":
        estimand = sources[0].effects.scale.estimand or "bits"
        what = f"Percent: {estimand} more (+) or fewer (−) than the average {name}, ± standard error."
    else:
        what = f"{scale.quantity.capitalize()} in {unit}, relative to the average {name}, ± standard error."
    notes = [what]
    sizes = dict.fromkeys(each.size for each in sources if each.size)
    notes += [f"{'; '.join(sizes)}."] if sizes else []
    for words in dict.fromkeys(each.errors for each in sources if each.errors):
        own = [each for each in sources if each.errors == words]
        nu = np.concatenate([np.asarray(each.effects._freedom()).ravel() for each in own])
        low, high = (f"{value:.0f}" if np.isfinite(value) else "∞" for value in (nu.min(), nu.max()))
        of = "" if len(own) == len(sources) else f" of {', '.join(each.name for each in own)}"
        notes.append(
            f"Standard errors{of} from {words}; degrees of freedom {low if low == high else f'{low} to {high}'}."
        )
    if any(each.effects.known and len(each.effects.estimate) > 1 for each in sources):
        first = scale.first
        notes.append(
            f"Ranks (1 is {first}) are sets that hold together with probability {level:g} (max-t over all pairs)."
        )
    else:
        notes.append("No errors that hold together are known, so that there are neither ranks nor pairs.")
    if contrasts is not None and len(compared):
        size = int(compared.groupby("column").size().max())
        how = {"max-t": "max-t", "holm": "Holm", "bh": "Benjamini and Hochberg", None: "not adjusted"}[adjust]
        rate = (
            "false discovery rate" if adjust == "bh" else "family-wise error rate" if adjust else "error rate of each"
        )
        notes.append(f"Contrasts: a family of {size:,} for each column, {how}, {rate} {1 - level:.2g}.")
    if differences:
        notes.append(
            "Differences are of the fits as they are, errors from the same clusters (CR2), p by max-t over the "
            f"{name}s."
            if not differences[0].name.endswith("(other texts)")
            else "Differences are between other texts: the covariances of the fits are added."
        )
    notes += [f"{text[0].upper()}{text[1:]}." for each in differences for text in each.notes]
    return [*notes, *(f"{text[0].upper()}{text[1:]}." for text in further)]


def _signature(
    sources: list[Source], adjust: Adjustment | None, contrasts: Contrasts | None, level: float, seed: Any
) -> str:
    asked = f"contrasts:{contrasts if isinstance(contrasts, str) else len(contrasts)}" if contrasts is not None else ""
    parts = [f"table:{adjust or 'single'}", f"level:{level:g}", f"seed:{name_of_seed(seed, generator(seed))}", asked]
    known = list(dict.fromkeys(each.effects.signature for each in sources if each.effects.signature))
    same = [part for part in known[0].split("|") if all(part in one.split("|") for one in known)] if known else []
    for one in known:
        own = [part for part in one.split("|") if part not in same]
        parts += own if len(known) > 1 else []
    return "|".join(filter(None, [*same, *parts]))
