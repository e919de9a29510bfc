"""Predictors of real Bibles, PUD and NTREX, and what they have to do with morphology.

    OMP_NUM_THREADS=1 python benchmarks/predictors.py [bible] [pud] [ntrex] [--data DIR] [--out DIR]

Reads the folder LANGDIFF_DATA (../shared/data by default); some minutes on one core.
"""

import argparse
import gzip
import os
import time
from pathlib import Path

import pandas as pd
from scipy.stats import spearmanr

import langdiff as ld
from langdiff.treebanks import head_pos_entropy
from langdiff.treebanks.conllu import read_conllu

FEATURES = ["22A", "26A", "81A"]
PUD_LANGUAGES = {"zh": "cmn"}  # the two-letter codes of the others need no help
PUBLISHED = {
    "bibles": [
        ("word_types", "word_types"),
        ("type_token_ratio", "type_token_ratio"),
        ("unigram_entropy", "unigram_entropy"),
        ("characters", "char_tokens"),
        ("word_types", "difficulty_bpe"),
        ("word_types", "difficulty_char"),
        ("compression_bits_per_intent", "difficulty_bpe"),
        ("compression_bits_per_intent", "difficulty_char"),
    ],
    "europarl": [
        ("word_types", "word_types"),
        ("word_types", "mcc"),
        ("hpe_mean", "hpe_mean"),
        ("dependency_length", "adl"),
        ("dependency_length_function", "adl"),  # the paper's function words are heads
        ("hpe_mean_types", "hpe_mean"),
        ("hpe_skew", "hpe_skew"),
        ("hpe_skew_types", "hpe_skew"),
    ],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", default=["bible", "pud", "ntrex"])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LANGDIFF_DATA", "../shared/data")))
    parser.add_argument("--out", type=Path, default=Path("predictors"))
    arguments = parser.parse_args()
    if not (arguments.data / "bible").is_dir():
        print(f"no real data: {arguments.data / 'bible'} does not exist (set LANGDIFF_DATA)")
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.corpora:
        multitext, treebanks = READERS[name](arguments.data / name)
        print(f"\n== {name}: {multitext!r}", flush=True)
        start = time.perf_counter()
        result = ld.predictors(multitext, treebanks=treebanks, wals=arguments.data / "wals", features=FEATURES)
        print(f"{time.perf_counter() - start:.0f} s\n{result.summary()}\n")
        table = result.to_frame().sort_values("word_types")
        table.to_csv(arguments.out / f"{name}.csv")
        print(table.round(4).to_string(), "\n")
        _by_category(table)
        _correlations(result.values.select_dtypes("number"))
        if treebanks is not None:
            table = table.join(_other_measures(treebanks))
        _against_published(table, arguments.data)
        if name == "pud":
            _entropy_by_size(arguments.data / "ud")


def _bibles(folder: Path) -> tuple[ld.Multitext, None]:
    bibles = ld.read_multitext(folder)
    new_testament = bibles.sel(intents=[verse for verse in bibles.intents if int(verse[:2]) >= 40])
    return ld.select(new_testament, min_intents=6000).multitext.dropna(), None


def _pud(folder: Path) -> tuple[ld.Multitext, Path]:
    texts = {}
    for path in sorted(folder.glob("*.conllu.gz")):
        code = path.name[:2]
        texts[PUD_LANGUAGES.get(code, code) + "_pud"] = dict(_sentences(path))
    frame = pd.DataFrame(texts)
    info = pd.DataFrame({"language": [name[:-4] for name in frame]}, index=frame.columns)
    return ld.read_frame(frame, edition_info=info).dropna(), folder


def _sentences(path: Path) -> list[tuple[str, str]]:
    ids, texts = [], []
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            key, _, value = line.rstrip("\n").partition(" = ")
            if key == "# sent_id":
                ids.append(value)
            elif key == "# text":
                texts.append(value)
    return list(zip(ids, texts, strict=True))


def _ntrex(folder: Path) -> tuple[ld.Multitext, None]:
    texts = {}
    for path in sorted(folder.glob("*.txt.gz")):
        name = path.name.removesuffix(".txt.gz")
        if name[3:4] != "-" or name == "aze-Latn":  # one edition per language
            with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
                texts[name] = stream.read().removesuffix("\n").split("\n")
    texts.pop("spa_ref2", None)
    return ld.read_frame(pd.DataFrame(texts)), None


def _other_measures(folder: Path) -> pd.DataFrame:
    """Return what `predictors` leaves out: function words as heads, head-POS entropy over types."""
    paths = {path.name[:2]: path for path in sorted(folder.glob("*.conllu.gz"))}
    table = ld.measure_treebanks(
        {PUD_LANGUAGES.get(code, code) + "_pud": path for code, path in paths.items()}, over="types"
    ).table
    entropies = table[["hpe_mean", "hpe_skew"]].add_suffix("_types")
    return entropies.join(table["dependency_length_function"])


def _entropy_by_size(folder: Path) -> None:
    """Print head-POS entropy of the English treebanks together and of parts of them."""
    trees = [tree for path in sorted(folder.glob("en_*.conllu.gz")) for tree in read_conllu(path)]
    for step in (16, 4, 1):
        for over in ("tokens", "types"):
            print(f"every {step}. sentence:", head_pos_entropy(trees[::step], over=over))


READERS = {"bible": _bibles, "pud": _pud, "ntrex": _ntrex}


def _by_category(table: pd.DataFrame) -> None:
    columns = ["word_types", "type_token_ratio", "unigram_entropy", "compression_bits_per_intent"]
    of_language = (
        table.dropna(subset=columns)
        .groupby("language")
        .agg({**dict.fromkeys(columns, "mean"), **dict.fromkeys(FEATURES, "first")})
    )
    for feature in FEATURES:
        groups = of_language.groupby(feature, observed=True)[columns]
        print(groups.median().assign(languages=groups.size()).round(4).to_string(), "\n")


def _correlations(numbers: pd.DataFrame) -> None:
    print("Spearman, over editions with both:")
    print(numbers.corr(method="spearman").round(2).to_string(), "\n")


def _against_published(table: pd.DataFrame, data: Path) -> None:
    """Compare with figures published for other texts: whole Bibles, and Europarl."""
    ours = table.groupby("language").mean(numeric_only=True)
    for corpus, pairs in PUBLISHED.items():
        published = pd.read_csv(data / "mielke2019" / f"{corpus}.csv")
        published["type_token_ratio"] = published["word_types"] / published["word_tokens"]
        published = published.groupby("iso639_3").mean(numeric_only=True)
        for one, other in pairs:
            if one in ours:
                both = pd.concat([ours[one], published[other]], axis=1, join="inner").dropna()
                rho = spearmanr(both.iloc[:, 0], both.iloc[:, 1])
                figures = f"Spearman {rho.statistic:.3f} (p {rho.pvalue:.2g}), {len(both)} languages"
                print(f"{one} and {other} published for {corpus}: {figures}")


if __name__ == "__main__":
    main()
