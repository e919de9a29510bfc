"""A language model that scores without being trained: `hf` of the section `[lm]`."""

from langdiff.lm.external.huggingface import HuggingFaceLM
from langdiff.run.experiment import LmSettings
from langdiff.tables.divisions import Parts
from langdiff.tables.multitext import Multitext


def load_given(settings: LmSettings) -> HuggingFaceLM | None:
    """Load the model; None if the experiment trains its own.

    Raises
    ------
    MissingExtraError
        If Transformers is not installed.
    CheckpointError
        If the folder holds no model or no tokenizer that can be loaded.
    ConfigError
        If the device cannot be used, or the model cannot score texts.
    """
    return None if settings.hf is None else HuggingFaceLM(settings.hf, device=settings.device)


def measure_all(multitext: Multitext) -> Parts:
    """Return the division in which every intent is measured and none is learned from."""
    nothing = multitext.sel(intents=[])
    return Parts(train=nothing, dev=nothing, test=multitext)


def describe_given(model: HuggingFaceLM | None) -> dict[str, str] | None:
    """Return what the manifest and the report say of the model."""
    return None if model is None else {"description": repr(model), "identity": model.identity}
