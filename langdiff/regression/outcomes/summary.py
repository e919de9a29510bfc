"""Words of a fit of outcomes."""

from typing import TYPE_CHECKING

from langdiff.regression.outcomes.publish import CORRELATION, LOADING, PROFILE, SPREAD, TERM

if TYPE_CHECKING:
    from langdiff.regression.outcomes.result import OutcomeFit


def summary_of(fit: "OutcomeFit") -> str:
    """Return abilities and difficulties, with what is needed to trust them; see `OutcomeFit.summary`."""
    state = "converged" if fit.converged else "NOT CONVERGED"
    size = len(fit.items) * len(fit.systems)
    lines = [
        f"Model {fit.model} of {fit.name}, {state}: {fit.n_iterations} iterations, log-likelihood "
        f"{fit.log_likelihood:,.3f}",
        f"{fit.trials:,} trials in {fit.cells:,} of {size:,} cells, {len(fit.items):,} items × "
        f"{len(fit.systems):,} systems",
        *_tests(fit),
        f"standard errors from {fit.errors.words}",
        "",
        fit.abilities.to_frame().round(4).to_string(),
        "",
    ]
    if fit.difficulties is not None:
        lines += [fit.difficulties.to_frame().round(4).to_string(), ""]
    rest = fit.to_frame()
    rest = rest[rest["parameter"].isin([TERM, LOADING, PROFILE, SPREAD, CORRELATION])]
    if len(rest):
        lines += [rest.round(4).to_string(index=False), ""]
    return "\n".join([*lines, f"[{fit.signature}]"])


def _tests(fit: "OutcomeFit") -> list[str]:
    found = []
    if fit.variation is not None:
        found.append(
            f"variation between items: sigma {fit.spread:.4f}, p = {fit.variation.p_value:.2g}"
            if fit.spread
            else "no variation between items beyond chance: sigma 0, p = 1"
        )
    if fit.overdispersion is not None:
        found.append(
            f"correlation of trials in a cell: rho {fit.correlation:.4f}, p = {fit.overdispersion.p_value:.2g}"
            if fit.correlation
            else "no correlation of trials in a cell: rho 0, p = 1"
        )
    if fit.interacts is not None:
        found.append(
            f"profile of systems over {fit.interaction}: {fit.interacts.kind} {fit.interacts.statistic:.2f}, "
            f"{fit.interacts.degrees_of_freedom} degrees of freedom, p = {fit.interacts.p_value:.2g}"
        )
    if fit.compared is not None:
        found.append(fit.compared.words)
    elif fit.model != "conditional" and fit.cells < len(fit.items) * len(fit.systems):
        why = "it has no maximum, or the table is too large"
        if fit.model != "rasch" or fit.interaction is not None:
            why = f"model {fit.model}" if fit.interaction is None else "there is an interaction"
        found.append(f"cells are missing; not compared with the conditional likelihood ({why})")
    return found
