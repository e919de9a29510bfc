"""What is the language's own: shares of the variance of difficulties over corpora, learners and sizes.

    OMP_NUM_THREADS=1 python benchmarks/difficulty_study.py [--out runs/difficulty-study]
        [--networks char-residual-quick bpe-residual-quick] [--seeds 2]

New Testaments, NTREX, FLORES-200 and PUD, languages joined by glottocode, character n-grams and PPMd. With --networks
these recipes, too, for the languages of the first three: some 10 to 20 s of one core per edition at the larger size.
Bits and models are kept under --out, and an interrupted run goes on. Reads the folder LANGDIFF_DATA (../shared/data
by default).
"""

import argparse
import gzip
import os
import re
import warnings
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
from typology_bibles import in_step, shared_verses

import langdiff as ld
from langdiff.corpora.edition_info import representative
from langdiff.errors import LangdiffWarning
from langdiff.experiments.curves import nested_parts
from langdiff.lm.baselines import ppmd_bits
from langdiff.typology import read_glottolog
from langdiff.typology.association.related import fit_related, interval_of_share

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
SAME_AS = {
    "hmn": "mww", "orm": "gaz", "syr": "syc", "mon": "khk", "uzb": "uzn", "grn": "gug", "sqi": "als",
}  # fmt: skip
SIZES = {"nt": (325, 1300), "ntrex": (325, 1300), "flores200": (325, 1300), "pud": (325, 650)}
MAIN = ("nt", "ntrex", "flores200")  # PUD has few languages, and half the sentences
# other editions and other scripts of the same texts; the second is compared with the first
SAME_LANGUAGE = {
    "nt": [
        ("eng-kjv", "eng-web"), ("eng-kjv", "eng-bbe"), ("deu-luther1912", "deu-menge1939"),
        ("fra-darby1885", "fra-segond1910"), ("spa-rv1909", "spa-sagradas1569"),
    ],
    "ntrex": [("spa", "spa_ref2")],
    "flores200": [
        ("arb_Arab", "arb_Latn"), ("taq_Latn", "taq_Tfng"), ("kas_Arab", "kas_Deva"), ("zho_Hans", "zho_Hant"),
    ],
}  # fmt: skip
BY_HAND = {"eng-bbe": "simplified"}  # 850 words
NGRAMS = ("kneser-ney-6", "kneser-ney-10")


@cache
def corpora():
    """Return the division of each corpus by name, without what is out of step with the other editions."""
    chosen, _ = shared_verses(in_step())
    found = {"nt": ld.split(chosen.map_text(ld.tokenize), dev=1, test=2)}
    for name in MAIN[1:]:
        texts = ld.read_multitext(DATA / name, format="moses", trust=["recoded"])  # letters in Indonesian FLORES-200
        found[name] = ld.split(ld.corpora.check_alignment(texts).applied(texts).dropna().map_text(ld.tokenize))
    return found | {"pud": parts_of_pud()}


@cache
def parts_of_pud():
    """Return the division of the texts of the parallel treebanks, aligned by the names of sentences."""
    codes = dict(
        re.findall(r"^\| (\w\w) \| (\w{3}) \|", (DATA / "pud" / "README.md").read_text(encoding="utf-8"), re.M)
    )
    texts = {}
    for code in codes:
        lines = gzip.decompress((DATA / "pud" / f"{code}_pud.conllu.gz").read_bytes()).decode()
        found = re.findall(r"^# (sent_id|text) = (.*)$", lines, re.M)
        names = [value for key, value in found if key == "sent_id"]
        texts[code] = pd.Series([value for key, value in found if key == "text"], index=names)
    info = pd.DataFrame({"language": pd.Series(codes)})
    sentences = ld.read_frame(pd.DataFrame(texts), edition_info=info.loc[list(texts)])
    return ld.split(sentences.dropna().map_text(ld.tokenize))


def glottocodes(parts, glottolog):
    """Return the glottocode of the edition that stands for each language: the nearest to 1900, or the shortest name."""
    info = parts.train.edition_info
    codes = info["language"].map(glottolog.find(info["language"].unique())).dropna()
    if "year" not in info:
        return codes[sorted(min(own, key=len) for own in codes.groupby(codes).groups.values())]
    marked = pd.Series(BY_HAND, info.index, dtype=object)
    stands = representative(info.assign(glottocode=codes, marked=marked).loc[codes.index])
    return codes[stands].sort_index()


