"""Difficulties at several sizes of training data, own and published.

Character 6-grams (or --lm) on nested parts of the training intents of NTREX, FLORES-200 and the New Testament, and the
published models of Goldfish (5 MB to 1 GB) on FLORES-200 beside them. Reads the folder LANGDIFF_DATA (../shared/data by
default). Trainings are kept under --cache, the curves as --cache/CORPUS-LM.json; an interrupted run goes on.

    OMP_NUM_THREADS=1 python benchmarks/curves.py ntrex flores200 testaments --cache DIR [--lm char-small --editions 8]
    OMP_NUM_THREADS=1 python benchmarks/curves.py shares --cache DIR   # variance by language, corpus and intent
    OMP_NUM_THREADS=1 python benchmarks/curves.py threshold --cache DIR  # shares of NTREX by threshold
    OMP_NUM_THREADS=1 python benchmarks/curves.py coverage             # simulated truth: how often intervals hold it
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

import langdiff as ld
from langdiff.base.suspicion import SUSPICIONS
from langdiff.errors import DataError, LangdiffWarning
from langdiff.experiments.curves import nested_parts
from langdiff.lm import Compute, KneserNeyRecipe
from langdiff.regression import fit_curve

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
SEED = 0
SIZES = {"ntrex": (100, 200, 400, 800, 1300), "flores200": (160, 460, 1330), "testaments": (250, 1000, 4000)}
GOLDFISH = {size: f"goldfish_{size}mb" for size in (5, 10, 100, 1000)}
METHODS = ("pearson", "spearman")
FALSIFIER = 0.4  # correlation of own 6-grams at the largest size with 1 GB, above which the title would be wrong

# of the simulation
EDITIONS, INTENTS, EXPONENT, NOISE = 10, 250, 0.35, 0.06
SIMULATED_SIZES = np.array([100, 300, 900, 2700, 8100])
LOG_SIZE = 4.6, 0.6  # mean and s.d. of ln of the intents' sizes


def published():
    """Return log bits of Goldfish's models on FLORES-200, editions × megabytes, of languages with their own model."""
    table = pd.read_csv(DATA / "published" / "goldfish2024.tsv", sep="\t", index_col="flores_lang")
    own = table.loc[table["goldfish_used"] == table.index, list(GOLDFISH.values())].set_axis(list(GOLDFISH), axis=1)
    return np.log(own.dropna(subset=[5, 1000]))


def ntrex(_editions):
    files = sorted((DATA / "ntrex").glob("*.txt.gz"))
    return ld.split(ld.read_multitext(files, format="moses").map_text(ld.tokenize))


def flores200(_editions):
    """Return the editions that Goldfish has models of 5 MB and of 1 GB for."""
    known = published().index
    files = [file for file in sorted((DATA / "flores200").glob("*.txt.gz")) if file.name[:8].lower() in known]
    return ld.split(ld.read_multitext(files, format="moses", trust=SUSPICIONS).map_text(ld.tokenize))


def testaments(_editions):
    """Return the verses of the New Testament that at least sixty editions share, a fifteenth of them to measure."""
    bibles = ld.read_multitext(DATA / "bible", edition_info=DATA / "bible" / "metadata.csv")
    chosen = ld.select(bibles.between(first="40001001"), min_intents=6000).multitext.dropna()
    return ld.split(chosen.map_text(ld.tokenize), dev=1, test=2)


def measure(name, lm, editions, cache):
    """Return the curve of a corpus, and print how much processor time it took here."""
    parts = globals()[name](editions)
    if editions:
        parts = parts.sel(parts.editions[np.linspace(0, len(parts.editions) - 1, editions).astype(int)])
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
        curve = ld.difficulty_curve(
            parts,
            train_sizes=SIZES[name],
            lm=lm,
            seed=SEED,
            max_replaced=1.0,
            compute=Compute(cache=cache / name, progress=False),
        )
        curve.save(cache / f"{name}-{lm}.json")
    print(f"\n== {name}: {parts.summary()}, {time.process_time() - start:.0f} s of processor time")
    return curve


def shares(lm, cache):
    """Print variance components of the languages that all three corpora share, from the largest size of each."""
    tables, languages = {}, {}
    for name in SIZES:
        parts = globals()[name](0)
        size = SIZES[name][-1]
        cut, _ = nested_parts(parts, [size - 1, size], "intents", np.random.default_rng(SEED))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LangdiffWarning)
            tables[name] = ld.compute_surprisals(
                cut[size], lm=lm, max_replaced=1.0, cache=cache / name / f"size-{size}", progress=False
            )
        codes = pd.Series([edition[:3] for edition in parts.editions], parts.editions)
        languages[name] = codes[~codes.duplicated()]  # the first edition of a language
    for among in (list(SIZES)[:2], list(SIZES)):
        share_of_language({name: tables[name] for name in among}, languages)


