"""Files of every kind that langdiff 0.1.0 saved in November 2026 are read, and hold the same numbers.

``python -m tests.test_old_files`` made ``data/old_files.tar.xz``. Do not make it again, but add what a later version
saves in another format to an archive of its own.
"""

import io
import json
import re
import tarfile
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.lm import (
    RECIPES,
    KneserNeyRecipe,
    fit_mixture,
    read_kneser_ney,
    read_mixture,
    train_kneser_ney,
    train_language_model,
)
from langdiff.parallelism import Parallelism, TaggerSettings, make_document, read_tagger, train_tagger
from langdiff.regression.fitting.flat import flat_arguments
from langdiff.tables.provenance import Provenance
from tests.as_before import agree, hashes

OLD = Path(__file__).parent / "data" / "old_files.tar.xz"
NAMES = ["日本語 “ü”", "e2", "e3", "e4"]  # of editions
TEXTS = pd.Series(["the cat sat on a mat", "a dog ran far", "the far mat", "<z> the dog"], [*"abcd"], name="eng")
# relative and absolute errors: of what is computed from numbers that are read, and of networks on another processor
EXACT, SINGLE = (1e-9, 1e-15), (1e-4, 1e-5)


class Given:
    """A model of someone else's, which must not be asked for what it has already said."""

    identity = "given#1"

    def __init__(self, per_character: float | None) -> None:
        self.per_character = per_character

    def surprisal(self, texts: pd.Series) -> pd.DataFrame:
        """Score texts."""
        assert self.per_character is not None, "texts are scored again"
        bits = texts.str.len() * self.per_character
        return pd.DataFrame({"bits": bits, "eos_bits": 0.1 * bits})


def table(frame) -> dict | None:
    """Return a frame or series for JSON, with all digits."""
    if frame is None:
        return None
    frame = pd.DataFrame(frame)
    names = {"index": list(map(str, frame.index)), "columns": list(map(str, frame.columns))}
    return names | {"data": frame.astype(object).to_numpy().tolist()}


RANK_SETS = "  rank_low  rank_high"  # columns that earlier versions did not have


def before_rank_sets(summary: str) -> str:
    """Return a summary as it was when its table had no sets of ranks."""
    lines, after = [], None  # columns that follow, counted from the right, as names may be wide
    for line in summary.splitlines():
        if RANK_SETS in line:
            after = len(line) - line.index(RANK_SETS) - len(RANK_SETS)
        if line == "":
            after = None
        cut = len(line) - (after or 0)
        lines.append(line if after is None else line[: cut - len(RANK_SETS)] + line[cut:])
    return "\n".join(lines)


def effects_table(frame: pd.DataFrame) -> dict:
    """Return a table of effects without the columns of sets of ranks."""
    return table(frame.drop(columns=RANK_SETS.split()))


def of_fit(path: Path) -> dict:
    """Return what a fit holds."""
    fit = ld.read_fit(path)
    summary = re.sub(r"difficulties are about [a-z ]*; ", "", before_rank_sets(fit.summary()))  # said since
    again = {"repr": repr(fit), "summary": summary, "signature": fit.signature}
    for name in ("intent_size", "covariance", "terms", "replaced_percent"):
        again[name] = table(getattr(fit, name))
    for name in ("model", "dispersion", "log_likelihood", "log_likelihood_bits", "cells", "converged", "laplace_scale"):
        again[name] = getattr(fit, name)
    sizes, own, compared = fit.sizes, fit.dispersions, fit.compared
    again["sizes"] = None if sizes is None else [sizes.kind, sizes.mean, sizes.sd, table(sizes.slopes)]
    again["own"] = None if own is None else [table(own.value), table(own.covariance), own.wald, own.p_value]
    again["compared"] = None if compared is None else [compared.statistic, compared.p_value, table(compared.difference)]
    freedom = fit.degrees_of_freedom  # one number in some versions, a table of equal ones in others
    again["freedom"] = np.broadcast_to(freedom, fit.covariance.shape).tolist()
    return again | {"frame": effects_table(fit.to_frame())}


