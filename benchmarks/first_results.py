"""First results: the table of twenty New Testaments, and how far language models and regression models agree.

    OMP_NUM_THREADS=1 python benchmarks/first_results.py [RUN]

The bits are those that the package ships, or of a run directory, such as one of ``examples/bible-new-testament.toml``,
whose tables of surprisals are read. It takes seconds.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.datasets import testaments
from langdiff.regression.variants import find_variant

SHIPPED = ("char-residual-quick", "bpe-residual-quick", "kneser-ney-6")
MODELS = [("1", None), ("2", None), ("2L", None), ("2C", None), ("3", 0.03)]
TRANSLATIONS = ("eng-kjv", "eng-web")


def show_difficulties(tables: dict[str, ld.Surprisals], fits: dict[str, ld.DifficultyFit]) -> None:
    """Print the table of editions, a group of columns for each language model."""
    columns = {("", "characters"): next(iter(tables.values())).bits_per_character()["characters"]}
    for lm, fit in fits.items():
        shown = fit.to_frame()
        columns[lm, "bits per character"] = tables[lm].bits_per_character()["bits_per_character"].round(3)
        columns[lm, "%"] = shown["percent"].round(1)
        columns[lm, "±"] = shown["percent_std_error"].round(1)
        columns[lm, "ranks"] = shown["rank_low"].astype(str) + "–" + shown["rank_high"].astype(str)
    first = next(iter(fits))
    print(pd.DataFrame(columns).sort_values((first, "%"), ascending=False).to_string())


def show_agreement(tables: dict[str, ld.Surprisals], fits: dict[str, ld.DifficultyFit]) -> None:
    """Print correlations between language models and with length, spreads, and two translations of one language."""
    difficulties = pd.DataFrame({lm: fit.difficulty for lm, fit in fits.items()})
    print("\nstandard deviations of log factors\n" + difficulties.std().round(4).to_string())
    for method in ("pearson", "spearman"):
        print(f"\n{method}\n" + difficulties.corr(method=method).round(3).to_string())
    for lm, table in tables.items():
        length = np.log(table.characters.sum())
        print(f"{lm}: r with log length in characters {difficulties[lm].corr(length):.3f}")
    for lm, fit in fits.items():
        contrast = fit.contrast(*TRANSLATIONS)
        print(f"{lm}, {' against '.join(TRANSLATIONS)}: {contrast.estimate:+.4f} ± {contrast.std_error:.4f} nats")


def show_models(lm: str, table: ld.Surprisals) -> None:
    """Print how far difficulties depend on the regression model."""
    fits = {model: ld.fit(table, model=find_variant(model, laplace_scale=scale)) for model, scale in MODELS}
    difficulties = pd.DataFrame({model: fit.difficulty for model, fit in fits.items()})
    percent = 100 * np.expm1(difficulties)
    moved = percent.sub(percent["2"], axis=0).abs().max()
    print(f"\n{lm}: correlations of regression models\n" + difficulties.corr().round(4).to_string())
    print("furthest from model 2, percent\n" + moved.round(2).to_string())
    del fits["3"]  # its likelihood is the joint density of cells and their noise
    print("log-likelihoods\n" + pd.Series({m: f.log_likelihood for m, f in fits.items()}).round(0).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?", help="a run directory with surprisals/*.csv")
    options = parser.parse_args()
    if options.run is None:
        tables = {lm: testaments(lm) for lm in SHIPPED}
    else:
        tables = {path.stem: ld.read_surprisals(path) for path in sorted((options.run / "surprisals").glob("*.csv"))}
    fits = {lm: ld.fit(table, model="2") for lm, table in tables.items()}
    show_difficulties(tables, fits)
    show_agreement(tables, fits)
    for lm, table in tables.items():
        if not lm.startswith("kneser-ney"):
            show_models(lm, table)


if __name__ == "__main__":
    main()
