"""Models of right and wrong answers in several languages: recovery, coverage, columns at chance, items at fault, cost.

    OMP_NUM_THREADS=1 python benchmarks/crossed_outcomes.py [--tables 300] [--only PART]

``contrasts``: the shortest call, ``ld.fit_outcomes(outcomes)``, on 200 questions × 8 languages (−.5 … .5) × 5 systems
(−1 … 1), σ = 1.5; the last language less the first (truth 1) and the last system less the first (truth 2), with 95 %
intervals of the two-way split. ``chance``: the same with chance 1/4, 8 languages −1.5 … 1.1 and 5 systems −2 … 2, the
weakest of which is at chance in hard languages. ``guessing``: how often a column of guesses is flagged as at chance,
and how often intervals of levels near chance contain the truth. ``faults``: recall and share of false flags of
`OutcomeFit.items_at_fault`. ``cost``: processor time and memory.
"""

import argparse
import resource
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import expit

import langdiff as ld
from langdiff.regression.outcomes.chance import Answers, columns_at_chance, level_intervals
from langdiff.regression.outcomes.design import rows_of
from langdiff.regression.outcomes.estimate import estimate
from langdiff.regression.outcomes.prediction import OutcomeSimulation

LANGUAGES = {f"l{i + 1}": float(d) for i, d in enumerate(np.linspace(-0.5, 0.5, 8))}
HARD = {f"l{i + 1}": float(d) for i, d in enumerate(np.linspace(-1.5, 1.1, 8))}
LOW = {-3.0: "a", -2.0: "b", -1.0: "c"}
WIDE = {f"s{j + 1}": float(a) for j, a in enumerate(np.linspace(-2, 2, 5))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=300, help="tables of each row")
    parser.add_argument("--only", choices=tuple(PARTS))
    parser.add_argument("--systems", type=int, nargs="+", default=[3, 5, 10, 25], help="systems of tables with faults")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of columns at chance
    for name, part in PARTS.items():
        if options.only in (None, name):
            part(options.tables, options.systems) if name == "faults" else part(options.tables)


def contrasts(fit: ld.OutcomeFit, languages: tuple[str, str], systems: tuple[str, str]) -> list[tuple[float, ...]]:
    """Return estimate, standard error and interval of a contrast of languages and of systems."""
    found = [fit.two_way.languages.contrast(*languages)]
    if len(fit.two_way.systems.estimate) > 1:
        found.append(fit.two_way.systems.contrast(*systems))
    return [(one.estimate, one.std_error, one.low, one.high) for one in found]


def print_row(name: str, truths: list[float], drawn: list[list[tuple[float, ...]]]) -> None:
    """Print mean, standard deviation, mean standard error and coverage of contrasts over tables."""
    cells = []
    for k, truth in enumerate(truths):
        if k >= len(drawn[0]):
            continue
        estimate, error, low, high = np.array([one[k] for one in drawn]).T
        covered = 100 * np.mean((low < truth) & (truth < high))
        of_mean = estimate.std(ddof=1) / np.sqrt(len(estimate))
        cells.append(
            f"{estimate.mean():.3f} ± {of_mean:.3f} | {estimate.std(ddof=1):.3f} | {error.mean():.3f} | {covered:.1f} %"
        )
    print(f"| {name} | {' | '.join(cells)} | {len(drawn)} |", flush=True)


def uneven(seed: int) -> OutcomeSimulation:
    """Draw a table whose columns deviate from sums of languages and systems, by .3; contrasts of means stay 1 and 2."""
    rng = np.random.default_rng(1000)
    apart = 0.3 * rng.normal(size=(8, 5))
    apart -= apart.mean(axis=0) + apart.mean(axis=1, keepdims=True) - apart.mean()
    rng = np.random.default_rng(seed)
    drawn = ld.simulate_crossed_outcomes(200, LANGUAGES, 5, seed=seed)
    columns = drawn.outcomes.columns
    language = pd.factorize(columns["language"])[0]
    ability = drawn.ability + apart.ravel()
    eta = ability.to_numpy() - 1.5 * rng.normal(size=(200, 1)) - 0.7 * rng.normal(size=(200, 8))[:, language]
    right = (rng.random(eta.shape) < expit(eta)).astype(float)
    return replace(drawn, outcomes=replace(drawn.outcomes, successes=drawn.outcomes.successes * 0 + right))


