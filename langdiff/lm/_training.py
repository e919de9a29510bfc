"""Training a language model on the texts of one edition."""

import json
import logging
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from math import cos, isfinite, log, pi
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor

from langdiff._io import write_text
from langdiff._progress import progress_bar
from langdiff.errors import ConfigError, DataError, LangdiffError, LangdiffWarning, OutputError, TrainingError
from langdiff.lm._batches import Batch, pad, rows_by_length
from langdiff.lm._scoring import find_device, one_thread, score, slices
from langdiff.lm.alphabet import Alphabet
from langdiff.lm.awd_lstm import AWDLSTM, activation_regularisation
from langdiff.lm.language_model import Epoch, LanguageModel, build_network, check_texts
from langdiff.lm.presets import Recipe, find_recipe
from langdiff.lm.units import BPEUnits, CharacterUnits, Ids, Units, caution_about_merges, caution_about_words

LEAST_CHARACTERS = 1_000  # of training text; below, no model of any use can be learned
HIGH_RATE = 0.001  # of characters outside the alphabet

Report = Callable[[float, Epoch | None], None]  # epochs done (with a fraction), the last one finished

logger = logging.getLogger(__name__)


def train_language_model(
    train: Sequence[str] | pd.Series,
    dev: Sequence[str] | pd.Series,
    *,
    recipe: str | Recipe = "char-small",
    language: str | None = None,
    name: str | None = None,
    device: str = "auto",
    seed: int = 0,
    progress: bool | None = None,
    log_path: str | Path | None = None,
    directory: str | Path | None = None,
) -> LanguageModel:
    """Train a language model and keep its best state on the dev part.

    On the CPU it uses one thread, and the same texts, recipe and seed give the same model to the
    last bit.

    Parameters
    ----------
    train, dev : sequence or Series of str
        Texts to learn from and to stop by, in Unicode normal form C; each is one intent.
    recipe : str or Recipe
        A name in `langdiff.lm.RECIPES`, or a recipe of one's own.
    language : str, optional
        ISO 639-3; decides how rare a character may be.
    name : str, optional
        Of the edition, for messages and the saved model.
    device : str
        ``"auto"`` (CUDA where there is one, else the CPU), ``"cpu"``, ``"cuda"``, ….
    seed : int
        Decides initial weights, order and dropout.
    progress : bool, optional
        Draw a progress bar; by default if stderr is a terminal.
    log_path : str or Path, optional
        File of JSON lines, one an epoch (`Epoch`); replaced if it is there.
    directory : str or Path, optional
        Where to save the model whenever it has become better; see `load_language_model`.

    Raises
    ------
    DataError
        If there is too little text, or an intent is missing or empty.
    ConfigError
        If the recipe or the device is unknown.
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
    >>> model = train_language_model(texts, texts[:9], recipe="char-tiny", progress=False)
    >>> bits = model.surprisal(["the cat sat on the log", "goat tent heel the no"]).bits
    >>> bool(3 * bits[0] < bits[1])
    True
    """
    recipe = find_recipe(recipe)
    with progress_bar(progress=progress) as bar, naming(name):
        task = bar.add_task(name or recipe.name, total=recipe.epochs, note="")
        model = fit_language_model(
            train,
            dev,
            recipe=recipe,
            language=language,
            name=name,
            device=device,
            seed=seed,
            log_path=log_path,
            directory=directory,
            report=lambda epochs, last: bar.update(task, completed=epochs, note=describe(last)),
        )
        bar.update(task, completed=recipe.epochs)
    for caution in model.cautions:
        warnings.warn(caution if name is None else f"edition {name!r}: {caution}", LangdiffWarning, stacklevel=2)
    return model


@contextmanager
def naming(edition: str | None) -> Iterator[None]:
    """Name the edition in errors; what torch or the memory complain of becomes a TrainingError."""
    prefix = "" if edition is None else f"edition {edition!r}: "
    try:
        yield
    except LangdiffError as error:
        raise type(error)(f"{prefix}{error}") from error
    except (RuntimeError, MemoryError) as error:
        raise TrainingError(f"{prefix}{type(error).__name__}: {error}") from error


def describe(epoch: Epoch | None) -> str:
    """Say in a few words how far training is, for a progress bar."""
    if epoch is None:
        return ""
    return (
        f"epoch {epoch.epoch}, dev {epoch.dev_bits_per_character:.3f} bits/char, "
        f"{epoch.characters_per_second:,.0f} char/s"
    )


def caution_about_rates(rates: Mapping[str, float]) -> str | None:
    """Say in which parts (keys) more than 0.1 % of the characters are outside the alphabet."""
    high = ", ".join(f"{part} {rate:.2%}" for part, rate in rates.items() if rate > HIGH_RATE)
    if not high:
        return None
    return (
        f"many characters are too rare in training to be learned and are replaced by one symbol ({high}). "
        "Lower min_count, or add text."
    )


