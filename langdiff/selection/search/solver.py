"""Solvers of integer programs, by name or ready-made, and how to stop HiGHS in mid-run."""

import signal
import warnings
from threading import current_thread, main_thread
from typing import Any

import pulp

from langdiff.errors import ConfigError, SolverError


class InterruptibleHighs(pulp.HiGHS):  # type: ignore[misc]  # PuLP publishes no types
    """HiGHS, stopped by Ctrl-C with the best solution it has.

    Python delivers the signal only after HiGHS is done. Therefore a handler notes it, and a callback that HiGHS calls
    from time to time stops the run.

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
        if current_thread() is not main_thread():  # only the main thread receives signals
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
        import highspy  # here, because CBC is used where highspy is missing

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
        A solver that the user configured, the name of one that PuLP knows, or None for HiGHS (CBC where highspy does
        not work).
    seconds : float or None
        Time limit; not set on a solver that the user configured.

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
        with warnings.catch_warnings():  # PuLP warns that version 4 will ship CBC differently
            warnings.simplefilter("ignore", DeprecationWarning)
            named = pulp.getSolver(solver, msg=False, timeLimit=seconds)
    except pulp.PulpSolverError as error:
        known = ", ".join(pulp.listSolvers(onlyAvailable=True))
        raise ConfigError(f"unknown solver {solver!r}; PuLP finds here: {known}.") from error
    if not named.available():
        raise SolverError(f"PuLP cannot find the solver {solver!r}; install it, or use solver=None (HiGHS).")
    return named
