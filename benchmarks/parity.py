"""Parity of FLORES-200: premiums of bytes, characters and tokens, information parity, and what difficulty explains.

    python benchmarks/parity.py                    # study C: FLORES-200, 164 editions, 6-grams
    python benchmarks/parity.py --every 4          # the same with a quarter of the editions
    python benchmarks/parity.py --only sizes       # bytes and characters, and the published figures beside them
    python benchmarks/parity.py --only symmetry    # NTREX: the published information parity, there and back

The texts are read from LANGDIFF_DATA. Language models are cached in --cache.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from curves import spearman_interval

import langdiff as ld
from langdiff.base.suspicion import SUSPICIONS
from langdiff.datasets import byte_premium2024, goldfish2024, tokenization_lengths2023

TOKENIZERS = ["cl100k_base", "XLM-RoBERTa", "BLOOM", "NLLB", "mT5"]
SHOWN = ["eng_Latn", "deu_Latn", "fin_Latn", "rus_Cyrl", "hin_Deva", "zho_Hans", "tha_Thai", "mya_Mymr", "shn_Mymr"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=os.environ.get("LANGDIFF_DATA", "../shared/data"))
    parser.add_argument("--only", choices=["sizes", "difficulty", "symmetry"])
    parser.add_argument("--lm", default="kneser-ney-6")
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--every", type=int, default=1, help="Take every n-th edition, and those shown.")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, study in (("sizes", sizes), ("difficulty", difficulty), ("symmetry", symmetry)):
        if arguments.only in (None, name):
            start = time.process_time()
            study(arguments)
            print(f"[{name}: {time.process_time() - start:.0f} s of processor time]\n")


def sizes(arguments):
    flores = ld.read_multitext(arguments.data / "flores200", format="moses", nfc=False, trust=SUSPICIONS)
    parity = ld.measure_parity(flores, reference="eng_Latn")
    print("| edition | bytes | characters | byte premium | character premium | bytes per character |")
    print("|---|---:|---:|---:|---:|---:|")
    shown = [name for name in SHOWN if name in parity.totals.index]
    for name, row in parity.to_frame().loc[shown].iterrows():
        print(
            f"| {name} | {row['bytes']:,.0f} | {row['characters']:,.0f} | {row['byte_premium']:.3f} "
            f"({row['byte_premium_low']:.3f} to {row['byte_premium_high']:.3f}) | {row['character_premium']:.3f} "
            f"({row['character_premium_low']:.3f} to {row['character_premium_high']:.3f}) | "
            f"{row['bytes_per_character']:.3f} |"
        )
    counts = tokenization_lengths2023().figures.loc[parity.totals.index]
    for model, what in (("ByT5", "bytes"), ("CANINE", "characters")):
        differ = counts.index[counts[model] != parity.totals[what] + 2010]
        print(f"{model} = {what} + 2,010 in all of {len(counts)} editions but {list(differ)}")
    premium = parity.estimates["byte_premium"].rename(str.lower)
    published = byte_premium2024().figures.loc[premium.index]
    off = (premium - published["byte_coef_flores_2000lines"]).abs()
    print(
        f"published premiums of FLORES: median difference {off.median():.4f}, largest {off.max():.4f} ({off.idxmax()})"
    )
    ratio = np.log(published["byte_coef"] / premium).dropna()
    print(f"the tool's default (mined text): median ratio {np.exp(ratio.median()):.3f}, most apart")
    for name in ratio.abs().sort_values(ascending=False).index[:6]:
        print(f"| {name} | {published.loc[name, 'byte_coef']:.2f} | {premium[name]:.2f} |")


def surprisals_of(folder, arguments):
    multitext = ld.read_multitext(folder, format="moses", trust=SUSPICIONS).dropna()
    kept = set(multitext.editions[:: arguments.every]) | set(SHOWN) | {"eng"}
    parts = ld.split(multitext.sel(editions=[name for name in multitext.editions if name in kept]))
    return parts, ld.compute_surprisals(
        parts, lm=arguments.lm, seed=0, max_replaced=1.0, cache=arguments.cache and arguments.cache / folder.name
    )


def difficulty(arguments):
    parts, surprisals = surprisals_of(arguments.data / "flores200", arguments)
    print(f"{arguments.lm} of FLORES-200: {parts.summary()}")
    fit = ld.fit(surprisals)
    parity = ld.measure_parity(parts.test, reference="eng_Latn", surprisals=surprisals)
    lengths = tokenization_lengths2023().figures.loc[parity.estimates.index]
    table = np.log(parity.estimates[["byte_premium", "character_premium", "bytes_per_character"]])
    for name in TOKENIZERS:
        table[f"token_premium_{name}"] = np.log(lengths[name] / lengths.loc["eng_Latn", name])
    goldfish = goldfish2024().figures
    own = goldfish[goldfish["goldfish_used"] == goldfish.index].filter(like="goldfish_").select_dtypes("number")
    sources = {arguments.lm: fit.difficulty}
    for size in ("goldfish_5mb", "goldfish_1000mb"):
        bits = np.log(own[size]).dropna()
        bits = bits.set_axis([_edition(name) for name in bits.index])
        sources[size] = bits[bits.index.intersection(table.index)]
    language = pd.DataFrame({"language": table.index}, index=table.index)  # one edition per language and script
    tests = ld.correlate(sources, table, tests=["spearman"], edition_info=language)
    wide = tests.tests.pivot(index="predictor", columns="language_model", values=["estimate", "low", "high", "n"])
    print("| predictor | " + " | ".join(sources) + " |")
    print("|---|" + "---:|" * len(sources))
    for name in table:
        cells = [
            f"{wide.loc[name, ('estimate', lm)]:.2f} ({wide.loc[name, ('low', lm)]:.2f} to "
            f"{wide.loc[name, ('high', lm)]:.2f})"
            for lm in sources
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print("numbers of editions:", {lm: int(wide[("n", lm)].iloc[0]) for lm in sources})
    print_agreement(fit.difficulty, own)
    ip = parity.estimates.filter(like="information_parity")
    print(ip.loc[[name for name in SHOWN if name in ip.index]].round(3).to_string())
    gap = (ip["information_parity"] / ip["information_parity_model"] - 1).drop("eng_Latn")
    print(
        f"published over model: median {100 * gap.median():+.1f} %, from {100 * gap.min():+.1f} % to "
        f"{100 * gap.max():+.1f} %"
    )


def print_agreement(difficulty, own):
    """Print rank correlations of difficulties with published log bits, by which sizes of models a language has."""
    own = np.log(own.set_axis([_edition(name) for name in own.index])).reindex(difficulty.index)
    complete, some = own.notna().all(axis=1), own["goldfish_5mb"].notna()
    groups = {
        "all four sizes": dict.fromkeys(own, complete),
        "all that have this size": {size: own[size].notna() for size in own},
        "5 MB, but not all sizes": {"goldfish_5mb": some & ~complete},
    }
    print("| languages with a model of their own | " + " | ".join(own) + " |")
    for words, kept in groups.items():
        cells = []
        for size in own:
            if size not in kept:
                cells.append("")
                continue
            one, other = difficulty[kept[size]].to_numpy(), own.loc[kept[size], size].to_numpy()
            found = spearman_interval(one, other, np.random.default_rng(0))
            cells.append(f"{found[0]:.2f} ({found[1]:.2f} to {found[2]:.2f}), n = {len(one)}")
        print(f"| {words} | " + " | ".join(cells) + " |")


def _edition(name):
    language, script = name.split("_")
    return f"{language}_{script.title()}"


def symmetry(arguments):
    _, surprisals = surprisals_of(arguments.data / "ntrex", arguments)
    bits = surprisals.bits
    reference = next(name for name in bits if name.startswith("eng"))
    there = (bits[[reference]].to_numpy() / bits).mean()
    back = bits.div(bits[reference], axis=0).mean()
    excess = 100 * (there * back - 1).drop(reference)
    print(f"NTREX, {arguments.lm}, reference {reference}, {bits.shape[0]} test intents, {bits.shape[1]} editions:")
    print(f"IP there and back - 1: median {excess.median():.1f} %, at most {excess.max():.1f} % ({excess.idxmax()})")


if __name__ == "__main__":
    main()
