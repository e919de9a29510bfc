"""Training a language model on the texts of one edition."""

import json
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
import torch

from langdiff.base.io import write_text
from langdiff.base.progress import progress_bar
from langdiff.base.types import seed_number
from langdiff.errors import ConfigError, EditionWarning, LangdiffWarning, OutputError, warn
from langdiff.lm.automatic import Automatic, chosen_for, size_of
from langdiff.lm.checkpoint import Checkpoint, remove_states, write_checkpoint
from langdiff.lm.device import find_device, one_thread
from langdiff.lm.language_model import Cost, Epoch, TrainingPlan, describe, find_lm, report_nothing
from langdiff.lm.lstm.batches import SHORTEST
from langdiff.lm.lstm.features import NgramFeatures
from langdiff.lm.lstm.gradients import training_precision
from langdiff.lm.lstm.loop import EncodedPart, EpochLoop, Randomness
from langdiff.lm.lstm.model import KIND, LanguageModel, build_network, learn_units
from langdiff.lm.lstm.resume import StateFolder, TrainingState, training_key
from langdiff.lm.ngram.kneser_ney import Ngrams
from langdiff.lm.texts import check_texts, learn_alphabet, naming, prepare_texts

if TYPE_CHECKING:
    from langdiff.lm.lstm.recipe import Recipe

SECONDS = 60.0  # at least between two states on disk: what a kill may cost
SAMPLE, TRIED = 50_000, 1e9  # characters to estimate the cost from; of these, times effort, in steps
# bytes of memory without texts, and for each character of them: measured on New Testaments and Bibles
MEMORY, OF_NGRAMS, OF_UNITS = 0.35e9, 500.0, 80.0
LEAST_CHARACTERS = 1_000  # of training text; below, no model of any use can be learned

logger = logging.getLogger(__name__)


def train_language_model(
    train: Sequence[str] | pd.Series,
    dev: Sequence[str] | pd.Series,
    *,
    recipe: "str | Recipe" = "char-residual",
    name: str | None = None,
    device: str = "auto",
    seed: int | np.random.Generator = 0,
    progress: bool | None = None,
    log_path: str | Path | None = None,
    directory: str | Path | None = None,
) -> LanguageModel:
    """Train a language model and keep its best state on the dev part.

    Dev intents are scored one by one, each from the zero state, and what is replaced in them has no price:
    which state is the best does not depend on how texts are scored later (`langdiff.lm.Scoring`).

    On CPUs it uses one thread; on those of one kind the same texts, recipe and seed give the same model to
    the last bit, also if training was interrupted and called again with the same `directory`.

    Parameters
    ----------
    train, dev : sequence or Series of str
        Texts to learn from and to stop by, in Unicode normal form C; each is one intent.
    recipe : str or Recipe
        A name in `langdiff.lm.RECIPES`, ``"auto"`` for the recipe that suits the amount of training text, or a
        recipe of one's own.
    name : str, optional
        Name of the edition, for messages and the saved model.
    device : str
        Device, auto (CUDA where there is one, else the CPU), ``"cpu"``, ``"cuda"``, ….
    seed : int or numpy.random.Generator
        Seed of the initial weights, of the order of the batches and of dropout.
    progress : bool, optional
        Draw a progress bar; by default if stderr is a terminal.
    log_path : str or Path, optional
        File of JSON lines, one per epoch (`Epoch`); an existing file is replaced.
    directory : str or Path, optional
        Where to save the model; see `langdiff.read`. Once a minute the best so far is written there and, until
        training is finished, its state (``training-*``), from which a second call with the same texts, recipe, seed
        and device goes on.

    Returns
    -------
    LanguageModel
        The model as it was after the epoch with the fewest dev bits.

    Raises
    ------
    DataError
        If there is too little text, or an intent is missing or empty.
    ConfigError
        If the recipe or the device is unknown, or the seed is not one.
    TrainingError
        If the loss stops being a number.
    OutputError
        If log or model cannot be written.

    Warns
    -----
    LangdiffWarning
        If more than 0.1 % of the characters are outside the alphabet.

    Examples
    --------
    >>> texts = ["the cat sat on the mat", "the dog lay on the log"] * 200
    >>> model = train_language_model(texts, texts[:9], recipe="char-tiny", seed=0, progress=False)
    >>> bits = model.surprisal(["the cat sat on the log", "goat tent heel the no"]).bits
    >>> bool(3 * bits[0] < bits[1])
    True
    """
    found, number = find_lm(recipe), seed_number(seed)
    if isinstance(found, Automatic):
        found = chosen_for(size_of(check_texts(train, "training part")))
    if found.kind != KIND:
        raise ConfigError(
            f"{found.name!r} is not a network. Use langdiff.compute_surprisals, or langdiff.lm.train_kneser_ney."
        )
    network = cast("Recipe", found)
    with progress_bar(progress=progress) as bar, naming(name):
        task = bar.add_task(name or network.name, total=network.epochs, note="")
        plan = TrainingPlan(
            seed=number,
            name=name,
            device=device,
            log_path=None if log_path is None else Path(log_path),
            directory=None if directory is None else Path(directory),
            report=lambda epochs, last: bar.update(task, completed=epochs, note=describe(last)),
        )
        model = fit_language_model(network, train, dev, plan)
        if plan.directory is not None:
            model.save(plan.directory)
            remove_states(plan.directory)
        bar.update(task, completed=network.epochs)
    for caution in model.cautions:
        warn(LangdiffWarning(caution) if name is None else EditionWarning((name, caution)))
    return model


