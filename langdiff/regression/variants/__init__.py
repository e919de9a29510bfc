"""The regression models of Mielke et al. (2019), one file each, and their common base class.

A new model is a file, and its name in `Model` and class in `classes` here.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from langdiff.base.plugins import with_plugins
from langdiff.errors import ConfigError, en, listing, option, words

if TYPE_CHECKING:
    from langdiff.regression.variants.variant import Variant

Model = Literal["1", "2", "2L", "2L-rounded", "2C", "3"]
PlainModel = Literal["1", "2", "2L", "2L-rounded", "2C"]  # those that need no number of their own
StanModel = Literal["1", "2", "2L", "3"]  # those that have a Stan program
SCALED: Model = "3"  # the model that has no usual scale
COMPARED: tuple[PlainModel, ...] = ("1", "2", "2L")  # where models are compared, by default


def classes() -> "tuple[type[Variant], ...]":
    """Return the classes of the named models, in the order of `Model`."""
    from langdiff.regression.variants.blunders import Blunders
    from langdiff.regression.variants.laplace import Cauchy, Laplace
    from langdiff.regression.variants.normal import LogNormal, Normal

    return LogNormal, Normal, Laplace, Cauchy, Blunders


def find_variant(model: "str | Variant", *, laplace_scale: float | None = None) -> "Variant":
    """Return the model of a given name; a model object is returned unchanged.

    Parameters
    ----------
    model : str or Variant
        One of the names in `Model`, or a model.
    laplace_scale : float, optional
        Scale b of model 3, nats; it is given beside the name, as on the command line and in experiment files.

    Raises
    ------
    ConfigError
        If the name is unknown, model 3 has no scale, or another model is given one.

    Examples
    --------
    >>> find_variant("2L")
    Laplace(rounding=0.0)
    >>> find_variant("3", laplace_scale=0.05)
    Blunders(scale=0.05)
    """
    from langdiff.regression.variants.blunders import Blunders
    from langdiff.regression.variants.laplace import KINK_ROUNDING, Laplace
    from langdiff.regression.variants.variant import Variant

    if isinstance(model, type) and issubclass(model, Variant):
        raise ConfigError(f"model is the class {model.__name__}: write {model.__name__}().")
    if laplace_scale is not None and model != Blunders.name:
        raise ConfigError(f"{option('laplace_scale')} is for model '3', not {getattr(model, 'name', model)!r}.")
    if isinstance(model, Variant):
        return model
    if laplace_scale is not None:
        return Blunders(scale=laplace_scale)
    if model == Blunders.name:
        given = words(python="model=Blunders(scale=b)", command=option("laplace_scale"))
        raise ConfigError(f"model '3' needs {given}, nats (try 0.02 to 0.05): it cannot be estimated.")
    if model == Laplace.rounded:
        return Laplace(rounding=KINK_ROUNDING)
    check_name(model)
    return _known()[model]()


def check_name(model: str) -> None:
    """Check that a model of this name is known."""
    names = list(dict.fromkeys((*get_args(Model), *_known())))
    if model not in names:
        raise ConfigError(f"unknown model {model!r}; use one of {listing(names, most=20)}.")


def _known() -> "dict[str, type[Variant]]":
    return with_plugins("variants", {variant.name: variant for variant in classes()})


def find_variants(
    models: "Sequence[str | Variant] | str | Variant", *, laplace_scale: float | None = None
) -> "tuple[Variant, ...]":
    """Return the models of a comparison, given by name or as objects; `laplace_scale` is that of model 3.

    Raises
    ------
    ConfigError
        If there is none, one is named twice, or there is a scale without model 3; also as `find_variant`.
    """
    several: list[str | Variant] = list(models) if isinstance(models, list | tuple) else [models]  # type: ignore[list-item]
    if laplace_scale is not None and SCALED not in several:
        raise ConfigError(
            f"{option('laplace_scale')} is for model {SCALED}, which is not among the models: add "
            f"{option('model', SCALED)}, or leave it out."
        )
    found = tuple(find_variant(model, laplace_scale=laplace_scale if model == SCALED else None) for model in several)
    names = [variant.name for variant in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not found or twice:
        raise ConfigError(f"{option('models')} must be named once each, and at least one; twice: {listing(twice)}.")
    return found


def own_numbers(variants: "Iterable[Variant]") -> dict[str, str]:
    """Return the parameters of several models as parts of a signature, where they differ from the defaults."""
    return {name: value for variant in variants if not variant.is_usual for name, value in variant.signature().items()}


def own_variant(variant: "Variant") -> "Variant | None":
    """Return a model whose class is not one of the package, which its name alone does not tell; None otherwise."""
    return None if type(variant) in classes() else variant


def require(variant: "Variant", offer: str, what: str) -> None:
    """Check that a model has an option.

    Parameters
    ----------
    variant : Variant
        The model.
    offer : str
        Name of the attribute of models that says whether they have it, such as ``"restrictable"``.
    what : str
        The option, as the message names it.

    Raises
    ------
    ConfigError
        If the model does not have it.

    Examples
    --------
    >>> require(find_variant("2C"), "random_sizes", "intents='random'")
    Traceback (most recent call last):
        ...
    langdiff.errors.ConfigError: intents='random' is for models '1', '2' and '2L', not '2C'.
    """
    if not getattr(variant, offer):
        reason = variant.without.get(offer, "is for models {those}, not {name!r}")
        raise ConfigError(f"{what} {reason.format(those=names_with(offer), name=variant.name)}.")


def names_with(offer: str) -> str:
    """Return the quoted names of the models that have an option, for messages.

    Examples
    --------
    >>> names_with("has_information")
    "'1' and '2'"
    """
    return en(repr(variant.name) for variant in classes() if getattr(variant, offer))
