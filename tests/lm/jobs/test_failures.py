"""One edition that cannot be trained does not stop its siblings."""

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pandas as pd
import pytest

from langdiff.base.io import LockedError
from langdiff.errors import DataError, OutputError, TrainingError
from langdiff.lm import Compute, compute_surprisals
from langdiff.lm.compute import compute_where_possible
from langdiff.lm.jobs.workers import Failures
from langdiff.tables.multitext import Parts
from langdiff.tables.text_sources import InMemoryText
from tests.lm.conftest import make_parts, read_job_states


def shortened(multitext, editions):
    """Leave so little text of some editions that they cannot be trained."""
    sources = {e: InMemoryText(multitext.text(e).str[:2]) for e in editions}
    return replace(multitext, sources={**multitext.sources, **sources})


def states(cache):
    return read_job_states(cache).set_index("edition")["state"].to_dict()


@pytest.fixture
def three():
    return make_parts(languages=("eng", "ell", "cmn"))


@contextmanager
def ways(way):
    if way == "executor":
        with ThreadPoolExecutor(1) as executor:
            yield {"executor": executor}
    else:
        yield {"workers": 2 if way == "workers" else 1}


@pytest.mark.parametrize("way", ["here", pytest.param("workers", marks=pytest.mark.slow), "executor"])
def test_siblings_are_finished_and_kept(three, tiny_recipe, tmp_path, way, caplog):
    parts = replace(three, train=shortened(three.train, ["eng"]))
    with (
        ways(way) as options,
        caplog.at_level(logging.ERROR, logger="langdiff.lm"),
        pytest.raises(DataError, match=r"^edition 'eng': training part: .* too little text"),
    ):
        compute_surprisals(parts, lm=tiny_recipe, max_replaced=1.0, cache=tmp_path, progress=False, seed=0, **options)
    found = states(tmp_path)
    assert found["ell"] == found["cmn"] == "done"
    assert found.get("eng") != "done"
    assert "edition 'eng'" in caplog.text


def test_one_error_names_all_that_failed(three, tiny_recipe, tmp_path):
    parts = replace(three, train=shortened(three.train, ["eng", "cmn"]))
    with pytest.raises(DataError, match=r"^2 of 3 editions failed \('eng', 'cmn'\).* edition 'eng': ") as caught:
        compute_surprisals(parts, lm=tiny_recipe, max_replaced=1.0, cache=tmp_path, progress=False, seed=0)
    assert [str(error)[:13] for error in caught.value.__cause__.exceptions] == ["edition 'eng'", "edition 'cmn'"]
    assert states(tmp_path)["ell"] == "done"


def test_without_a_cache_the_first_error_ends_the_call(three, tiny_recipe, monkeypatch):
    parts = replace(three, train=shortened(three.train, ["eng"]))
    trained = []
    monkeypatch.setattr("langdiff.lm.lstm.loop.EpochLoop.run_epoch", lambda self: trained.append(self))
    with pytest.raises(DataError, match="edition 'eng'"):
        compute_surprisals(parts, lm=tiny_recipe, max_replaced=1.0, progress=False, seed=0)
    assert not trained


def test_errors_of_several_kinds_are_a_training_error():
    failures = Failures(4, at_once=False)
    for edition, error in (("eng", DataError("eng: short")), ("deu", ZeroDivisionError("none"))):
        with failures.of(edition):
            raise error
    with pytest.raises(TrainingError, match=r"2 of 4 editions failed \('eng', 'deu'\)"):
        failures.raise_any()
    assert error.__notes__ == ["edition 'deu'"]


def test_an_interrupt_is_not_kept():
    failures = Failures(1, at_once=False)
    with pytest.raises(KeyboardInterrupt), failures.of("eng"):
        raise KeyboardInterrupt
    failures.raise_any()


def test_a_disk_that_is_full_ends_the_call_and_says_what_is_finished():
    failures = Failures(4, at_once=False)
    for edition in ("eng", "deu"):
        with failures.of(edition):
            pass
    with failures.of("ell", last=False):  # a part of its work
        pass
    message = r"^no space\. 2 of 4 editions are finished and kept \('deu', 'eng'\); when files can be written again"
    with pytest.raises(OutputError, match=message), failures.of("fin"):
        raise OutputError("no space.")


def test_an_edition_that_another_process_trains_does_not_stop_the_others():
    failures = Failures(2, at_once=False)
    with failures.of("eng"):
        raise LockedError("another process is training here.")
    assert list(failures.errors) == ["eng"]


def test_editions_that_fail_are_left_out_where_that_is_asked_for(three, tiny_recipe, tmp_path):
    parts = replace(three, train=shortened(three.train, ["eng"]))
    compute = Compute(device="cpu", cache=tmp_path, progress=False)
    options = {"lm": tiny_recipe, "max_replaced": 1.0, "seed": 0, "compute": compute}
    table, failed = compute_where_possible(parts, **options, least=2)
    assert list(table.editions) == ["ell", "cmn"]
    assert list(failed) == ["eng"]
    assert "too little text" in failed["eng"]
    with pytest.raises(DataError, match="too little text"):
        compute_where_possible(parts, **options, least=3)
    two = Parts(**{part: getattr(three, part).sel(editions=["ell", "cmn"]) for part in ("train", "dev", "test")})
    alone = compute_surprisals(two, lm=tiny_recipe, max_replaced=1.0, seed=0, progress=False, device="cpu")
    assert alone.provenance == table.provenance
    pd.testing.assert_frame_equal(alone.bits, table.bits)
