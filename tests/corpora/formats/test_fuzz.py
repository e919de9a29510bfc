"""Damaged files: a reader reads them or raises an error of the package, nothing else, and at once.

`benchmarks/fuzz_readers.py` tries hundreds of thousands of inputs; here are a few of the same kind.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz_readers import CASES, OPERATIONS, attempt, bytes_of, draw, edit, prepare, words_of


@st.composite
def damaged(draw, case):
    raw = bytes_of(draw(st.sampled_from(case.seeds)))
    place = st.floats(0, 1)
    edits = st.tuples(st.sampled_from(OPERATIONS), place, st.integers(1, 40), st.sampled_from(words_of(case)))
    for operation, where, size, word in draw(st.lists(edits, min_size=1, max_size=6)):
        raw = edit(raw, operation, where, size, word)
    return raw


@pytest.mark.parametrize("name", CASES)
def test_valid_files_are_accepted(name, tmp_path):
    case = CASES[name]
    prepare(case, tmp_path)
    for seed in case.seeds:
        assert attempt(
            case, f"deu-a{seed.suffix if name == 'logs' else case.ending}", bytes_of(seed), tmp_path, whole=True
        )


@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_damaged_files_are_read_or_refused(name, data, tmp_path_factory):
    case = CASES[name]
    folder = tmp_path_factory.mktemp(name)
    prepare(case, folder)
    attempt(case, f"deu-a{case.ending}", data.draw(damaged(case)), folder, whole=True)


@pytest.mark.parametrize("name", CASES)
def test_compressed_and_damaged_files_are_read_or_refused(name, tmp_path):
    case = CASES[name]
    prepare(case, tmp_path)
    for number in range(40):
        file, raw = draw(case, 1, number)
        if not file.endswith((".txt", ".xml", ".usfm", ".sgm", ".usx", ".json", ".jsonl", ".tmx", ".parquet")):
            attempt(case, file, raw, tmp_path, whole=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")
@pytest.mark.parametrize("name", CASES)
def test_many_damaged_files(name, tmp_path):
    case = CASES[name]
    prepare(case, tmp_path)
    for number in range(10_000):
        attempt(case, *draw(case, 2, number), tmp_path, whole=number % 32 == 0)
