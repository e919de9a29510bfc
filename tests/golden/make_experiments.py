"""Golden cases of published figures, and of experiments that train small models."""

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff import datasets
from langdiff.corpora import costep_statistics
from langdiff.experiments import reproduce, translationese_by_model
from langdiff.lm import RECIPES, Compute
from langdiff.parallelism import TaggerSettings, search_taggers, train_tagger
from tests.golden.make_annotations import P, document
from tests.golden.make_fit import COMPLETE
from tests.golden.make_texts import multitext, parts_of
from tests.golden.record import columns, golden, loose, texts, without_hashes

HERE = Compute(device="cpu", progress=False)
ORIGINS = ("deu-a", "eng-a", "ell-a", "fra")
SESSION = """<session date="2000-01-17"><chapter id="1"><headline language="de">Titel</headline>
<turn id="1"><speaker president="yes"><text language="de"><p type="speech">Die Sitzung ist offen.</p></text>
<text language="en"><p type="speech">The sitting is open.</p></text></speaker></turn>
<turn id="2"><speaker president="no" name="Berger" language="de">
<text language="de"><p type="speech">Der Bericht sagt nein.</p><p type="speech">Danke.</p></text>
<text language="en"><p type="speech">The report says no.</p><p type="speech">Thank you.</p></text></speaker></turn>
<turn id="3"><speaker president="no" name="Fox" language="en">
<text language="de"><p type="speech">Eins. Zwei.</p></text>
<text language="en"><p type="speech">One.</p><p type="speech">Two.</p></text></speaker></turn>
</chapter></session>
"""


@golden
def published_figures():
    names = ("byte_premium2024", "goldfish2024", "tokenization_lengths2023", "xmi2020", "bothwell2023", "morey2017")
    return {name: texts(getattr(datasets, name)()) for name in names}


@golden
def published_claims():
    names = ("byte_premium2024", "goldfish2024", "tokenization_lengths2023", "xmi2020")
    return {name: texts(reproduce(name)) for name in names}


@golden
def published_difficulties():
    figures = datasets.mielke2019()
    found = figures.difficulties("bibles")
    return {"repr": repr(figures), "mean": found.mean(), "first": columns(found.head(3))}


@golden
def costep():
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "2000-01-17.xml").write_text(SESSION, encoding="utf-8")
        found = costep_statistics(folder, edition_info=None, editions=None, nfc=True, on_error="raise", progress=False)
        return {"frame": columns(found.to_frame()), "accounting": columns(found.accounting()), **texts(found)}


@golden
def synthetic_information():
    found = ld.synthesize(30, 3, languages=None, seed=2, grammar=None, missing=0.1)
    return {"bits": found.information.bits.sum(), **texts(found)}


@golden
def translationese_of_models():
    rng = np.random.default_rng(4)
    editions = list(COMPLETE.editions[:3])
    origin = pd.Series(rng.choice(editions, len(COMPLETE.intents)), COMPLETE.intents, name="original_language")
    length = COMPLETE.bits[editions].round()
    tables = [
        ld.Surprisals(
            bits=(rate * length * np.exp(rng.normal(0, 0.05, length.shape))).round(3), characters=length, lm=lm
        )
        for lm, rate in (("bad", 4.0), ("good", 2.0))
    ]
    options = {"errors": "sandwich", "intents": "fixed", "restricted": False, "clusters": None}
    found = translationese_by_model(tables, origin, min_native=5, model="1", **options)
    return {"frame": columns(found.to_frame()), **texts(found)}


@golden
def balanced_by_origin():
    source = multitext(900, editions=ORIGINS[:3], seed=6)
    origin = pd.Series([ORIGINS[k // 3 % 4] for k in range(900)], index=source.intents)
    info = pd.Series({name: name for name in ORIGINS[:3]})
    found = ld.run_balanced(
        source, ["deu-a"], by="words", budget_words=700, reference="eng-a", seed=1, original_language=origin,
        edition_info=info, groups=None, folds=None, lm="kneser-ney-2", compute=HERE,
        model="2", errors="sandwich", intents="fixed", restricted=False, clusters=None,
    )  # fmt: skip
    return {"frame": columns(found.to_frame()), **without_hashes(texts(found), "bits")}


@loose(1e-3)
def replicates():
    recipe = replace(RECIPES["char-tiny"], epochs=1)
    found = ld.replicate(
        parts_of(120), lm=recipe, scoring=None, max_replaced=0.3, n_seeds=2, seed=1, model="2",
        clusters=None, compute=HERE,
    )  # fmt: skip
    return {"frame": columns(found.to_frame()), **without_hashes(texts(found), "bits")}


@loose(1e-3)
def sweep_of_merges():
    recipe = replace(RECIPES["bpe-tiny"], epochs=1, min_count=1)
    found = ld.sweep_merges(
        parts_of(120).sel(["eng-a", "deu-a"]), ratios=[0.0, 0.5], lm=recipe, max_replaced=0.3, seed=1,
        compute=HERE,
    )  # fmt: skip
    return {"dev_bits": columns(found.dev_bits), **without_hashes(texts(found), "bits")}


TAGGER = {
    "embedding": "learned-word", "encoder": "bilstm", "depth": 1, "input_size": 6, "hidden_size": 6, "tagset": "BIO",
    "link": "TD", "learning_rate": 0.03, "lemmatize": False,
}  # fmt: skip


@loose(1e-3)
def tagger():
    found = train_tagger(
        [document("a", P)], [document("a", P)], TaggerSettings(**TAGGER), seed=1, singletons=False, max_epochs=4,
        patience=25, device="cpu", progress=False,
    )  # fmt: skip
    return {"loss": found.history["loss"], "columns": list(found.history.columns), **texts(found)}


@loose(1e-3)
def taggers_searched():
    training = [document("a", P)]
    found = search_taggers(
        training, training, training, "learned-word", "BIO-TD", seed=1, n_trials=2, lemmatize=False, max_epochs=2,
        device="cpu", progress=False,
    )  # fmt: skip
    return {"trials": columns(found.trials.select_dtypes("number")), **texts(found)}


@golden
def diagnosis_of_chains():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ArviZ announces its next version
        import arviz

        rng = np.random.default_rng(3)
        idata = arviz.from_dict(
            posterior={"difficulty": rng.normal(0, 0.01, (4, 300, 3)), "dispersion": rng.uniform(1, 2, (4, 300))},
            sample_stats={"diverging": np.zeros((4, 300), dtype=bool)},
            coords={"edition": ["deu", "eng", "fra"]},
            dims={"difficulty": ["edition"]},
        )
    return texts(ld.diagnose(idata))
