"""Constructions: recall of gold trees, of damaged trees and of parsers on the mined set; and costs.

    python benchmarks/constructions.py [DATA] [--udpipe MODEL [--train]] [--spacy PACKAGE] [--plot recall.svg]
    python benchmarks/constructions.py [DATA] --outputs FOLDER

DATA, by default LANGDIFF_DATA (../shared/data without it), is a folder with `ud/*.conllu.gz` and
`pud/en_pud.conllu.gz`; of the mined set the sentences of EWT, GUM and PUD are used. `--udpipe` is a UDPipe 1 model,
which `--train` first makes of LinES and ParTUT (four minutes); it parses words with the treebanks' parts of speech.
`--spacy` is an installed spaCy model for English, such as en_core_web_sm; it parses the treebanks' words.
With `--outputs`, a folder of files SYSTEM.conllu for English PUD, only these are compared: matched share, recall of the
mined targets, ability and LAS, with errors.
"""

import argparse
import gzip
import importlib
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.constructions import (
    default_rules,
    evaluate,
    mine_candidates,
    mined_counts,
    mined_gold,
    read_parses,
    study_outputs,
)

TEST = ("ud/en_ewt", "ud/en_gum", "pud/en_pud")
TRAINING = ("ud/en_lines", "ud/en_partut")
NETWORK = (
    "iterations=4;embedding_upostag=20;embedding_feats=0;embedding_xpostag=0;embedding_form=50;embedding_deprel=20;"
    "use_gold_tags=1;transition_system=projective;transition_oracle=dynamic;structured_interval=0;hidden_layer=100"
)


def damaged(parses, share, seed):
    """Give a share of all words another head and another relation, drawn at random."""
    rng = np.random.default_rng(seed)
    relations = [line.split()[1] for block in parses.blocks.values() for line in block]
    blocks = {}
    for item, block in parses.blocks.items():
        lines = []
        for place, line in enumerate(block):
            if rng.random() < share:
                head = rng.choice([other for other in range(-1, len(block)) if other != place])
                line = f"{head} {relations[rng.integers(len(relations))]} {place}"
            lines.append(line)
        blocks[item] = tuple(lines)
    return replace(parses, name=f"damaged {share:.0%}", blocks=blocks)


def sentences(files):
    """Read sentences for UDPipe."""
    import ufal.udpipe as udpipe

    for file in files:
        reader, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
        reader.setText(gzip.decompress(file.read_bytes()).decode())
        while reader.nextSentence(sentence := udpipe.Sentence(), error):
            yield sentence


def train(files, model):
    import ufal.udpipe as udpipe

    before, error, material = time.process_time(), udpipe.ProcessingError(), udpipe.Sentences()
    for sentence in sentences(files):
        material.push_back(sentence)
    none = udpipe.Trainer.NONE
    trained = udpipe.Trainer.train("morphodita_parsito", material, udpipe.Sentences(), none, none, NETWORK, error)
    model.write_bytes(trained)
    print(f"UDPipe: {len(material):,} sentences, {time.process_time() - before:.0f} s of processor time")


def relations(sentence):
    return [(word.head, word.deprel.split(":")[0]) for word in list(sentence.words)[1:]]


def parse_with_udpipe(model, files, gold, out):
    import ufal.udpipe as udpipe

    parser, writer = udpipe.Model.load(str(model)), udpipe.OutputFormat.newOutputFormat("conllu")
    words = right = labelled = 0
    with out.open("w", encoding="utf-8") as stream:
        for sentence in sentences(files):
            known = relations(sentence)
            sentence.unlinkAllNodes()
            parser.parse(sentence, parser.DEFAULT, udpipe.ProcessingError())
            found = relations(sentence)
            words += len(found)
            right += sum(one[0] == other[0] for one, other in zip(known, found, strict=True))
            labelled += sum(one == other for one, other in zip(known, found, strict=True))
            if sentence.getSentId() in gold.sentences:
                stream.write(writer.writeSentence(sentence))
    print(
        f"UDPipe: {100 * right / words:.1f} % of heads, {100 * labelled / words:.1f} % with relation, {words:,} words"
    )


def parse_with_spacy(package, gold, out):
    from spacy.tokens import Doc

    pipeline = importlib.import_module(package).load()
    with out.open("w", encoding="utf-8") as stream:
        for item, words in gold.sentences.items():
            doc = Doc(pipeline.vocab, words=list(words), sent_starts=[place == 0 for place in range(len(words))])
            for _, step in pipeline.pipeline:
                doc = step(doc)
            heads = [-1 if word.head.i == word.i else word.head.i for word in doc]
            stream.write(f"# {item}\n" + "".join(f"{h} {w.dep_} {w.i}\n" for h, w in zip(heads, doc, strict=True)))


