"""Solvers of integer programs, by name or ready-made, and how to stop HiGHS in mid-run."""

import signal
import warnings
from threading import current_thread, main_thread
from typing import Any

import pulp

from langdiff.errors import ConfigError, SolverError


class InterruptibleHighs(pulp.HiGHS):  # type: ignore[misc]  # PuLP publishes no types
    """HiGHS, stopped by Ctrl-C with the best solution it has.

    Python would deliver the signal only once HiGHS is done. So a handler takes note of it, and HiGHS, which
    asks now and then whether to go on, is told.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C ended the last run.
    """

    interrupted = False

    def callSolver(self, lp: Any) -> None:  # noqa: N802 the name is PuLP's
        """Run HiGHS on the model that PuLP has built."""
        model = lp.solverModel
        self.interrupted = False
        model.cbSimplexInterrupt += self._answer
        model.cbIpmInterrupt += self._answer
        model.cbMipInterrupt += self._answer
        if current_thread() is not main_thread():  # signals are the main thread's
            model.run()
            return
        usual = signal.signal(signal.SIGINT, self._note)
        try:
            model.run()
        finally:
            signal.signal(signal.SIGINT, signal.SIG_DFL if usual is None else usual)

    def _note(self, *_: Any) -> None:
        self.interrupted = True

    def _answer(self, event: Any) -> None:
        if self.interrupted:
            event.interrupt()

    def findSolutionValues(self, lp: Any) -> tuple[int, int]:  # noqa: N802 the name is PuLP's
        """Read the solution; PuLP would read one even where HiGHS was stopped before it had any."""
        import highspy  # here, for CBC is to do where highspy is missing

        unsolved = (highspy.HighsModelStatus.kInterrupt, highspy.HighsModelStatus.kTimeLimit)
        if lp.solverModel.getModelStatus() in unsolved and not lp.solverModel.getSolution().value_valid:
            return pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound
        found: tuple[int, int] = super().findSolutionValues(lp)
        return found


def configured(solver: "pulp.LpSolver | str | None", seconds: float | None) -> pulp.LpSolver:
    """Return a solver that is ready to run.

    Parameters
    ----------
    solver : pulp.LpSolver, str or None
        One of the user's own, the name of one that PuLP knows, or None for HiGHS (CBC where highspy does
        not work).
    seconds : float or None
        Time limit; not set on a solver of the user's own.

    Raises
    ------
    ConfigError
        If PuLP does not know the name.
    SolverError
        If that solver is not installed.
    """
    if solver is None and not pulp.HiGHS(msg=False).available():
        solver = "PULP_CBC_CMD"
    if solver is None or solver == "HiGHS":
        return InterruptibleHighs(msg=False, timeLimit=seconds, gapRel=0.0, gapAbs=0.5)
    if not isinstance(solver, str):
        return solver
    try:
        with warnings.catch_warnings():  # that PuLP 4 will ship CBC otherwise is no concern of the user's
            warnings.simplefilter("ignore", DeprecationWarning)
            named = pulp.getSolver(solver, msg=False, timeLimit=seconds)
    except pulp.PulpSolverError as error:
        known = ", ".join(pulp.listSolvers(onlyAvailable=True))
        raise ConfigError(f"unknown solver {solver!r}; PuLP finds here: {known}.") from error
    if not named.available():
        raise SolverError(f"PuLP cannot find the solver {solver!r}; install it, or use solver=None (HiGHS).")
    return named
