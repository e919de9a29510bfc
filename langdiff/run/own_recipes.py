"""Recipes of an experiment file's own: one of ours, with some settings changed."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from pydantic import TypeAdapter, ValidationError

from langdiff.errors import ConfigError
from langdiff.lm.language_model import LanguageModelRecipe, find_lm
from langdiff.lm.scoring import split_name

BASE = "base"


def make_recipe(name: str, table: Mapping[str, Any]) -> LanguageModelRecipe:
    """Return the recipe that a table ``[lm.recipes.NAME]`` describes.

    Parameters
    ----------
    name : str
        Name of the new recipe.
    table : mapping
        ``base``, the recipe that it is made from, and settings that differ.

    Raises
    ------
    ConfigError
        If there is no base, a setting is unknown or out of range, or the name is taken or cannot be used.
    """
    where = f"[lm.recipes.{name}]"
    if BASE not in table:
        raise ConfigError(f"{where} needs a base, the recipe that it changes, such as base = 'char-small'.")
    if re.fullmatch(r"[^/\\.][^/\\]*", name) is None:  # files are named after it
        raise ConfigError(f"{where}: the name is empty, begins with a dot or has a slash; choose another.")
    if split_name(name)[1] is not None:
        raise ConfigError(f"{where}: the name ends like a way of scoring; choose another.")
    if _is_known(name):
        raise ConfigError(f"{where}: there is a recipe of this name already; choose another.")
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
