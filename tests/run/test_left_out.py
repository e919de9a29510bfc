"""What is left out as faulty is named by commands, in their JSON, in the manifest of a run and in its report."""

import html
import json
import re

import pytest

from langdiff.run import read_run
from tests.corpora.twelve_files import FAULTY, LANGUAGES, N_LINES, twelve_files

pytestmark = pytest.mark.filterwarnings("always::langdiff.errors.LangdiffWarning")  # the command prints it
NAMED = "fra, swe, nld (files); ita (1 text)"


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "corpus").mkdir()
    return twelve_files(tmp_path / "corpus")


@pytest.mark.parametrize("command", [["select"], ["corpora", "describe"]])
def test_commands_name_it(langdiff, corpus, command):
    say = [*command, corpus, "--format", "moses", "--on-error", "skip"]
    done = langdiff(*say).good
    assert f"Left out, repaired or doubted: {NAMED}\n" in done.out
    for name, why in {"fra": "more than 1,000 faults", "swe": "UTF-16", "nld": "has 1,099 lines"}.items():
        assert f"\n  {corpus}/{name}.txt: {why}" in done.out
    assert "ita, 1 text (7): line 7: a NUL byte" in done.out
    assert f"\n  Left out: {NAMED}\n" in done.err
    assert "langdiff corpora describe --on-error skip lists it" in done.err
    told = json.loads(langdiff(*say, "--json").out)
    assert [(row["edition"], row["level"]) for row in told["left_out"]] == [
        ("fra", "file"), ("swe", "file"), ("nld", "file"), ("ita", "text"),
    ]  # fmt: skip
    assert all(row["what"] and row["why"] for row in told["left_out"])


def test_a_run_names_it_in_its_manifest_and_first_paragraph(langdiff, corpus, tmp_path):
    settings = f"""name = "twelve"
[corpus]
format = "moses"
path = "{corpus}"
on_error = "skip"
[selection]
min_intents = {N_LINES}
[lm]
models = ["kneser-ney-2"]
max_replaced = 1.0
baselines = false
"""
    (tmp_path / "twelve.toml").write_text(settings)
    done = langdiff("run", tmp_path / "twelve.toml", "--out", tmp_path / "run").good
    assert 'decode_errors = "replace" in [corpus] reads it with U+FFFD' in done.err
    run = read_run(tmp_path / "run")
    assert set(run.editions.index) == set(LANGUAGES) - FAULTY - {"ita"}
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert [row["edition"] for row in manifest["left_out"]] == ["fra", "swe", "nld", "ita"]
    assert run.left_out["why"].tolist() == [row["why"] for row in manifest["left_out"]]
    page = run.report.read_text(encoding="utf-8")
    lead = re.search(r'<p class="lead">(.*?)</p>', page, re.DOTALL)[1]
    assert f"left out, repaired or doubted: {NAMED}" in lead
    section = html.unescape(page[page.index('id="left-out"') : page.index('id="made"')])
    for row in manifest["left_out"]:
        assert row["edition"] in section
        assert row["why"] in section
    assert "The first 100 faults" in section
    assert section.count("<tr>") == 1 + 4 + 1 + 100
