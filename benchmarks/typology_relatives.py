"""Tests that take a family tree and the map into account: levels, power, and difficulties of real corpora.

    OMP_NUM_THREADS=1 python benchmarks/typology_relatives.py [levels] [power] [tree] [published] [ntrex] [flores200]
        [--tables 400] [--area-tables 50] [--seed 0] [--out runs/typology-relatives]

levels, power: predictor and difficulty are drawn along Glottolog's tree of NTREX's languages, with a share λ of their
variance, without any connection (levels) or with a slope (power); how often each test finds something at 5 %, those
over distance in the first tables only, since they take longest. tree: the level of the test along the tree alone, in
3,000 tables. published: the
difficulties of Mielke et al. (2019) with the tree. ntrex, flores200: character 6-grams, model 2, and how much of the
differences in difficulty follows the tree and the map. Reads the folder LANGDIFF_DATA (../shared/data by default).
All tables are printed as Markdown.
"""

import argparse
import gzip
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.errors import LangdiffWarning
from langdiff.typology import compare_relatedness, read_glottolog, regress
from langdiff.typology.association.correlation import correlation
from langdiff.typology.association.related import mixed_slope, permute_within_families, related_slope
from langdiff.typology.association.relatives import great_circle

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
LM = "kneser-ney-6"
SAME_AS = {"hmn": "mww", "orm": "gaz"}  # macrolanguages without a standard language
SHARES = (0.0, 0.5, 0.9)
SLOPE = 0.3  # standard deviations of difficulty for one of the predictor
TESTS = ("Pearson", "mixed model", "permutation", "phylo", "area", "phylo+area")
CHINESE = "cmn-sf_ncv-zefania"  # has no spaces to count words by
RESIDUALS = ("independent", "phylo", "area", "phylo+area")