def fit_language_model(
    train: Sequence[str] | pd.Series,
    dev: Sequence[str] | pd.Series,
    *,
    recipe: Recipe,
    language: str | None,
    name: str | None,
    device: str,
    seed: int,
    log_path: str | Path | None,
    directory: str | Path | None,
    report: Report,
) -> LanguageModel:
    """Train as `train_language_model` does, but tell `report` instead of drawing a bar."""
    where = find_device(device)
    train, dev = check_texts(train, "training part"), check_texts(dev, "dev part")
    if not len(dev):
        raise DataError("dev part: no text. Training stops by it; keep some intents for it.")
    alphabet = _alphabet(train, recipe.minimum_count(language))
    rates = {
        "train": alphabet.out_of_alphabet_rate(train.to_list()),
        "dev": alphabet.out_of_alphabet_rate(dev.to_list()),
    }
    cautions = [caution_about_rates(rates)]
    texts = [alphabet.apply(text) for text in train]
    units: Units = CharacterUnits(alphabet)
    if recipe.units == "bpe":
        units = subwords = BPEUnits.train(texts, alphabet, ratio=recipe.bpe_ratio)
        cautions += [caution_about_words(texts), caution_about_merges(texts, subwords.merges, recipe.bpe_ratio)]
    randomness = _Randomness.from_seed(seed, where)
    network = build_network(recipe, units, randomness.initial).to(where)
    model = LanguageModel(
        recipe=recipe,
        alphabet=alphabet,
        units=units,
        network=network,
        history=(),
        name=name,
        language=language,
        seed=seed,
        out_of_alphabet=rates,
        cautions=tuple(caution for caution in cautions if caution),
    )
    trainer = _Trainer(
        network=network,
        recipe=recipe,
        train=[units.encode(text) for text in texts],
        train_characters=sum(map(len, texts)),
        dev=[units.encode(alphabet.apply(text)) for text in dev],
        dev_characters=sum(map(len, dev)),
        randomness=randomness,
        report=report,
    )
    write = _start_log(log_path)
    with one_thread():
        history = _keep_the_best(model, trainer, None if directory is None else Path(directory), write)
    model = replace(model, history=history)
    if directory is not None:
        model.save(directory)
    return model


def _alphabet(train: pd.Series, min_count: int) -> Alphabet:
    characters = sum(map(len, train))
    if characters < LEAST_CHARACTERS:
        raise DataError(
            f"training part: {characters:,} characters are too little text to learn from; "
            f"give at least {LEAST_CHARACTERS:,}."
        )
    alphabet = Alphabet.from_texts(train, min_count=min_count)
    if len(alphabet.characters) < 2:
        raise DataError(
            f"training part: {len(alphabet.characters)} character(s) occur {min_count} times or more; "
            "an alphabet needs two. Lower min_count, or check that this is the right text."
        )
    return alphabet


def _start_log(path: str | Path | None) -> Callable[[Epoch], None]:
    """Begin a log of JSON lines; return what adds one, which is on disk when the next epoch begins."""
    if path is None:
        return lambda _: None
    path = Path(path)
    write_text(path, "")

    def write(epoch: Epoch) -> None:
        try:
            with path.open("a", encoding="utf-8", newline="\n") as stream:
                stream.write(json.dumps(asdict(epoch)) + "\n")
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror or error}.") from error

    return write


@dataclass(frozen=True)
class _Randomness:
    """Independent streams of random numbers for what is random in training."""

    initial: torch.Generator
    dropout: torch.Generator
    batches: np.random.Generator

    @classmethod
    def from_seed(cls, seed: int, device: torch.device) -> "_Randomness":
        if seed < 0:
            raise ConfigError(f"seed must be 0 or more, got {seed}.")
        initial, dropout, batches = np.random.SeedSequence(seed).spawn(3)
        return cls(
            torch.Generator().manual_seed(int(initial.generate_state(1)[0])),
            torch.Generator(device).manual_seed(int(dropout.generate_state(1)[0])),
            np.random.default_rng(batches),
        )


def _keep_the_best(
    model: LanguageModel, trainer: "_Trainer", directory: Path | None, write: Callable[[Epoch], None]
) -> tuple[Epoch, ...]:
    """Train until the recipe says stop; leave the network in its best state and return the history."""
    history: list[Epoch] = []
    best: Epoch | None = None
    best_state: dict[str, Tensor] = {}
    for _ in range(model.recipe.epochs):
        epoch = trainer.run_epoch()
        history.append(epoch)
        write(epoch)
        logger.info("%s: %s", model.name, describe(epoch))
        if best is None or epoch.dev_bits_per_character < best.dev_bits_per_character:
            best = epoch
            best_state = {key: value.detach().clone() for key, value in model.network.state_dict().items()}
            if directory is not None:
                replace(model, history=tuple(history)).save(directory)
        elif epoch.epoch - best.epoch >= model.recipe.patience:
            break
    model.network.load_state_dict(best_state)
    return tuple(history)


