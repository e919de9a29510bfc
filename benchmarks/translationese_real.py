"""Native against translated sentences of Europarl (English, French) and PUD (five languages, Czech, Finnish).

The language models are the package's small ones, trained by five-fold cross-validation over whole
speeches or documents, so that every sentence is scored by a model that has seen nothing of its speech.
Reads the folder LANGDIFF_DATA (../shared/data by default). Training takes half an hour on one idle core and
goes on where it was interrupted:

    OMP_NUM_THREADS=1 python benchmarks/translationese_real.py --cache runs/translationese
"""

import argparse
import gzip
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.experiments import split_by_source

DATA = Path(os.environ.get("LANGDIFF_DATA", "../shared/data"))
FOLDS, DEV_SHARE, SEED = 5, 0.06, 0
DRAWS = 200  # of speeches, for standard errors
MODELS = {"1": {}, "2": {}, "2 restricted": {"restricted": True}, "2L": {}}
ISO = {"cs": "ces", "de": "deu", "en": "eng", "es": "spa", "fi": "fin", "fr": "fra", "it": "ita"}


def europarl():
    """Return texts, intents × languages, the original language and the speech of every intent."""
    folder = DATA / "europarl"
    texts = {
        ISO[code]: gzip.decompress((folder / f"{code}.txt.gz").read_bytes()).decode().split("\n")[:-1]
        for code in ("en", "fr")
    }
    segments = pd.read_csv(folder / "segments.tsv.gz", sep="\t", dtype=str, keep_default_na=False)
    names = [f"s{line:04}" for line in range(len(segments))]
    segments.index = pd.Index(names, name="intent")
    speech = segments["session"] + " " + segments["chapter"] + " " + segments["speaker"]
    origin = segments["original_language"].replace(ISO)
    return pd.DataFrame(texts, index=names), origin, speech


def pud():
    """Return texts, intents × languages, the original language and the document of every intent."""
    folder = DATA / "pud"
    files = {language: folder / f"{code}_pud.conllu.gz" for code, language in ISO.items()}
    texts = {language: sentences(gzip.decompress(file.read_bytes()).decode()) for language, file in files.items()}
    segments = pd.read_csv(folder / "segments.tsv", sep="\t", dtype=str, index_col="sent_id")
    frame = pd.DataFrame(texts).loc[segments.index]
    return frame, segments["original_language"].replace(ISO), segments.index.to_series().str[:6]


def sentences(conllu):
    """Return the raw text of every sentence of a treebank, by sentence id."""
    found, name = {}, None
    for line in conllu.split("\n"):
        if line.startswith("# sent_id = "):
            name = line.removeprefix("# sent_id = ").strip()
        elif line.startswith("# text = "):
            found[name] = line.removeprefix("# text = ")
    return pd.Series(found)


