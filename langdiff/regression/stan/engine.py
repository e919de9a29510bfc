"""What every engine is asked for and gives back."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langdiff.base.types import Floats

# quantity, or Stan's own such as "divergent__", to an array of shape (chains, draws, *shape of the quantity)
Draws = dict[str, Floats]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One run of Hamiltonian Monte Carlo.

    Attributes
    ----------
    program : Path
        The Stan program.
    whitened : bool
        Whether its posterior has scale 1, so that warm-up need adapt the step size only.
    data : dict
        Data of the program.
    inits : list of dict
        One start per chain, by parameter.
    chains, iter_warmup, iter_sampling, seed : int
        Numbers of chains and of draws per chain, in warm-up and after it, and the seed.
    target_accept : float
        Acceptance rate that the step size is adapted to.
    max_treedepth : int
        A trajectory has less than two to the power of this many steps.
    progress : bool, optional
        Whether to draw a progress bar; by default only if stderr is a terminal.
    """

    program: Path
    whitened: bool
    data: dict[str, Any]
    inits: list[dict[str, Any]] = field(default_factory=list)
    chains: int
    iter_warmup: int
    iter_sampling: int
    seed: int
    target_accept: float
    max_treedepth: int
    progress: bool | None = None
