"""When training stops, and which epoch is kept."""

from collections.abc import Iterable

PATIENCE = 25  # epochs


class EarlyStopping:
    """Keeps the last of the best epochs, and stops after some epochs without one.

    An epoch is kept if its F1 is at least that of all before. Patience runs out after so many epochs in a row that were
    not kept; epochs of F1 0 count as such although they are kept.

    Parameters
    ----------
    patience : int
        Epochs to wait.
    scores : iterable of float
        F1 of the epochs so far, of a training that goes on.

    Attributes
    ----------
    best : float
        Highest F1 so far.
    waited : int
        Epochs since one was kept.

    Examples
    --------
    >>> stopping = EarlyStopping(2)
    >>> [stopping.keeps(f1) for f1 in (0.1, 0.3, 0.3, 0.2, 0.1)], stopping.is_over
    ([True, True, True, False, False], True)
    """

    def __init__(self, patience: int = PATIENCE, scores: Iterable[float] = ()) -> None:
        self.patience = patience
        self.best = 0.0
        self.waited = 0
        for score in scores:
            self.keeps(score)

    def keeps(self, score: float) -> bool:
        """Count in an epoch; return whether it is kept."""
        kept = score >= self.best
        self.waited = 0 if kept and score > 0 else self.waited + 1
        self.best = max(self.best, score)
        return kept

    @property
    def is_over(self) -> bool:
        """Whether training stops."""
        return self.waited >= self.patience