def fit_language_model(
    recipe: "Recipe", train: Sequence[str] | pd.Series, dev: Sequence[str] | pd.Series, plan: TrainingPlan
) -> LanguageModel:
    """Train as `train_language_model` does, but report to the plan instead of drawing a bar.

    The caller saves the model. The states in the folder are left there, so that the caller can finish what comes
    after training before it removes them.
    """
    training = _begin_training(recipe, train, dev, plan)
    with one_thread(), ThreadPoolExecutor(1, "langdiff-states") as writer:
        while not training.loop.finished:
            training.keep(training.loop.run_epoch(), writer)
    return training.finish()


def calibrate(recipe: "Recipe", texts: pd.Series) -> Cost:
    """Return the cost of a training on the CPU, from its first steps on the first of the texts."""
    characters, alphabet = texts.str.len(), learn_alphabet(texts.tolist(), recipe.min_count)
    symbols = len(alphabet.characters) + 1
    if recipe.units == "bpe":  # of all texts, as it decides how large the softmax is
        symbols += int(recipe.bpe_ratio * len(set(texts.str.cat(sep=" ").split())))
    begin = time.process_time()
    first = [alphabet.apply(text[:SAMPLE]) for text in texts[characters.cumsum() - characters < SAMPLE]]
    units, _ = learn_units(first, alphabet, recipe)
    learned, symbols = EncodedPart.from_texts(first, units), max(symbols, units.size + 1)
    if recipe.ngram_orders:
        learned = learned._replace(features=NgramFeatures.out_of_fold(learned.intents, symbols, recipe.ngram_orders))
    before = (time.process_time() - begin) / learned.characters
    if recipe.bptt is not None:  # as many streams, of fewer steps
        recipe = replace(recipe, bptt=SHORTEST, batch_units=recipe.batch_units // recipe.bptt * SHORTEST)
    ends, most = np.cumsum([len(ids) + 1 for ids in learned.intents]), recipe.batch_units
    most = max(most, int(TRIED * recipe.epochs / recipe.effort))
    few = [ids[:most] for ids in learned.intents[: 1 + int(np.searchsorted(ends, most))]]
    tried, randomness = learned._replace(intents=few), Randomness.from_seed(0, torch.device("cpu"))
    network = build_network(recipe, symbols, randomness.initial)
    loop = EpochLoop(
        network=network, recipe=recipe, train=tried, dev=tried, randomness=randomness, report=report_nothing
    )
    with one_thread():
        loop.train_once(1)  # sets libraries up
        begin = time.process_time()
        loop.train_once(1)
    epoch = (time.process_time() - begin) / sum(len(ids) + 1 for ids in few) * ends[-1] / learned.characters
    weights = sum(each.numel() for each in network.parameters())
    of_texts = int(characters.sum()) * (OF_NGRAMS if recipe.ngram_orders else OF_UNITS)
    return Cost(before, float(epoch), MEMORY + 16.0 * weights + of_texts)


def _begin_training(
    recipe: "Recipe", train: Sequence[str] | pd.Series, dev: Sequence[str] | pd.Series, plan: TrainingPlan
) -> "_KeptTraining":
    """Prepare texts and network; continue from the last state on disk, if there is one."""
    device = find_device(plan.device)
    precision = training_precision(recipe, device.type)
    refused = f" (not in {recipe.half}, in which it does not compute)" if recipe.half not in (None, precision) else ""
    logger.info("%s: training on %s in %s%s", plan.name, device, precision, refused)
    texts = prepare_texts(train, dev, min_count=recipe.min_count, least=LEAST_CHARACTERS)
    units, about_units = learn_units(texts.train, texts.alphabet, recipe)
    learned, judged = (EncodedPart.from_texts(part, units) for part in (texts.train, texts.dev))
    ngrams = None
    if recipe.ngram_orders:
        orders, size = recipe.ngram_orders, units.size + 1
        ngrams = Ngrams.fit(learned.intents, size, orders[-1])
        judged = judged._replace(features=NgramFeatures.by(ngrams.count(), judged.intents, size, orders))
        learned = learned._replace(features=NgramFeatures.out_of_fold(learned.intents, size, orders))
    randomness = Randomness.from_seed(plan.seed, device)
    network = build_network(recipe, units.size + 1, randomness.initial).to(device)
    model = LanguageModel(
        recipe=recipe,
        alphabet=texts.alphabet,
        units=units,
        network=network,
        history=(),
        name=plan.name,
        seed=plan.seed,
        out_of_alphabet=texts.out_of_alphabet,
        cautions=tuple(filter(None, [texts.caution, *about_units])),
        ngrams=ngrams,
    )
    loop = EpochLoop(
        network=network, recipe=recipe, train=learned, dev=judged, randomness=randomness, report=plan.report
    )
    key = training_key(recipe, seed=plan.seed, device=device, train=learned.intents, dev=judged.intents)
    return _KeptTraining(model, loop, StateFolder(plan.directory, key), plan)


class _KeptTraining:
    """Training whose log, best model and last state are kept on disk.

    Parameters
    ----------
    model : LanguageModel
        Untrained model; its network is that of the loop.
    loop : EpochLoop
        Loop before its first epoch; it is taken to the last state that was kept.
    states : StateFolder
        Folder of the states from which an interrupted training goes on.
    plan : TrainingPlan
        Names the log and the folder of the model.
    """

    def __init__(self, model: LanguageModel, loop: EpochLoop, states: StateFolder, plan: TrainingPlan) -> None:
        self.loop = loop
        self._model = model
        self._states = states
        self._directory = plan.directory
        state = states.read()
        if state is not None:
            loop.restore(state)
            logger.info("%s: going on after epoch %d", model.name, state.epoch)
        self._saved = loop.best
        self._written = time.monotonic()
        self._writing: Future[None] | None = None
        self._log = _start_log(plan.log_path, loop.history)

    def keep(self, epoch: Epoch, writer: Executor) -> None:
        """Log a finished epoch; let the state after it be written if a minute has passed, or none follows."""
        self._log(epoch)
        logger.info("%s: %s", self._model.name, describe(epoch))
        now, last = time.monotonic(), self.loop.finished
        if self._directory is None or (now - self._written < SECONDS and not last):
            return
        if self._writing is not None:
            self._writing.result()  # there is one at a time, and its error ends the training
        best, self._saved, self._written = self._saved, self.loop.best, now
        model = None
        if best is not self._saved:
            model = replace(self._model, history=tuple(self.loop.history)).checkpoint(self.loop.best_weights)
        self._writing = writer.submit(self._write, model, self.loop.state().copied())
        if last:
            self._writing.result()

    def _write(self, model: Checkpoint | None, state: TrainingState) -> None:
        """Write the best model, if it is another, and the state."""
        if model is not None and self._directory is not None:
            write_checkpoint(self._directory, model)
        self._states.write(state)

    def finish(self) -> LanguageModel:
        """Return the best model."""
        self._model.network.load_state_dict(self.loop.best_weights)
        return replace(self._model, history=tuple(self.loop.history))


def _start_log(path: Path | None, history: Sequence[Epoch]) -> Callable[[Epoch], None]:
    """Create a log of JSON lines; return a function that appends one and flushes it to disk."""
    if path is None:
        return lambda _: None
    write_text(path, "".join(f"{json.dumps(asdict(epoch))}\n" for epoch in history))

    def write(epoch: Epoch) -> None:
        try:
            with path.open("a", encoding="utf-8", newline="\n") as stream:
                stream.write(json.dumps(asdict(epoch)) + "\n")
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror or error}.") from error

    return write
