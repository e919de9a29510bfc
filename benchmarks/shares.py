"""Shares of the variance of difficulties: do their intervals hold, are errors of intents taken out, and how long.

    OMP_NUM_THREADS=1 python benchmarks/shares.py [--tables 400]

Simulated studies whose shares are known. Languages are drawn independently, and then half of them as one family whose
members correlate at .5. Rival: the percentile bootstrap over languages, from the same tables.
"""

import argparse
import time
from itertools import product

import numpy as np
import pandas as pd

import langdiff as ld

DESIGNS = ((26, 3), (65, 2))
SHARES = (0.3, 0.5, 0.65, 0.8)
DRAWS = 199  # of the bootstrap


def draw(rng, languages, corpora, share, family=0.0):
    """Return difficulties of languages in corpora; half of the languages correlate at `family`."""
    own = rng.normal(size=languages)
    if family:
        half = languages // 2
        own[:half] = np.sqrt(family) * rng.normal() + np.sqrt(1 - family) * own[:half]
    return np.sqrt(share) * own[:, None] + np.sqrt(1 - share) * rng.normal(size=(languages, corpora))


def bootstrap(rng, d):
    """Return both ends of the percentile interval of the share of the language, by the analysis of variance."""
    found = []
    for _ in range(DRAWS):
        s = np.cov(d[rng.integers(len(d), size=len(d))], rowvar=False)
        own = (s.sum() - np.trace(s)) / (s.size - len(s))
        found.append(np.clip(own / np.diag(s).mean(), 0, 1))
    return np.quantile(found, [0.025, 0.975])


def coverage(tables, family):
    """Print how often intervals hold the share of the language."""
    print(f"\nshare of tables whose interval holds the true share; {tables} tables each; family {family}")
    for (languages, corpora), share in product(DESIGNS, SHARES):
        rng = np.random.default_rng(0)
        names = [f"l{j}" for j in range(languages)]
        facets = pd.DataFrame({"corpus": [f"c{c}" for c in range(corpora)]}, index=[f"c{c}" for c in range(corpora)])
        ours = theirs = 0
        for number in range(tables):
            d = draw(rng, languages, corpora, share, family)
            totals = {name: pd.Series(np.exp(8 + 0.05 * d[:, c]), names) for c, name in enumerate(facets.index)}
            found = ld.difficulty_shares(totals, languages={name: name for name in names}, facets=facets)
            row = found.frame.loc["language"]
            ours += row["low"] < share < row["high"]
            if not family and number < tables // 4:
                low, high = bootstrap(rng, d)
                theirs += low < share < high
        rival = f"; bootstrap {4 * theirs / tables:.3f}" if not family else ""
        print(f"{languages} languages, {corpora} corpora, share {share}: {ours / tables:.3f}{rival}", flush=True)


def errors_taken_out(tables):
    """Print how often a component that is 0 is estimated within two standard deviations of 0, with E and without."""
    languages, intents, noise = 26, 50, 0.3
    names = [f"l{j}" for j in range(languages)]
    found, naive = [], []
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        own = rng.normal(0, 0.05, languages)
        made, series = {}, {}
        for corpus, lm in product("abc", "xy"):
            if lm == "x":
                common = rng.normal(0, noise, (intents, languages))
            bits = pd.DataFrame(np.exp(5 + own + common + rng.normal(0, 0.02, common.shape)), columns=names)
            bits.index = [f"{corpus}{i}" for i in range(intents)]
            made[f"{corpus}/{lm}"] = ld.Surprisals(bits=bits, lm=lm)
            series[f"{corpus}/{lm}"] = np.exp(np.log(bits).mean())
        facets = pd.DataFrame([name.split("/") for name in made], columns=["corpus", "lm"], index=list(made))
        languages_of = {name: name for name in names}
        found.append(_component(made, facets, languages_of))
        naive.append(_component(series, facets, languages_of))
    for what, values in (("with E", np.array(found)), ("without", np.array(naive))):
        inside = np.mean(np.abs(values) < 2 * values.std())
        print(
            f"no language × corpus: component {what} {values.mean():.6f} ± {values.std():.6f}; within 2: {inside:.3f}"
        )


def _component(tables, facets, languages):
    found = ld.difficulty_shares(tables, languages=languages, facets=facets)
    return found.frame.at["language:corpus", "variance"]


def duration():
    """Print the time of 10 tables of 1,000 editions and 2,000 intents."""
    rng = np.random.default_rng(0)
    names = [f"l{j}" for j in range(1000)]
    tables = {}
    for corpus, lm in product("abcde", "xy"):
        bits = pd.DataFrame(np.exp(rng.normal(5, 0.3, (2000, 1000))), columns=names)
        bits.index = [f"{corpus}{i}" for i in range(2000)]
        tables[f"{corpus}/{lm}"] = ld.Surprisals(bits=bits, lm=lm)
    facets = pd.DataFrame([name.split("/") for name in tables], columns=["corpus", "lm"], index=list(tables))
    start = time.process_time()
    ld.difficulty_shares(tables, languages={name: name for name in names}, facets=facets)
    print(f"\n10 tables × 1,000 editions × 2,000 intents: {time.process_time() - start:.1f} s of processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=400)
    options = parser.parse_args()
    duration()
    errors_taken_out(options.tables)
    for family in (0.0, 0.5):
        coverage(options.tables, family)


if __name__ == "__main__":
    main()
