"""Treebanks: how metrics answer to errors, which settings tell treebanks from noise, and speed.

    python benchmarks/treebanks.py [DATA] [--repeats 3] [--sentences 100000] [--out FIGURE] [--scores] [--words]

DATA is a folder with `ud/*.conllu.gz`, by default LANGDIFF_DATA (../shared/data without it). Prints the divergence of
perturbed copies of one treebank; for settings of Depth the mean divergence of four English treebanks, subsamples of
equal words, over that of random halves of each; and the time and memory of a treebank of so many sentences (the same
files several times over). With `--scores` only the share of documents of `pud/*.conllu.gz` that score higher than with
their words in random order, under the treebank without the document. With `--words` only the words that
noise of .1 needs, as planned from whole treebanks and from halves, quarters and eighths of them.
"""

import argparse
import gzip
import itertools
import os
import re
import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import langdiff as ld
from langdiff.treebanks import SimilaritySettings, perturbation_curve
from langdiff.treebanks.conllu import Tree, read_trees
from langdiff.treebanks.measures import ShapeCounts
from langdiff.treebanks.perturbation import perturb

ENGLISH = ("en_ewt", "en_gum", "en_lines", "en_partut")


def errors(banks, repeats, out):
    """Perturb one treebank at several rates; compare a copy with other treebanks."""
    source = banks["en_ewt"]
    curve = perturbation_curve(source, n_repeats=repeats, seed=0)
    print(curve.summary(), "\n")
    if out:
        figure = Figure(figsize=(12, 3.8), layout="constrained")
        for kind, ax in zip(("relations", "heads", "order"), figure.subplots(1, 3, sharey=True), strict=True):
            curve.plot(kind, ax)
        figure.savefig(out)
    copies = {f"{kind} 10 %": perturb(source, 0.1, kind=kind, seed=0) for kind in ("relations", "heads", "order")}
    row = ld.compare_treebanks(banks | copies, noise=False).divergence["mean"].loc["en_ewt"]
    print("Mean divergence from en_ewt, nearest first\n", row.drop("en_ewt").sort_values().round(4).to_string(), "\n")


def words(banks, repeats):
    """Plan from parts of the treebanks what is known from the whole."""
    for settings in (SimilaritySettings(), SimilaritySettings(levels="context", ancestors=1)):
        for part in (1, 2, 4, 8):
            rng = np.random.default_rng(part)
            own = [bank.take(np.sort(rng.permutation(bank.sentences)[::part])) for bank in banks.values()]
            result = ld.compare_treebanks(own, settings=settings, n_repeats=repeats, seed=part)
            try:
                plan = result.words_needed(0.1)[["words", "noise", "exponent", "words_needed"]].round(3).T.to_string()
            except ld.errors.DataError as error:
                plan = str(error)
            print(f"levels={settings.levels}, one part in {part}", plan, "", sep="\n")


def settings_of_depth(banks, repeats):
    """Say how far above noise Depth tells treebanks apart."""
    rows = []
    apart = ~np.eye(len(banks), dtype=bool)
    for levels, ancestors in itertools.product(("separate", "pooled", "context"), (0, 1, 2)):
        settings = SimilaritySettings(levels=levels, ancestors=ancestors)
        result = ld.compare_treebanks(banks, settings=settings, equalize="tokens", n_repeats=repeats, seed=0)
        between, halves = result.divergence["depth"].to_numpy()[apart].mean(), result.noise["depth"].mean()
        rows.append((levels, ancestors, between, halves, between / halves))
    columns = ["levels", "ancestors", "between", "halves", "ratio"]
    print("Depth\n", pd.DataFrame(rows, columns=columns).round(3).to_string(index=False), "\n")


def speed(files, sentences):
    """Read and compare one large treebank."""
    once = sum(ld.read_treebank(file).sentences for file in files)
    before = time.process_time()
    bank = ld.read_treebank(files * -(-sentences // once), name="large")
    read = time.process_time()
    half = bank.take(np.arange(bank.sentences // 2))
    ld.compare_treebanks({"all": bank, "half": half}, noise=False)
    compared = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{bank}: read in {read - before:.0f} s of CPU, compared with its half in {compared - read:.0f} s;")
    print(f"{memory:.0f} MB at most")


def shuffled(tree, rng):
    """Let the words of a tree change places; each keeps its label and its head."""
    order = rng.permutation(len(tree))
    places = {0: 0} | {word + 1: place for place, word in enumerate(order, start=1)}
    columns = ([column[word] for word in order] for column in (tree.forms, tree.upos, tree.heads, tree.deprels))
    forms, upos, heads, deprels = map(tuple, columns)
    return Tree(forms, upos, tuple(places[head] for head in heads), deprels)


def scores(files):
    """Score documents and the same with words in random order, by the other documents of their treebank."""
    rows = []
    for file in files:
        documents = {}
        names = re.findall(r"^# sent_id = (\w+)\d{3}$", gzip.decompress(file.read_bytes()).decode(), flags=re.MULTILINE)
        for name, tree in zip(names, read_trees(file), strict=True):  # the last three digits number the sentences
            documents.setdefault(name, []).append(tree)
        counts, rng = ShapeCounts(read_trees(file)), np.random.default_rng(0)
        lower = []
        for trees in documents.values():
            own = ShapeCounts(trees)
            pairs = [(shuffled(tree, rng), tree) for tree in trees]
            lower.append([tuple(counts.log_probability(one, own) for one in pair) for pair in pairs])
        of_documents = np.mean([np.subtract(*np.sum(each, axis=0)) < 0 for each in lower])
        of_sentences = np.mean([first < second for each in lower for first, second in each])
        rows.append((file.name.partition(".")[0], len(documents), of_documents, len(names), of_sentences))
    columns = ["treebank", "documents", "lower", "sentences", "lower_sentences"]
    print(pd.DataFrame(rows, columns=columns).round(4).to_string(index=False))
    print(f"{time.process_time():.1f} s of processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=Path(os.environ.get("LANGDIFF_DATA", "../shared/data")))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--scores", action="store_true")
    parser.add_argument("--words", action="store_true")
    arguments = parser.parse_args()
    if arguments.scores:
        scores(sorted((arguments.data / "pud").glob("*.conllu.gz")))
        return
    if not (arguments.data / "ud").is_dir():
        print(f"no real data: {arguments.data / 'ud'} does not exist (set LANGDIFF_DATA)")
        return
    files = sorted((arguments.data / "ud").glob("*.conllu.gz"))
    banks = {file.name.partition(".")[0]: ld.read_treebank(file) for file in files}
    if arguments.words:
        words(banks, arguments.repeats)
        return
    errors(banks, arguments.repeats, arguments.out)
    settings_of_depth({name: banks[name] for name in ENGLISH}, arguments.repeats)
    speed(files, arguments.sentences)


if __name__ == "__main__":
    main()
