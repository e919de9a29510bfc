"""Epochs of several trainings at once: which of them take a step together, and where they go on from."""

from collections.abc import Generator, Sequence

from langdiff.errors import TrainingError
from langdiff.lm._gradients import BatchLoss
from langdiff.lm._grouped import GroupedGradients
from langdiff.lm._resume import TrainingState
from langdiff.lm._trainer import Demand, Trainer
from langdiff.lm._training import Training, naming
from langdiff.lm.language_model import Epoch


def run_epochs(trainers: Sequence[Trainer], gradients: GroupedGradients) -> list[Epoch | TrainingError]:
    """Let each trainer run an epoch, as many side by side as `gradients` computes at once.

    Each takes its own batches in its own order. Of those that wait, the one that is the furthest
    behind takes a step, with those whose batches are the most like its own: little is padded, and all end at
    nearly the same time.

    Returns
    -------
    list of Epoch or TrainingError
        What `Trainer.run_epoch` would have returned or raised, for each.
    """
    epochs = [trainer.epoch_by_demands() for trainer in trainers]
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
    return [outcomes[number] for number in range(len(trainers))]


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


def where_to_go_on(trainings: Sequence[Training]) -> list[tuple[list[int], int]]:
    """Find trainings that can go on side by side from the same epoch, as they did before an interruption.

    As the last bits of a network depend on its neighbours, those must be as they were. A kill while states are
    written leaves some of a group an epoch ahead; they go back to the state before. Those that are farther ahead
    of the others, as when an edition is new, lose nothing: they are another group.

    Returns
    -------
    list of (list of int, int)
        Positions of the trainings of a group, and the epoch after which they go on; 0 is the beginning.
    """
    last = {number: _epoch(training.states.read()) for number, training in enumerate(trainings)}
    groups = []
    while last:
        epoch = min(last.values())
        if all(_can_go_on_after(epoch, trainings[number], latest) for number, latest in last.items()):
            group = list(last)
        else:  # some were left behind long before
            group = [number for number, latest in last.items() if latest == epoch]
        groups.append((group, epoch))
        last = {number: latest for number, latest in last.items() if number not in group}
    return groups


def _can_go_on_after(epoch: int, training: Training, latest: int) -> bool:
    """Say whether a training can go back to an epoch by one state only."""
    if epoch == 0:
        return latest <= 1  # the first epoch is always kept
    return latest == epoch or _epoch(training.states.read(epoch)) == epoch


def _epoch(state: TrainingState | None) -> int:
    return 0 if state is None else state.epoch