def compare_outputs(folder, treebank):
    """Compare parsers' outputs for a treebank by the targets of the mined set."""
    before = time.process_time()
    gold = mined_gold(treebank)
    print(gold.summary())
    table = study_outputs(treebank, folder, targets=gold, fit=ld.fit_outcomes).set_index("parser")
    print(f"{len(table)} systems, {time.process_time() - before:.1f} s of processor time")
    print(table.round(3).to_string())
    for name, some in {"all": table, "LAS above .7": table.query("las > .7")}.items():
        kinds = {kind: some.corr(kind)["ability"] for kind in ("pearson", "spearman")}
        print(f"Correlation with ability, {name} ({len(some)})\n{pd.DataFrame(kinds).round(3).to_string()}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path, nargs="?", default=os.environ.get("LANGDIFF_DATA", "../shared/data"))
    options.add_argument("--udpipe", type=Path)
    options.add_argument("--train", action="store_true")
    options.add_argument("--spacy")
    options.add_argument("--plot")
    options.add_argument("--outputs", type=Path)
    given = options.parse_args()
    if not (given.data / "ud").is_dir():
        print(f"no real data: {given.data / 'ud'} does not exist (set LANGDIFF_DATA)")
        return
    if given.outputs:
        compare_outputs(given.outputs, given.data / "pud/en_pud.conllu.gz")
        return
    files = [given.data / f"{name}.conllu.gz" for name in TEST]
    before = time.process_time()
    candidates = mine_candidates(files)
    print(f"{candidates!r}: {1e3 * (time.process_time() - before) / candidates.n_sentences:.2f} ms per sentence")
    print(mined_counts().to_string(index=False), "\n")
    gold = mined_gold(files)
    print(gold.summary(), "\n")
    trees = {
        graph: read_parses(files, "conllu", name=f"gold {graph}", graph=graph, items=gold.sentences)
        for graph in ("basic", "enhanced")
    }
    systems = [*trees.values(), damaged(trees["basic"], 0.2, seed=0)]
    rules = {system.name: default_rules() for system in systems}
    with tempfile.TemporaryDirectory() as folder:
        if given.udpipe:
            if given.train:
                train([given.data / f"{name}.conllu.gz" for name in TRAINING], given.udpipe)
            out = Path(folder) / "UDPipe.conllu"
            parse_with_udpipe(given.udpipe, files, gold, out)
            systems.append(read_parses(out, "conllu"))
            rules["UDPipe"] = default_rules()
        if given.spacy:
            out = Path(folder) / "spaCy.triples"
            parse_with_spacy(given.spacy, gold, out)
            systems.append(replace(read_parses(out, "triples"), are_trees=True))
            rules["spaCy"] = default_rules("clearnlp")
    mean_of_damage(gold, trees["basic"])
    before = time.process_time()
    scores = evaluate(gold, systems, rules)
    cost = (time.process_time() - before) / len(scores.judgements)
    print(scores.summary(), f"\n{1e3 * cost:.2f} ms per judgement\n")
    print(scores.by_distance().round(3).to_string(index=False), "\n")
    if {"UDPipe", "spaCy"} <= set(rules):
        print(scores.compare("UDPipe", "spaCy").to_string(index=False, float_format="{:.2g}".format))
        random_items(scores)
    if given.plot:
        scores.plot().figure.savefig(given.plot)


def mean_of_damage(gold, tree, draws=20):
    """Average recall over several draws of what is damaged."""
    tables = [evaluate(gold, damaged(tree, 0.2, seed)).to_frame() for seed in range(draws)]
    means = pd.concat(tables).groupby(["phenomenon", "type"])["recall"].mean().round(3)
    print(f"Damaged trees, mean recall of {draws} draws\n{means.to_string()}\n")


def random_items(scores):
    """Fit constructions' difficulties for the two parsers, items at random, errors clustered by sentence."""
    outcomes = scores.outcomes().sel(systems=["UDPipe", "spaCy"])
    expressible = outcomes.successes.dropna(how="all").index.tolist()  # by the trees of both
    outcomes = outcomes.sel(items=expressible)
    print(ld.fit_outcomes(outcomes, by="construction", clusters="sentence").summary())


if __name__ == "__main__":
    main()
