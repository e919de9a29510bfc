"""What changes of texts cost: eleven languages of NTREX beside figures of a pilot; word order against word structure.

    OMP_NUM_THREADS=1 python benchmarks/perturbations.py [--lm kneser-ney-6] [--seeds 3]
    OMP_NUM_THREADS=1 python benchmarks/perturbations.py --trade-off [--plot trade-off.svg]
    OMP_NUM_THREADS=1 python benchmarks/perturbations.py --lm char-residual-quick --languages eng fin hin vie

Bits and models are kept under --out, and an interrupted run goes on. Reads the folder LANGDIFF_DATA
(../shared/data by default).
"""

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import langdiff as ld
from langdiff.base.types import Change
from langdiff.corpora.perturbation import OF_WORDS, Perturbation
from langdiff.errors import ConfigError, LangdiffWarning
from langdiff.typology import read_glottolog

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
LANGUAGES = ["ces", "deu", "ell", "eng", "fin", "heb", "hin", "kor", "rus", "spa", "vie"]
PILOT = """
reverse            .5  -.2   .3  -.0  -.1  -.1  1.8   .3   .4  -.1  -.0
reverse-words     4.3  3.3  2.9  3.8  4.2  6.4  3.4  7.1  3.2  1.9  5.1
shuffle-local     8.3  8.3 11.1  9.8  6.6  9.0 14.1  9.1  9.0 10.1 23.0
shuffle-local-10 10.8 11.5 15.3 13.0  8.3 11.0 19.3 10.9 11.2 13.9 29.9
shuffle-by-length 12.0 12.6 17.4 14.4  9.3 11.9 20.8 11.8 12.4 15.3 33.9
shuffle          12.4 12.3 17.2 14.6  9.2 12.1 21.2 11.9 12.8 16.0 33.7
learnt            .58  .50  .63  .53  .55  .57  .65  .69  .59  .55  .81
scramble         36.6 31.5 32.6 19.3 50.6 19.5  8.6 28.8 39.6 21.7  2.3
decompose         1.0   .1  1.7   .0   .7  nan  nan  2.7   .1   .2  7.6
no-spaces         2.6  3.0  3.1  3.4  2.8  -.2  2.2  -.5  2.9  2.3  -.1
no-vowels       -17.4 -10.4 -17.5 -9.5 -18.7 nan nan  nan -16.9 -13.2 -17.6
"""
WIDE = "shuffle-local-10"
OF_PHRASES = ["khm", "lao", "mya"]  # spaces between phrases: 13 to 21 characters per "word", all others less than 10
# the orders of windows behind the figures of the pilot, positions in the original
ORDERS = {("shuffle-local", 3): [1, 0, 2], ("shuffle-local", 10): [6, 9, 1, 3, 2, 8, 7, 4, 5, 0]}


def pilot():
    """Return the figures of the pilot, one row per kind."""
    rows = [line.split() for line in PILOT.strip().splitlines()]
    return pd.DataFrame([map(float, row[1:]) for row in rows], index=[row[0] for row in rows], columns=LANGUAGES)


def perturbed(multitext, seed):
    """Return the editions with all kinds, windows of 3 and of 10 words."""
    narrow = ld.corpora.perturb(multitext, get_args(Change), seed=seed)
    wide = ld.corpora.perturb(multitext, ["shuffle-local"], window=10, keep_base=False, seed=seed)
    names = {name: f"{name}-10" for name in wide.editions}
    columns = {name: narrow.text(name) for name in narrow.editions}
    columns |= {other: wide.text(name) for name, other in names.items()}
    info = pd.concat([narrow.edition_info, wide.edition_info.rename(index=names)])["language"]
    return ld.read_frame(pd.DataFrame(columns), edition_info=info.to_frame(), intent_info=narrow.intent_info)


def bits_of(parts, path, lm, seed=0):
    """Return the surprisals of some parts, kept in a file; networks that are trained are kept beside it."""
    if not path.exists():
        cache = None if lm.startswith("kneser-ney") else path.parent / "models"
        ld.compute_surprisals(parts, lm=lm, max_replaced=1.0, seed=seed, progress=False, cache=cache).save(path)
    return ld.read_surprisals(path)


def table_of(multitext, out, lm, seed):
    """Return the costs of all kinds in percent and what was learnt, one row each."""
    start = time.process_time()
    parts = ld.split(perturbed(multitext, seed))
    surprisals = bits_of(parts, out / f"ntrex-{lm}-{seed}.csv", lm)
    contrasts = ld.experiments.perturbation_contrasts(surprisals)
    found = contrasts.by_kind()
    found.loc["learnt"] = contrasts.by_kind("learnt").loc["shuffle"]
    errors = contrasts.by_kind("std_error")
    print(f"\n{contrasts!r}, seed {seed}: {len(parts.train)} + {len(parts.test)} intents, {contrasts.effects.words}")
    print(f"{time.process_time() - start:.0f} s of processor time")
    order = pilot().index
    shown = found.reindex(index=order)
    print(shown.assign(mean=shown.mean(axis=1)).round(2).to_string())
    print("standard errors (percent), mean over languages:", (100 * errors.mean(axis=1)).round(2).to_dict())
    return shown


