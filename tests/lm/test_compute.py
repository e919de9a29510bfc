import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import langdiff as ld
from langdiff.errors import CheckpointError, ConfigError, DataError, LangdiffWarning, TrainingError
from langdiff.lm import Recipe, compute_surprisals, score_multitext, train_language_model
from langdiff.lm.jobs.folder import job_folder
from langdiff.lm.lstm import training
from langdiff.lm.lstm.loop import EpochLoop
from langdiff.tables.text_sources import InMemoryText
from tests.helpers import refused
from tests.lm.conftest import make_parts, only, read_job_states


@pytest.fixture
def trainings(monkeypatch):
    """List the editions trained in this process."""
    trained = []
    fit = training.fit_language_model

    def spy(recipe, train, dev, plan):
        trained.append(plan.name)
        return fit(recipe, train, dev, plan)

    monkeypatch.setattr(training, "fit_language_model", spy)
    return trained


PARTS = ("train", "dev", "test")


def compute(parts, recipe, **options):
    return compute_surprisals(parts, lm=recipe, progress=False, **({"seed": 0} | options))


def same(a, b):
    for field in ("bits", "eos_bits", "characters", "bytes", "replaced"):
        assert_frame_equal(getattr(a, field), getattr(b, field), check_exact=True)
    return True


def changed_text(parts, part, edition, function=lambda text: text + " home"):
    multitext = getattr(parts, part)
    one = multitext.sel(editions=[edition]).map_text(function).sources
    return replace(parts, **{part: replace(multitext, sources={**multitext.sources, **one})})


def test_scoring_with_the_models_of_a_cache(tiny_recipe, tmp_path):
    parts = make_parts(missing=[("ell", "test3")])
    first = compute(parts, tiny_recipe, cache=tmp_path)
    assert same(first, score_multitext(parts.test, tmp_path, lm=tiny_recipe, progress=False))
    other = make_parts(languages=["eng"]).dev
    assert len(score_multitext(other, tmp_path, lm=tiny_recipe, progress=False).intents) == 20
    renamed = changed_text(parts, "test", "eng", lambda text: "猫" + text).test
    with pytest.warns(LangdiffWarning, match=r"edition 'eng': .*\(scored \d+\.\d\d%\)"):
        score_multitext(renamed.sel(editions=["eng"]), tmp_path, lm=tiny_recipe, progress=False)
    with pytest.raises(CheckpointError, match=r"edition 'eng': .*char-tiny.*no finished language model"):
        score_multitext(other, tmp_path, lm="char-tiny", progress=False)


@pytest.mark.parametrize("units", ["char", "bpe"])
def test_surprisals_are_those_of_one_model_an_edition(tiny_recipe, units):
    missing = [("ell", "test3"), ("ell", "test14")]
    parts, recipe = make_parts(missing=missing), replace(tiny_recipe, units=units)
    surprisals = compute(parts, recipe, seed=4)
    assert surprisals.lm == recipe.name
    assert list(surprisals.intents) == list(parts.test.intents)
    assert [(e, i) for i, e in surprisals.bits.isna().stack()[lambda s: s].index] == missing
    model = train_language_model(parts.train.text("ell"), parts.dev.text("ell"), recipe=recipe, seed=4, progress=False)
    expected = model.surprisal(parts.test.text("ell")).reindex(parts.test.intents)
    for field in ("bits", "eos_bits", "characters", "units"):
        pd.testing.assert_series_equal(
            getattr(surprisals, field)["ell"], expected[field].astype(float), check_names=False, check_exact=True
        )


def test_a_second_run_trains_nothing(parts, tiny_recipe, tmp_path, trainings):
    first = compute(parts, tiny_recipe, cache=tmp_path)
    assert trainings == ["eng", "ell"]
    assert same(first, compute(parts, tiny_recipe, cache=tmp_path))
    assert same(first, compute(parts, tiny_recipe))  # the cache changes no bit
    assert trainings == ["eng", "ell", "eng", "ell"]
    states = read_job_states(tmp_path)
    assert states[["edition", "lm", "state", "epochs"]].to_numpy().tolist() == [
        ["ell", "test-char", "done", 2],
        ["eng", "test-char", "done", 2],
    ]
    folder = only(tmp_path / "eng" / "test-char")
    assert sorted(p.name for p in folder.iterdir() if p.name != ".lock") == [  # which some versions of filelock remove
        "cautions.json", "checksums.json", "compute.json", "key.json", "log.jsonl", "model", "surprisals.json",
        "surprisals.parquet",
    ]  # fmt: skip
    again = ld.read(folder / "model").surprisal(parts.test.text("eng"))
    assert again["bits"].tolist() == first.bits["eng"].tolist()


