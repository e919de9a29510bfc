"""What is the language's own: shares of the variance of difficulties over corpora, learners and sizes.

    OMP_NUM_THREADS=1 python benchmarks/difficulty_study.py [--out runs/difficulty-study]
        [--networks char-residual-quick bpe-residual-quick]

New Testaments, NTREX and FLORES-200, languages joined by glottocode, character n-grams and PPMd. With --networks these
recipes, too, for the languages of all three corpora and the larger size: some 10 to 20 s of one core per edition. Bits
and models are kept under --out, and an interrupted run goes on. Reads the folder LANGDIFF_DATA (../shared/data by
default).
"""

import argparse
import os
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from typology_bibles import in_step, shared_verses

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.experiments.curves import nested_parts
from langdiff.lm.baselines import ppmd_bits
from langdiff.typology import read_glottolog

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
SAME_AS = {
    "hmn": "mww", "orm": "gaz", "syr": "syc", "mon": "khk", "uzb": "uzn", "grn": "gug", "sqi": "als",
}  # fmt: skip
SIZES = {"nt": (325, 1300), "ntrex": (325, 1300), "flores200": (325, 1300)}
NGRAMS = ("kneser-ney-6", "kneser-ney-10")


def corpora():
    """Yield the name and the division of each corpus, without what is out of step with the other editions."""
    chosen, _ = shared_verses(in_step())
    yield "nt", ld.split(chosen.map_text(ld.tokenize), dev=1, test=2)
    for name in ("ntrex", "flores200"):
        texts = ld.read_multitext(DATA / name, format="moses")
        yield name, ld.split(ld.corpora.check_alignment(texts).applied(texts).dropna().map_text(ld.tokenize))


def glottocodes(parts, glottolog):
    """Return the glottocode of the first edition of each language."""
    languages = parts.train.edition_info["language"]
    known = glottolog.find(languages.unique())
    return languages.map(known).dropna().sort_index().drop_duplicates()


def compute(out, networks=()):
    """Return the table of each corpus, learner and size, and the glottocode of its editions."""
    glottolog = read_glottolog(DATA / "glottolog", same_as=SAME_AS)
    tables, languages = {}, {}
    parts_of = dict(corpora())
    codes = {name: glottocodes(parts, glottolog) for name, parts in parts_of.items()}
    counts = pd.concat(list(codes.values())).value_counts()
    for name, parts in parts_of.items():
        wanted = codes[name][codes[name].isin(counts.index[counts > 1])]
        languages |= {f"{name}:{edition}": code for edition, code in wanted.items()}
        parts = parts.sel(list(wanted.index))
        cut, _ = nested_parts(parts, SIZES[name], "intents", np.random.default_rng(0))
        for size, some in cut.items():
            for lm in NGRAMS:
                tables[f"{name}/{lm}/{size}"] = _kept(out, name, lm, size, some)
            tables[f"{name}/ppmd/{size}"] = _compressed(out, name, size, some)
        parts_of[name] = cut[max(SIZES[name])]
    everywhere = counts.index[counts == len(parts_of)]
    for lm, name in product(networks, parts_of):
        wanted = codes[name][codes[name].isin(everywhere)]
        size = max(SIZES[name])
        tables[f"{name}/{lm}/{size}"] = _kept(out, name, lm, size, parts_of[name].sel(list(wanted.index)))
    return tables, languages


def _named(table, corpus):
    return table.rename(columns=lambda edition: f"{corpus}:{edition}")


def _kept(out, corpus, lm, size, parts):
    path = out / f"{corpus}-{lm}-{size}.csv"
    if not path.exists():
        cache = None if lm in NGRAMS else out / "models"
        ld.compute_surprisals(parts, lm=lm, max_replaced=1.0, seed=0, cache=cache).save(path)
        print(path.stem, flush=True)
    table = ld.read_surprisals(path)
    characters = _named(table.characters, corpus)
    return ld.Surprisals(bits=_named(table.bits, corpus), characters=characters, intent_info=table.intent_info, lm=lm)


def _compressed(out, corpus, size, parts):
    path = out / f"{corpus}-ppmd-{size}.csv"
    if not path.exists():
        bits = {
            f"{corpus}:{edition}": ppmd_bits(list(parts.train.text(edition)), list(parts.test.text(edition)))
            for edition in parts.train.editions
        }
        pd.Series(bits, name="bits").to_csv(path, index_label="edition")
        print(path.stem, flush=True)
    return pd.read_csv(path, index_col="edition")["bits"]


def facets_of(tables):
    """Return corpus, language model and size of each table, from its name."""
    rows = [name.split("/") for name in tables]
    return pd.DataFrame(rows, columns=["corpus", "lm", "size"], index=list(tables))


# the rows of the page: which corpora, learners and sizes
ROWS = (
    (("nt", "ntrex", "flores200"), ("kneser-ney-6", "ppmd"), (325, 1300)),
    (("ntrex", "flores200"), ("kneser-ney-6", "ppmd"), (325, 1300)),
    (("nt", "ntrex", "flores200"), ("kneser-ney-6",), (1300,)),
    (("ntrex", "flores200"), ("kneser-ney-6",), (1300,)),
    (("nt", "ntrex", "flores200"), ("kneser-ney-6", "kneser-ney-10", "ppmd"), (1300,)),
    (("ntrex", "flores200"), ("kneser-ney-6", "kneser-ney-10", "ppmd"), (1300,)),
)


def report(tables, languages, networks=()):
    """Print the shares of each row, and of the first one correlations and the number of pairs that differ."""
    further = [(names, ("kneser-ney-6", "ppmd", *networks), (1300,)) for names in (ROWS[0][0], ROWS[1][0]) if networks]
    for number, (corpora_, learners, sizes) in enumerate((*ROWS, *further)):
        wanted = {f"{corpus}/{lm}/{size}" for corpus in corpora_ for lm in learners for size in sizes}
        some = {name: table for name, table in tables.items() if name in wanted}
        found = ld.difficulty_shares(some, languages=languages, facets=facets_of(some))
        print(f"\n== {', '.join(corpora_)}; {', '.join(learners)}; {sizes}\n{found.summary()}", flush=True)
        if number == 0:
            print(found.correlations.round(3).to_string())
            pairs = found.stable.pairs().to_frame()
            print(f"{int((pairs['p_adjusted'] < 0.05).sum())} of {len(pairs)} pairs of languages differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/difficulty-study"))
    parser.add_argument("--networks", nargs="+", default=[], metavar="RECIPE")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters, spaces
        tables, languages = compute(options.out, options.networks)
    print(len(tables), "tables,", len(set(languages.values())), "languages")
    report(tables, languages, options.networks)


if __name__ == "__main__":
    main()