def print_contrasts(tables: int) -> None:
    print(
        "\n| | languages 1: mean | true sd | s.e. | coverage | systems 2: mean | true sd | s.e. | coverage | tables |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    cases: dict[str, Callable[[int], OutcomeSimulation]] = {
        "tau 0": lambda seed: _simple(seed, translation_spread=0.0),
        "tau .7": lambda seed: _simple(seed, translation_spread=0.7),
        "unequal columns": uneven,
        "20 % missing": lambda seed: _simple(seed, translation_spread=0.7, missing=0.2),
        "passages of 5": lambda seed: _simple(seed, translation_spread=0.7, passages=40, passage_spread=0.7),
        "system x question .5": lambda seed: _simple(seed, translation_spread=0.7, system_spread=0.5),
        "one system": lambda seed: ld.simulate_crossed_outcomes(
            200, LANGUAGES, {"s1": 0.0}, translation_spread=0.0, seed=seed
        ),
    }
    for name, draw in cases.items():
        drawn = []
        for seed in range(tables):
            fit = ld.fit_outcomes(draw(seed).outcomes)
            drawn.append(contrasts(fit, ("l8", "l1"), ("s5", "s1")))
        print_row(name, [1.0, 2.0], drawn)


def _simple(seed: int, **settings: float) -> OutcomeSimulation:
    return ld.simulate_crossed_outcomes(200, LANGUAGES, 5, seed=seed, **settings)


def print_chance(tables: int) -> None:
    print(
        "\n| | languages 2.6: mean | true sd | s.e. | coverage | systems 4: mean | true sd | s.e. | coverage | tables |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, settings in {
        "without chance": {"chance": None},
        "chance 1/4": {},
        "additive": {"additive": True},
    }.items():
        drawn = []
        for seed in range(tables):
            table = ld.simulate_crossed_outcomes(200, HARD, WIDE, translation_spread=0.0, chance=0.25, seed=seed)
            fit = ld.fit_outcomes(table.outcomes, **settings)
            drawn.append(contrasts(fit, ("l8", "l1"), ("s5", "s1")))
        print_row(name, [2.6, 4.0], drawn)


def print_guessing(tables: int) -> None:
    rng = np.random.default_rng(0)
    for trials, count in ((200, 20_000), (900, 20_000)):
        right = rng.binomial(trials, 0.25, count)
        p = np.array([_p_of_guesses(trials, n) for n in range(trials + 1)])
        print(f"\n{trials} guesses at 1/4: p < .05 in {100 * np.mean(p[right] < 0.05):.2f} % of {count:,} columns")
    flagged, false = 0, 0
    covered: dict[float, list[tuple[bool, bool, bool]]] = {ability: [] for ability in LOW}
    for seed in range(tables):
        systems = {"g": -50.0, "a": -3.0, "b": -2.0, "c": -1.0, "d": 0.0, "e": 1.0, "f": 2.0}
        drawn = ld.simulate_crossed_outcomes(
            200, {"l1": 0.0, "l2": 0.0}, systems, translation_spread=0.0, chance=0.25, seed=seed
        )
        fit = ld.fit_outcomes(drawn.outcomes, additive=True)
        table = fit.guessing
        flagged += int(table.loc[["l1@g", "l2@g"], "at_chance"].sum())
        false += 2
        kept = fit.outcomes
        rows = rows_of(kept, fit.design(kept.items), fit.structure, fit.chance_of(kept))
        names = [(ability, f"{language}@{name}") for ability, name in LOW.items() for language in ("l1", "l2")]
        places = [list(kept.systems.index).index(name) if name in kept.systems.index else None for _, name in names]
        ones = np.ones(len(rows.s))
        answers = [
            Answers(drawn.outcomes.successes[name].to_numpy(), ones, 0.25 * ones, int(name.startswith("l2")))
            for _, name in names
        ]
        covariance = estimate(rows, fit.structure).optimum.covariance[: rows.s.shape[1], : rows.s.shape[1]]
        ends = level_intervals(rows, fit.point, fit.structure, answers, places, covariance)
        for (ability, _), (_, low, high) in zip(names, ends, strict=True):
            covered[ability].append((low < ability < high, ability < high, not np.isfinite(low)))
    print(f"columns of guesses among others: at chance in {100 * flagged / false:.1f} % of {false}")
    for ability, hits in covered.items():
        if hits:
            inside, bound, open_ = 100 * np.mean(hits, axis=0)
            print(
                f"ability {ability}: in the interval in {inside:.1f} %, below its upper end in {bound:.1f} %, without "
                f"a lower end in {open_:.0f} % of {len(hits)}"
            )


def _p_of_guesses(trials: int, right: int) -> float:
    s = np.zeros((trials, 1))
    s[:right] = 1
    names = pd.Index(["x"])
    return float(columns_at_chance(s, np.ones_like(s), np.full(s.shape, 0.25), names)["p"].iloc[0])