def folds(groups):
    """Yield the intents of train, dev and test; no group is in two of them, and each intent once in test."""
    rng = np.random.default_rng(SEED)
    order = rng.permutation(groups.unique())
    sizes = groups.value_counts()[order].cumsum().to_numpy()
    fold = pd.Series(np.minimum(FOLDS * (sizes - 1) // len(groups), FOLDS - 1), index=order)[groups].to_numpy()
    for k in range(FOLDS):
        rest = groups[fold != k]
        shuffled = rng.permutation(rest.unique())
        sizes = rest.value_counts()[shuffled].cumsum()
        dev = rest.isin(sizes.index[sizes <= max(sizes.iloc[0], DEV_SHARE * len(rest))]).to_numpy()
        yield rest.index[~dev], rest.index[dev], groups.index[fold == k]


def cross_scored(texts, groups, lm, cache):
    """Return surprisals of every intent under models that have not seen its speech or document."""
    multitext = ld.read_frame(texts).map_text(ld.tokenize)
    tables = []
    for k, (train, dev, test) in enumerate(folds(groups)):
        parts = ld.Parts(
            train=multitext.sel(intents=train), dev=multitext.sel(intents=dev), test=multitext.sel(intents=test)
        )
        tables.append(ld.compute_surprisals(parts, lm=lm, cache=cache / f"fold-{k}", device="cpu", seed=k))
    bits, characters = (
        pd.concat([getattr(t, part) for t in tables]).loc[texts.index] for part in ("bits", "characters")
    )
    return ld.Surprisals(bits=bits, characters=characters, lm=lm)


def clustered_errors(surprisals, origin, groups, settings):
    """Return standard errors by resampling whole speeches or documents, shape (divided editions,)."""
    rng = np.random.default_rng(SEED)
    members = {group: rows.index for group, rows in groups[surprisals.intents].groupby(groups[surprisals.intents])}
    names = list(members)
    found = []
    for _ in range(DRAWS):
        rows = np.concatenate([members[names[k]] for k in rng.integers(len(names), size=len(names))])
        index = pd.RangeIndex(len(rows))
        again = ld.Surprisals(bits=surprisals.bits.loc[rows].set_axis(index, axis=0))
        result = ld.translationese(again, pd.Series(origin[rows].to_numpy(), index=index), **settings)
        found.append(result.to_frame()["difference"])
    return np.std(found, axis=0, ddof=1)


def report(surprisals, origin, groups, languages):
    """Print native - translated of every divided edition, by model."""
    print(surprisals.bits_per_character()["bits_per_character"].round(3).to_dict())
    for model, more in MODELS.items():
        settings = {"languages": languages, "model": model.split()[0], **more}
        result = ld.translationese(surprisals, origin, **settings)
        table = result.to_frame().drop(columns=["language", "low", "high"])
        if model == "2":
            table["clustered"] = clustered_errors(surprisals, origin, groups, settings)
        mean = result.mean
        print(
            f"model {model}: mean {mean.estimate:+.4f}, s.e. {mean.std_error:.4f}, s.d. {result.standard_deviation:.4f}"
        )
        print(table.round(4).to_string(), flush=True)
    rate = ld.Surprisals(bits=surprisals.bits / surprisals.characters)
    result = ld.translationese(rate, origin, languages=languages, model="1")
    print("bits per character, model 1:", result.to_frame()[["difference", "std_error"]].round(4).T.to_dict())
    for language in languages:
        fit = ld.fit(split_by_source(surprisals, origin, languages=[language]))
        own, *foreign = [edition for edition in fit.difficulty.index if edition.startswith(f"{language}:from-")]
        spread, errors = fit.difficulty[foreign].std(), fit.std_error[foreign].median()
        contrast = fit.contrast(own, foreign)
        print(
            f"{language}: native less the mean of {len(foreign)} foreign sources {contrast.estimate:+.4f}, "
            f"s.e. {contrast.std_error:.4f}; s.d. of these {spread:.4f}, of which errors {errors:.4f}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, help="folder of models; without it only counts are printed")
    cache = parser.parse_args().cache
    if not DATA.is_dir():
        print(f"no real data: {DATA} does not exist (set LANGDIFF_DATA)")
        return
    for name, corpus, lm, languages in CORPORA:
        texts, origin, groups = corpus()
        print(f"\n{name}: {len(texts):,} intents of {origin.value_counts().to_dict()}")
        lengths = ld.Surprisals(bits=texts.map(len).astype(float))
        result = ld.translationese(lengths, origin, languages=languages)
        print("the same contrast of lengths in characters:", result.to_frame()["difference"].round(3).to_dict())
        if cache:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
                surprisals = cross_scored(texts, groups, lm, cache / name)
            print(f"{lm}, bits per character:")
            report(surprisals, origin, groups, languages)


CORPORA = (
    ("europarl", europarl, "bpe-small", ("eng", "fra")),
    ("pud", pud, "char-tiny", ("deu", "eng", "fra", "ita", "spa")),
)

if __name__ == "__main__":
    main()
