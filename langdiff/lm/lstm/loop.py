"""Loop over epochs: steps, learning rates, averages of weights, scores, and the state between epochs."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from math import cos, isfinite, log, pi
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from langdiff.base.types import generator
from langdiff.errors import TrainingError
from langdiff.lm.device import single_precision, torch_generator
from langdiff.lm.language_model import Epoch, Report
from langdiff.lm.lstm.batches import STRETCH, WINDOW, Batch, Text, cut, draw_segments, lay_out, rows_by_length
from langdiff.lm.lstm.features import NgramFeatures
from langdiff.lm.lstm.gradients import TF32, accumulate_gradients, judging, training_precision
from langdiff.lm.lstm.network import Network, State
from langdiff.lm.lstm.resume import TrainingState
from langdiff.lm.lstm.scoring import MemoryLimit, judge
from langdiff.lm.units.characters import Ids, Units

if TYPE_CHECKING:
    from langdiff.lm.lstm.recipe import Recipe

DECAY = 0.1  # factor of the learning rate after each of the recipe's decay epochs


@dataclass(frozen=True)
class Randomness:
    """Independent streams of random numbers for initial weights, dropout and batches."""

    initial: torch.Generator
    dropout: torch.Generator
    batches: np.random.Generator

    @classmethod
    def from_seed(cls, seed: int, device: torch.device) -> "Randomness":
        """Return streams derived from one seed; `device` is that of the dropout masks."""
        initial, dropout, batches = generator(seed).spawn(3)
        return cls(torch_generator(initial), torch_generator(dropout, device), batches)


class EncodedPart(NamedTuple):
    """Part as units, without end symbols, with its characters and features of n-grams."""

    intents: Sequence[Ids]
    characters: int
    features: NgramFeatures | None = None

    @classmethod
    def from_texts(cls, texts: Sequence[str], units: Units) -> "EncodedPart":
        """Return the part with its texts encoded in units over the alphabet."""
        return cls([units.encode(text) for text in texts], sum(map(len, texts)))


class _Step(NamedTuple):
    """Batch, the fraction of the epoch done before it, its factor of the learning rate, and whether it goes on.

    The state is carried from the step before to one that goes on.
    """

    batch: Batch
    done: float
    rate: float
    goes_on: bool


class EpochLoop:
    """Training of a network epoch by epoch.

    Parameters
    ----------
    network : Network
        Trained in place, where it is.
    recipe : Recipe
        Settings of training.
    train, dev : EncodedPart
        Parts to learn from, and to judge by.
    randomness : Randomness
        Generators of random numbers; training draws from them.
    report : callable
        Called with the epochs done, before every step and after every epoch.

    Attributes
    ----------
    history : list of Epoch
        The finished passes.
    best : Epoch or None
        Epoch with the fewest dev bits.
    best_weights : dict from str to Tensor
        Weights that were scored in that epoch.
    """

    def __init__(
        self,
        *,
        network: Network,
        recipe: "Recipe",
        train: EncodedPart,
        dev: EncodedPart,
        randomness: Randomness,
        report: Report,
    ) -> None:
        self.network = network
        self.recipe = recipe
        self.train = train
        self.dev = dev
        self.randomness = randomness
        self.report = report
        self.history: list[Epoch] = []
        self.best: Epoch | None = None
        self.best_weights: dict[str, Tensor] = {}
        self.optimizer = make_optimizer(network, recipe)
        self._average: WeightAverage | None = None
        self._limit = MemoryLimit()
        self._streams: Tensor | None = None  # (T + 1, B)
        if recipe.bptt is not None:
            streams = lay_out(train.intents, self._end, recipe.batch_units // recipe.bptt)
            self._streams = streams.to(network.embedding.device)

    @property
    def _end(self) -> int:
        return len(self.network.embedding) - 1

    @property
    def last(self) -> Epoch | None:
        """The last finished epoch."""
        return self.history[-1] if self.history else None

    @property
    def finished(self) -> bool:
        """Whether the recipe's condition for stopping is met."""
        if self.best is None:
            return False
        without_gain = len(self.history) - self.best.epoch
        return len(self.history) >= self.recipe.epochs or without_gain >= self.recipe.patience

    def scored_weights(self) -> AbstractContextManager[None]:
        """Load, within the block, the weights used for scoring: the average if there is one."""
        if self._average is None or not self._average.steps:
            return nullcontext()
        return self._average.applied_to(self.network)

    def run_epoch(self) -> Epoch:
        """Train on all of the training part once, then score the dev part.

        Every dev intent starts from the zero state and what was replaced has no price, however texts will be
        scored later: which epoch is the best must not depend on that.

        Raises
        ------
        TrainingError
            If the loss is not a number any more.
        """
        start = time.perf_counter()
        number = len(self.history) + 1
        device = self.network.embedding.device.type
        precision = training_precision(self.recipe, device)
        with single_precision(tf32=precision == TF32):  # once, as steps are many
            train_bits = self.train_once(number)
        trained = time.perf_counter()
        self.network.eval()
        with self.scored_weights():
            how = judging(precision, device)
            dev_bits = judge(self.network, self.dev.intents, self.dev.features, how)
            if not (isfinite(train_bits) and isfinite(dev_bits)):
                raise TrainingError(
                    f"the loss is not a number any more in epoch {number}. Lower learning_rate "
                    f"(now {self.recipe.learning_rate:g}) or gradient_clip (now {self.recipe.gradient_clip:g})."
                )
            epoch = Epoch(
                epoch=number,
                train_bits_per_unit=train_bits,
                dev_bits_per_character=dev_bits / self.dev.characters,
                characters_per_second=self.train.characters / (trained - start),
                seconds=time.perf_counter() - start,
            )
            self._take_note(epoch)
        self.report(number, epoch)
        return epoch

    def _take_note(self, epoch: Epoch) -> None:
        """Add an epoch to the history; keep its weights if they are the best, or begin to average."""
        self.history.append(epoch)
        if self.best is None or epoch.dev_bits_per_character < self.best.dev_bits_per_character:
            self.best = epoch
            self.best_weights = {name: value.detach().clone() for name, value in self.network.state_dict().items()}
        if self._average is None and self.recipe.non_monotone is not None:
            dev_bits = [epoch.dev_bits_per_character for epoch in self.history]
            if stopped_improving(dev_bits, self.recipe.non_monotone):
                self._average = WeightAverage()

    def train_once(self, number: int) -> float:
        """Train for one epoch and return its mean bits per unit, with dropout."""
        self.network.train()
        # stay where they are computed: to ask a GPU after every step would let it wait for us
        total: Tensor = torch.zeros((), dtype=torch.float64)
        units: Tensor = torch.zeros((), dtype=torch.int64)
        state: State | None = None
        for step in self._steps():
            epochs = number - 1 + step.done
            self.report(epochs, self.last)
            for group in self.optimizer.param_groups:
                group["lr"] = learning_rate(self.recipe, epochs) * step.rate
            self.optimizer.zero_grad(set_to_none=True)
            begin = state if step.goes_on else None
            loss = accumulate_gradients(
                self.network, step.batch, self.recipe, self.randomness.dropout, begin, limit=self._limit
            )
            self._improve()
            state = loss.state
            total = total + loss.nats
            units = units + step.batch.lengths.sum()
        return float(total) / (int(units) * log(2))

    def _steps(self) -> Iterator[_Step]:
        """Yield the steps of an epoch, intents by length or segments of the streams in their order.

        An intent longer than a stretch is several steps, or windows that are intents of their own.
        """
        rng = self.randomness.batches
        if self._streams is not None and self.recipe.bptt is not None:
            length = len(self._streams) - 1
            for segment in draw_segments(length, self.recipe.bptt, rng):
                yield _Step(cut(self._streams, segment), segment.start / length, segment.rate, segment.start > 0)
            return
        text = Text(self.train.intents, self._end, self.train.features)
        pieces = text.pieces(None if self.network.has_state else WINDOW)
        batches = rows_by_length(pieces.lengths, most_units=self.recipe.batch_units, rng=rng)
        for done, rows in enumerate(batches):
            own = text.batches(pieces.of(rows), self.network.embedding.device, steps=STRETCH)
            for number, batch in enumerate(own):
                yield _Step(batch, done / len(batches), 1.0, number > 0)

    def _improve(self) -> None:
        """Update the weights by their gradients."""
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.recipe.gradient_clip)
        self.optimizer.step()
        if self._average is not None:
            self._average.add(self.network)

    def state(self) -> TrainingState:
        """Return the state that determines the next epochs."""
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in self.best_weights.items()}
        if self._average is not None:
            tensors |= {f"average.{name}": value for name, value in self._average.weights.items()}
        for number, entries in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": x for name, x in entries.items() if isinstance(x, Tensor)}
        tensors["dropout"] = self.randomness.dropout.get_state()
        settings = {
            "history": [asdict(epoch) for epoch in self.history],
            "batches": self.randomness.batches.bit_generator.state,
            "averaged": None if self._average is None else self._average.steps,
        }
        return TrainingState(epoch=len(self.history), settings=settings, tensors=tensors)

    def restore(self, state: TrainingState) -> None:
        """Restore a state returned by `state`, of a loop with the same arguments."""
        device = self.network.embedding.device

        def part(prefix: str) -> dict[str, Tensor]:
            found = {name: value for name, value in state.tensors.items() if name.startswith(f"{prefix}.")}
            return {name.removeprefix(f"{prefix}."): value for name, value in found.items()}

        self.network.load_state_dict(part("network"))
        _restore_optimizer(self.optimizer, part("optimizer"))
        self.best_weights = {name: value.to(device) for name, value in part("best").items()}
        self.history = [Epoch(**epoch) for epoch in state.settings["history"]]
        self.best = min(self.history, key=lambda epoch: epoch.dev_bits_per_character)  # the first of equals
        steps = state.settings["averaged"]
        if steps is not None:
            self._average = WeightAverage(steps, {name: x.to(device) for name, x in part("average").items()})
        self.randomness.dropout.set_state(state.tensors["dropout"])
        self.randomness.batches.bit_generator.state = state.settings["batches"]
        self.report(len(self.history), self.last)


