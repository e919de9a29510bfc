"""A folder in the place of a file of a cache or a run is damage: said, removed, and what was there made again."""

import shutil
from contextlib import suppress

import pandas as pd
import pytest

import langdiff as ld
from langdiff.base.checksums import DamageError
from langdiff.errors import LangdiffError, LangdiffWarning
from langdiff.lm import compute_surprisals, read_training_logs, score_multitext
from langdiff.run import Experiment, read_run, run_experiment

MODEL = "kneser-ney-2"
FILES = [
    *("checksums.json", "key.json", "cautions.json", "compute.json", "log.jsonl", "model/model.json"),
    *("surprisals.json", "surprisals.parquet"),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    parts = ld.split(ld.synthesize(80, 2, seed=1).multitext)
    cache = tmp_path_factory.mktemp("trained")
    compute_surprisals(parts, lm=MODEL, cache=cache, max_replaced=1.0, seed=0, progress=False)
    return parts, cache


def make_folder_of(path):
    path.unlink()
    path.mkdir()
    (path / "in the way").write_text("")


@pytest.mark.parametrize("name", FILES)
def test_of_a_cache(trained, tmp_path, name):
    parts, kept = trained
    cache = tmp_path / "cache"
    shutil.copytree(kept, cache)
    expected = compute_surprisals(parts, lm=MODEL, cache=cache, max_replaced=1.0, seed=0, progress=False)
    path = next(cache.glob(f"*/*/*/{name}"))
    make_folder_of(path)
    for read in (
        lambda: read_training_logs(cache),
        lambda: score_multitext(parts.dev, cache, lm=MODEL, max_replaced=1.0, progress=False),
    ):
        with suppress(LangdiffError):  # not all need the file; what does not raises nothing of others
            read()
    with pytest.warns(
        LangdiffWarning, match=rf"{path.name}: is a directory\. The (model is trained|text is scored) again"
    ):
        again = compute_surprisals(parts, lm=MODEL, cache=cache, max_replaced=1.0, seed=0, progress=False)
    pd.testing.assert_frame_equal(again.bits, expected.bits, check_exact=True)
    assert path.is_file()
    assert read_training_logs(cache)["edition"].nunique() == 2


def test_of_a_run(tmp_path):
    settings = {
        "name": "folders",
        "corpus": {"format": "synthetic", "n_intents": 80, "n_languages": 2},
        "lm": {"models": [MODEL], "max_replaced": 1.0, "baselines": False},
    }
    experiment = Experiment.model_validate(settings)
    run = run_experiment(experiment, tmp_path, progress=False)
    for name in ("checksums.json", f"surprisals/{MODEL}.csv", f"fits/{MODEL}.json", "experiment.json"):
        make_folder_of(tmp_path / name)
        with pytest.raises(LangdiffError, match=rf"{name}: is a directory"):
            read_run(tmp_path)
        again = run_experiment(experiment, tmp_path, progress=False)  # as the message says
        pd.testing.assert_frame_equal(again.surprisals[MODEL].bits, run.surprisals[MODEL].bits, check_exact=True)
        assert (tmp_path / name).is_file()
    make_folder_of(tmp_path / "checksums.json")
    with pytest.raises(DamageError, match="makes all that is missing or damaged again"):
        read_run(tmp_path)
