"""How much of the differences in difficulty is family, place, script and language, over editions of three corpora.

    OMP_NUM_THREADS=1 python benchmarks/typology_shares.py [testaments] [ntrex] [flores200] [together] [coverage]
        [--tables 100] [--seed 0] [--out runs/typology-shares]

Character 6-grams, model 2. The variance of the difficulties of a corpus's editions is divided by restricted maximum
likelihood into parts that are shared by languages of a family (in Glottolog; or along its tree), by neighbours (over
distance), by editions in one script, by editions of one language, and the rest. together: languages that several
corpora have, with what a language shares over them. coverage: how often intervals hold the shares of simulated tables.
Reads the folder LANGDIFF_DATA (../shared/data by default); surprisals are kept under --out. Tables are Markdown.
"""

import argparse
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from fontTools.unicodedata import script
from typology_bibles import shared_verses
from typology_relatives import DATA, LM, SAME_AS, header, row, texts_of

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.tables.rule import DEVIANCE
from langdiff.typology import read_glottolog
from langdiff.typology.association.related import RelatedFit, interval_of_share
from langdiff.typology.association.relatives import RANGES, exponential_kernel, great_circle
from langdiff.typology.association.variance import (
    profile_share,
    reml_variances,
    restricted_log_likelihood,
)

CORPORA = ("testaments", "ntrex", "flores200")
CODES = SAME_AS | {"syr": "syc"}  # the Syriac New Testament is in Classical Syriac
GROUPS = ("family", "script", "language")  # whose members are equally alike
KANA = ("Hira", "Kana")
NO_LETTERS = ("Zyyy", "Zinh", "Zzzz")
EFFECTS = ("family", "tree", "area", "script", "language")
COLUMNS = ("editions", *EFFECTS, "rest", "range, km", "AIC")
EACH = (["family"], ["tree"], ["family", "area", "script", "language"], ["tree", "area", "script"])
TOGETHER = (["language"], ["family", "area", "script", "language"], ["tree", "area", "script"])
SIMULATED = ((0.2, 0.4, 0.2, 0.2), (0.5, 0.0, 0.0, 0.5))  # shares of family, area (1,000 km), script and the rest


def script_of(texts):
    """Return the script of most letters; Japanese, which mixes three, is a script of its own."""
    counts = Counter()
    for character, count in Counter("".join(texts)).items():
        counts[script(character)] += count
    for code in NO_LETTERS:
        counts.pop(code, None)
    return "Jpan" if any(counts[code] for code in KANA) else counts.most_common(1)[0][0]


def editions_of(name, glottolog, out):
    """Return one row per edition: difficulty, its error, language, family, script and place."""
    multitext = shared_verses()[0] if name == "testaments" else texts_of(name)
    parts = ld.split(multitext)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters
        surprisals = ld.compute_surprisals(parts, lm=LM, cache=out / name, device="cpu", seed=0, progress=False)
    fit = ld.fit(surprisals, model="2")
    codes = pd.Series([edition[:3] for edition in multitext.editions], multitext.editions)
    places = glottolog.places(codes).reindex(codes).set_index(codes.index)
    table = pd.DataFrame(
        {
            "difficulty": fit.difficulty[codes.index],
            "std_error": fit.std_error[codes.index],
            "language": places["glottocode"],
            "family": places["family"],
            "script": [script_of(parts.test.text(edition)) for edition in codes.index],
            "latitude": places["latitude"],
            "longitude": places["longitude"],
        }
    )
    table.index = [f"{name}/{edition}" for edition in table.index]
    known = table.dropna()
    print(f"\n{name}: {len(known)} editions, {parts.summary()}\n")
    print(", ".join(f"{known[group].nunique()} {group}" for group in GROUPS), end="; ")
    print(f"scripts: {known['script'].value_counts().to_dict()}")
    print(f"left out, not in Glottolog or without a place: {sorted(set(table.index) - set(known.index))}")
    error = (known["std_error"] ** 2).mean() / known["difficulty"].var()
    print(f"s.d. {known['difficulty'].std():.4f}; errors of the estimates are {100 * error:.1f} % of the variance\n")
    return known


def parts_of(table, names, glottolog):
    """Return the covariances of some effects, one per name; of area one per range."""
    found = {}
    for name in names:
        if name == "area":
            km = great_circle(table["latitude"].to_numpy(), table["longitude"].to_numpy())
            found[name] = {range_km: exponential_kernel(km, range_km) for range_km in RANGES}
        elif name == "tree":
            tree = glottolog.covariance(table["language"].unique())
            found[name] = tree.loc[table["language"], table["language"]].to_numpy()
        else:
            labels = table[name].to_numpy()
            found[name] = np.equal.outer(labels, labels).astype(float)
    return found