@pytest.mark.parametrize("change", ["seed", "recipe", "train", "dev", "format"])
def test_what_a_job_depends_on_is_in_its_key(tiny_recipe, tmp_path, trainings, monkeypatch, change):
    parts, options = make_parts(), {"cache": tmp_path, "seed": 0}
    compute(parts, tiny_recipe, **options)
    trainings.clear()
    expected = ["eng", "ell"]
    if change == "seed":
        options["seed"] = 1
    elif change == "recipe":
        tiny_recipe = replace(tiny_recipe, weight_decay=0.02)
    elif change == "format":
        monkeypatch.setattr(Recipe, "training_format", 999)
    else:
        parts, expected = changed_text(parts, change, "eng"), ["eng"]
    fresh = compute(parts, tiny_recipe, **options)
    assert trainings == expected
    assert same(fresh, compute(parts, tiny_recipe, seed=options["seed"]))


@pytest.mark.parametrize("change", ["test", "intents"])
def test_other_test_texts_are_scored_by_the_same_models(tiny_recipe, tmp_path, trainings, change):
    parts = make_parts()
    compute(parts, tiny_recipe, cache=tmp_path)
    trainings.clear()
    if change == "intents":
        old = parts.test
        names = pd.Index([f"renamed {intent}" for intent in old.intents], name="intent")
        texts = {e: InMemoryText(old.text(e).set_axis(names)) for e in old.editions}
        presence, info = old.presence.set_axis(names), old.intent_info.set_axis(names)
        parts = replace(parts, test=replace(old, presence=presence, intent_info=info, sources=texts))
    else:
        parts = changed_text(parts, "test", "eng")
    fresh = compute(parts, tiny_recipe, cache=tmp_path)
    assert trainings == []
    assert same(fresh, compute(parts, tiny_recipe))


def test_another_way_of_scoring_trains_nothing(parts, tiny_recipe, tmp_path, monkeypatch):
    recipe = replace(tiny_recipe, context="stream", bptt=64, min_count=20)
    options = {"cache": tmp_path, "max_replaced": 1}
    priced = compute(parts, recipe, **options)
    models = {path: path.read_bytes() for path in tmp_path.glob("*/*/*/model/*")}
    logs = {path: path.read_bytes() for path in tmp_path.glob("*/*/*/log.jsonl")}
    assert models
    with monkeypatch.context() as patch:
        patch.setattr(EpochLoop, "run_epoch", lambda *_: pytest.fail("an epoch was run"))
        tables = {
            scoring: compute(parts, recipe, scoring=scoring, **options)
            for scoring in ("unpriced", "carried", "unpriced, carried")
        }
        assert same(priced, compute(parts, recipe, **options))  # its table is still there
        patch.setattr(Recipe, "read", lambda *_, **__: pytest.fail("a model was loaded"))
        for scoring, table in tables.items():
            assert same(table, compute(parts, recipe, scoring=scoring, **options))
    assert {path: path.read_bytes() for path in tmp_path.glob("*/*/*/model/*")} == models
    assert {path: path.read_bytes() for path in tmp_path.glob("*/*/*/log.jsonl")} == logs
    assert [table.lm for table in tables.values()] == [
        "test-char-unpriced", "test-char-carried", "test-char-unpriced-carried",
    ]  # fmt: skip
    some = priced.replaced > 0
    assert (priced.bits > tables["unpriced"].bits)[some].stack().all()
    assert_frame_equal(priced.bits[~some], tables["unpriced"].bits[~some], check_exact=True)
    assert not priced.bits.equals(tables["carried"].bits)
    fresh = compute(parts, recipe, scoring="unpriced", max_replaced=1)
    assert same(tables["unpriced"], fresh)
    assert same(
        tables["unpriced"],
        score_multitext(parts.test, tmp_path, lm=recipe, scoring="unpriced", max_replaced=1, progress=False),
    )