def with_orders_of_the_pilot(multitext, out, lm):
    """Print the costs of windows in the orders that the pilot drew."""
    columns = {}
    for edition in LANGUAGES:
        own = ld.corpora.perturb(multitext.sel(editions=[edition]), ["reverse-words"]).text(edition)
        columns[edition] = own
        for name, window in (("shuffle-local", 3), (WIDE, 10)):
            change = Perturbation(edition, window=window, orders=dict(ORDERS)).function("shuffle-local")
            columns[f"{edition}|{name}"] = pd.Series({i: change(text, i) for i, text in own.items()})
    parts = ld.split(ld.read_frame(pd.DataFrame(columns), intent_info=multitext.intent_info))
    found = ld.experiments.perturbation_contrasts(bits_of(parts, out / f"ntrex-{lm}-pilot.csv", lm)).by_kind()[
        LANGUAGES
    ]
    print("\nwindows in the orders of the pilot")
    print(found.assign(mean=found.mean(axis=1)).round(2).to_string())


def trade_off(out, lm, path=None):
    """Print the correlation of what word order and word structure are worth, over the languages with spaces."""
    texts = ld.read_multitext(DATA / "ntrex", format="moses")
    languages = texts.edition_info["language"]
    editions = [min(own, key=len) for own in languages.groupby(languages).groups.values()]  # no dialect, no revision
    chosen = [edition for edition in editions if _has_spaces(texts.sel(editions=[edition]))]
    parts = ld.split(ld.corpora.perturb(texts.sel(editions=chosen), ["shuffle", "scramble"]))
    contrasts = ld.experiments.perturbation_contrasts(bits_of(parts, out / f"trade-off-{lm}.csv", lm))
    found = contrasts.by_kind("difference").T
    if path is not None:
        draw(100 * np.expm1(found), path)
    tell(found, texts.edition_info)
    tell(found.drop(index=OF_PHRASES), texts.edition_info)


def tell(found, info):
    """Print the correlations over some languages."""
    print(f"\n{len(found)} languages with spaces")
    for what, values in (("nats", found), ("percent", 100 * np.expm1(found))):
        pearson, spearman = (values.corr(method).loc["shuffle", "scramble"] for method in ("pearson", "spearman"))
        print(f"r of shuffle with scramble, {what}: {pearson:.3f} (Spearman {spearman:.3f})")
    glottolog = read_glottolog(DATA / "glottolog", same_as={"hmn": "mww", "orm": "gaz", "sqi": "als", "uzb": "uzn"})
    tested = ld.correlate(
        found["shuffle"],
        found["scramble"].to_frame(),
        edition_info=info.loc[found.index],
        tree=glottolog,
        tests=("pearson", "phylo"),
    )
    print(tested.summary())


def draw(found, path):
    """Draw what word structure is worth against what word order is worth, in percent, the eleven languages named."""
    ax = Figure(figsize=(6, 4), layout="constrained").subplots()
    ax.scatter(found["shuffle"], found["scramble"], s=14, color="#2a6f97")
    for edition in LANGUAGES:
        ax.annotate(
            edition, found.loc[edition, ["shuffle", "scramble"]], (3, 3), textcoords="offset points", fontsize=8
        )
    ax.set(xlabel="word order: shuffle, percent more bits", ylabel="word structure: scramble, percent more bits")
    ax.figure.savefig(path)


def _has_spaces(texts):
    try:
        ld.corpora.perturb(texts, OF_WORDS[:1])
    except ConfigError:
        return False
    return True


def treebanks(lm):
    """Print what other orders of words and lemmas cost in the treebanks of PUD, for three seeds of the grammar."""
    kinds = ["forms", "head-initial", "head-final", "random-grammar", "lemmas"]
    for seed in range(3):
        found = {}
        for language in ("cs", "de", "en", "fi", "fr", "hi", "id", "ru"):
            path = DATA / "pud" / f"{language}_pud.conllu.gz"
            parts = ld.split(ld.treebanks.reorder(path, kinds if not seed else kinds[::3], name=language, seed=seed))
            costs = ld.experiments.perturbation_contrasts(
                ld.compute_surprisals(parts, lm=lm, max_replaced=1.0), clusters=None
            )
            found[language] = costs.by_kind()[language]
        table = pd.DataFrame(found)
        print(f"seed {seed}", table.assign(mean=table.mean(axis=1)).round(1).to_string(), sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm", default="kneser-ney-6")
    parser.add_argument("--languages", nargs="+", default=LANGUAGES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--trade-off", action="store_true")
    parser.add_argument("--treebanks", action="store_true", help="orders of words in PUD instead")
    parser.add_argument("--plot", type=Path, help="figure of --trade-off to write")
    parser.add_argument("--out", type=Path, default=Path("runs/perturbations"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", LangdiffWarning)  # rare characters; what a kind leaves as it is
    if options.treebanks:
        treebanks(options.lm)
        return
    if options.trade_off:
        trade_off(options.out, options.lm, options.plot)
        return
    multitext = ld.read_multitext(DATA / "ntrex", format="moses").sel(editions=options.languages)
    for seed in range(options.seeds):
        found = table_of(multitext, options.out, options.lm, seed)
        if options.lm == "kneser-ney-6" and options.languages == LANGUAGES:
            apart = found - pilot()
            print("largest difference from the pilot:", apart.abs().max(axis=1).round(2).to_dict())
            print("difference of means:", (found.mean(axis=1) - pilot().mean(axis=1)).round(2).to_dict())
    if options.languages == LANGUAGES:
        with_orders_of_the_pilot(multitext, options.out, options.lm)


if __name__ == "__main__":
    main()
