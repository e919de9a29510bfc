"""All of the text scored: five folds of whole documents against one split, on real texts and with known truth.

Character n-grams, which take seconds; reads the folder LANGDIFF_DATA (../shared/data by default).

    OMP_NUM_THREADS=1 python benchmarks/folds.py --part single       # PUD and Europarl: difficulties, one split or all
    OMP_NUM_THREADS=1 python benchmarks/folds.py --part coverage     # simulated models that differ between folds
    OMP_NUM_THREADS=1 python benchmarks/folds.py --part native --cache DIR   # translationese by language model
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose
from scipy.stats import t as student
from translationese_real import DATA, europarl, pud

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.experiments import translationese_by_model
from langdiff.regression import compare_folds

FOLDS, SEED = 5, 0
ORDERS = (1, 2, 3, 4, 6, 10)

# of the simulation
EDITIONS, DOCUMENTS, DOCUMENT, SIGMA = 7, 100, 10, 0.17
INTENTS = DOCUMENTS * DOCUMENT
CORRELATION = 0.05  # of intents of a document in an edition
MODEL_SDS = (0.0, 0.0025, 0.005, 0.01, 0.02)  # nats
TABLES, AT_A_TIME = 4000, 200
BOTH = 0.975


def read(corpus):
    """Return a multitext, tokenized, that knows document and original language of its intents."""
    texts, origin, document = corpus()
    info = pd.DataFrame({"original_language": origin, "document": document})
    return ld.read_frame(texts, intent_info=info).map_text(ld.tokenize)


def score(parts, order, cache=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # rare characters outside the alphabet
        return ld.compute_surprisals(parts, lm=f"kneser-ney-{order}", cache=cache, progress=False)


def single(_cache):
    """Print difficulties from one split and from all intents, and how much the models of folds differ."""
    for name, corpus in (("pud", pud), ("europarl", europarl)):
        multitext = read(corpus)
        one_split = ld.split(multitext, groups="document")
        folds = ld.split_into_folds(multitext, FOLDS, groups="document")
        print(f"\n{name}: {one_split.summary()}\n{folds.summary()}")
        start = time.process_time()
        one = score(one_split, 6)
        middle = time.process_time()
        every = score(folds, 6)
        seconds = middle - start, time.process_time() - middle
        print(f"seconds of processor time: {seconds[0]:.1f} and {seconds[1]:.1f}")
        fits = [ld.fit(table, clusters="document") for table in (one, every)]
        print(
            pd.DataFrame(
                {
                    f"{what} {k}": values
                    for k, fit in zip(("one", "all"), fits, strict=True)
                    for what, values in (("difficulty", fit.difficulty), ("s.e.", fit.std_error))
                }
            )
            .round(4)
            .to_string()
        )
        between = (fits[0].difficulty - fits[1].difficulty).abs() / fits[0].std_error
        print(f"largest distance, in standard errors of the one split: {between.max():.2f}")
        print(compare_folds(every, clusters="document", seed=SEED).summary())
        by_fold = ld.fit(every, clusters="fold").std_error
        print("standard errors with clusters by fold:", by_fold.round(4).to_dict())


def coverage(_cache):
    """Print how many of the 95 % intervals of differences hold the truth, with models that differ between folds."""
    document = np.arange(INTENTS) // DOCUMENT
    fold_of_document = np.arange(DOCUMENTS) % FOLDS
    print("\ncoverage in percent, and mean half-width in nats, of intervals from")
    print("model s.d. | intents | documents | folds | documents and models (compare_folds)")
    for model_sd in MODEL_SDS:
        rng = np.random.default_rng(SEED)
        hits, widths, n = np.zeros(4), np.zeros(4), 0
        for batch in range(TABLES // AT_A_TIME):
            shape = (AT_A_TIME, DOCUMENTS, EDITIONS)
            of_document = np.sqrt(CORRELATION) * rng.normal(size=shape)
            own = np.sqrt(1 - CORRELATION) * rng.normal(size=(AT_A_TIME, INTENTS, EDITIONS))
            of_model = model_sd * rng.normal(size=(AT_A_TIME, FOLDS, EDITIONS))
            z = SIGMA * (own + of_document[:, document]) + of_model[:, fold_of_document[document]]
            estimates, variances = intervals(z, fold_of_document)
            if batch == 0:
                check_first(z[0], fold_of_document, variances)
            freedom = (INTENTS - 1, DOCUMENTS - 1, FOLDS - 1, DOCUMENTS - 1)
            for k, (variance, degrees) in enumerate(zip(variances, freedom, strict=True)):
                half = student.ppf(BOTH, degrees) * np.sqrt(variance)
                hits[k] += (np.abs(estimates) < half).sum()
                widths[k] += half.sum()
            n += estimates.size
        cells = (f"{100 * hit / n:.1f}, {width / n:.4f}" for hit, width in zip(hits, widths, strict=True))
        print(f"{model_sd:.4f} | " + " | ".join(cells), flush=True)


def intervals(z, fold_of_document):
    """Return differences to the first edition, (T, J − 1), and their variances by four methods, under model 1."""
    difference = z[:, :, 1:] - z[:, :, :1]
    estimate = difference.mean(axis=1)
    residual = difference - estimate[:, None]
    by_document = residual.reshape(len(z), DOCUMENTS, DOCUMENT, -1).sum(axis=2)
    by_fold = np.stack([by_document[:, fold_of_document == fold].sum(axis=1) for fold in range(FOLDS)], axis=1)
    variances = [
        (sums**2).sum(axis=1) / INTENTS**2 * groups / (groups - 1)
        for sums, groups in ((residual, INTENTS), (by_document, DOCUMENTS), (by_fold, FOLDS))
    ]
    extra = 2 * model_variance(z, fold_of_document) / FOLDS
    return estimate, [*variances, variances[1] + extra[:, None]]


def model_variance(z, fold_of_document):
    """Return the square of `FoldComparison.model_sd`, (T,), under model 1."""
    centred = (z - z.mean(axis=2, keepdims=True)).reshape(len(z), DOCUMENTS, DOCUMENT, -1)
    means, expected = [], 0.0
    for fold in range(FOLDS):
        mine = centred[:, fold_of_document == fold]
        documents = mine.shape[1]
        means.append(mine.mean(axis=(1, 2)))
        sums = (mine - means[-1][:, None, None]).sum(axis=2)
        spread = documents / (documents - 1) / (documents * DOCUMENT) ** 2
        expected = expected + spread * (sums**2).sum(axis=(1, 2)) / FOLDS
    observed = np.var(means, axis=0, ddof=1).sum(axis=1)
    return np.maximum(0, observed - expected) / (EDITIONS - 1)


def check_first(z, fold_of_document, variances):
    """Compare the first table with what the package makes of it."""
    names = [f"i{i}" for i in range(INTENTS)]
    document = np.arange(INTENTS) // DOCUMENT
    info = pd.DataFrame({"document": document, "fold": fold_of_document[document]}, index=names)
    table = ld.Surprisals(bits=pd.DataFrame(np.exp(z), index=names), intent_info=info)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # five folds are few clusters
        fits = [
            ld.fit(table, model="1", clusters=clusters, errors="sandwich") for clusters in (None, "document", "fold")
        ]
        compared = compare_folds(table, model="1", clusters="document", n_permutations=99, seed=SEED)
    for source, variance in zip([*fits, compared.effects], variances, strict=True):
        errors = [source.contrast(name, 0).std_error for name in range(1, EDITIONS)]
        assert_allclose(np.square(errors), variance[0], rtol=1e-8)


def native(cache):
    """Print native less translated of Europarl against the bits per character of models, with lengths beside it."""
    for name, corpus, languages in (("europarl", europarl, ["eng", "fra"]), ("pud", pud, None)):
        folds = ld.split_into_folds(read(corpus), FOLDS, groups="document")
        tables = [score(folds, order, None if cache is None else cache / name) for order in ORDERS]
        found = translationese_by_model(tables, min_native=1, languages=languages, clusters="document")
        print(f"\n{name}\n{found.summary()}")
        means = {lm: result.mean for lm, result in {"length": found.lengths, **found.results}.items()}
        for lm, mean in means.items():
            rate = "" if lm == "length" else f"{found.bits_per_character[lm].mean():.3f} bits per character"
            print(f"{lm}: mean {mean.estimate:+.4f}, s.e. {mean.std_error:.4f} {rate}")


PARTS = {"single": single, "coverage": coverage, "native": native}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--cache", type=Path, help="folder of language models")
    settings = parser.parse_args()
    for part in settings.part:
        if part != "coverage" and not DATA.is_dir():
            print(f"no real data: {DATA} does not exist (set LANGDIFF_DATA)")
            continue
        PARTS[part](settings.cache)


if __name__ == "__main__":
    main()
