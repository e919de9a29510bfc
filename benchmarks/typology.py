"""False positives of tests that take relatives as independent, and of those that do not.

    python benchmarks/typology.py [--tables 400] [--seed 0]

Predictor and difficulty are drawn without any connection, each with a share of its variance between families. A
test at 5 % should find something in 5 % of tables. Also the power of the same tests where there is an effect.
"""

import argparse
import time

import numpy as np
import pandas as pd

from langdiff.typology.association.correlation import correlation
from langdiff.typology.association.related import mixed_slope, permute_within_families

FAMILIES = {
    "62 languages, 13 families as the Bibles'": (22, 6, 6, 6, 4, 4, 4, 2, 2, 2, 2, 1, 1),
    "60 languages, 12 families of 5": (5,) * 12,
}
SHARES = (0.0, 0.5, 0.9)  # of the predictor's variance between families; of difficulty's it is 0.7
DIFFICULTY_SHARE = 0.7


def draw(sizes, share, slope, rng):
    """Return predictor, difficulty and family."""
    family = np.repeat(np.arange(len(sizes)), sizes)

    def clustered(part):
        between, within = rng.normal(size=len(sizes))[family], rng.normal(size=len(family))
        return np.sqrt(part) * between + np.sqrt(1 - part) * within

    x = clustered(share)
    return x, slope * x + clustered(DIFFICULTY_SHARE), pd.Series(family)


def rates(sizes, share, slope, tables, rng):
    """Return the share of tables in which each test finds something at 5 %."""
    found = np.zeros(4)
    for _ in range(tables):
        x, y, family = draw(sizes, share, slope, rng)
        ps = [correlation(x, y, test).p for test in ("pearson", "spearman")]
        ps += [mixed_slope(x, y, family).p, permute_within_families(x, y, family, n_resamples=399, seed=rng).p]
        found += np.array(ps) <= 0.05
    return found / tables


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tables", type=int, default=400)
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args()
    rng, begin = np.random.default_rng(chosen.seed), time.process_time()
    error = np.sqrt(0.05 * 0.95 / chosen.tables)
    print(f"% of {chosen.tables} tables significant at 5 %; Monte-Carlo error {100 * error:.1f}")
    print(f"{'':<42}{'slope':>6}{'share':>6}{'Pearson':>9}{'Spearman':>9}{'mixed':>7}{'permuted':>9}")
    worst = 0.0
    for name, sizes in FAMILIES.items():
        for slope, share in [*((0.0, share) for share in SHARES), (0.5, 0.5)]:
            found = rates(sizes, share, slope, chosen.tables, rng)
            if slope == 0:
                worst = max(worst, *found[2:])
            print(f"{name:<42}{slope:>6}{share:>6}" + "".join(f"{100 * f:>8.1f} " for f in found), flush=True)
    print(f"{time.process_time() - begin:.0f} s of CPU")
    raise SystemExit(bool(worst > 0.05 + 5 * error))


if __name__ == "__main__":
    main()