def compute(out, networks=(), seeds=1):
    """Return the table of each corpus, learner and size, and the glottocode of its editions."""
    glottolog = read_glottolog(DATA / "glottolog", same_as=SAME_AS)
    tables, languages, cuts = {}, {}, {}
    parts_of = corpora()
    codes = {name: glottocodes(parts, glottolog) for name, parts in parts_of.items()}
    counts = pd.concat(list(codes.values())).value_counts()
    for name, parts in parts_of.items():
        wanted = codes[name][codes[name].isin(counts.index[counts > 1])]
        languages |= {f"{name}:{edition}": code for edition, code in wanted.items()}
        parts = parts.sel(list(wanted.index))
        cuts[name], _ = nested_parts(parts, SIZES[name], "intents", np.random.default_rng(0))
        for size, some in cuts[name].items():
            for lm in NGRAMS:
                tables[f"{name}/{lm}/{size}"] = _kept(out, name, lm, size, some)
            tables[f"{name}/ppmd/{size}"] = _compressed(out, name, size, some)
    counts = pd.concat([codes[name] for name in MAIN]).value_counts()
    everywhere = counts.index[counts == len(MAIN)]
    for seed, larger, lm, name in product(range(seeds), (True, False), networks, MAIN):
        wanted = codes[name][codes[name].isin(everywhere)]
        size = SIZES[name][larger]
        end = f"/{seed}" if seed else ""
        tables[f"{name}/{lm}/{size}{end}"] = _kept(out, name, lm, size, cuts[name][size].sel(list(wanted.index)), seed)
    return tables, languages


def contrasts(out):
    """Return what another edition of a language costs in the same corpus, in nats, one row per pair."""
    rows = []
    for corpus, parts in corpora().items():
        pairs = SAME_LANGUAGE.get(corpus, [])
        editions = sorted({edition for pair in pairs for edition in pair})
        if not editions:
            continue
        some, _ = nested_parts(parts.sel(editions), SIZES[corpus], "intents", np.random.default_rng(0))
        table = _kept(out, corpus, NGRAMS[0], "editions", some[1300])
        fit = ld.fit(table, model="1")
        for one, other in pairs:
            found = fit.contrast(f"{corpus}:{other}", f"{corpus}:{one}")
            rows.append({"pair": f"{one} → {other}", "nats": found.estimate, "std_error": found.std_error})
    return pd.DataFrame(rows).set_index("pair")


def _named(table, corpus):
    return table.rename(columns=lambda edition: f"{corpus}:{edition}")


def _kept(out, corpus, lm, size, parts, seed=0):
    path = out / f"{corpus}-{lm}-{size}{f'-{seed}' if seed else ''}.csv"
    if not path.exists():
        cache = None if lm in NGRAMS else out / "models"
        ld.compute_surprisals(parts, lm=lm, max_replaced=1.0, seed=seed, cache=cache).save(path)
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
    rows = [(*name.split("/"), "0")[:4] for name in tables]
    return pd.DataFrame(rows, columns=["corpus", "lm", "size", "seed"], index=list(tables))


# the rows of the page: which corpora, learners and sizes
ROWS = (
    (("nt", "ntrex", "flores200"), ("kneser-ney-6", "ppmd"), (325, 1300)),
    (("ntrex", "flores200"), ("kneser-ney-6", "ppmd"), (325, 1300)),
    (("nt", "ntrex", "flores200"), ("kneser-ney-6",), (1300,)),
    (("ntrex", "flores200"), ("kneser-ney-6",), (1300,)),
    (("nt", "ntrex", "flores200"), ("kneser-ney-6", "kneser-ney-10", "ppmd"), (1300,)),
    (("ntrex", "flores200"), ("kneser-ney-6", "kneser-ney-10", "ppmd"), (1300,)),
)