def faulty(systems: int, chance: float, fault: str, seed: int) -> tuple[ld.Outcomes, set[tuple[str, str]]]:
    """Draw 200 questions × 8 languages, of which 5 % have a fault; return them with what is at fault."""
    rng = np.random.default_rng(seed)
    abilities = np.linspace(-1, 2, systems)
    choices = 1 / chance if chance else 4
    languages = 1 if fault == "key, one language only" else 8
    drawn = ld.simulate_crossed_outcomes(
        200,
        {f"l{i}": float(d) for i, d in enumerate(np.linspace(-0.5, 0.5, languages) if languages > 1 else [0.0])},
        {f"s{j}": float(a) for j, a in enumerate(abilities)},
        translation_spread=0.3,
        chance=chance,
        seed=seed,
    )
    outcomes = drawn.outcomes
    columns = outcomes.columns
    names = list(dict.fromkeys(columns["language"]))
    right = outcomes.successes.to_numpy().copy()
    planted: set[tuple[str, str]] = set()
    if fault == "none":
        return outcomes, planted
    if fault.startswith("key"):
        wrong = np.where(right == 1, 0.0, (rng.random(right.shape) < 1 / (choices - 1)).astype(float))
        if fault in ("key in all languages", "key, one language only"):
            for i in rng.choice(200, 10, replace=False):
                right[i] = wrong[i]
                planted.add((outcomes.items.index[i], "all"))
        else:
            for cell in rng.choice(200 * 8, 80, replace=False):
                i, language = divmod(int(cell), 8)
                inside = (columns["language"] == names[language]).to_numpy()
                right[i, inside] = wrong[i, inside]
                planted.add((outcomes.items.index[i], names[language]))
    else:
        shift = float(fault.split()[1])
        cells = rng.choice(200 * 8, 80, replace=False)
        eta = drawn.ability.to_numpy() - drawn.difficulty.to_numpy()[:, None]
        language = pd.factorize(columns["language"])[0]
        eta = eta - 0.3 * rng.normal(size=(200, 8))[:, language]
        for cell in cells:
            i, one = divmod(int(cell), 8)
            eta[i, language == one] -= shift
            planted.add((outcomes.items.index[i], names[one]))
        right = (rng.random(eta.shape) < chance + (1 - chance) * expit(eta)).astype(float)
    return replace(outcomes, successes=outcomes.successes * 0 + right), planted


def print_faults(tables: int, numbers: Sequence[int]) -> None:
    print("\n| fault | systems | c | recall | share of false flags | tables with a flag | tables |")
    print("|---|---|---|---|---|---|---|")
    cases: Iterator[tuple[str, int, float]] = (
        (fault, systems, chance)
        for fault in (
            "none",
            "key in one language",
            "key in all languages",
            "key, one language only",
            "DIF 1.6",
            "DIF 2.4",
        )
        for systems in numbers
        for chance in (0.0, 0.25)
    )
    for fault, systems, chance in cases:
        if (fault == "key, one language only" and systems < 10) or (fault.startswith("DIF") and systems < 10):
            continue
        kind = "translation" if fault.startswith("DIF") else "key"
        hits = planted_all = flags = false = some = 0
        for seed in range(tables):
            outcomes, planted = faulty(systems, chance, fault, seed)
            found = ld.fit_outcomes(outcomes).items_at_fault().frame
            chosen = found[found["flag"] if fault == "none" else found["flag"] & (found["kind"] == kind)]
            named = set(zip(chosen["item"], chosen["language"], strict=True))
            right = named & planted
            planted_all, hits, flags = planted_all + len(planted), hits + len(right), flags + len(named)
            false, some = false + len(named - planted), some + bool(named)
        recall = f"{hits / planted_all:.2f}" if planted_all else "–"
        share = f"{false / flags:.2f}" if flags else "–"
        print(
            f"| {fault} | {systems} | {chance} | {recall} | {share} | {100 * some / tables:.0f} % | {tables} |",
            flush=True,
        )


def print_cost(tables: int) -> None:  # noqa: ARG001
    print("\n| items × languages × systems | chance | processor time | memory of the process so far |")
    print("|---|---|---|---|")
    for items, languages, systems, chance in (
        (200, 8, 5, 0.0),
        (200, 8, 5, 0.25),
        (900, 122, 5, 0.0),
        (900, 122, 5, 0.25),
    ):
        outcomes = ld.simulate_crossed_outcomes(items, languages, systems, chance=chance, seed=1).outcomes
        ld.fit_outcomes(outcomes) if items < 900 else None
        start = time.process_time()
        ld.fit_outcomes(outcomes)
        seconds, memory = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"| {items} × {languages} × {systems} | {chance} | {seconds:.2f} s | {memory:.0f} MB |", flush=True)


PARTS: dict[str, Callable[..., None]] = {
    "contrasts": print_contrasts,
    "chance": print_chance,
    "guessing": print_guessing,
    "faults": print_faults,
    "cost": print_cost,
}

if __name__ == "__main__":
    main()