def of_outcomes(path: Path) -> dict:
    """Return what a fit of outcomes holds."""
    fit = ld.read_outcome_fit(path)
    summary = re.sub(r", design effect \d+\.\d\d", "", before_rank_sets(fit.summary()))  # said since
    again = {"repr": repr(fit), "summary": summary, "signature": fit.signature}
    again |= {"abilities": effects_table(fit.abilities.to_frame()), "covariance": fit.covariance.to_numpy().tolist()}
    return again | {"parameters": table(fit.parameters.reset_index()), "items": table(fit.items)}


def of_curve(path: Path) -> dict:
    """Return what a curve holds."""
    curve = ld.read_curve(path)
    again = {"repr": repr(curve), "signature": curve.signature, "read": table(curve.read)}
    return again | {"log_bits": table(curve.log_bits), "frame": table(curve.to_frame())}


def of_surprisals(path: Path) -> dict | None:
    """Return what a table of surprisals holds; None for the record that belongs to a table."""
    if path.name.endswith(".provenance.json"):
        return None
    read = ld.read_surprisals(path)
    beside = {name: table(getattr(read, name)) for name in ("eos_bits", "characters", "bytes", "units", "replaced")}
    again = {"bits": table(read.bits), "info": table(read.intent_info), "repr": repr(read), "lm": read.lm}
    return again | beside | {"provenance": None if read.provenance is None else repr(read.provenance)}


def of_counts(path: Path) -> dict:
    """Return what a table of outcomes holds."""
    read = ld.read_outcomes(path)
    again = {"successes": table(read.successes), "trials": table(read.trials)}
    return again | {"items": table(read.items), "systems": table(read.systems)}


def of_model(path: Path) -> dict:
    """Return what a language model says."""
    readers = {"mixture": read_mixture, "kneser-ney": read_kneser_ney}
    kept = {} if path.name == "kneser-ney" else {"device": "cpu"}
    model = readers.get(path.name, ld.read_language_model)(path, **kept)
    scores = {scoring: table(model.surprisal(TEXTS, scoring=scoring)) for scoring in ("priced", "unpriced")}
    return scores | {"cautions": list(model.cautions), "symbols": [bits.tolist() for bits in model.symbol_bits(TEXTS)]}


def of_tagger(path: Path) -> dict:
    """Return what a tagger finds."""
    tagger = read_tagger(path)
    settings = {name: value for name, value in tagger.settings.model_dump().items() if value is not None}
    return {
        "found": repr(tagger.predict(documents())),
        "tags": list(tagger.tags),
        "history": table(tagger.history),
    } | settings


def of_given(path: Path, per_character: float | None = None) -> dict:
    """Return what was kept of a model of someone else's."""
    scored = ld.surprisals_of(
        Given(per_character), ld.read_frame(TEXTS.to_frame()), lm="given", cache=path, progress=False
    )
    return {"bits": table(scored.bits), "eos_bits": table(scored.eos_bits)}


KINDS = {
    "fits": of_fit,
    "outcome-fits": of_outcomes,
    "curves": of_curve,
    "surprisals": of_surprisals,
    "outcomes": of_counts,
    "models": of_model,
    "taggers": of_tagger,
    "given": of_given,
}


