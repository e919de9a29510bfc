"""What answers in logs are told by: chance, filters, and names of tasks that are not languages."""

import json

import numpy as np
import pytest

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.tables.logs.files import languages_of


def write(folder, task, *, filter="none", unconditional=False, n=30):
    """Write samples of questions with four choices, which may be scored again without the question."""
    rng, lines = np.random.default_rng(len(task)), []
    for i in range(n):
        requests = [{"arg_0": "Q", "arg_1": f" {letter}"} for letter in "ABCD"]
        requests += [{"arg_0": "", "arg_1": f" {letter}"} for letter in "ABCD"] if unconditional else []
        scores = [[str(-1.0 - (k % 4 != i % 4)), "False"] for k in range(len(requests))]
        known = {"doc_id": i, "doc": {"id": i}, "target": "1", "filter": filter, "metrics": ["acc"]}
        known |= {"arguments": {f"gen_args_{k}": each for k, each in enumerate(requests)}, "filtered_resps": scores}
        lines.append(json.dumps(known | {"doc_hash": f"{task}{i}", "acc": float(rng.random() < 0.5)}))
    folder.mkdir(exist_ok=True)
    path = folder / f"samples_{task}_2026-01-01T00-00-00.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_choices_that_are_scored_twice_are_counted_once(tmp_path):
    outcomes = ld.read_outcomes(write(tmp_path / "m", "quiz", unconditional=True))
    assert outcomes.items["chance"].unique().tolist() == [0.25]


@pytest.mark.parametrize("tasks", [("wic", "wsc", "rte"), ("mmlu_law", "mmlu_bio", "mmlu_art")])
def test_short_names_of_tasks_are_not_languages(tmp_path, tasks):
    for task in tasks:
        write(tmp_path / "m", task)
    outcomes = ld.read_outcomes(tmp_path / "m")
    assert outcomes.columns is None
    assert len(outcomes.items) == 90


def test_languages_are_known_codes_or_have_a_script():
    tasks = ["quiz_eng", "quiz_fin", "quiz_xxx"]
    assert languages_of(tasks, None, {}, tasks=True) == {"quiz_eng": "eng", "quiz_fin": "fin", "quiz_xxx": "xxx"}
    assert languages_of(["quiz_xxx_Latn", "quiz_yyy_Latn"], None, {}, tasks=True)["quiz_xxx_Latn"] == "xxx_Latn"
    assert languages_of(["quiz_law", "quiz_bio"], None, {}, tasks=True) == {}
    assert languages_of(["xxx", "yyy"], None, {}) == {"xxx": "xxx", "yyy": "yyy"}  # names of files


def test_tasks_without_the_filter_are_named(tmp_path):
    write(tmp_path / "m", "gsm_deu", filter="strict")
    write(tmp_path / "m", "gsm_fin", filter="flex")
    with pytest.warns(LangdiffWarning, match="1 task.* have no filter 'flex' and are left out: 'gsm_deu'"):
        ld.read_outcomes(tmp_path / "m", filter="flex")


def test_the_summary_of_one_log_has_its_answers(tmp_path):
    summary = ld.read_logs(write(tmp_path / "m", "quiz", n=20)).summary()
    assert "20 answers, 0 languages × 1 systems" in summary
    assert " 20 " in summary.split("language", 2)[2]