def test_too_many_replaced_characters_are_refused_before_training(tiny_recipe, tmp_path, trainings):
    parts = changed_text(make_parts(), "test", "ell", lambda text: "猫犬" + text)
    rate = sum(2 for _ in parts.test.text("ell")) / parts.test.text("ell").str.len().sum()
    message = rf"^1 of 2 edition\(s\) have more than 5\.00%.*: ell {rate:.1%}\. .*Add training text, lower min_count"
    with pytest.raises(DataError, match=message):
        compute(parts.__class__(**{p: getattr(parts, p).sel(editions=["ell", "eng"]) for p in PARTS}), tiny_recipe)
    assert trainings == []
    refused(DataError, message, compute, parts, tiny_recipe, cache=tmp_path)
    assert trainings == ["eng"]  # with a cache the others are finished
    with pytest.warns(LangdiffWarning, match=r"edition 'ell': .*\(test 5\.61%\)"):
        table = compute(parts, tiny_recipe, cache=tmp_path, max_replaced=0.2)
    assert table.bits_per_character()["replaced_percent"].to_dict() == {"eng": 0.0, "ell": pytest.approx(100 * rate)}
    assert (table.replaced["ell"] == 2).all()
    refused(DataError, message, score_multitext, parts.test, tmp_path, lm=tiny_recipe, progress=False)
    refused(DataError, message, compute, parts, tiny_recipe, cache=tmp_path)  # allowed then, not now
    with pytest.warns(LangdiffWarning, match=r"\(scored 5\.61%\)"):
        assert same(table, score_multitext(parts.test, tmp_path, lm=tiny_recipe, max_replaced=0.2, progress=False))


@pytest.mark.parametrize("name", ["surprisals.parquet", "surprisals.json"])
def test_damaged_surprisals_are_scored_again(parts, tiny_recipe, tmp_path, trainings, name):
    first = compute(parts, tiny_recipe, cache=tmp_path)
    trainings.clear()
    path = only(tmp_path / "ell" / "test-char") / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.warns(LangdiffWarning, match=rf"edition 'ell': .*{name}: damaged: .* The text is scored again\."):
        assert same(first, compute(parts, tiny_recipe, cache=tmp_path))
    assert trainings == []
    assert same(first, compute(parts, tiny_recipe, cache=tmp_path))  # without a word


@pytest.mark.parametrize(
    "name", ["key.json", "cautions.json", "compute.json", "log.jsonl", "model/model.json", "checksums.json"]
)
def test_a_damaged_cache_is_made_again(parts, tiny_recipe, tmp_path, trainings, name):
    first = compute(parts, tiny_recipe, cache=tmp_path)
    trainings.clear()
    path = only(tmp_path / "ell" / "test-char") / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.warns(LangdiffWarning, match=rf"edition 'ell': .*{name}: damaged: .* The model is trained again\."):
        assert same(first, compute(parts, tiny_recipe, cache=tmp_path))
    assert trainings == ["ell"]
    assert read_job_states(tmp_path)["state"].tolist() == ["done", "done"]


def test_a_changed_number_is_seen(parts, tiny_recipe, tmp_path, trainings):
    first = compute(parts, tiny_recipe, cache=tmp_path)
    path = only(tmp_path / "eng" / "test-char") / "surprisals.parquet"
    frame = pd.read_parquet(path)
    frame.assign(bits=frame["bits"] * 2).to_parquet(path, index=False)  # a whole file of the same key
    with pytest.warns(LangdiffWarning, match="The text is scored again"):
        assert same(first, compute(parts, tiny_recipe, cache=tmp_path))
    assert len(trainings) == 2


def test_a_job_that_was_never_recorded_is_done_again(parts, tiny_recipe, tmp_path, trainings):
    first = compute(parts, tiny_recipe, cache=tmp_path)
    (only(tmp_path / "eng" / "test-char") / "checksums.json").unlink()
    trainings.clear()
    assert same(first, compute(parts, tiny_recipe, cache=tmp_path))
    assert trainings == ["eng"]