def texts_of(corpus):
    """Return a corpus of one text file per edition, line by line."""
    texts = {}
    for path in sorted((DATA / corpus).glob("*.txt.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
            texts[path.name.removesuffix(".txt.gz")] = stream.read().removesuffix("\n").split("\n")
    return ld.read_frame(pd.DataFrame(texts))


def language_of(editions):
    """Return the language of every edition, as a frame."""
    return pd.DataFrame({"language": [name.replace("_", "-").partition("-")[0] for name in editions]}, index=editions)


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def header(*cells):
    row(*cells)
    row("---", *["---:"] * (len(cells) - 1))


def p_values(x, y, family, tree, km, rng):
    """Return p of every test; without distances, NaN of those that need them."""
    return (
        correlation(x, y, "pearson").p,
        mixed_slope(x, y, family).p,
        permute_within_families(x, y, family, n_resamples=399, seed=rng).p,
        related_slope(x, y, tree, None)[0].p,
        *((related_slope(x, y, part, km)[0].p if km is not None else np.nan) for part in (None, tree)),
    )


def names_and_tree(glottolog):
    """Return the languages of NTREX that Glottolog has, and their covariance along its tree."""
    names = sorted({path.name[:3] for path in (DATA / "ntrex").glob("*.txt.gz")})
    tree = glottolog.covariance(names)
    return list(tree.index), tree.to_numpy()


def root_of(share, tree):
    """Return a root of the covariance of a trait with a share that follows the tree."""
    return np.linalg.cholesky(share * tree + (1 - share + 1e-10) * np.eye(len(tree)))


def level_along_tree(glottolog, tables, seed):
    """Print how often the test along the tree alone finds something where there is nothing."""
    _, tree = names_and_tree(glottolog)
    rng = np.random.default_rng(seed)
    print(f"\n## The test along the tree, % of {tables} tables\n")
    header("λ", "phylo")
    for share in SHARES:
        root = root_of(share, tree)
        drawn = ((root @ rng.normal(size=len(tree)), root @ rng.normal(size=len(tree))) for _ in range(tables))
        row(share, f"{100 * np.mean([related_slope(x, y, tree, None)[0].p <= 0.05 for x, y in drawn]):.1f}")


def levels(glottolog, slope, tables, area_tables, seed):
    """Print how often each test finds something; return whether the level of the test along the tree holds."""
    names, p = names_and_tree(glottolog)
    places = glottolog.places(names)
    family = places["family"].reset_index(drop=True)
    km = great_circle(places["latitude"].to_numpy(), places["longitude"].to_numpy())
    n, begin = len(p), time.process_time()
    print(f"\n## {n} languages of NTREX, {family.nunique()} families; % of {tables} tables with p <= .05")
    print(f"(area, phylo+area: of {area_tables}); slope {slope}\n")
    header("λ", *TESTS)
    worst = 0.0
    for share in SHARES:
        rng = np.random.default_rng([seed, round(10 * share), round(10 * slope)])
        root = root_of(share, p)
        found = np.full((tables, len(TESTS)), np.nan)
        for table in range(tables):
            x, noise = root @ rng.normal(size=n), root @ rng.normal(size=n)
            found[table] = p_values(x, slope * x + noise, family, p, km if table < area_tables else None, rng)
        made = np.isfinite(found).sum(axis=0)
        hits = (found <= 0.05).sum(axis=0)
        row(share, *(f"{100 * hit / of:.1f}" if of else "" for hit, of in zip(hits, made, strict=True)))
        worst = max(worst, hits[TESTS.index("phylo")] / tables)
    print(f"\n{time.process_time() - begin:.0f} s of CPU", flush=True)
    return slope > 0 or worst <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / tables)


def regressions(title, difficulty, predictor, info, glottolog):
    """Print the slope of one predictor and the shares of tree and area, under every model of the residuals."""
    result = regress(difficulty, predictor, edition_info=info, tests=RESIDUALS, tree=glottolog)
    models = result.relatedness.set_index("model")
    for test in RESIDUALS:
        term, model = result.terms[result.terms["test"] == test].iloc[0], models.loc[test]
        slope = f"{term['estimate']:+.4f} ± {term['std_error']:.4f}"
        row(title, test, result.n, slope, f"{term['p']:.2g}", *shares(model), f"{model['aic']:.1f}")


def shares(model):
    """Return the shares of tree and area with their intervals, and the range, as cells."""
    cells = []
    for part in ("phylo", "area"):
        share, low, high = (model[f"{part}_{figure}"] for figure in ("share", "low", "high"))
        cells.append("" if np.isnan(share) else f"{share:.2f} ({low:.2f} to {high:.2f})")
    return *cells, "" if np.isnan(model["range_km"]) else f"{model['range_km']:.0f}"


REGRESSION = ("", "residuals", "languages", "nats per SD", "p", "share of the tree", "of area", "range, km", "AIC")


def published(glottolog):
    """Print the published difficulties with tree and area, word types and length in characters as predictors."""
    figures = mielke2019()
    info = figures.edition_info("bibles")
    print("\n## Published difficulties of Bibles, without Chinese\n")
    header(*REGRESSION)
    for lm, name in (("bpe", "word_types"), ("char", "characters"), ("bpe", "word_tokens"), ("bpe", "bpe_tokens")):
        difficulty = figures.difficulties("bibles")[lm].drop(CHINESE)
        phylo = regress(
            difficulty, figures.predictors("bibles"), edition_info=info, only=name, tests="phylo", tree=glottolog
        )
        term, model = phylo.terms.iloc[0], phylo.relatedness.iloc[1]
        slope = f"{term['estimate']:+.4f} ± {term['std_error']:.4f}"
        row(f"{name}, {lm}", "phylo", phylo.n, slope, f"{term['p']:.2g}", *shares(model), f"{model['aic']:.1f}")
        regressions(f"{name}, {lm}", difficulty, figures.predictors("bibles")[name], info, glottolog)


def corpus(name, glottolog, out):
    """Print how much of the difficulties of a corpus follows tree and area, and the slope of log characters."""
    multitext = texts_of(name)
    parts = ld.split(multitext)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters
        surprisals = ld.compute_surprisals(parts, lm=LM, cache=out / name, device="cpu", seed=0)
    fit = ld.fit(surprisals, model="2")
    info = language_of(list(multitext.editions))
    print(f"\n## {name}: {LM}, {len(multitext.editions)} editions; {parts.summary()}\n")
    comparison = compare_relatedness(fit, edition_info=info, tree=glottolog)
    header("model", "languages", "share of the tree", "of area", "range, km", "log-likelihood", "AIC")
    for _, model in comparison.models.iterrows():
        row(model["model"], model["n"], *shares(model), f"{model['log_likelihood']:.2f}", f"{model['aic']:.1f}")
    print(f"\n{comparison.left_out}\n")
    counts = {edition: np.log(parts.train.text(edition).str.len().sum()) for edition in multitext.editions}
    header(*REGRESSION)
    regressions("log characters", fit, pd.Series(counts, name="log_characters"), info, glottolog)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["levels", "power", "tree", "published", "ntrex", "flores200"])
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--area-tables", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/typology-relatives"))
    arguments = parser.parse_args()
    if not (DATA / "glottolog").is_dir():
        print(f"no real data: {DATA / 'glottolog'} does not exist (set LANGDIFF_DATA)")
        return
    glottolog = read_glottolog(DATA / "glottolog", same_as=SAME_AS)
    holds = True
    for part in arguments.parts:
        if part in ("levels", "power"):
            slope = SLOPE if part == "power" else 0.0
            holds &= levels(glottolog, slope, arguments.tables, arguments.area_tables, arguments.seed)
        elif part == "tree":
            level_along_tree(glottolog, 3000, arguments.seed)
        elif part == "published":
            published(glottolog)
        else:
            corpus(part, glottolog, arguments.out)
    raise SystemExit(not holds)


if __name__ == "__main__":
    main()
