"""How often the check of easiness finds a language whose items are shuffled, and how often it errs.

    python benchmarks/pairing.py [--tables 150]

Simulated right and wrong answers: 8 languages, spread of questions 1.5, of translations .5; the items of one language
are shuffled, or none. Printed is the share of tables with an error, and with a warning in place of one.
"""

import argparse

import numpy as np
import pandas as pd

from langdiff.base.suspicion import Doubts
from langdiff.errors import DataError
from langdiff.tables.logs.pairing import check_pairing

LANGUAGES = [f"l{number}" for number in range(8)]
CASES = {  # number of systems, chance, mean of the abilities
    "5 systems": (5, 0.0, 0.0),
    "5 systems, c = 1/4": (5, 0.25, 0.0),
    "5 systems near the floor, c = 1/4 (accuracy about .35)": (5, 0.25, -2.6),
    "1 system": (1, 0.0, 0.0),
    "1 system, c = 1/4": (1, 0.25, 0.0),
}


def simulate(items, systems, chance, mean, *, shuffled, seed):
    """Return a long table of answers."""
    rng = np.random.default_rng(seed)
    abilities = mean + (np.linspace(-1, 1, systems) if systems > 1 else np.zeros(1))
    levels = np.linspace(-0.6, 0.5, len(LANGUAGES))
    difficulty = rng.normal(0, 1.5, (items, 1, 1)) + rng.normal(0, 0.5, (items, len(LANGUAGES), 1))
    odds = abilities - levels[:, None] - difficulty
    right = rng.random(odds.shape) < chance + (1 - chance) / (1 + np.exp(-odds))
    if shuffled:
        right[:, 3] = right[rng.permutation(items), 3]
    index = pd.MultiIndex.from_product([range(items), LANGUAGES, range(systems)], names=["item", "language", "system"])
    return (
        pd.DataFrame({"rate": right.ravel().astype(float)}, index)
        .reset_index()
        .assign(text=None, bits=np.nan, target=None)
    )


def outcome(rows):
    """Return what the check says of a table."""
    doubts = Doubts()
    try:
        check_pairing(("id",), rows, strictness="checked", doubts=doubts)
    except DataError:
        return "error"
    return "warning" if doubts.judged() else "nothing"


def main():
    """Print the table of rates."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=150)
    parser.add_argument("--items", type=int, nargs="+", default=[50, 200, 900])
    given = parser.parse_args()
    print("| items | case | accuracy | shuffled: error, warning | right: error, warning |\n|---|---|---|---|---|")
    for items in given.items:
        tables = given.tables if items < 900 else max(given.tables * 2 // 5, 1)
        for case, settings in CASES.items():
            shares = []
            for shuffled in (True, False):
                made = (simulate(items, *settings, shuffled=shuffled, seed=seed) for seed in range(tables))
                said = pd.Series([outcome(rows) for rows in made]).value_counts(normalize=True)
                shares.append(f"{100 * said.get('error', 0):.1f} %, {100 * said.get('warning', 0):.1f} %")
            accuracy = simulate(items, *settings, shuffled=False, seed=0)["rate"].mean()
            print(f"| {items} | {case} | {accuracy:.2f} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
