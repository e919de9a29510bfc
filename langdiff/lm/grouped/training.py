"""Epochs of several trainings at once: which of them take a step together."""

from collections.abc import Generator, Sequence

from langdiff.errors import TrainingError
from langdiff.lm.grouped.gradients import GroupedGradients
from langdiff.lm.lstm.gradients import BatchLoss
from langdiff.lm.lstm.loop import Demand, EpochLoop
from langdiff.lm.lstm.model import Epoch
from langdiff.lm.texts import naming


def run_epochs(loops: Sequence[EpochLoop], gradients: GroupedGradients) -> list[Epoch | TrainingError]:
    """Let each loop run an epoch, as many side by side as `gradients` computes at once.

    Each takes its own batches in its own order. Of those that wait, the one that is the furthest
    behind takes a step, with those whose batches are the most like its own: little is padded, and all end at
    nearly the same time.

    Returns
    -------
    list of Epoch or TrainingError
        What `EpochLoop.run_epoch` would have returned or raised, for each.
    """
    epochs = [loop.epoch_by_demands() for loop in loops]
    outcomes: dict[int, Epoch | TrainingError] = {}
    waiting: dict[int, Demand] = {}

    def go_on(number: int, loss: BatchLoss | None) -> None:
        following = _send(epochs[number], loss)
        waiting.pop(number, None)
        if isinstance(following, Demand):
            waiting[number] = following
        else:
            outcomes[number] = following

    for number in range(len(epochs)):
        go_on(number, None)
    while waiting:
        together = choose(waiting, gradients.size)
        losses = gradients.accumulate([waiting[number] for number in together])
        for number, loss in zip(together, losses, strict=True):
            go_on(number, loss)
    return [outcomes[number] for number in range(len(loops))]


def _send(epoch: Generator[Demand, BatchLoss, Epoch], loss: BatchLoss | None) -> Demand | Epoch | TrainingError:
    try:
        with naming(None):  # what torch complains of while one edition is scored is that edition's error
            return next(epoch) if loss is None else epoch.send(loss)
    except StopIteration as end:
        ended: Epoch = end.value
        return ended
    except TrainingError as error:
        return error


def choose(waiting: dict[int, Demand], most: int) -> list[int]:
    """Choose who takes a step: the one that is the furthest behind, and those with the most similar batches.

    Parameters
    ----------
    waiting : dict from int to Demand
        By number, which decides between equals.
    most : int
        How many at once.
    """
    behind = min(waiting, key=lambda number: (waiting[number].done, number))
    steps = len(waiting[behind].batch.inputs)

    def unlike(number: int) -> tuple[int, float, int]:
        demand = waiting[number]
        return abs(len(demand.batch.inputs) - steps), demand.done, number

    others = sorted((number for number in waiting if number != behind), key=unlike)
    return [behind, *others[: most - 1]]