def make_optimizer(network: Network, recipe: "Recipe") -> torch.optim.Optimizer:
    """Return the optimizer of a recipe."""
    weights, rate, decay = network.parameters(), recipe.learning_rate, recipe.weight_decay
    match recipe.optimizer:
        case "adamw":
            return torch.optim.AdamW(weights, lr=rate, weight_decay=decay, fused=True)
        case "adam":
            return torch.optim.Adam(weights, lr=rate, weight_decay=decay, fused=True)
        case "sgd":
            return torch.optim.SGD(weights, lr=rate, weight_decay=decay)


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    entries: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, _, key = name.partition(".")
        entries.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict(optimizer.state_dict() | {"state": entries})


def learning_rate(recipe: "Recipe", epochs: float) -> float:
    """Return the learning rate after a number of epochs, with fraction.

    It rises linearly over the warm-up. Then it falls to zero along a cosine, or is constant but
    for a division by ten after each of the recipe's `decay_epochs`.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from langdiff.lm import RECIPES
    >>> recipe = replace(RECIPES["char-tiny"], learning_rate=0.01, warm_up=0.2, epochs=10)
    >>> [round(learning_rate(recipe, epochs), 6) for epochs in (1, 2, 6, 10)]
    [0.005, 0.01, 0.005, 0.0]
    >>> [round(learning_rate(RECIPES["char-ptb"], epochs), 6) for epochs in (0, 299.9, 300, 499)]
    [0.002, 0.002, 0.0002, 2e-05]
    """
    done = epochs / recipe.epochs
    if done < recipe.warm_up:
        return recipe.learning_rate * done / recipe.warm_up
    if recipe.schedule == "steps":
        return recipe.learning_rate * DECAY ** sum(epoch <= epochs for epoch in recipe.decay_epochs)
    return recipe.learning_rate * 0.5 * (1 + cos(pi * (done - recipe.warm_up) / (1 - recipe.warm_up)))


