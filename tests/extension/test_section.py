"""A section of experiments that only this file knows, from the experiment file to the report."""

from typing import ClassVar

import pandas as pd
import pytest
from pydantic import Field

from langdiff.errors import ConfigError, DataError
from langdiff.run import read_run, run_experiment, verify_run
from langdiff.run.analysis import Analysis
from langdiff.run.experiment_file import read_experiment
from langdiff.run.settings import SECTIONS, Section, section
from tests.helpers import refused

EXPERIMENT = """
name = "extended"
corpus = {format = "synthetic", n_intents = 60, n_languages = 3}
fit.clusters = "none"
lm = {models = ["kneser-ney-2"], max_replaced = 1.0, baselines = false}

[vowels]
letters = "aeiou"
stop_list = "stop.txt"
"""


@pytest.fixture(scope="module")
def made():
    """The section, and the editions that it has counted."""
    made = []

    @section("vowels", title="Vowels", heading="How many vowels are there?", explains="Counted in all texts.")
    class VowelSettings(Section):
        """``[vowels]``: letters that count as vowels, and a list of intents to leave out."""

        paths: ClassVar[tuple[str, ...]] = ("stop_list",)

        letters: str = Field(min_length=1)
        stop_list: str | None = None

        def agrees(self, experiment):
            if experiment.fit.model == "1":
                raise ValueError("[vowels] does not like model 1")

        def needs(self, basis):
            if len(basis.multitext) < 50:
                raise DataError("[vowels] needs fifty intents.")

        def depends(self, basis):
            return basis.hashes(basis.texts)

        def make(self, basis):
            made.extend(basis.texts.editions)
            counts = {e: basis.texts.text(e).str.count(f"[{self.letters}]").sum() for e in basis.texts.editions}
            table = pd.Series(counts, name="vowels").rename_axis("edition").reset_index()
            return Analysis(name=self.about.name, table=table, notes=("a note on vowels",))

    yield made
    del SECTIONS["vowels"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extended")
    (folder / "x.toml").write_text(EXPERIMENT)
    (folder / "stop.txt").write_text("")
    return folder


def test_it_is_read_made_kept_and_shown(made, folder):
    experiment = read_experiment(folder / "x.toml")
    assert experiment.vowels.letters == "aeiou"
    assert experiment.vowels.stop_list == str(folder / "stop.txt")
    run = run_experiment(experiment, folder / "run", progress=False)
    assert made == list(run.editions.index)
    page = run.report.read_text(encoding="utf-8")
    for shown in ('<a href="#vowels">Vowels</a>', "How many vowels are there?", "Counted in all texts.", "a note on"):
        assert shown in page
    assert (folder / "run" / "tables" / "vowels.csv").is_file()
    pd.testing.assert_frame_equal(read_run(folder / "run").analyses["vowels"].table, run.analyses["vowels"].table)
    assert set(verify_run(folder / "run")["state"]) == {"whole"}
    run_experiment(folder / "x.toml", folder / "run", progress=False)
    assert len(made) == 3  # what is kept is not done again
    (folder / "stop.txt").write_text("i1")
    run_experiment(folder / "x.toml", folder / "run", progress=False)
    assert len(made) == 6


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (("letters =", "leters ="), ConfigError, r"unknown key 'vowels\.leters'; did you mean 'letters'"),
        (('"aeiou"', '""'), ConfigError, r"'vowels\.letters': string should have at least 1 character"),
        (("[vowels]", 'fit.model = "1"\n[vowels]'), ConfigError, "does not like model 1"),
        (("stop.txt", "none.txt"), DataError, r"none\.txt: no such file or directory \(stop_list in \[vowels\]\)"),
    ],
)
def test_its_mistakes_are_told_before_training(made, folder, change, error, message):
    (folder / "wrong.toml").write_text(EXPERIMENT.replace(*change))
    refused(error, message, run_experiment, folder / "wrong.toml", folder / "wrong", progress=False)
    assert not (folder / "wrong" / "jobs").exists()


def test_without_it_its_table_is_unknown(folder, monkeypatch):
    monkeypatch.delitem(SECTIONS, "vowels", raising=False)
    refused(ConfigError, "unknown key 'vowels'", read_experiment, folder / "x.toml")
