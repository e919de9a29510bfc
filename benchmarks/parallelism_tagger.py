"""Rhetorical parallelism: the published best tagger of learned words with BIO-TD, or another, from several seeds.

    python benchmarks/parallelism_tagger.py [DATA] [--seeds 0 1 2] [--settings FILE] [--out FOLDER]

DATA is a folder with `asp/`, by default LANGDIFF_DATA. Learns from the training sermons of the published split that are
there, stops early by its validation sermons, and is scored once on its test sermons. An epoch takes about a minute of
processor time, a seed up to 200 epochs. FOLDER gets a folder per seed: the state after each epoch, from which the same
command goes on, then the tagger, its learning curve and `results.json`. Prints the results of all seeds that are
finished beside the published ones. With --settings examples/small-tagger.toml --epochs 10 it trains the small tagger.
"""

import argparse
import json
import logging
import os
import platform
import time
from pathlib import Path

import torch

from langdiff.base.io import write_json
from langdiff.lm.checkpoint import remove_states
from langdiff.parallelism import (
    published_settings,
    read_parallelisms,
    read_settings,
    score_parallelisms,
    train_tagger,
)

SETTING = "ASP/learned-word/BIO-TD"
PUBLISHED = {"EPM": (0.1588, 0.1256, 0.1403), "MBAWO": (0.2980, 0.1971, 0.2373)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default=os.environ.get("LANGDIFF_DATA"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("parallelism-tagger"))
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--settings", type=Path, help="settings of one's own (.toml)")
    given = parser.parse_args()
    settings = read_settings(given.settings) if given.settings else published_settings(SETTING)
    setting = given.settings.stem if given.settings else SETTING
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")  # every epoch
    parts = read_parts(Path(given.data) / "asp")
    for name, documents in parts.items():
        print(f"{name}: {describe(documents)}", flush=True)
    for seed in given.seeds:
        folder = given.out / f"seed-{seed}"
        if not (folder / "results.json").is_file():
            train(parts, seed, folder, given.epochs, setting, settings)
    report(given.out)


def read_parts(folder):
    """Return the documents of the parts of the published split, as far as they are in the folder."""
    documents = read_parallelisms(folder / "xml" / "tokenized")
    parts = {}
    for entry in json.loads((folder / "published_splits.json").read_text())["files"]:
        name = entry["file"].removesuffix("_annotated.xml")
        if name in documents:
            parts.setdefault(entry["split"], {})[name] = documents[name]
    return parts


def describe(documents):
    tokens = sum(len(one.tokens) for one in documents.values())
    sections = sum(len(one.sections) for one in documents.values())
    parallelisms = sum(len(one.parallelisms) for one in documents.values())
    return f"{len(documents)} sermons, {sections} sections, {tokens:,} tokens, {parallelisms:,} parallelisms"


def train(parts, seed, folder, epochs, setting, settings):
    """Train from one seed; write the tagger, its curve, and its scores on the test part."""
    folder.mkdir(parents=True, exist_ok=True)
    start = time.time()
    tagger = train_tagger(
        parts["training"],
        parts["validation"],
        settings,
        seed=seed,
        max_epochs=epochs,
        resume=folder,
    )
    tagger.save(folder / "tagger")
    curve = tagger.to_frame()
    curve.to_csv(folder / "history.csv", index=False)
    scores = {name: scored(tagger, parts[name]) for name in ("validation", "test")}
    results = {
        "setting": setting,
        "seed": seed,
        "epochs": len(curve),
        "kept_epoch": int(curve.loc[curve["kept"], "epoch"].iloc[-1]),
        "processor_seconds": float(curve["seconds"].sum()),
        "hours_of_this_run": (time.time() - start) / 3600,
        "device": f"{platform.processor() or platform.machine()}, one thread",
        "torch": torch.__version__,
        "weights": sum(weights.numel() for weights in tagger.network.parameters()),
        "tags": len(tagger.tags),
        "data": {name: describe(documents) for name, documents in parts.items()},
        **scores,
    }
    write_json(folder / "results.json", results)
    remove_states(folder)


def scored(tagger, documents):
    totals = score_parallelisms({"tagger": tagger.predict(documents)}, documents).to_frame().set_index("metric")
    return totals[["precision", "recall", "f"]].round(6).to_dict("index")


def report(folder):
    """Print the test figures of every seed that is finished, their mean and range, and the published ones."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("seed-*/results.json"))]
    print(f"{'':12} {'metric':6} {'P':>6} {'R':>6} {'F1':>6}")
    for metric, published in PUBLISHED.items():
        rows = {f"seed {each['seed']}": tuple(each["test"][metric].values()) for each in found}
        if rows:
            columns = list(zip(*rows.values(), strict=True))
            rows |= {"mean": [sum(c) / len(c) for c in columns], "least": map(min, columns), "most": map(max, columns)}
        for name, values in {**rows, "published": published}.items():
            print(f"{name:12} {metric:6} " + " ".join(f"{value:6.4f}" for value in values))
    for each in found:
        seconds = each["processor_seconds"]
        print(
            f"seed {each['seed']}: {each['epochs']} epochs, kept {each['kept_epoch']}, {seconds / 3600:.2f} hours of "
            f"processor time, {seconds / each['epochs']:.0f} s an epoch; {each['device']}"
        )


if __name__ == "__main__":
    main()
