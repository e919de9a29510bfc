"""Options that a command would pass over, although they look as if they changed its figures, are refused."""

import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.run.experiment_file import read_experiment

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
        ("compare-models bits.csv --model 1 --model 3 --laplace-scale 1 --restricted", "--restricted: no restricted"),
        ("goodness bits.csv --model 1 --model 2 --laplace-scale 2 --out good", "--laplace-scale is for model 3"),
        (f"{PARITY} --model 1", "--model is for bits, and CORPUS is texts: give --surprisals"),
        (f"{PARITY} --unit nats", "--unit is for bits, and CORPUS is texts: give --surprisals"),
        ("parity bits.csv --reference e1 -e e2", "--edition: for texts, and bits.csv is read as a table of surprisals"),
        (
            "discourse evaluate gold.spans p=gold.spans --metric S --table relations",
            "--metric S: relations are compared",
        ),
    ],
)
def test_it_is_one_line_that_names_the_option(langdiff, files, command, message):
    before = sorted(files.rglob("*"))
    done = langdiff(*command.split())
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done.err
    assert message in done.err
    assert sorted(files.rglob("*")) == before


def test_a_table_of_texts_has_a_parity(langdiff, files):
    options = ["--format", "table", "--reference", "eng", "-e", "eng", "-e", "deu"]
    done = langdiff("parity", "texts.csv", *options).good
    assert done.out.startswith("Parity of 2 editions with eng")


def test_a_zero_that_was_written_counts_as_given(langdiff):
    assert langdiff("plan", "5", "--noise", "0.2", "--seed-sd", "0", "--n-seeds", "3").code == 0


FEW = "give a whole number, 0 or at least 99"
EVALUATE = "discourse evaluate gold.spans p=gold.spans"
SCORE = "parallelism score scores.csv scores.csv"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fit bits.csv --n-resamples 7", FEW),
        ("fit bits.csv --errors bootstrap --n-resamples 98", FEW),
        ("outcomes fit cells.csv --errors bootstrap --n-resamples 98", FEW),
        ("outcomes fit cells.csv --n-resamples 150", "--n-resamples is for --errors bootstrap: give that, too"),
        ("fit bits.csv --json --by family", "--by is of no use with --json: leave one of them out."),
        (f"{EVALUATE} --metric S", "--metric is for --table differences or similarity or relations or --outcomes:"),
        ("parallelism ranks scores.csv --corpus ASP", "--corpus is of no use with SCORES: leave one of them out."),
        (f"{SCORE} --metric EPM", "--metric is for --outcomes: give that, too, or leave --metric out."),
        (f"{SCORE} --beta 2 --table errors", "--beta is for --table totals or documents or parallelisms or --outcomes"),
        ("correlate scores.csv scores.csv --seed 0", "--seed is for --test permutation or --interval bootstrap: give"),
        ("corpora fetch --sha256 0", "--sha256 is for NAME: give that, too, or leave --sha256 out."),
    ],
)
def test_what_other_options_leave_without_use_is_refused_before_any_work(langdiff, files, command, message):
    done = langdiff(*command.split())
    assert (done.code, done.out) == (2, "")
    assert message in done.said


def test_few_samples_are_refused_in_experiments(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('name = "a"\ncorpus = {format = "synthetic"}\n[fit]\nn_resamples = 98\n')
    with pytest.raises(ConfigError, match=r"fit\.n_resamples.*0 or at least 99"):
        read_experiment(path)