def stopped_improving(dev_bits: Sequence[float], interval: int) -> bool:
    """Return whether the last epoch is worse than the best, the last `interval` excluded.

    The non-monotonic trigger of NT-ASGD (Merity, Keskar & Socher 2018, algorithm 1).

    Parameters
    ----------
    dev_bits : sequence of float
        Dev bits of every epoch so far, the last one included.
    interval : int
        Epochs in which dev bits may go up and down without consequence.

    Examples
    --------
    >>> stopped_improving([3.0, 2.0, 2.2, 2.1], interval=1)
    True
    >>> stopped_improving([3.0, 2.0, 2.2, 2.1], interval=2)
    False
    """
    *earlier, last = dev_bits
    return len(earlier) > interval and last > min(earlier[: len(earlier) - interval])


class WeightAverage:
    r"""Mean of the weights after every step since it began (Polyak & Juditsky 1992).

    .. math:: \bar w_n = \bar w_{n-1} + (w_n - \bar w_{n-1}) / n

    Parameters
    ----------
    steps : int
        n, steps averaged so far.
    weights : mapping from str to Tensor
        Their mean, by the name of the parameter; not looked at if there were no steps.

    References
    ----------
    Merity, Keskar & Socher (2018), Regularizing and Optimizing LSTM Language Models, section 3.

    Examples
    --------
    >>> layer, average = nn.Linear(1, 1, bias=False), WeightAverage()
    >>> for weight in (1.0, 2.0, 6.0):
    ...     _ = nn.init.constant_(layer.weight, weight)
    ...     average.add(layer)
    >>> with average.applied_to(layer):
    ...     print(layer.weight.item())
    3.0
    >>> layer.weight.item()
    6.0
    """

    def __init__(self, steps: int = 0, weights: Mapping[str, Tensor] | None = None) -> None:
        self.steps = steps
        self.weights = dict(weights or {})

    @torch.no_grad()
    def add(self, network: nn.Module) -> None:
        """Add the present weights of a network to the mean."""
        self.steps += 1
        for name, weights in network.named_parameters():
            if self.steps == 1:
                self.weights[name] = weights.detach().clone()
            else:
                mean = self.weights[name]
                mean += (weights - mean) / self.steps

    @contextmanager
    def applied_to(self, network: nn.Module) -> Iterator[None]:
        """Load the mean weights into the network within the block, and restore its own afterwards."""
        own = {name: weights.detach().clone() for name, weights in network.named_parameters()}
        network.load_state_dict(self.weights)
        try:
            yield
        finally:
            network.load_state_dict(own)
