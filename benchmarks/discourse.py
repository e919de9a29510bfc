"""Discourse: which relations are hard, for four small parsers that are trained here, and speed.

    python benchmarks/discourse.py [DATA] [--epochs 6] [--out FOLDER]
    python benchmarks/discourse.py --twice NAME FIRST SECOND [--twice …]
    python benchmarks/discourse.py --readable FOLDER …

DATA is a folder with `rst/dis_nary/*.dis`, by default LANGDIFF_DATA. The parsers shift and reduce, by an averaged
perceptron, and differ in what they see: sizes of units, punctuation, words, or all of it. Each document is parsed by a
parser that was trained on the documents of the other four fifths. Prints F1, recall by relation, and difficulties of
relations from a model in which items are random and documents are clusters; writes the trees to FOLDER. The parsers are
weak on purpose: they show the method, and which relations can be seen from the surface; they say nothing of parsers in
use. With `--twice` only annotators are compared: two folders of the same documents, segments outside the tree dropped,
documents whose EDUs differ left out, each corpus with its own relations. With `--readable` it counts the files of
folders that are read, each by itself, segments outside the tree dropped.
"""

import argparse
import os
import time
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.discourse import (
    attachments_of,
    binarize,
    evaluate_discourse,
    read_discourse,
    tree_of_attachments,
    write_discourse,
)
from langdiff.discourse.items import with_classes

FEATURES = {"sizes": "s", "punctuation": "sp", "words": "sw", "all": "spw"}
FOLDS, ROWS, SHIFT = 5, 1 << 17, ("shift", "")


class Parser:
    """Shift-reduce parser with an averaged perceptron."""

    def __init__(self, seen):
        self.seen = seen
        self.actions, self.words = [SHIFT], {}

    def train(self, trees, epochs, rng):
        """Learn from trees with texts."""
        decisions = [{(a.first, a.split, a.last): (a.nuclearity, a.relation) for a in attachments_of(t)} for t in trees]
        documents = list(zip(trees, decisions, strict=True))
        self.actions = [SHIFT, *sorted({action for _, gold in documents for action in gold.values()})]
        weights = np.zeros((ROWS, len(self.actions)), dtype=np.float32)
        totals, step = np.zeros_like(weights), 0
        for _ in range(epochs):
            for number in rng.permutation(len(documents)):
                tree, gold = documents[number]
                stack, queue = [], 0
                while queue < tree.n_edus or len(stack) > 1:
                    rows = self.rows(tree, stack, queue)
                    span = (stack[-2][0] + 1, stack[-2][1] + 1, stack[-1][1] + 1) if len(stack) > 1 else None
                    right = self.actions.index(gold.get(span, SHIFT))
                    guess = self.best(weights[rows].sum(axis=0), stack, queue, tree.n_edus)
                    step += 1
                    if guess != right:
                        for column, change in ((right, 1), (guess, -1)):
                            np.add.at(weights[:, column], rows, change)
                            np.add.at(totals[:, column], rows, change * step)
                    stack, queue = self.apply(right, stack, queue)
        self.weights = weights - totals / step

    def parse(self, tree):
        """Return the tree predicted for the EDUs of a tree."""
        stack, queue, found = [], 0, []
        while queue < tree.n_edus or len(stack) > 1:
            action = self.best(self.weights[self.rows(tree, stack, queue)].sum(axis=0), stack, queue, tree.n_edus)
            if action:
                span = (stack[-2][0] + 1, stack[-2][1] + 1, stack[-1][1] + 1)
                found.append((*span, *self.actions[action]))
            stack, queue = self.apply(action, stack, queue)
        return tree_of_attachments(found, document=tree.document, texts=tree.texts)

    def best(self, scores, stack, queue, n_edus):
        """Return the number of the best action that is possible; 0 is to shift."""
        if len(stack) < 2:
            return 0
        return int(scores.argmax()) if queue < n_edus else 1 + int(scores[1:].argmax())

    def apply(self, action, stack, queue):
        """Return stack and queue after an action."""
        if not action:
            return [*stack, (queue, queue, queue)], queue + 1
        (first, _, left), (_, last, right) = stack[-2:]
        return [*stack[:-2], (first, last, right if self.actions[action][0] == "SN" else left)], queue

    def rows(self, tree, stack, queue):
        """Return the rows of the weights of what is seen; units are (first, last, nucleus), from 0."""
        if tree.document not in self.words:
            self.words[tree.document] = [text.lower().split() or [""] for text in tree.texts]
        texts = self.words[tree.document]
        units = {f"s{place}": stack[-1 - place] for place in range(min(3, len(stack)))}
        if queue < tree.n_edus:
            units["q"] = (queue, queue, queue)
        own = {"n": len(units), "left": int(np.log2(1 + tree.n_edus - queue)), "stack": min(len(stack), 6)}
        for name, (first, last, nucleus) in units.items():
            own[f"{name} size"] = int(np.log2(last - first + 1) * 2)
            if "p" in self.seen:
                own[f"{name} end"] = texts[last][-1][-1:]
                own[f"{name} begin"] = tree.texts[first][:1].isupper()
                own[f"{name} words"] = min(len(texts[first]), 12) // 2
            if "w" in self.seen:
                own |= {f"{name} first": texts[first][0], f"{name} two": " ".join(texts[first][:2])}
                own |= {f"{name} last": texts[last][-1], f"{name} nucleus": " ".join(texts[nucleus][:2])}
        seen = [f"{name}={value}" for name, value in own.items()]
        pairs = [("s0 size", "s1 size"), ("s1 end", "s0 end"), ("s0 end", "q begin"), ("s1 first", "s0 first")]
        seen += [f"{a}={own[a]} {b}={own[b]}" for a, b in pairs if a in own and b in own]
        return np.array([zlib.crc32(each.encode()) % ROWS for each in ["bias", *seen]])