def share_of_language(tables, languages):
    """Print the components of the languages that are in all of some corpora, with 95 % intervals."""
    lm = next(iter(tables.values())).lm
    languages = {name: languages[name] for name in tables}
    tables = dict(tables)
    shared = sorted(set.intersection(*(set(codes) for codes in languages.values())))
    print(f"\n== {len(shared)} languages in {', '.join(tables)}: {' '.join(shared)}")
    for name, codes in languages.items():
        kept = codes[codes.isin(shared)]
        tables[name] = ld.Surprisals(bits=tables[name].bits[kept.index].rename(columns=kept), lm=lm)
        print(f"{name} alone:\n{ld.generalizability(tables[name]).frame.round(4).to_string()}")
    found = ld.generalizability(tables, facets=pd.DataFrame({"corpus": list(tables)}, index=list(tables)))
    share, error = found.frame["share"], found.frame["share_std_error"]
    ends = pd.DataFrame({"share": share, "low": (share - 1.96 * error).clip(lower=0), "high": share + 1.96 * error})
    print(f"together:\n{found.summary()}\n{ends.round(4).to_string()}")
    fits = pd.DataFrame({name: ld.fit(table).difficulty for name, table in tables.items()})
    for kind in METHODS:
        print(f"correlation of difficulties, {kind}:\n{fits.corr(kind).round(3).to_string()}")


def threshold(cache):
    """Print variance components of NTREX under 6-grams that know characters from so many occurrences on."""
    parts = ntrex(0)
    for min_count in (None, 25):
        recipe = KneserNeyRecipe(name=f"kneser-ney-6-from-{min_count}", min_count=min_count)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LangdiffWarning)
            table = ld.compute_surprisals(parts, lm=recipe, max_replaced=1.0, cache=cache / "ntrex", progress=False)
        found = ld.generalizability(table)
        print(f"\n== min_count = {min_count}, intents for G = .95: {found.intents_for(0.95)!r}\n{found.summary()}")


def report(name, curve):
    """Print correlations between sizes, floors in both forms, pairs that change places, and the published models."""
    print(curve)
    print("s.d. of difficulty by size:", curve.difficulty.std().round(4).to_dict())
    print(
        "median standard error by size:", {n: round(float(curve.effects(n).std_error.median()), 4) for n in curve.sizes}
    )
    print(curve.correlations().round(3).to_string(index=False))
    changes = curve.changes()
    pairs = len(curve.editions) * (len(curve.editions) - 1) // 2
    print(f"pairs that change places: {changes['significant'].sum()} of {pairs} (FDR 5 %), {len(changes)} estimated")
    print(changes.head(5).round(4).to_string(index=False))
    for form in ("power", "stretched"):
        try:
            found = curve.asymptotes(form)
        except DataError as error:
            print(f"{form}: {error}")
            continue
        print(f"{found!r}, misfit {100 * found.misfit:.2f} %")
        floor = found.frame["floor_difficulty"]
        alike = floor.corr(curve.difficulty.iloc[:, -1], "spearman")
        print(f"  rank correlation of floors with largest size: {alike:.3f}")
    if name == "flores200":
        beside_goldfish(curve)


def beside_goldfish(curve):
    """Print Spearman's correlations of own difficulties with log bits of the published models, and the falsifier."""
    theirs = published()
    theirs = theirs.loc[[edition[:8].lower() for edition in curve.editions]]
    complete = theirs.notna().all(axis=1).to_numpy()
    print(f"Goldfish: {len(theirs)} editions with 5 MB and 1 GB, {complete.sum()} with all four sizes")
    print("s.d. of log bits:", theirs[complete].std().round(4).to_dict())
    print(theirs[complete].corr("spearman").round(3).to_string())
    print("own size, Spearman's correlation with models of 5, 10, 100 and 1000 MB, 95 % intervals over languages")
    rng = np.random.default_rng(SEED)
    for place, size in enumerate(curve.sizes):
        ours = curve.log_bits.to_numpy()[complete, place]
        cells = []
        for megabytes in GOLDFISH:
            found = spearman_interval(ours, theirs.loc[complete, megabytes].to_numpy(), rng)
            cells.append("{:.3f} ({:.2f} to {:.2f})".format(*found))
        print(f"{size:6,} | " + " | ".join(cells))
    largest = spearman_interval(curve.log_bits.to_numpy()[:, -1], theirs[1000].to_numpy(), rng)
    verdict = "ABOVE" if largest[0] > FALSIFIER else "not above"
    print(
        f"falsifier: {curve.sizes[-1]:,} sentences with 1 GB {largest[0]:.3f} ({largest[1]:.2f} to {largest[2]:.2f}), "
        f"{verdict} {FALSIFIER}"
    )


