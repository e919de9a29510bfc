"""Golden cases of outcomes: trials with a success or not, by item and system."""

import numpy as np
import pandas as pd

import langdiff as ld
from tests.golden.record import columns, golden, texts

SYSTEMS = ("s1", "s2", "s3", "s4", "s5", "s6")


def outcomes(*, trials=1, noise=0.0, seed=3, missing=0.0, n_items=60):
    """Draw outcomes of items in documents of five, by part, on systems of several sizes."""
    rng = np.random.default_rng(seed)
    ability, difficulty = np.linspace(-0.8, 1.0, 6), rng.normal(0, 1, (n_items, 1))
    part = np.arange(n_items) % 3 == 0
    eta = (
        ability
        - difficulty
        - 0.7 * part[:, None]
        + 0.5 * np.outer(part, ability > 0)
        + noise * rng.normal(size=(n_items, 6))
    )
    successes = rng.binomial(trials, (1 / (1 + np.exp(-eta))).round(6)).astype(float)
    successes[rng.random(successes.shape) < missing] = np.nan
    index = pd.Index([f"i{k:02d}" for k in range(n_items)])
    items = {
        "document": np.arange(n_items) // 5,
        "part": np.where(part, "hard", "easy"),
        "length": np.arange(n_items) % 7,
    }
    frame = pd.DataFrame(successes, index, list(SYSTEMS))
    return ld.Outcomes(
        successes=frame,
        trials=pd.DataFrame(float(trials), index, list(SYSTEMS)).where(frame.notna()),
        items=pd.DataFrame(items, index),
        systems=pd.DataFrame({"size": [1.0, 2, 3, 5, 8, 13], "kind": list("aabbab")}, index=list(SYSTEMS)),
        name="golden",
    )


ONE, SPARSE, MANY = outcomes(), outcomes(missing=0.2, seed=5), outcomes(trials=6, noise=0.8, seed=4)


def fit(table, **options):
    """Fit outcomes, naming every option."""
    named = {
        "model": "rasch", "by": None, "formula": None, "interaction": None, "clusters": None,
        "errors": "information", "n_resamples": 200, "seed": 0, "allow_unlinked": False,
    }  # fmt: skip
    return ld.fit_outcomes(table, **(named | options))


def of_fit(found):
    """Return what is recorded of a fit of outcomes."""
    return {
        "abilities": found.abilities.estimate,
        "std_error": found.abilities.std_error,
        "spread": found.spread,
        "log_likelihood": found.log_likelihood,
        "counts": [found.cells, found.trials],
        **texts(found),
    }


@golden
def outcomes_rasch():
    return of_fit(fit(ONE))


@golden
def outcomes_rasch_missing():
    return of_fit(fit(SPARSE))


@golden
def outcomes_auto():
    return of_fit(fit(MANY, model="auto", errors="auto"))


@golden
def outcomes_by():
    return of_fit(fit(ONE, by="part"))


@golden
def outcomes_formula():
    return of_fit(fit(ONE, formula="part + length"))


@golden
def outcomes_interaction():
    return of_fit(fit(ONE, interaction="part"))


@golden
def outcomes_clusters():
    return of_fit(fit(ONE, clusters="document", errors="sandwich"))


@golden
def outcomes_bootstrap():
    return of_fit(fit(ONE, clusters="document", errors="bootstrap", n_resamples=99, seed=1))


@golden
def outcomes_conditional():
    return of_fit(fit(ONE, model="conditional"))


@golden
def outcomes_conditional_clusters():
    return of_fit(fit(SPARSE, model="conditional", clusters="document", errors="sandwich"))


@golden
def outcomes_beta_binomial():
    return of_fit(fit(MANY, model="beta-binomial"))


@golden
def outcomes_beta_binomial_by():
    return of_fit(fit(MANY, model="beta-binomial", by="part"))


@golden
def outcomes_slopes():
    return of_fit(fit(ONE, model="slopes"))


@golden
def outcomes_slopes_clusters():
    return of_fit(fit(MANY, model="slopes", clusters="document", errors="sandwich"))


@golden
def outcomes_predicted():
    held_out = outcomes(seed=9, n_items=12)
    values = {}
    for name, table in (("rasch", ONE), ("beta-binomial", MANY)):
        found = fit(table, model=name)
        scores = found.held_out_log_likelihood(held_out, given=None)
        values[name] = {
            "predicted": found.predict(held_out).iloc[0],
            "held_out": scores,
            "rates": found.expected_rates(),
        }
    return {
        name: one | {"predicted": list(one["predicted"]), "rates": columns(one["rates"])}
        for name, one in values.items()
    }


@golden
def outcomes_ranks():
    return columns(ld.rank_probabilities(fit(ONE).abilities, n_draws=300, seed=1))


@golden
def outcomes_contrast():
    one = fit(ONE).abilities.contrast("s6", "s1")
    return {"numbers": [one.estimate, one.std_error, one.low, one.high, one.p_value], "repr": repr(one)}


@golden
def outcomes_explained():
    found = ld.explain(fit(ONE).abilities, "size", fit(ONE).systems)
    return {"terms": columns(found.to_frame()), "tau": found.tau, **texts(found)}


def cross_validated(table, models, **options):
    """Cross-validate models of outcomes, naming every option."""
    named = {
        "over": "items",
        "n_folds": 3,
        "clusters": None,
        "by": None,
        "formula": None,
        "interaction": None,
        "seed": 1,
    }
    return columns(ld.cross_validate_outcomes(table, models, **(named | {"seed": 1} | options)))


@golden
def outcomes_cross_validated():
    return cross_validated(ONE, ["rasch", "slopes"])


@golden
def outcomes_cross_validated_over_clusters():
    return cross_validated(MANY, ["rasch", "beta-binomial"], over="clusters", clusters="document")


@golden
def outcomes_cross_validated_over_cells():
    return cross_validated(ONE, ["rasch"], over="cells")


@golden
def outcomes_simulated():
    drawn = ld.simulate_outcomes(
        30, 4, abilities=None, groups={"easy": -0.5, "hard": 0.5}, spread=1.0, loadings=None, trials=3, correlation=0.1,
        documents=6, document_spread=0.3, document_noise=0.0, missing=0.1, seed=2,
    )  # fmt: skip
    return {
        "ability": drawn.ability,
        "successes": drawn.outcomes.successes.sum(),
        "difficulty": drawn.difficulty.iloc[:3],
        "totals": columns(drawn.outcomes.totals()),
    }
