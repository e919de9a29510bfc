"""``[lm]`` of an experiment: its language models, and recipes of its own."""

import difflib
import re
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from langdiff.errors import ConfigError
from langdiff.lm.automatic import settle
from langdiff.lm.compute import Compute
from langdiff.lm.language_model import LanguageModelRecipe, ScoredLM, find_lm, find_scored_lm
from langdiff.lm.scoring import split_name
from langdiff.run.settings import Settings
from langdiff.tables.multitext import Folds, Parts

BASE = "base"


class LmSettings(Settings):
    """``[lm]``: language models, how they score, on which device and with how many workers they are trained.

    ``"auto"`` in ``models`` is the recipe that suits the longest training part; the run has the name of that recipe.
    A name may end in ``-unpriced`` or ``-carried``; ``scoring`` (``"unpriced"``, ``"carried"``)
    holds for all of them. ``max_replaced`` is the fraction of an edition's test characters that may be
    replaced as too rare in training; with more, the edition is left out and named. ``baselines`` says whether
    to measure n-grams and compressors, too, and to warn where a network needs more bits than they; see
    `langdiff.lm.measure_baselines`. By default they are measured if a network can be compared with them.

    ``recipes`` are recipes of one's own, by name: each a table with ``base``, a recipe of ours, and what differs
    from it (attributes of `langdiff.lm.Recipe` or `langdiff.lm.KneserNeyRecipe`).

    With ``hf``, the folder of a causal language model of the Transformers library or a list of several, nothing is
    trained: the models score all selected intents (`langdiff.HuggingFaceLM`), on ``device``. No other key is then
    given.
    """

    paths: ClassVar[tuple[str, ...]] = ("hf",)

    models: list[str] = Field(["char-residual", "bpe-residual"])
    recipes: dict[str, dict[str, Any]] = Field({})
    hf: str | list[str] | None = None
    scoring: str | None = None
    max_replaced: float = Field(0.05, ge=0, le=1)
    device: str = "auto"
    workers: int = Field(1, ge=1)
    baselines: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _a_given_model_trains_nothing(cls, keys: Any) -> Any:
        without = {"models": [], "baselines": False}
        return without | keys if isinstance(keys, dict) and keys.get("hf") is not None else keys

    @model_validator(mode="after")
    def _models_are_known(self) -> Self:
        for name, table in self.recipes.items():
            make_recipe(name, table)  # its error is a ValueError, which Pydantic adds to its own
        for model in self.models:
            self.find(model)
        if len(set(self.names)) < len(self.names):
            raise ValueError("a language model is named twice; name each once")
        return self

    @model_validator(mode="after")
    def _nothing_is_said_of_training(self) -> Self:
        if self.hf is None:
            if not self.models:
                raise ValueError("models is empty: name a language model, or give the folder of one as hf")
            return self
        if nameless := [folder for folder in self.folders if not Path(folder).name]:
            raise ValueError(f"hf is the folder of a language model, not {nameless[0]!r}")
        if not self.folders:
            raise ValueError("hf is empty: give the folder of a language model, or leave it out")
        usual: dict[str, Any] = {
            "models": [],
            "recipes": {},
            "scoring": None,
            "max_replaced": 0.05,
            "workers": 1,
            "baselines": False,
        }
        changed = [key for key, value in usual.items() if getattr(self, key) != value]
        if changed:
            raise ValueError(f"the model of hf is not trained: leave {', '.join(changed)} out, or hf")
        return self

    @property
    def folders(self) -> list[str]:
        """Folders of the models that are not trained; none without ``hf``."""
        return [] if self.hf is None else [self.hf] if isinstance(self.hf, str) else self.hf

    @property
    def names(self) -> list[str]:
        """Names of the models in tables, in order."""
        if self.hf is not None:
            return [Path(folder).name for folder in self.folders]
        return [self.find(model, self.scoring).name for model in self.models]

    @property
    def measures_baselines(self) -> bool:
        """Whether baselines are measured: as the file says, by default if a model is compared with them."""
        return any(map(self.has_baselines, self.names)) if self.baselines is None else self.baselines

    def has_baselines(self, name: str) -> bool:
        """Return whether a model is compared with baselines, as networks that price replaced characters are."""
        recipe, scoring = self.find(name)
        return not recipe.is_baseline and scoring.price_replaced and not scoring.price_scripts

    def compute(self, cache: Path, executor: Executor | None, progress: bool | None) -> Compute:
        """Return the devices, workers and cache of training."""
        workers = self.workers if executor is None else 1
        return Compute(device=self.device, cache=cache, workers=workers, executor=executor, progress=progress)

    def settled(self, parts: Parts | Folds) -> Self:
        """Return the settings with the recipe that was chosen for the texts in place of each ``"auto"``."""
        found = {lm: self.find(lm) for lm in self.models}
        chosen = (lm if (new := settle(named, parts)) is named else new.name for lm, named in found.items())
        models = list(dict.fromkeys(chosen))
        return self if models == self.models else self.model_copy(update={"models": models})

    def find(self, lm: str, scoring: str | None = None) -> ScoredLM:
        """Return the recipe and the way of scoring of a name, which may be one of `recipes`."""
        base, ending = split_name(lm)
        if base not in self.recipes:
            return find_scored_lm(lm, scoring)
        if ending is not None and scoring is not None:
            raise ConfigError(
                f"{lm!r} has a way of scoring in its name, and scoring gives another: leave out one of them."
            )
        return find_scored_lm(make_recipe(base, self.recipes[base]), scoring if ending is None else ending)


def make_recipe(name: str, table: Mapping[str, Any]) -> LanguageModelRecipe:
    """Return the recipe that a table ``[lm.recipes.NAME]`` describes."""
    where = f"[lm.recipes.{name}]"
    if BASE not in table:
        raise ConfigError(f"{where} needs a base, the recipe that it changes, such as base = 'char-small'.")
    if re.fullmatch(r"[^/\\.][^/\\]*", name) is None:  # files are named after it
        raise ConfigError(f"{where}: the name is empty, begins with a dot or has a slash; choose another.")
    if split_name(name)[1] is not None:
        raise ConfigError(f"{where}: the name ends in the name of a way of scoring; choose another.")
    if _is_known(name):
        raise ConfigError(f"{where}: another recipe has this name already; choose another.")
    base = find_lm(table[BASE])
    known = [field.name for field in fields(base) if field.name != "name"]
    changed = {key: value for key, value in table.items() if key != BASE}
    for key in changed:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}."
            raise ConfigError(f"{where}: unknown key {key!r}; {hint}")
    try:
        recipe: LanguageModelRecipe = TypeAdapter(type(base)).validate_python(asdict(base) | changed | {"name": name})
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:  # an error of our own, about settings that do not agree
            raise
        raise ConfigError(f"{where}: {first['loc'][0]} = {first['input']!r}: {first['msg']}.") from error
    return recipe


def _is_known(name: str) -> bool:
    try:
        find_lm(name)
    except ConfigError:
        return False
    return True
