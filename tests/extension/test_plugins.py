"""Plug-ins: the example, installed as a user installs it, is used from Python, an experiment file and the command."""

import os
import subprocess
import sys
import warnings
from importlib import metadata
from pathlib import Path

import pytest

from langdiff.base import plugins as module
from langdiff.base.plugins import plugins, with_plugins
from langdiff.errors import LangdiffWarning

USED = """
import pathlib, langdiff as ld
from langdiff.run import run_experiment
from langdiff.run.experiment_file import read_experiment

here = pathlib.Path()
for name in ("eng", "deu"):
    rows = (f"{i} -> {name} word {'aeiou'[i % 5]} {i % 7}" for i in range(60))
    (here / f"{name}.arrows").write_text("\\n".join(rows), encoding="utf-8")
multitext = ld.read_multitext(".", format="arrows")
assert len(multitext) == 60
bits = ld.compute_surprisals(ld.split(multitext), lm="unigram", max_replaced=1)
assert bits.provenance.recipe.startswith("unigram")
assert ld.fit(ld.simulate(100, 3, seed=1).surprisals, model="2S").model == "2S"
answers = ld.simulate_outcomes(80, 4, seed=1).outcomes
found = ld.fit_outcomes(answers, model="guessing")
found.save("fit.json")
assert found.model == ld.read("fit.json").model == "guessing"
answers.to_frame().to_csv("answers.csv", index=False)
(here / "plugged.toml").write_text('''
name = "plugged"
corpus = {format = "arrows", path = "."}
lm = {models = ["unigram"], max_replaced = 1.0, baselines = false}
fit = {model = "2S", clusters = "none"}
[vowels]
letters = "ae"
''', encoding="utf-8")
run = run_experiment("plugged.toml", "run")
assert run.fits["unigram"].model == "2S"
assert list(run.analyses["vowels"].table.columns) == ["edition", "vowels"]
assert "How many vowels are there?" in run.report.read_text(encoding="utf-8")

from typer.testing import CliRunner
from langdiff.cli.app import app

def called(*arguments):
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout

assert called("vowels", "a small dog") == "3\\n"
assert "Plug-ins" in called("--help")
called("outcomes", "fit", "answers.csv", "--model", "guessing")
(table,) = (here / "run" / "surprisals").glob("*.csv")
assert "2S" in called("fit", str(table), "--model", "2S", "--clusters", "none")
"""


def metadata_of(site: Path, name: str, groups: dict[str, dict[str, str]]) -> None:
    """Write the metadata of an installed package, as an installer does."""
    folder = site / f"{name.replace('-', '_')}-0.1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n", encoding="utf-8")
    lines = [line for group, own in groups.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in own.items()))]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def installed(root, tmp_path_factory) -> dict[str, str]:
    """The environment in which the example is installed."""
    import tomllib

    site = tmp_path_factory.mktemp("site")
    project = tomllib.loads((root / "examples/plugin/pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata_of(site, project["name"], project["entry-points"])
    (site / "langdiff_example").symlink_to(root / "examples/plugin/langdiff_example")
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(root)])}


def test_the_example_is_used_from_python_files_and_the_command(installed, tmp_path):
    command = [sys.executable, "-c", USED]
    done = subprocess.run(command, env=installed, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_example_is_short(root):
    files = (root / "examples/plugin").rglob("*.py")
    assert sum(bool(line.strip()) for file in files for line in file.read_text(encoding="utf-8").splitlines()) <= 100


def test_names_that_are_taken_and_plugins_that_do_not_load_are_told(tmp_path, monkeypatch):
    own = {"langdiff.formats": {"pbc": "os:sep", "twice": "os:sep", "broken": "os:no_such_thing"}}
    metadata_of(tmp_path, "one-plugin", own)
    metadata_of(tmp_path, "z-plugin", {"langdiff.formats": {"twice": "os:linesep"}})
    found = metadata.DistributionFinder.Context(path=[str(tmp_path)])
    entries = [entry for each in metadata.distributions(context=found) for entry in each.entry_points]
    monkeypatch.setattr(module, "entry_points", lambda group: [entry for entry in entries if entry.group == group])
    plugins.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        formats = with_plugins("formats", {"pbc": "ours"})
    plugins.cache_clear()
    assert formats["pbc"] == "ours"
    assert set(formats) == {"pbc", "twice"}
    told = sorted(str(each.message) for each in caught if issubclass(each.category, LangdiffWarning))
    assert len(told) == 3
    assert "'broken' (formats) of one-plugin 0.1.0 cannot be loaded: AttributeError" in told[0]
    assert "'pbc' (formats) of one-plugin 0.1.0 has a name of langdiff's own" in told[1]
    assert "'twice'" in told[2]
    assert "comes first" in told[2]
