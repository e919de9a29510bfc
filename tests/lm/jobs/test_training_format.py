"""Models of an earlier version are used without training again, so a kind whose bits move must raise its number.

`training_formats.json` has bits that each kind gave when its `training_format` was raised the last time;
``python -m tests.lm.jobs.test_training_format`` writes it again for kinds whose number is another.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import CheckpointError
from langdiff.lm import RECIPES, KneserNeyRecipe, compute_surprisals, read_models, score_multitext
from langdiff.lm.jobs import record
from langdiff.lm.language_model import find_lm, known_kinds

FILE = Path(__file__).with_name("training_formats.json")
SMALL = {"embedding_size": 12, "hidden_size": 16, "epochs": 2}
LMS = {
    "kneser-ney": ["kneser-ney-2", "kneser-ney-5"],
    "network": [replace(find_lm(name), **SMALL) for name in ("char-tiny", "bpe-small", "char-residual-quick")],
}
EXACT = {"kneser-ney": 1e-9, "network": 1e-4}  # sums in double precision; single precision on whatever processor
SETTINGS = {"device": "cpu", "max_replaced": 1.0, "progress": False}


def parts(seed=1):
    """Return texts of 4 to 9 words from 30; of all streams of numbers only that of `Random.random` never changes."""
    random = Random(seed).random
    words = ["".join("aeioubdglmnst"[int(13 * random())] for _ in range(2 + int(4 * random()))) for _ in range(30)]
    texts = [" ".join(words[int(30 * random())] for _ in range(4 + int(6 * random()))) + "." for _ in range(60)]
    return ld.split(ld.read_frame(pd.DataFrame({"aba": texts}, index=[f"i{k}" for k in range(60)])))


def bits_of(kind):
    """Return the bits of the test texts by every recipe of a kind."""
    found = {}
    for lm in LMS[kind]:
        table = compute_surprisals(parts(), lm=lm, seed=0, **SETTINGS)
        found[getattr(lm, "name", lm)] = table.bits["aba"].tolist()
    return found


def moved(kind, recorded):
    """Return the recipes whose bits are not those recorded."""
    now = bits_of(kind)
    return [lm for lm in now if not np.allclose(now[lm], recorded["bits"][lm], rtol=EXACT[kind], atol=0)]


def own_kinds():
    return {
        kind.kind: kind
        for kind in known_kinds()
        if kind.__module__.startswith("langdiff.") and kind.kind != "Automatic"
    }


@pytest.mark.parametrize("kind", LMS)
def test_bits_move_only_with_the_number(kind):
    recorded = json.loads(FILE.read_text())[kind]
    assert recorded["training_format"] == own_kinds()[kind].training_format, "write training_formats.json again"
    assert moved(kind, recorded) == [], "raise training_format of this kind, and write training_formats.json again"


def test_every_kind_is_watched():
    assert set(own_kinds()) == set(LMS) == set(json.loads(FILE.read_text()))


@pytest.mark.parametrize("kind", LMS)
def test_the_watch_sees_what_moves(kind):
    recorded = json.loads(FILE.read_text())[kind]
    lm = next(iter(recorded["bits"]))
    recorded["bits"][lm][0] *= 1 + 2 * EXACT[kind]
    assert moved(kind, recorded) == [lm]


def state(cache):
    files = (path for path in cache.rglob("model/*") if path.is_file())
    return {path: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in files}


KN = KneserNeyRecipe(name="mine", order=2, min_count=1)
TINY = replace(RECIPES["char-tiny"], **SMALL)


def test_other_versions_train_nothing_and_are_told(tmp_path, monkeypatch):
    first = compute_surprisals(parts(), lm=KN, cache=tmp_path, **SETTINGS)
    before = state(tmp_path)
    monkeypatch.setattr(record, "__version__", "99.0.0")
    monkeypatch.setattr(record, "version", lambda _: "99.9")
    monkeypatch.setattr(KneserNeyRecipe, "fit", lambda *_: pytest.fail("trained again"))
    again = compute_surprisals(parts(), lm=KN, cache=tmp_path, **SETTINGS)
    assert before == state(tmp_path) != {}
    assert again.provenance == first.provenance  # the versions that trained it
    assert f"langdiff:{ld.__version__}" in again.provenance.versions


def test_of_several_seeds_one_is_named(tmp_path):
    for seed in (0, 1):
        compute_surprisals(parts(), lm=TINY, seed=seed, cache=tmp_path, **SETTINGS)
    with pytest.raises(CheckpointError, match=r"2 finished language models, \w{12} \(seed [01]\), .*training_seed=0"):
        read_models(tmp_path, ["aba"], lm=TINY)
    test = parts().test
    tables = [score_multitext(test, tmp_path, lm=TINY, training_seed=seed, **SETTINGS) for seed in (0, 1)]
    assert [table.provenance.seed for table in tables] == [0, 1]
    with pytest.raises(CheckpointError, match="only of other settings or seeds"):
        read_models(tmp_path, ["aba"], lm=TINY, training_seed=7)


def make():
    """Write the bits of the kinds whose number is not the recorded one."""
    recorded = json.loads(FILE.read_text()) if FILE.exists() else {}
    for kind in LMS:
        number = own_kinds()[kind].training_format
        if recorded.get(kind, {}).get("training_format") != number:
            recorded[kind] = {"training_format": number, "bits": bits_of(kind)}
    FILE.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    make()
