"""Options that a command would pass over, although they look as if they changed its figures, are refused."""

import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.run import read_experiment

pytestmark = pytest.mark.filterwarnings("ignore:Few units")

GOLD = "1 1 S attribution\n2 4 N span\n2 2 N List\n3 3 N List\n4 4 N List\n5 5 S evidence\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ld.simulate(30, 3, seed=0).surprisals.save("bits.csv")
    for name in ("deu", "eng"):
        (tmp_path / "texts").mkdir(exist_ok=True)
        (tmp_path / "texts" / f"{name}.txt").write_text("ein Satz\nnoch ein Satz\n" * 8)
    pd.DataFrame({"id": range(9), "deu": "ein Hund", "eng": "a dog"}).to_csv("texts.csv", index=False)
    (tmp_path / "gold.spans").write_text(GOLD)
    (tmp_path / "scores.csv").write_text("model,a,b,c\none,1,2,3\ntwo,1,3,2\n")
    (tmp_path / "cells.csv").write_text("item,system,successes\n1,a,1\n1,b,0\n2,a,0\n2,b,1\n")
    return tmp_path


PARITY = "parity texts --format moses --reference eng"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("compare-models bits.csv --laplace-scale 2", "--laplace-scale is for model 3, which is not among the models"),
        (
            "compare-models bits.csv --model 1 --model 3 --laplace-scale 1 --restricted",
            "--restricted: no restricted likelihood of model(s) '1', '3'",
        ),
        ("compare-models bits.csv --n-folds 2 --laplace-scale 2", "--laplace-scale is for model 3"),
        ("goodness bits.csv --model 1 --model 2 --laplace-scale 2 --out good", "--laplace-scale is for model 3"),
        (f"{PARITY} --model 1", "--model is for bits, and CORPUS is texts: give --surprisals"),
        (f"{PARITY} --unit nats", "--unit is for bits, and CORPUS is texts: give --surprisals"),
        ("parity bits.csv --reference e1 -e e2", "--edition: for texts, and bits.csv is read as a table of surprisals"),
        ("discourse evaluate gold.spans p=gold.spans --metric S", "--metric is for --table differences, similarity or"),
        ("discourse evaluate gold.spans p=gold.spans --averaging macro", "--averaging is for --table differences or"),
        (
            "discourse evaluate gold.spans p=gold.spans --metric S --table relations",
            "--metric S: relations are compared",
        ),
        ("parallelism ranks scores.csv --corpus ASP", "--corpus chooses among published scores"),
        ("parallelism score scores.csv scores.csv --metric EPM", "--metric is for outcomes; tables have all metrics"),
        (
            "parallelism score scores.csv scores.csv --beta 2 --table errors",
            "--beta weights F, which is not in the table",
        ),
        ("outcomes fit cells.csv --n-resamples 150", "--n-resamples is for --errors bootstrap: give it, too"),
    ],
)
def test_it_is_one_line_that_names_the_option(langdiff, files, command, message):
    before = sorted(files.rglob("*"))
    done = langdiff(*command.split())
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done.err
    assert message in done.err
    assert sorted(files.rglob("*")) == before


COMMANDS = [
    "fit bits.csv --n-resamples 7",
    "fit bits.csv --errors bootstrap --n-resamples 98",
    "outcomes fit cells.csv --errors bootstrap --n-resamples 98",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_few_samples_are_refused_before_any_work(langdiff, files, command):
    done = langdiff(*command.split())
    assert done.code == 2
    assert "--n-resamples is 0 or at least 99" in " ".join(done.err.replace("│", " ").split())


def test_few_samples_are_refused_in_experiments(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('name = "a"\ncorpus = {format = "synthetic"}\n[fit]\nn_resamples = 98\n')
    with pytest.raises(ConfigError, match=r"fit\.n_resamples.*0 or at least 99 samples"):
        read_experiment(path)