def parsed(trees, seen, epochs):
    """Parse every document by a parser trained on other documents."""
    rng = np.random.default_rng(0)
    names = rng.permutation(sorted(trees)).tolist()
    result = {}
    for fold in range(FOLDS):
        parser = Parser(seen)
        parser.train([trees[name] for place, name in enumerate(names) if place % FOLDS != fold], epochs, rng)
        result |= {name: parser.parse(trees[name]) for name in names[fold::FOLDS]}
    return result


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
    arguments.add_argument("data", type=Path, nargs="?", default=default)
    arguments.add_argument("--epochs", type=int, default=6)
    arguments.add_argument("--out", type=Path)
    arguments.add_argument("--twice", nargs=3, action="append", metavar=("NAME", "FIRST", "SECOND"))
    arguments.add_argument("--readable", nargs="+", type=Path, metavar="FOLDER")
    options = arguments.parse_args()
    for folder in options.readable or ():
        files = sorted(path for path in folder.iterdir() if path.suffix in (".rs3", ".rs4", ".dis", ".lisp"))
        fine, first = 0, ""
        for file in files:
            try:
                fine += len(read_discourse(file, detached="drop", collapse_unary=True))
            except ld.errors.DataError as error:
                first = first or f"; the first that is not: {error}"
        print(f"{folder}: {fine} of {len(files)} files are read{first}")
    if options.readable:
        return
    if options.twice:
        agreement(options.twice)
        return
    if not (options.data / "rst").is_dir():
        print(f"no discourse trees: {options.data / 'rst'} does not exist (set LANGDIFF_DATA)")
        return
    start = time.process_time()
    gold = read_discourse(options.data / "rst" / "dis_nary")
    read = time.process_time()
    trees = {name: binarize(with_classes(tree, "gum")) for name, tree in gold.items()}
    systems = {name: parsed(trees, seen, options.epochs) for name, seen in FEATURES.items()}
    trained = time.process_time()
    result = evaluate_discourse(gold, systems, classes="gum")
    evaluated = time.process_time()
    print(result.summary(), "\n")
    cpu = {"reading": read - start, "training": trained - read, "evaluating": evaluated - trained}
    print("Seconds of CPU:", ", ".join(f"{what} {seconds:.1f}" for what, seconds in cpu.items()), "\n")
    table = result.relations()
    print(table.pivot(index="relation", columns="system", values="recall").round(3).to_string(), "\n")
    print(result.compare().summary(), "\n")
    if options.out:
        for name, found in systems.items():
            write_discourse(found, options.out / name)
    hard(result)


def agreement(corpora):
    """Print Parseval scores of a second annotator against the first, and what was left out."""
    rows = []
    for name, *folders in corpora:
        first, second = (read_discourse(x, detached="drop", collapse_unary=True, on_error="skip") for x in folders)
        result = evaluate_discourse(first, {name: second}, procedures=["parseval"], on_error="skip")
        print(result.summary(), "\n")
        ends = result.effects("F").to_frame().loc[name, ["low", "high"]]
        scores = result.to_frame().query("averaging == 'micro'").set_index("metric")["f1"]
        rows.append((name, *(100 * scores[list("SNRF")]).round(1), *(100 * ends).round(1)))
    print(pd.DataFrame(rows, columns=["corpus", *"SNRF", "F low", "F high"]).to_string(index=False))


def hard(result):
    """Fit the model of items by relation: for spans, for all labels, and for labels of spans that were found."""
    spans, labels = (result.outcomes("parseval", metric) for metric in ("S", "F"))
    given = labels.given(spans)
    found = given.sel(items=given.successes.index[given.successes.notna().any(axis=1)])
    for outcomes in (spans, labels, found):
        print(ld.fit_outcomes(outcomes, by="relation", clusters="document").summary(), "\n")
    print(ld.fit_outcomes(spans, formula="relation + log(length)", clusters="document").summary())


if __name__ == "__main__":
    main()