def report(tables, languages, networks=(), seeds=1):
    """Print the shares of each row, and of some the correlations of corpora and how many pairs of languages differ.

    Of several seeds the first stands for all, but for a last row of networks with all of their seeds.
    """
    rows = [*ROWS, ((*MAIN, "pud"), ("kneser-ney-6",), (325,))]
    if networks:
        rows.append((MAIN, (*NGRAMS, "ppmd", *networks), (325, 1300)))
        rows += [(names, ("kneser-ney-6", "ppmd", *networks), (1300,)) for names in (MAIN, MAIN[1:])]
    for number, (corpora_, learners, sizes) in enumerate(rows):
        names = [f"{corpus}/{lm}/{size}" for corpus in corpora_ for lm in learners for size in sizes]
        some = {name: tables[name] for name in names}
        found = ld.difficulty_shares(some, languages=languages, facets=facets_of(some))
        print(f"\n== {', '.join(corpora_)}; {', '.join(learners)}; {sizes}\n{found.summary()}", flush=True)
        if number == 0 or number >= len(ROWS):
            print(found.correlations.round(3).to_string())
            pairs = found.stable.pairs().to_frame()
            print(f"{int((pairs['p_adjusted'] < 0.05).sum())} of {len(pairs)} pairs of languages differ")
            agreement(found)
    if seeds > 1:
        some = {name: table for name, table in tables.items() if name.split("/")[1] in networks}
        found = ld.difficulty_shares(some, languages=languages, facets=facets_of(some))
        print(f"\n== {', '.join(MAIN)}; {', '.join(networks)}; {seeds} seeds\n{found.summary()}", flush=True)
        d = found.difficulties
        r = [d[name].corr(d[f"{name}/{seed}"]) for name in some if name.count("/") == 2 for seed in range(1, seeds)]
        print(f"first with other seeds: r {min(r):.3f} to {max(r):.3f}")


def agreement(found):
    """Print correlations of learners within a corpus, at one size."""
    lm = found.facets.get("lm", pd.Series("one learner", found.facets.index))
    alike = [name for name in found.facets if name not in ("lm", "seed")]
    correlations = found.difficulties.corr()
    for one, other in combinations(sorted(set(lm)), 2):
        values = [
            correlations.at[a, b]
            for a, b in product(lm.index[lm == one], lm.index[lm == other])
            if found.facets.loc[a, alike].equals(found.facets.loc[b, alike])
        ]
        print(f"{one} with {other} within a corpus: r {min(values):.3f} to {max(values):.3f}")


def kinship(tables, languages):
    """Print what the stable part of two corpora, and what a corpus changes, has to do with predictors and kinship."""
    glottolog = read_glottolog(DATA / "glottolog", same_as=SAME_AS)
    corpora_, learners, sizes = ROWS[1]
    wanted = [f"{corpus}/{lm}/{size}" for corpus in corpora_ for lm in learners for size in sizes]
    some = {name: tables[name] for name in wanted}
    found = ld.difficulty_shares(some, languages=languages, facets=facets_of(some))
    known = predictors_of(languages).loc[found.difficulties.index]
    info = pd.DataFrame({"language": known.index}, index=known.index)
    for only, given in ((["word_types", "characters"], ()), (["word_types"], "script"), (["characters"], "script")):
        options = {"only": only, "given": given, "edition_info": info, "tree": glottolog, "tests": ("phylo",)}
        print(ld.correlate(found.stable, known, **options).summary())
    covariance = glottolog.covariance(list(known.index)).to_numpy()
    means = found.difficulties.T.groupby(found.facets["corpus"]).mean().T
    half = (means[corpora_[0]] - means[corpora_[1]]) / 2
    for what, values in (("the stable part", means.mean(axis=1)), ("what a corpus changes", half)):
        y = ((values - values.mean()) / values.std()).to_numpy()
        fit = fit_related(np.ones((len(y), 1)), y, covariance, None)
        low, high = interval_of_share(np.ones((len(y), 1)), y, fit, "phylo")
        print(f"λ of {what}, {len(y)} languages: {fit.share('phylo'):.2f} ({low:.2f} to {high:.2f})")


def predictors_of(languages):
    """Return predictors of the training sentences of NTREX, and scripts as FLORES-200 names them, by glottocode."""
    parts = corpora()["ntrex"].train
    codes = pd.Series({name.split(":")[1]: code for name, code in languages.items() if name.startswith("ntrex:")})
    found = ld.predictors(parts.sel(editions=list(codes.index)), tokenized=True).to_frame()
    scripts = {code: name.split("_")[-1] for name, code in languages.items() if name.startswith("flores200:")}
    found = found[["word_types", "characters"]].set_axis(codes.loc[found.index], axis=0)
    return found.assign(script=pd.Series(scripts)).dropna(subset="script")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/difficulty-study"))
    parser.add_argument("--networks", nargs="+", default=[], metavar="RECIPE")
    parser.add_argument("--seeds", type=int, default=1, help="of the networks")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters, spaces
        tables, languages = compute(options.out, options.networks, options.seeds)
    print("other editions of the same texts\n", contrasts(options.out).round(4).to_string(), sep="")
    print(len(tables), "tables,", len(set(languages.values())), "languages")
    report(tables, languages, options.networks, options.seeds)
    kinship(tables, languages)


if __name__ == "__main__":
    main()
