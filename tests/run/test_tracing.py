"""From tables and figures back to texts, and flipped bits in all kinds of saved files."""

import random
import shutil

import pandas as pd
import pytest
from typer.testing import CliRunner

import langdiff as ld
from langdiff.base.saving import check_file
from langdiff.cli.app import app
from langdiff.errors import LangdiffError
from langdiff.run import Experiment, run_experiment, verify

SETTINGS = {
    "name": "small",
    "corpus": {"format": "synthetic", "n_intents": 80, "n_languages": 3},
    "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Folder of a run, and of a fit, a table and a figure that commands have made from its bits."""
    folder = tmp_path_factory.mktemp("trace")
    run_experiment(Experiment.model_validate(SETTINGS), folder / "run", progress=False)
    bits, out = folder / "run/surprisals/kneser-ney-2.csv", folder / "out"
    out.mkdir()
    for command in (
        ["fit", bits, "--out", out / "fit.json", "--plot", out / "fit.svg"],
        ["table", out / "fit.json", "--pairs", "--out", out / "table.csv"],
        ["table", out / "fit.json", "--out", out / "table.md"],
    ):
        assert CliRunner().invoke(app, list(map(str, command))).exit_code == 0
    return folder


@pytest.mark.parametrize("name", ["out/table.csv", "out/table.md", "out/fit.json", "out/fit.svg", "run"])
def test_a_number_is_followed_to_its_texts(made, name):
    table = verify(made / name)
    assert set(table["state"]) <= {"whole", "recomputed"}
    assert {"bits", "texts"} <= set(table["link"])
    assert ("recomputed" in set(table["state"])) == (name != "out/fit.svg")


def _edit(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


BROKEN = {
    "a number of the table": ("out/table.csv", lambda f: _edit(f / "out/table.csv", ".", ".1"), "file", "damaged"),
    "the table's manifest": ("out/table.csv", lambda f: (f / "out/table.csv.json").unlink(), "file", "unrecorded"),
    "the figure": ("out/fit.svg", lambda f: _edit(f / "out/fit.svg", "<g", "<g "), "file", "damaged"),
    "the fit, since": ("out/table.csv", lambda f: _edit(f / "out/fit.json", ": ", ":  "), "input", "changed"),
    "the bits": ("out/fit.json", lambda f: (f / "run/surprisals/kneser-ney-2.csv").unlink(), "input", "missing"),
    "a language model": ("out/table.csv", lambda f: _edit(*_model(f), "0"), "models", "damaged"),
    "the run": ("run", lambda f: _edit(f / "run/tables/difficulties.csv", ".", ".1"), "file", "damaged"),
}


def _model(folder):
    return next((folder / "run/jobs").rglob("compute.json")), "1"


@pytest.mark.parametrize("what", BROKEN)
def test_the_first_broken_link_is_named(made, tmp_path, what):
    name, change, link, state = BROKEN[what]
    copy = shutil.copytree(made, tmp_path / "copy")
    change(copy)
    found = CliRunner().invoke(app, ["verify", str(copy / name)])
    assert found.exit_code == 1
    said = " ".join(found.stderr.split())
    assert f"first link that is not proven: {link} of" in said
    assert f": {state}." in said


def test_files_of_texts_are_followed(tmp_path):
    texts = ld.synthesize(80, 3, seed=1).multitext.to_frame()
    (tmp_path / "texts").mkdir()
    for code, name in zip(("deu", "eng", "fin"), texts, strict=True):
        (tmp_path / f"texts/{code}.txt").write_text("\n".join(texts[name]) + "\n", "utf-8")
    corpus = {"format": "moses", "path": str(tmp_path / "texts")}
    run_experiment(Experiment.model_validate(SETTINGS | {"corpus": corpus}), tmp_path / "run", progress=False)
    assert set(verify(tmp_path / "run")["state"]) <= {"whole", "recomputed"}
    with (tmp_path / "texts/eng.txt").open("a", encoding="utf-8") as file:
        file.write("more\n")
    last = verify(tmp_path / "run").iloc[-1]
    assert (last["link"], last["state"], last["file"]) == ("texts", "changed", str(tmp_path / "texts/eng.txt"))


def test_what_python_saved_is_found_by_its_signature(tmp_path):
    bits = ld.simulate(50, 3, seed=1).surprisals
    bits.save(tmp_path / "bits.parquet")
    fit = ld.fit(bits)
    fit.save(tmp_path / "fit.json")
    ld.table(fit).save(tmp_path / "table.tsv")
    table = verify(tmp_path / "table.tsv")
    assert table[["link", "state"]].to_numpy().tolist() == [
        ["file", "whole"],
        ["file", "whole"],
        ["fit", "recomputed"],
        ["file", "whole"],
        ["bits", "unproven"],
    ]


def _saved(folder):
    """Save an object of each kind, and return the files by kind."""
    made = ld.simulate(30, 3, seed=1)
    fit = ld.fit(made.surprisals)
    cells = [{"item": str(i), "system": f"s{s}", "successes": (i + s) % 2} for i in range(20) for s in range(3)]
    answers = ld.read_outcomes(pd.DataFrame(cells))
    kinds = {"bits.csv": made.surprisals, "bits.tsv": made.surprisals, "bits.parquet": made.surprisals}
    kinds |= {"answers.csv": answers, "answers.parquet": answers}
    kinds |= {f"fit{ending}": fit for ending in (".json", ".csv", ".parquet", ".md", ".tex", ".html", ".txt")}
    for name, one in kinds.items():
        one.save(folder / name)
    return [folder / name for name in kinds]


def test_a_table_made_elsewhere_begins_the_chain(langdiff, tmp_path):
    ld.simulate_outcomes(40, 3, seed=1).outcomes.to_frame().to_csv(given := tmp_path / "given.csv", index=False)
    assert langdiff("outcomes", "fit", given, "--out", made := tmp_path / "made.csv").good
    assert verify(made)["state"].tolist() == ["whole", "given"]
    assert langdiff("verify", made).good


@pytest.mark.parametrize("flips", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_no_flipped_bit_gives_another_number(tmp_path, flips):
    drawn = random.Random(5)
    for path in _saved(tmp_path):
        whole, content = _numbers(path), path.read_bytes()
        for _ in range(flips):
            place = drawn.randrange(len(content))
            flipped = bytearray(content)
            flipped[place] ^= 1 << drawn.randrange(8)
            path.write_bytes(flipped)
            assert _numbers(path) in (None, whole), (path.name, place)
        path.write_bytes(content)


def _numbers(path):
    """Return what a file holds, in a form that can be compared; None if it is refused."""
    try:
        if path.suffix != ".json" and check_file(path) is None:
            return None
        if path.suffix == ".json" or path.stem != "fit":
            return str(ld.read(path).to_frame().to_numpy().tolist())
        return path.read_bytes() if path.suffix != ".parquet" else "whole"  # by the hash of names and cells
    except LangdiffError:
        return None
