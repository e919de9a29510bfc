"""Recipes of networks by name, read from ``presets.toml``."""

from dataclasses import replace

from langdiff.base.toml import read_packaged
from langdiff.lm.lstm.recipe import RECIPES, Recipe

__all__ = ["RECIPES"]

for _name, _settings in read_packaged("langdiff.lm.lstm", "presets.toml").items():
    _like = _settings.pop("like", None)  # a recipe before it, whose other settings it has
    RECIPES[_name] = (
        Recipe(name=_name, **_settings) if _like is None else replace(RECIPES[_like], name=_name, **_settings)
    )