def documents() -> list:
    """Return a document with two parallelisms for the tagger."""
    words = ["we", "sing", ",", "we", "dance", ",", "and", "they", "sleep", ".", "he", "came", "and", "he", "saw", "."]
    return [make_document("1", words, [Parallelism(((0, 2), (3, 5))), Parallelism(((10, 12), (13, 15)))])]


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """Folder of the files, and what they held."""
    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(OLD) as archive:
        archive.extractall(folder, filter="data")
    return folder, json.loads((folder / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_files_hold_what_they_held(old, kind):
    folder, expected = old
    before = hashes(folder / kind)
    found = {path.name: KINDS[kind](path) for path in sorted((folder / kind).iterdir())}
    assert found.keys() == expected[kind].keys()
    found = json.loads(json.dumps(found, default=str))
    for name, held in expected[kind].items():
        if kind == "fits":
            given = held["freedom"]
            shape = np.shape(found[name]["freedom"])
            held["freedom"] = np.broadcast_to(given["data"] if isinstance(given, dict) else given, shape).tolist()
    exact = SINGLE if kind in ("models", "taggers") else EXACT
    assert [name for name in found if not agree(found[name], expected[kind][name], *exact)] == []
    assert hashes(folder / kind) == before


def write_fits(folder: Path) -> None:
    """Save fits of each model, and with each source of errors."""
    drawn = ld.simulate(40, 4, missing=0.1, seed=0).surprisals
    bits = drawn.bits.rename(columns=dict(zip(drawn.editions, NAMES, strict=True)))
    editions = pd.DataFrame({"year": [1.0, 2, 4, 3]}, index=NAMES)
    chapter, version = (
        pd.Series(np.arange(40) % n, bits.index, name=name) for n, name in ((13, "chapter"), (7, "row"))
    )
    strata = pd.Series(np.arange(40) % 13 // 7, bits.index, name="book")
    length = pd.DataFrame({"length": np.arange(40) % 5}, index=bits.index)
    ten = drawn.bits.mask(drawn.bits.notna(), 10.0)
    replaced = replace(drawn, characters=ten, replaced=ten * 0 + [0, 1, 0, 3])
    settings = {
        "model-1": {"model": "1"},
        "model-2": {},
        "model-2L": {"model": "2L"},
        "model-2C": {"model": "2C"},
        "model-3": {"model": "3", "laplace_scale": 0.02},
        "restricted": {"restricted": True},
        "groups-bootstrap": {"groups": dict(zip(NAMES, "aabc", strict=True)), "bootstrap": 5, "seed": 1},
        "formula": {"formula": "year", "edition_info": editions},
        "jackknife": {"errors": "jackknife", "seed": 1},
        "clusters": {"clusters": chapter},
        "clusters-strata-CR3": {"clusters": chapter, "strata": strata, "correction": "CR3"},
        "clusters-crossed": {"clusters": [chapter, version]},
        "random": {"intents": "random"},
        "random-free": {"intents": "random", "sizes": "free"},
        "random-formula": {"intents": "random", "size_formula": "length"},
        "dispersions": {"intents": "random", "dispersion": "edition"},
    }
    for name, given in settings.items():
        what = ld.Surprisals(bits=bits, intent_info=length) if "formula" in name else bits
        ld.fit(what, **flat_arguments(**given)).save(folder / "fits" / f"{name}.json")
    ld.fit(replaced).save(folder / "fits" / "replaced.json")


def write_outcomes(folder: Path) -> None:
    """Save outcomes and fits of them."""
    truth = ld.simulate_outcomes(60, 4, groups={"a": 0.0, "b": 1.0}, missing=0.1, seed=8)
    single = truth.outcomes.with_systems(pd.DataFrame({"size": [1, 2, 3, 4]}, index=truth.ability.index))
    several = ld.simulate_outcomes(60, 3, trials=9, correlation=0.2, seed=9).outcomes
    single.save(folder / "outcomes" / "single.csv")
    several.save(folder / "outcomes" / "several.parquet")
    settings = {
        "rasch": (single, {"model": "rasch"}),
        "interaction": (single, {"interaction": "group"}),
        "formula": (single, {"formula": "group"}),
        "conditional": (single, {"model": "conditional"}),
        "slopes": (single, {"model": "slopes", "by": "group"}),
        "beta-binomial": (several, {"model": "beta-binomial"}),
        "information": (several, {"errors": "information"}),
        "bootstrap": (single, {"errors": "bootstrap", "n_resamples": 5, "seed": 1}),
    }
    for name, (outcomes, given) in settings.items():
        ld.fit_outcomes(outcomes, **given).save(folder / "outcome-fits" / f"{name}.json")


def write_tables(folder: Path) -> None:
    """Save surprisals with and without a record, and curves."""
    parts = ld.split(ld.synthesize(90, 3, seed=1).multitext, block=6, dev=1, test=2)
    plain = ld.simulate(12, 3, missing=0.2, seed=3).surprisals
    info = pd.DataFrame({"book": [f"=b{k // 4}" for k in range(12)]}, index=plain.intents)
    plain.save(folder / "surprisals" / "plain.csv")
    recorded = replace(plain, provenance=Provenance(recipe="mine#1", seed=3)).with_intent_info(info)
    scored = ld.compute_surprisals(parts, lm="kneser-ney-2", max_replaced=1.0, device="cpu", progress=False)
    for ending in ("csv", "tsv", "parquet"):
        recorded.save(folder / "surprisals" / f"recorded.{ending}")
        scored.save(folder / "surprisals" / f"scored.{ending}")
    for name, n_seeds, match in (("one", 1, "intents"), ("two", 2, "bytes")):
        curve = ld.difficulty_curve(
            parts,
            train_sizes=[10, 30],
            lm="kneser-ney-2",
            match=match,
            n_seeds=n_seeds,
            seed=0,
            max_replaced=1.0,
            progress=False,
        )
        curve.save(folder / "curves" / f"{name}.json")


def write_models(folder: Path) -> None:
    """Save language models of each kind of units and architecture, a tagger, and what a given model says."""
    words = ["the", "cat", "sat", "on", "a", "mat", "dog", "ran", "far", "and", "home"]
    rng = np.random.default_rng(0)
    train, dev = ([" ".join(rng.choice(words, 6)) for _ in range(n)] for n in (60, 12))
    small = replace(RECIPES["char-tiny"], embedding_size=8, hidden_size=8, epochs=2, min_count=2)
    recipes = {
        "char": replace(small, layers=2),
        "bpe": replace(small, units="bpe"),
        "bytes": replace(small, units="bytes"),
        "graphemes": replace(small, units="graphemes"),
        "transformer": replace(small, architecture="transformer", heads=2),
        "residual": replace(small, ngram_orders=(2, 3)),
        "residual-bpe": replace(small, units="bpe", ngram_orders=(2,)),
    }
    for name, recipe in recipes.items():
        model = train_language_model(train, dev, recipe=recipe, name="eng", seed=0, device="cpu", progress=False)
        model.save(folder / "models" / name)
    counts = train_kneser_ney(train, dev, recipe=KneserNeyRecipe(name="kneser-ney-3", order=3, min_count=2))
    counts.save(folder / "models" / "kneser-ney")
    char = ld.read_language_model(folder / "models" / "char", device="cpu")
    fit_mixture([char, counts], dev, name="eng").save(folder / "models" / "mixture")
    encoders = {
        "learned-word": {"encoder": "bilstm", "depth": 1, "hidden_size": 4},
        "learned-subword": {"encoder": "none", "blending": "sum"},
    }
    for embedding, encoder in encoders.items():
        settings = TaggerSettings(
            embedding=embedding, **encoder, tagset="BIO", link="BD", learning_rate=0.1, input_size=4
        )
        tagger = train_tagger(documents(), documents(), settings, seed=0, max_epochs=8)
        tagger.save(folder / "taggers" / embedding)
    of_given(folder / "given" / "cache", per_character=2.5)


def make() -> None:
    """Save files of all kinds, read them, and write the archive."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for kind in KINDS:
            (folder / kind).mkdir()
        for write in (write_fits, write_outcomes, write_tables, write_models):
            write(folder)
        found = {
            kind: {path.name: of(path) for path in sorted((folder / kind).iterdir())} for kind, of in KINDS.items()
        }
        expected = json.dumps(found, ensure_ascii=False, default=str).encode()
        with tarfile.open(OLD, "w:xz", preset=9) as archive:
            entry = tarfile.TarInfo("expected.json")
            entry.size = len(expected)
            archive.addfile(entry, io.BytesIO(expected))
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                archive.add(path, path.relative_to(folder))


if __name__ == "__main__":
    make()
