"""What makes a language hard to a model: New Testaments of our own, beside the published figures.

    OMP_NUM_THREADS=1 python benchmarks/typology_bibles.py [--out runs/typology-bibles]
        [--run runs/bible-new-testament]

The verses that 67 editions of 62 languages share, character 6-grams, model 2. Reads the folder LANGDIFF_DATA
(../shared/data by default). Some minutes of one core; models and surprisals are kept under --out, and an
interrupted run goes on. With --run, a run of examples/bible-new-testament.toml, its language models are tested too.
"""

import argparse
import os
import warnings
from pathlib import Path

import pandas as pd
from scipy.stats import spearmanr

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.errors import LangdiffWarning
from langdiff.typology import compare_relatedness, read_glottolog, regress

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
LM = "kneser-ney-6"
FEATURES = ("26A", "81A")
TESTS = ("pearson", "spearman", "mood", "mixed", "permutation", "phylo")
WITHOUT_SPACES = ("cmn", "lzh", "jpn", "mya")
EXTREME = ("chq", "djk")  # Chinantec and Aukan, the longest and hardest
NEW_TESTAMENT = 40  # the number of its first book


def in_step():
    """Return the Bibles without passages out of step, the damaged Spanish edition replaced by the intact one."""
    damaged, intact = "spa-reinavalera1909.txt.gz", DATA / "bible_intact" / "spa-rv1909.txt.gz"
    files = [path for path in sorted((DATA / "bible").glob("*.txt.gz")) if path.name != damaged]
    known = pd.read_csv(DATA / "bible" / "metadata.csv").replace({"file": {damaged: intact.name}})
    known = known.set_index(known.pop("file").str.removesuffix(".txt.gz"))
    bibles = ld.read_multitext([*files, intact], format="pbc", edition_info=known)
    return ld.corpora.check_alignment(bibles).applied(bibles)


def shared_verses(bibles=None):
    """Return the New Testament verses that all chosen editions have, and what is known of the editions."""
    bibles = ld.read_multitext(DATA / "bible") if bibles is None else bibles
    verses = bibles.sel(intents=[verse for verse in bibles.intents if int(verse[:2]) >= NEW_TESTAMENT])
    chosen = ld.select(verses, min_intents=6000).multitext.dropna()
    info = chosen.edition_info[["language", "family"]].copy()
    creole = info["family"].str.contains("creole")  # of their own, as among the published Bibles
    info["family"] = info["family"].str.replace(r"\s*\(.*", "", regex=True).mask(creole, "Creole")
    return chosen, info


def own_predictors(multitext, out):
    """Return predictors of the shared verses, kept in a table."""
    path = out / "predictors.csv"
    if not path.exists():
        table = ld.predictors(multitext, wals=DATA / "wals", features=FEATURES).to_frame()
        table.to_csv(path, index_label="edition")
    return pd.read_csv(path, index_col="edition", dtype=dict.fromkeys(FEATURES, str))


def report(title, fits, predictors, info, glottolog):
    """Print and return all tests of the fits' difficulties as one family."""
    print(f"\n== {title}")
    for lm, fit in fits.items():
        spread = fit.difficulty
        print(
            f"{lm}: {len(spread)} editions, difficulty from {spread.min():+.3f} ({spread.idxmin()}) to "
            f"{spread.max():+.3f} ({spread.idxmax()}), s.d. {spread.std():.4f}, "
            f"median s.e. {fit.std_error.median():.4f}; model 2"
        )
    known = predictors.index.intersection(next(iter(fits.values())).difficulty.index)
    result = ld.correlate(
        fits, predictors.loc[known], edition_info=info, corpus=title, tests=TESTS, tree=glottolog, seed=0
    )
    print(result.summary(), flush=True)
    return result