def spearman_interval(one, other, rng, draws=1000):
    """Return Spearman's correlation and its 95 % interval by a bootstrap of languages."""

    def correlation(rows):
        x, y = (rankdata(values[rows], axis=-1) for values in (one, other))
        x, y = (ranks - ranks.mean(axis=-1, keepdims=True) for ranks in (x, y))
        return (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))

    ends = np.quantile(correlation(rng.integers(len(one), size=(draws, len(one)))), [0.025, 0.975])
    return float(correlation(np.arange(len(one)))), *map(float, ends)


def simulated(form, rng):
    """Return tables by size and the truth: floors, gains and log factors by size."""
    slope = np.linspace(-1, 1, EDITIONS)
    gain = 1.2 * (1 - 0.5 * rng.permutation(slope))
    floor = 1 + 0.1 * slope if form == "power" else 0.1 * slope
    curves = floor[:, None] + gain[:, None] * (SIMULATED_SIZES / SIMULATED_SIZES[0]) ** -EXPONENT
    curves = np.log(curves) if form == "power" else curves
    content, shared = rng.lognormal(*LOG_SIZE, INTENTS), rng.normal(0, NOISE, (INTENTS, EDITIONS))
    tables = {}
    for k, size in enumerate(SIMULATED_SIZES):
        noise = shared + rng.normal(0, NOISE, shared.shape) - NOISE**2
        bits = content[:, None] * np.exp(curves[:, k] + noise)
        tables[int(size)] = ld.Surprisals(bits=pd.DataFrame(bits).rename(index=str, columns="e{}".format))
    return tables, floor, gain, curves


def coverage(tables):
    """Print how many 95 % intervals hold the truth."""
    mean_size = np.exp(LOG_SIZE[0] + LOG_SIZE[1] ** 2 / 2)
    for form in ("power", "stretched"):
        rng, rows = np.random.default_rng(SEED), []
        for number in range(tables):
            given, floor, gain, curves = simulated(form, rng)
            curve = fit_curve(given, model="1", n_draws=400, seed=number)
            found = curve.asymptotes(form)
            bits = mean_size * (floor if form == "power" else np.exp(floor))
            difficulty = curves - np.log(np.exp(curves).mean(axis=0))
            truth = {
                "floor": bits,
                "gain": gain * mean_size if form == "power" else gain,
                "floor_difficulty": np.log(bits / bits.mean()),
            }
            held = {name: _holds(found.frame, name, value) for name, value in truth.items()}
            held["exponent"] = found.exponent_low <= EXPONENT <= found.exponent_high
            frame, alike = curve.to_frame(), curve.correlations()
            held["difficulty"] = (
                (frame["low"] <= difficulty.T.ravel()) & (difficulty.T.ravel() <= frame["high"])
            ).mean()
            exact = np.corrcoef(curves.T)[np.triu_indices(len(SIMULATED_SIZES), 1)]
            held["correlation"] = ((alike["pearson_low"] <= exact) & (exact <= alike["pearson_high"])).mean()
            rows.append(held | {"estimate of exponent": found.exponent})
        print(f"{form}, {tables} tables:", pd.DataFrame(rows).mean().round(3).to_dict())


def _holds(frame, name, truth):
    return ((frame[f"{name}_low"] <= truth) & (truth <= frame[f"{name}_high"])).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [*SIZES, "shares", "threshold", "coverage"]
    parser.add_argument("parts", nargs="*", default=["ntrex"], help=f"{', '.join(known)}; by default ntrex")
    parser.add_argument("--cache", type=Path, default=Path("runs/curves"))
    parser.add_argument("--lm", default="kneser-ney-6")
    parser.add_argument("--editions", type=int, default=0, help="take so many editions of each corpus; 0 all")
    parser.add_argument("--tables", type=int, default=200, help="tables of the simulation")
    options = parser.parse_args()
    if unknown := set(options.parts) - {*known}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    for part in options.parts:
        if part != "coverage" and not DATA.is_dir():
            print(f"no real data: {DATA} does not exist (set LANGDIFF_DATA)")
        elif part == "coverage":
            coverage(options.tables)
        elif part == "shares":
            shares(options.lm, options.cache)
        elif part == "threshold":
            threshold(options.cache)
        else:
            report(part, measure(part, options.lm, options.editions, options.cache))


if __name__ == "__main__":
    main()