class _Trainer:
    """The state of training between epochs."""

    def __init__(
        self,
        *,
        network: AWDLSTM,
        recipe: Recipe,
        train: list[Ids],
        train_characters: int,
        dev: list[Ids],
        dev_characters: int,
        randomness: _Randomness,
        report: Report,
    ) -> None:
        self.network = network
        self.recipe = recipe
        self.train = train
        self.lengths = np.array([len(ids) + 1 for ids in train])
        self.train_characters = train_characters
        self.dev = dev
        self.dev_characters = dev_characters
        self.randomness = randomness
        self.report = report
        self.last: Epoch | None = None
        self.optimizer = torch.optim.AdamW(
            network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True
        )

    def run_epoch(self) -> Epoch:
        """Pass once over the training part, then score the dev part.

        Raises
        ------
        TrainingError
            If the loss is not a number any more.
        """
        start = time.perf_counter()
        number = 1 if self.last is None else self.last.epoch + 1
        train_bits = self._train_once(number)
        trained = time.perf_counter()
        self.network.eval()
        dev_bits = float(score(self.network, self.dev)[0].sum())
        if not (isfinite(train_bits) and isfinite(dev_bits)):
            raise TrainingError(
                f"the loss is not a number any more in epoch {number}. Lower learning_rate "
                f"(now {self.recipe.learning_rate:g}) or gradient_clip (now {self.recipe.gradient_clip:g})."
            )
        self.last = Epoch(
            epoch=number,
            train_bits_per_unit=train_bits,
            dev_bits_per_character=dev_bits / self.dev_characters,
            characters_per_second=self.train_characters / (trained - start),
            seconds=time.perf_counter() - start,
        )
        self.report(number, self.last)
        return self.last

    def _train_once(self, number: int) -> float:
        """Return the mean bits a unit, dropout on."""
        recipe, device = self.recipe, self.network.embedding.device
        end = len(self.network.embedding) - 1
        self.network.train()
        batches = rows_by_length(self.lengths, most_units=recipe.batch_units, rng=self.randomness.batches)
        total = torch.zeros((), dtype=torch.float64)
        for done, rows in enumerate(batches):
            epochs_done = number - 1 + done / len(batches)
            self.report(epochs_done, self.last)
            rate = learning_rate(recipe, epochs_done / recipe.epochs)
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            total += self._step(pad([self.train[row] for row in rows], end, device))
        return float(total) / (int(self.lengths.sum()) * log(2))

    def _step(self, batch: Batch) -> Tensor:
        """Improve the weights by one batch; return its nats."""
        self.optimizer.zero_grad(set_to_none=True)
        nats = accumulate_gradients(self.network, batch, self.recipe, self.randomness.dropout)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.recipe.gradient_clip)
        self.optimizer.step()
        return nats


def learning_rate(recipe: Recipe, done: float) -> float:
    """Return the learning rate when a fraction of all training is done: linear warm-up, then a cosine.

    Examples
    --------
    >>> from langdiff.lm import RECIPES
    >>> recipe = replace(RECIPES["char-tiny"], learning_rate=0.01, warm_up=0.2)
    >>> [round(learning_rate(recipe, done), 6) for done in (0.1, 0.2, 0.6, 1.0)]
    [0.005, 0.01, 0.005, 0.0]
    """
    if done < recipe.warm_up:
        return recipe.learning_rate * done / recipe.warm_up
    return recipe.learning_rate * 0.5 * (1 + cos(pi * (done - recipe.warm_up) / (1 - recipe.warm_up)))


def accumulate_gradients(network: AWDLSTM, batch: Batch, recipe: Recipe, generator: torch.Generator | None) -> Tensor:
    """Add the gradients of a batch's mean nats a symbol, penalties included, to those of the weights.

    The softmax goes in slices, forward and backward at once, so that its memory does not grow with
    the batch; the gradients are the same.

    Returns
    -------
    Tensor, shape (), float64 on the CPU
        Sum of the nats, penalties not included.
    """
    activations = network(batch.inputs, generator)
    real = batch.real
    output = activations.output[real]  # (N, E)
    targets = batch.targets[real]
    leaf = output.detach().requires_grad_()
    total = torch.zeros((), dtype=torch.float64)
    for part in slices(len(leaf), len(network.embedding)):
        nats = F.cross_entropy(network.logits(leaf[part]), targets[part], reduction="sum")
        (nats / len(leaf)).backward()  # type: ignore[no-untyped-call]
        total += nats.detach().double().cpu()
    heads, gradients = [output], [leaf.grad]
    if recipe.activation_penalty or recipe.change_penalty:
        penalty = activation_regularisation(
            activations, real, alpha=recipe.activation_penalty, beta=recipe.change_penalty
        )
        heads, gradients = [*heads, penalty], [*gradients, torch.ones_like(penalty)]
    torch.autograd.backward(heads, gradients)
    return total