def further(fit, predictors, info, glottolog):
    """Print what the text says beside the tables: other choices of languages, what is held fixed, of families."""
    difficulty = fit.difficulty
    keep = {"no unspaced": WITHOUT_SPACES, "nor the two longest": (*WITHOUT_SPACES, *EXTREME)}
    for what, languages in keep.items():
        chosen = difficulty[~info.loc[difficulty.index, "language"].isin(languages)]
        tests = ("pearson", "phylo")
        found = ld.correlate(chosen, predictors, edition_info=info, only="characters", tests=tests, tree=glottolog)
        print(f"\n== characters, {what}\n{found.to_frame()[['test', 'n', 'estimate', 'low', 'high', 'p']].round(5)}")
    held = ld.correlate(
        difficulty,
        predictors.drop(columns=list(FEATURES)),
        edition_info=info,
        given="characters",
        tests=("pearson", "spearman", "phylo"),
        tree=glottolog,
    )
    print(f"\n== at a given length\n{held.summary()}")
    numbers = predictors.drop(columns=list(FEATURES))
    compared = compare_relatedness(difficulty, edition_info=info, tree=glottolog)
    print(f"\n== relatedness\n{compared.summary()}")
    multiple = regress(
        difficulty,
        numbers[["characters", "word_types"]],
        edition_info=info,
        tests=("independent", "phylo"),
        tree=glottolog,
    )
    print(multiple.summary())
    moved = info.assign(family=info["family"].replace("Creole", "Indo-European"))
    again = ld.correlate(difficulty, predictors, edition_info=moved, tests=TESTS, tree=glottolog, seed=0)
    print(f"\n== creoles as Indo-European\n{again.summary()}", flush=True)


def beside_published(fit, info):
    """Print how far difficulties agree with those published for whole Bibles of the same languages."""
    ours = fit.difficulty.groupby(info["language"]).mean()
    figures = mielke2019()
    language = figures.edition_info("bibles")["language"]
    published = figures.difficulties("bibles").groupby(language).mean()
    for lm in published:
        both = pd.concat([ours, published[lm]], axis=1, join="inner").dropna()
        rho = spearmanr(both.iloc[:, 0], both.iloc[:, 1])
        print(f"{LM} and {lm} as published: Spearman {rho.statistic:.3f} (p {rho.pvalue:.2g}), {len(both)} languages")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/typology-bibles"))
    parser.add_argument("--run", type=Path, help="a run directory with surprisals/*.csv")
    arguments = parser.parse_args()
    if not (DATA / "bible").is_dir():
        print(f"no real data: {DATA / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    chosen, info = shared_verses()
    parts = ld.split(chosen)
    families = info.groupby("language")["family"].first().value_counts()
    print(f"{chosen!r}\n{parts.summary()}\nfamilies: {families.to_dict()}", flush=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters; words not separated by spaces
        surprisals = ld.compute_surprisals(parts, lm=LM, cache=arguments.out / "models", device="cpu", seed=0)
        predictors = own_predictors(chosen, arguments.out)
    fit = ld.fit(surprisals, model="2")
    fit.to_frame().to_csv(arguments.out / "difficulties.csv")
    glottolog = read_glottolog(DATA / "glottolog")
    results = [report("New Testament", {LM: fit}, predictors, info, glottolog)]
    further(fit, predictors, info, glottolog)
    beside_published(fit, info)
    if arguments.run:
        found = {path.stem: path for path in sorted((arguments.run / "surprisals").glob("*.csv"))}
        fits = {lm: ld.fit(ld.read_surprisals(path), model="2") for lm, path in found.items()}
        editions = list(next(iter(fits.values())).difficulty.index)
        few = ld.fit(ld.Surprisals(bits=surprisals.bits[editions], lm=LM), model="2")
        results.append(report("the same, fewer editions", {**fits, LM: few}, predictors, info, glottolog))
    everything = ld.adjust(results)
    print(f"\n{everything!r}")
    everything.to_frame().to_csv(arguments.out / "tests.csv", index=False)
    numeric = everything.tests.loc[everything.tests["test"] == "mixed"].sort_values("p")["predictor"].unique()
    for name in numeric[:4]:
        ax = everything.plot(name)
        ax.figure.savefig(arguments.out / f"{name}.png", dpi=120)


if __name__ == "__main__":
    main()
