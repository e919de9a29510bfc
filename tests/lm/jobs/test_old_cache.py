"""A cache of language models that langdiff 0.1.0 trained in November 2026 is used without training again.

``python -m tests.lm.jobs.test_old_cache`` made ``data/old_cache.zip``. Do not make it again: with a version that does
not find these models, users would have to train all of theirs again.
"""

import json
import shutil
import tempfile
import zipfile
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.lm import RECIPES, compute_surprisals, read_training_logs, score_multitext
from tests.as_before import call, hashes

OLD = Path(__file__).parent / "data" / "old_cache.zip"
LETTERS = {"aba": "aeioubdglmnst", "ωxo": "αειουκλμνπρστ"}
# the recipe that has the name with fewer units: weights of 600 kB are too much for a test
LMS = {"kneser-ney-2": "kneser-ney-2", "char-tiny": replace(RECIPES["char-tiny"], embedding_size=16, hidden_size=16)}
SETTINGS = {"device": "cpu", "max_replaced": 1.0, "progress": False}


def texts(letters: str, seed: int) -> list[str]:
    """Draw 60 texts of 4 to 9 words from 30; of all streams of numbers only that of `Random.random` never changes."""
    random = Random(seed).random

    def draw(what):
        return what[int(random() * len(what))]

    words = ["".join(draw(letters) for _ in range(2 + int(4 * random()))) for _ in range(30)]
    return [" ".join(draw(words) for _ in range(4 + int(6 * random()))) + "." for _ in range(60)]


def parts() -> ld.Parts:
    """Return the texts divided into parts."""
    drawn = {edition: texts(letters, seed) for seed, (edition, letters) in enumerate(LETTERS.items())}
    return ld.split(ld.read_frame(pd.DataFrame(drawn, index=[f"i{k}" for k in range(60)])))


def scored(cache: Path) -> dict:
    """Return what the models of a cache, trained where it has none, say of texts."""
    divided, found = parts(), {}
    for name, lm in LMS.items():
        table = compute_surprisals(divided, lm=lm, cache=cache, seed=0, **SETTINGS)
        otherwise = compute_surprisals(divided, lm=lm, scoring="unpriced", cache=cache, seed=0, **SETTINGS)
        dev = score_multitext(divided.dev, cache, lm=lm, **SETTINGS)
        found[name] = {
            "bits": table.bits.to_numpy().tolist(),
            "unpriced": otherwise.bits.to_numpy().tolist(),
            "dev": dev.bits.to_numpy().tolist(),
            "provenance": asdict(table.provenance),
            "signature": ld.fit(table).signature,
            "epochs": len(read_training_logs(cache).query("lm == @name")),
        }
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Files before and after, what was expected, and what was found."""
    folder = tmp_path_factory.mktemp("old")
    with zipfile.ZipFile(OLD) as archive:
        archive.extractall(folder)
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    before = hashes(folder / "cache")
    answer = call(expected["versions"], __name__, "scored", folder / "cache")
    return before, hashes(folder / "cache"), expected["found"], answer


def test_nothing_is_trained(found):
    before, after, expected, answer = found
    lasting = {name: known for name, known in before.items() if not name.endswith("/checksums.json")}
    assert sum(name.endswith("model/model.json") for name in lasting) == 4
    assert {name: known for name, known in after.items() if name in lasting} == lasting
    new = {name.split("/")[-1] for name in after.keys() - before.keys()}
    assert new == {"surprisals-unpriced.json", "surprisals-unpriced.parquet"}
    for name in LMS:
        assert answer[name]["epochs"] == expected[name]["epochs"] > 0


@pytest.mark.parametrize("name", LMS)
def test_bits_and_signature_are_those_of_then(found, name):
    *_, expected, answer = found
    assert answer[name]["bits"] == expected[name]["bits"]
    assert answer[name]["provenance"] == expected[name]["provenance"]
    assert answer[name]["signature"] == expected[name]["signature"]


@pytest.mark.parametrize("name", LMS)
@pytest.mark.parametrize("what", ["unpriced", "dev"])
def test_models_say_of_other_texts_what_they_said_then(found, name, what):
    *_, expected, answer = found
    exact = 1e-10 if name.startswith("kneser") else 1e-4  # single precision, on whatever processor
    np.testing.assert_allclose(answer[name][what], expected[name][what], rtol=exact)


def make() -> None:
    """Train, note what the models say, and write the archive."""
    with tempfile.TemporaryDirectory() as folder:
        cache, copy = Path(folder) / "cache", Path(folder) / "copy"
        for lm in LMS.values():
            compute_surprisals(parts(), lm=lm, cache=cache, seed=0, **SETTINGS)
        shutil.copytree(cache, copy)
        versions = {name: version(name) for name in ("langdiff", "sentencepiece", "torch")}
        expected = json.dumps({"versions": versions, "found": scored(copy)}, indent=1)
        with zipfile.ZipFile(OLD, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("expected.json", expected)
            for path in sorted(path for path in cache.rglob("*") if path.is_file() and path.name != ".lock"):
                archive.write(path, path.relative_to(folder))


if __name__ == "__main__":
    make()
