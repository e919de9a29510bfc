"""How a run divides its texts: once, or into folds, whose models are then compared."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pandas as pd

from langdiff.errors import ConfigError, DataError, UnknownColumnError
from langdiff.regression import compare_folds
from langdiff.regression.clustering import clusters_of, strata_of
from langdiff.run.experiment import Experiment, FitSettings, SplitSettings
from langdiff.selection import split, split_into_folds
from langdiff.tables.divisions import Folds, Parts
from langdiff.tables.intent_info import without_python
from langdiff.tables.multitext import Multitext
from langdiff.tables.surprisals import Surprisals

logger = logging.getLogger(__name__)


def divide(multitext: Multitext, settings: SplitSettings) -> Parts | Folds:
    """Divide a multitext as an experiment asks for; see `langdiff.split` and `langdiff.split_into_folds`."""
    with _of_section("split"):
        if settings.folds is not None:
            named = settings.model_dump(include={"groups", "dev_share", "incomplete"})
            return split_into_folds(multitext, settings.folds, **named)
        return split(multitext, **settings.model_dump(exclude={"folds", "dev_share"}))


@contextmanager
def _of_section(name: str) -> Iterator[None]:
    """Say in errors of columns about intents which section names them, and which corpora have some."""
    try:
        yield
    except UnknownColumnError as error:
        raise ConfigError(f"[{name}] {without_python(error)}") from error


def check_clusters(parts: Parts | Folds, settings: FitSettings) -> None:
    """Refuse clusters and strata that the fit would refuse, before training.

    Raises
    ------
    ConfigError
        If there is no such column.
    DataError
        If an intent that will be measured has no cluster.
    """
    if isinstance(parts, Folds):
        intents, info = parts.multitext.intents, parts.multitext.intent_info.assign(fold=parts.fold)
    else:
        intents, info = parts.test.intents, parts.test.intent_info
    if settings.clusters is None:
        return
    with _of_section("fit"):
        for name in [settings.clusters] if isinstance(settings.clusters, str) else settings.clusters:
            clusters = clusters_of(intents, info, name)
            if settings.strata is not None:
                strata_of(intents, info, clusters, settings.strata)


def sizes_of(parts: Parts | Folds) -> dict[str, int]:
    """Return the numbers of intents in train, dev and test; of folds, the means of the first two and all in test."""
    if isinstance(parts, Parts):
        return {name: len(getattr(parts, name)) for name in ("train", "dev", "test")}
    sizes = parts.to_frame()
    means = {name: round(sizes[name].mean()) for name in ("train", "dev")}
    return means | {"test": int(sizes["test"].sum()), "folds": len(sizes)}


def compare_all_folds(
    surprisals: Mapping[str, Surprisals], experiment: Experiment, edition_info: pd.DataFrame
) -> tuple[pd.DataFrame | None, dict[str, str]]:
    """Tell how much the models of the folds differ.

    Parameters
    ----------
    surprisals : mapping from str to Surprisals
        Table of each language model.
    experiment : Experiment
        Experiment that has folds.
    edition_info : DataFrame
        What is known of the editions, by which dispersions may be named.

    Returns
    -------
    table : DataFrame, one row per edition × language model, or None
        ``lm``, the columns of `langdiff.regression.compare_folds`, ``model_sd`` and ``p_value_of_all``; None if there
        is nothing to compare.
    reasons : dict from str to str
        Why the folds of a language model are not compared.
    """
    fitted = experiment.fit
    # the model of the run; errors are those of the clusters and of the folds
    settings = fitted.arguments()
    for name in ("clusters", "strata", "errors", "bootstrap", "correction"):
        del settings[name]
    settings["edition_info"] = edition_info
    by_group = fitted.one_clustering in (None, "fold")
    clusters = experiment.split.groups if by_group else fitted.one_clustering
    tables, reasons = [], {}
    for lm, table in surprisals.items():
        try:
            found = compare_folds(table, clusters=clusters, seed=experiment.seed, **settings)
        except (ConfigError, DataError) as error:  # difficulties can be had all the same
            reasons[lm] = str(error)
            logger.warning("%s: the models of the folds are not compared: %s", lm, error)
        else:
            beside = {"model_sd": found.model_sd, "p_value_of_all": found.p_value}
            tables.append(found.to_frame().assign(lm=lm, **beside))
    return pd.concat(tables) if tables else None, reasons
