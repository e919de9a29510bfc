"""Records of the provenance of surprisals, from recipes, jobs and multitexts."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import pandas as pd

from langdiff import __version__
from langdiff.base.signature import short_hash
from langdiff.base.types import naming_extra
from langdiff.errors import MissingExtraError
from langdiff.lm.language_model import LanguageModelRecipe, recipe_of
from langdiff.lm.scoring import PRICED, Scoring
from langdiff.lm.units.alphabet import MIN_COUNT, ONE_IN
from langdiff.tables.edition_info import kept_of
from langdiff.tables.long_tables import BESIDE, Provenance
from langdiff.tables.multitext import Multitext, Parts
from langdiff.tables.surprisals import Surprisals
from langdiff.tables.text_sources import MappedText, TextSource

_TOKENIZE = "langdiff.corpora.tokenizer.tokenize"


@dataclass(frozen=True, kw_only=True)
class JobRecord:
    """Everything that determines the surprisals of one edition.

    Attributes
    ----------
    key : mapping
        What the trained model depends on, from `langdiff.lm.jobs.job.job_key`.
    compute : str
        Device and precision, from `describe_compute`.
    versions : mapping from str to str
        Versions of the libraries that trained it, by name.
    """

    key: Mapping[str, Any]
    compute: str
    versions: Mapping[str, str]


def device_kind(recipe: LanguageModelRecipe, device: str) -> str:
    """Return the kind of a device, "cpu" or "cuda"; recipes that compute without one need no torch."""
    with naming_extra(recipe.name):
        for library in ("torch", "sentencepiece"):
            if library in recipe.libraries() and find_spec(library) is None:
                raise ModuleNotFoundError(name=library)
        if not recipe.uses_device and device in ("auto", "cpu"):
            return "cpu"
        from langdiff.lm.device import find_device
    return find_device(device).type


def one_thread_of_torch() -> None:
    """Limit torch to one thread in a worker, where it is installed: n-grams do without it."""
    with suppress(ModuleNotFoundError):
        import torch

        torch.set_num_threads(1)


def describe_compute(recipe: LanguageModelRecipe, kind: str) -> str:
    """Return the kind of device and the precision of a training; recipes without a device have one precision."""
    return f"{kind},{recipe.precision(kind)}" if recipe.uses_device else "cpu"


def versions_of(recipe: LanguageModelRecipe) -> dict[str, str]:
    """Return the present versions of what computes a model; in its key `training_format` stands for them."""
    try:
        return {"langdiff": __version__} | {name: version(name) for name in recipe.libraries()}
    except PackageNotFoundError as error:
        raise MissingExtraError(f"{error.name} is not installed: pip install 'langdiff[{error.name}]'.") from error


def recipe_name(recipe: LanguageModelRecipe, name: str | None = None) -> str:
    """Return the name of a recipe with a hash of all its training settings."""
    return f"{name or recipe.name}#{short_hash(_settings(recipe))}"


def _settings(recipe: LanguageModelRecipe) -> dict[str, Any]:
    settings = {name: value for name, value in asdict(recipe).items() if name != "name"}
    if recipe.min_count is None:  # what that means may change with the version
        settings["min_count"] = [MIN_COUNT, ONE_IN]
    return settings | {"kind": type(recipe).__name__}


def hash_texts(texts: pd.Series) -> str:
    """Return a hash of texts and of the names of their intents."""
    digest = hashlib.sha256()
    for intent, text in texts.items():
        digest.update(json.dumps([str(intent), text]).encode())
    return digest.hexdigest()


def preparation_of(*multitexts: Multitext) -> str:
    """Return the names of the functions applied to the texts of multitexts when they are read.

    Examples
    --------
    >>> import langdiff as ld
    >>> multitext = ld.read_frame(pd.DataFrame({"eng": ["a dog"]}))
    >>> preparation_of(multitext), preparation_of(multitext.map_text(ld.tokenize).map_text(str.lower))
    ('as-is', 'reversible,str.lower')
    """
    found = {_functions(source) for multitext in multitexts for source in multitext.sources.values()}
    return "+".join(sorted(",".join(map(_function_name, functions)) or "as-is" for functions in found))


def _functions(source: TextSource) -> tuple[Any, ...]:
    if isinstance(source, MappedText):
        return (*_functions(source.source), source.function)
    return ()


def _function_name(function: Any) -> str:
    if isinstance(function, partial):
        return f"{_function_name(function.func)}#{short_hash(repr(function.args), repr(function.keywords))}"
    name = getattr(function, "__qualname__", type(function).__qualname__)
    module = getattr(function, "__module__", None)
    full = name if module in (None, "builtins") else f"{module}.{name}"
    return "reversible" if full == _TOKENIZE else full


def provenance_of_parts(
    recipe: LanguageModelRecipe, scoring: Scoring, parts: Parts, records: Mapping[str, JobRecord]
) -> Provenance:
    """Return the record of a table that `langdiff.compute_surprisals` computed."""
    sizes = {"train": len(parts.train), "dev": len(parts.dev), "test": len(parts.test)}
    return _of_records(
        recipe,
        scoring,
        records,
        texts=short_hash([[edition, record.key["texts"]] for edition, record in sorted(records.items())]),
        preparation=preparation_of(parts.train, parts.dev, parts.test),
        split=",".join(f"{name}:{size}" for name, size in sizes.items()),
    )


def provenance_of_scored(
    recipe: LanguageModelRecipe,
    scoring: Scoring,
    multitext: Multitext,
    records: Mapping[str, JobRecord],
    scored: Mapping[str, str],
) -> Provenance:
    """Return the record of a table scored by models of a cache; `scored` are the hashes of its texts."""
    texts = [
        [edition, {part: record.key["texts"].get(part) for part in ("train", "dev")} | {"scored": scored[edition]}]
        for edition, record in sorted(records.items())
    ]
    return _of_records(
        recipe,
        scoring,
        records,
        texts=short_hash(texts),
        preparation=preparation_of(multitext),
        split=f"scored:{len(multitext)}",
    )


def _of_records(
    recipe: LanguageModelRecipe, scoring: Scoring, records: Mapping[str, JobRecord], **known: Any
) -> Provenance:
    seeds = {record.key["seed"] for record in records.values()}
    compute = {record.compute for record in records.values()}
    versions = {f"{name}:{v}" for record in records.values() for name, v in record.versions.items()}
    return Provenance(
        recipe=recipe_name(recipe),
        scoring=scoring.name,
        seed=int(seeds.pop()) if recipe.stochastic and len(seeds) == 1 else None,
        compute="+".join(sorted(compute)),
        versions=",".join(sorted(versions)),
        **known,
    )


def provenance_of_models(
    models: Iterable[object], name: str, multitext: Multitext, scored: Mapping[str, str]
) -> Provenance:
    """Return the record of a table scored by external models; see `langdiff.surprisals_of`."""
    models = list(models)
    versions, known = {"langdiff": __version__}, [each for each in map(recipe_of, models) if each is not None]
    recipe, scoring, seed = name, None, None
    if known and len(known) == len(models):
        settings = list(dict.fromkeys(known))
        recipe = (
            recipe_name(known[0], name) if len(settings) == 1 else f"{name}#{short_hash(*map(_settings, settings))}"
        )
        scoring = PRICED.name  # as models score where they are not told otherwise
        seeds = {getattr(model, "seed", None) for model in models}
        seed = seeds.pop() if len(seeds) == 1 else None
        versions |= versions_of(known[0])
    identities = dict.fromkeys(getattr(model, "identity", None) for model in models)
    if None not in identities:
        recipe = f"{name}#{short_hash(*identities)}"
    return Provenance(
        recipe=recipe,
        scoring=scoring,
        seed=seed,
        texts=short_hash(sorted(scored.items())),
        preparation=preparation_of(multitext),
        split=f"scored:{len(multitext)}",
        versions=",".join(f"{library}:{version}" for library, version in sorted(versions.items())),
    )


def surprisals_of_frames(
    frames: Mapping[str, pd.DataFrame], multitext: Multitext, lm: str, provenance: Provenance
) -> Surprisals:
    """Return the table of surprisals from the frames of the editions, with the columns that all of them have."""
    table = table_of_frames(frames, multitext.editions, multitext.intents, lm, provenance, multitext.intent_info)
    return replace(table, edition_info=kept_of(multitext.edition_info))


def table_of_frames(
    frames: Mapping[str, pd.DataFrame],
    editions: Iterable[str],
    intents: pd.Index,
    lm: str,
    provenance: Provenance,
    intent_info: pd.DataFrame,
) -> Surprisals:
    """Return the table of surprisals of some editions and intents; see `surprisals_of_frames`."""
    names = list(editions)
    tables = {
        column: pd.DataFrame({name: frames[name][column] for name in names}, index=intents, dtype=float)
        for column in ("bits", *BESIDE)
        if all(column in frame for frame in frames.values())
    }
    return Surprisals(lm=lm, provenance=provenance, intent_info=intent_info, **tables)