def test_an_interrupted_job_leaves_no_surprisals(parts, tiny_recipe, tmp_path, trainings, monkeypatch):
    run_epoch = EpochLoop.run_epoch

    def interrupted(self):
        if trainings[-1] == "ell" and self.last is not None:
            raise KeyboardInterrupt
        return run_epoch(self)

    with monkeypatch.context() as patch:
        patch.setattr(EpochLoop, "run_epoch", interrupted)
        patch.setattr("langdiff.lm.lstm.training.SECONDS", 0.0)
        with pytest.raises(KeyboardInterrupt):
            compute(parts, tiny_recipe, cache=tmp_path)
    states = read_job_states(tmp_path).set_index("edition")
    assert states["state"].to_dict() == {"eng": "done", "ell": "unfinished"}
    assert states.loc["ell", "epochs"] == 1
    assert not (only(tmp_path / "ell" / "test-char") / "surprisals.parquet").exists()
    (only(tmp_path / "ell" / "test-char") / "model" / ".weights.0123.part").write_text("what a kill leaves")
    trainings.clear()
    assert same(compute(parts, tiny_recipe, cache=tmp_path), compute(parts, tiny_recipe))
    assert trainings == ["ell", "eng", "ell"]
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("name", ["..", "a/b", "x" * 3 + "%2F", "ελ λ"])
def test_editions_with_strange_names_stay_inside_the_cache(tiny_recipe, tmp_path, name):
    parts = make_parts()
    renamed = {}
    for part in ("train", "dev", "test"):
        multitext = getattr(parts, part).sel(editions=["eng"])
        renamed[part] = replace(
            multitext,
            presence=multitext.presence.rename(columns={"eng": name}),
            edition_info=multitext.edition_info.rename(index={"eng": name}),
            sources={name: multitext.sources["eng"]},
        )
    compute(type(parts)(**renamed), tiny_recipe, cache=tmp_path / "cache")
    assert [p.name for p in tmp_path.iterdir()] == ["cache"]
    assert read_job_states(tmp_path / "cache")["edition"].tolist() == [name]


def test_workers_give_the_same_bits_and_cautions(tiny_recipe, tmp_path):
    parts, recipe = make_parts(), replace(tiny_recipe, min_count=60)
    with pytest.warns(LangdiffWarning) as here:
        expected = compute(parts, recipe, max_replaced=1)
    with pytest.warns(LangdiffWarning) as there:
        assert same(expected, compute(parts, recipe, cache=tmp_path, workers=2, max_replaced=1))
    with pytest.warns(LangdiffWarning) as cached:
        compute(parts, recipe, cache=tmp_path, max_replaced=1)
    assert any("'ell'" in str(w.message) and "(test " in str(w.message) for w in here)
    assert any("costs the bits that tell it from all others of its script" in str(w.message) for w in here)
    with pytest.warns(LangdiffWarning) as unpriced:
        compute(parts, recipe, cache=tmp_path, scoring="unpriced", max_replaced=1)
    assert any("Which of them it was is free, so that the edition looks easier" in str(w.message) for w in unpriced)
    assert [str(w.message) for w in here] == [str(w.message) for w in there] == [str(w.message) for w in cached]


def test_workers_get_only_what_is_not_finished(tiny_recipe, tmp_path):
    parts = make_parts()
    expected = compute(parts, tiny_recipe, cache=tmp_path)
    editions = list(parts.train.editions)
    given = []

    class Watched(ThreadPoolExecutor):
        def submit(self, function, one, /):
            given.append(one.edition)
            return super().submit(function, one)

    with Watched(1) as executor:
        assert_frame_equal(compute(parts, tiny_recipe, cache=tmp_path, executor=executor).bits, expected.bits)
        assert given == []
        damaged = only(job_folder(tmp_path, editions[0], tiny_recipe.name)) / "surprisals.parquet"
        damaged.write_bytes(damaged.read_bytes()[:-1])
        with pytest.warns(LangdiffWarning, match="scored again"):
            again = compute(parts, tiny_recipe, cache=tmp_path, executor=executor)
        assert given == editions[:1]
        assert_frame_equal(again.bits, expected.bits)