def fit_parts(design, y, parts):
    """Return the variances of all effects by restricted maximum likelihood, with the likeliest range of area."""
    fits = []
    for range_km in RANGES if "area" in parts else (np.nan,):
        chosen = [part[range_km] if name == "area" else part for name, part in parts.items()]
        variances = reml_variances(design, y, chosen)
        chosen.append(np.eye(len(y)))
        likelihood = restricted_log_likelihood(design, y, np.tensordot(variances, chosen, axes=1))
        names = (*parts, "residual")
        fits.append(
            RelatedFit(parts=chosen, names=names, variances=variances, range_km=range_km, log_likelihood=likelihood)
        )
    return max(fits, key=lambda fit: fit.log_likelihood)


def problem(table, names, glottolog):
    """Return the design (a mean for every corpus), difficulties of variance 1 and the effects' covariances."""
    design = pd.get_dummies(table.index.str.split("/").str[0], dtype=float).to_numpy()
    left = table["difficulty"].to_numpy() - design @ np.linalg.lstsq(design, table["difficulty"], rcond=None)[0]
    return design, left / left.std(ddof=design.shape[1]), parts_of(table, names, glottolog)


def shares(title, table, names, glottolog):
    """Print the shares of some effects with 95 % intervals."""
    design, y, parts = problem(table, names, glottolog)
    fit = fit_parts(design, y, parts)
    cells = dict.fromkeys(EFFECTS, "")
    for name in names:
        low, high = interval_of_share(design, y, fit, name)
        cells[name] = f"{fit.share(name):.2f} ({low:.2f} to {high:.2f})"
    range_km = "" if np.isnan(fit.range_km) else f"{fit.range_km:.0f}"
    aic = 2 * (len(fit.names) + ("area" in names)) - 2 * fit.log_likelihood
    row(title, len(table), *cells.values(), f"{fit.share('residual'):.2f}", range_km, f"{aic:.1f}")


def together(corpora, tables, glottolog):
    """Print what languages share over corpora, from the first edition of each in every corpus, each of variance 1."""
    first = {name: tables[name].drop_duplicates("language") for name in corpora}
    shared = set.intersection(*(set(table["language"]) for table in first.values()))
    chosen = [table[table["language"].isin(shared)] for table in first.values()]
    scaled = [table.assign(difficulty=table["difficulty"] / table["difficulty"].std()) for table in chosen]
    stacked = pd.concat(scaled)
    print(f"\n## {len(shared)} languages in {', '.join(corpora)}; {stacked['family'].nunique()} families\n")
    header("corpora", *COLUMNS)
    for names in TOGETHER:
        shares(" + ".join(corpora), stacked, names, glottolog)


def coverage(table, glottolog, tables, seed):
    """Print how many 95 % intervals hold the shares that difficulties were drawn with, on the places of a corpus."""
    names = ["family", "area", "script"]
    design, _, parts = problem(table, names, glottolog)
    covariances = [parts["family"], parts["area"][1000.0], parts["script"], np.eye(len(table))]
    print(f"\n## {len(table)} editions of NTREX, {tables} tables; 95 % intervals that hold the truth (mean estimate)\n")
    header("true shares of family, area, script, rest", *names)
    for truth in SIMULATED:
        rng = np.random.default_rng(seed)
        root = np.linalg.cholesky(np.tensordot(truth, covariances, axes=1))
        held, estimates = np.zeros((tables, len(names))), np.zeros((tables, len(names)))
        for number in range(tables):
            y = root @ rng.normal(size=len(table))
            fit = fit_parts(design, y, parts)
            for place, name in enumerate(names):  # the interval holds what the likelihood ratio does not reject
                at_truth = profile_share(design, y, fit.parts[:-1], place, truth[place])
                held[number, place] = 2 * (fit.log_likelihood - at_truth) <= DEVIANCE
                estimates[number, place] = fit.share(name)
        cells = zip(100 * held.mean(axis=0), estimates.mean(axis=0), strict=True)
        row(", ".join(map(str, truth)), *(f"{share:.0f} % ({mean:.2f})" for share, mean in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [*CORPORA, "together", "coverage"]
    parser.add_argument("parts", nargs="*", default=known[:-1], help=f"{', '.join(known)}; by default all but the last")
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/typology-shares"))
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - {*known}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if not (DATA / "glottolog").is_dir():
        print(f"no real data: {DATA / 'glottolog'} does not exist (set LANGDIFF_DATA)")
        return
    glottolog = read_glottolog(DATA / "glottolog", same_as=CODES)
    asked = set(arguments.parts)
    needed = (
        set(CORPORA) if "together" in asked else asked - {"coverage"} | ({"ntrex"} if "coverage" in asked else set())
    )
    tables = {name: editions_of(name, glottolog, arguments.out) for name in CORPORA if name in needed}
    for name in tables:
        if name in asked:
            print(f"\n## {name}\n")
            header("corpus", *COLUMNS)
            for names in EACH:
                shares(name, tables[name], names, glottolog)
    if "together" in asked:
        for corpora in (("ntrex", "flores200"), CORPORA):
            together(corpora, tables, glottolog)
    if "coverage" in asked:
        coverage(tables["ntrex"], glottolog, arguments.tables, arguments.seed)
    print(f"\n{time.process_time():.0f} s of processor time")


if __name__ == "__main__":
    main()