def test_an_executor_of_ones_own(parts, tiny_recipe):
    with ThreadPoolExecutor(1) as executor:
        assert same(compute(parts, tiny_recipe, executor=executor), compute(parts, tiny_recipe))
        refused(ConfigError, "not both", compute, parts, tiny_recipe, executor=executor, workers=2)


def test_errors_name_the_edition(tiny_recipe):
    parts = make_parts()
    short = parts.train.sel(intents=parts.train.intents[:30])
    with pytest.raises(DataError, match=r"^edition 'eng': training part: .* too little text"):
        compute(replace(parts, train=short), tiny_recipe)
    with pytest.raises(TrainingError, match=r"^edition 'eng': .*Lower learning_rate"):
        compute(parts, replace(tiny_recipe, learning_rate=1e30, gradient_clip=1e30))


def test_a_full_memory_is_an_error_that_names_the_edition(parts, tiny_recipe, monkeypatch):
    def full(*args, **options):
        raise MemoryError("no room")

    monkeypatch.setattr(training, "fit_language_model", full)
    refused(TrainingError, "edition 'eng': MemoryError: no room", compute, parts, tiny_recipe)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers"),
        ({"max_replaced": 5}, "a fraction of characters, from 0 to 1; got 5"),
        ({"scoring": "free"}, "unknown way of scoring 'free'"),
        ({"lm": "char-tiny-unpriced", "scoring": "unpriced"}, "both say how to score"),
        ({"device": "warp9"}, "device 'warp9'"),
        ({"lm": "char-smal"}, "Did you mean"),
    ],
)
def test_bad_settings(parts, options, message):
    refused(ConfigError, message, compute_surprisals, parts, progress=False, seed=0, **options)


STARTED = 150  # seconds until Python and torch have started three times, on a machine with much else to do

SCRIPT = """
import sys
from dataclasses import replace
sys.path.insert(0, {folder!r})
import conftest
import langdiff as ld
from langdiff.lm import RECIPES

if __name__ == "__main__":
    recipe = replace(RECIPES["char-tiny"], epochs=100_000, patience=100_000)
    ld.compute_surprisals(conftest.make_parts(), lm=recipe, seed=0, cache=sys.argv[1], workers=2, progress=False)
"""


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] != "Z"  # dead, but not yet collected by its parent


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc")
@pytest.mark.timeout(2 * STARTED)
@pytest.mark.parametrize("kill", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_an_interrupt_ends_the_workers_at_once(tmp_path, kill):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(Path(__file__).parent)))
    cache = tmp_path / "cache"
    process = subprocess.Popen([sys.executable, script, cache], stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + STARTED
        while len(list(cache.glob("*/*/*/model/model.json"))) < 2:  # both workers are training
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        workers = children(process.pid)
        assert len(workers) >= 2
        process.send_signal(kill)
        stderr = process.communicate(timeout=30)[1]
    finally:  # it trains for hours: a failure above must not wait for that
        process.kill()
        process.wait()
        process.stderr.close()
    deadline = time.monotonic() + 30
    while any(map(alive, workers)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert read_job_states(cache)["state"].tolist() == ["unfinished", "unfinished"]
    for folder in cache.glob("*/*/*/model"):
        ld.read(folder)
    if kill == signal.SIGINT:
        assert stderr.rstrip().endswith("KeyboardInterrupt")
        assert "SpawnProcess" not in stderr  # workers die without a word


def test_a_file_that_became_faulty_is_an_error_that_names_the_edition(tmp_path):
    for name in ("eng", "deu"):
        (tmp_path / f"{name}.txt").write_text("".join(f"a line {k % 7} of {name}\n" for k in range(300)))
    parts = ld.split(ld.read_multitext(tmp_path, format="moses", progress=False))
    (tmp_path / "deu.txt").write_bytes(b"a line \0\n" * 300)
    with pytest.raises(DataError, match="edition 'deu': 300 faults in 1 file"):
        ld.compute_surprisals(parts, lm="kneser-ney-2", cache=tmp_path / "cache", max_replaced=1, progress=False)
