import importlib.metadata
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.cli.output import print_frame
from langdiff.errors import DataError
from langdiff.regression import Random, Sandwich


@pytest.fixture(scope="module")
def truth_and_table(tmp_path_factory):
    truth = ld.simulate(80, 5, model="2", seed=3)
    surprisals = truth.surprisals
    path = tmp_path_factory.mktemp("table") / "surprisals.csv"
    surprisals.save(path)
    return truth, path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Files of a small multitext."""
    folder = tmp_path_factory.mktemp("corpus")
    ld.write_multitext(ld.synthesize(150, 3, seed=5).multitext, folder)
    return folder


def test_usage_errors_exit_with_2(langdiff):
    done = langdiff("fit")
    assert done.code == 2
    assert "Missing argument" in done.err
    assert langdiff("fitt").code == 2
    done = langdiff("fit", "bits.csv", "--out", "a.csv", "-o", "b.csv")
    assert done.code == 2
    assert "--out is given 2 times" in done.err


def test_fit_prints_what_the_api_finds(langdiff, truth_and_table, tmp_path):
    _, path = truth_and_table
    done = langdiff("fit", path, "--json", "--out", tmp_path / "fit.json", "--plot", tmp_path / "forest.svg").good
    table = pd.DataFrame(json.loads(done.out)).set_index("edition")
    expected = ld.fit(ld.read_surprisals(path)).to_frame()
    np.testing.assert_allclose(table["difficulty"], expected.loc[table.index, "difficulty"], rtol=1e-9)
    assert ld.read(tmp_path / "fit.json").difficulty.equals(ld.fit(ld.read_surprisals(path)).difficulty)
    assert (tmp_path / "forest.svg").read_text().startswith("<?xml")


def test_fit_speaks_to_people(langdiff, truth_and_table):
    done = langdiff("fit", truth_and_table[1], "--model", "1").good
    assert " under simulated (" in done.out.splitlines()[0]
    assert "iterations" not in done.out
    assert (
        "Model 1 (exact), converged: 0 iterations"
        in langdiff("fit", truth_and_table[1], "--details", "--model", "1").out
    )
    assert done.err == ""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "intent,a,b\n1,5,6\n2,0,7\n", r"surprisals are not positive finite bits: (2, a) = 0"),
        ("t.csv", "intent,a,b\n1,5,6\n2,x,7\n", "line 3, column 'a': 'x' is not a number"),
        ("t.csv", "intent,a\n1,5\n2,6\n", "edition"),
        ("t.csv", "intent,a,b\n1,5,\n2,,7\n", "no chain of shared intents leads from 'a' to 'b'"),
        ("t.csv", "", "cannot be read as a table"),
        ("t.docx", "intent,a,b\n", "unknown kind of table '.docx'"),
    ],
)
def test_fit_refuses_bad_tables_in_one_line(langdiff, tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    done = langdiff("fit", tmp_path / name)
    assert done.code == 1
    assert message in done.err
    assert done.err.startswith("langdiff: ")
    assert done.err.count("\n") == 1
    assert done.out == ""


# torch is asked only whether it sees a GPU, where there may be one
ASKED = {"torch"} if importlib.metadata.version("torch").endswith("+cpu") else set()


@pytest.mark.parametrize(
    ("arguments", "code", "slow"),
    [(["fit", "none.csv"], 1, {"numpy", "pandas", "rich"}), (["doctor"], 0, {"pandas", "cmdstanpy", *ASKED})],
)
def test_what_needs_no_computation_imports_nothing_slow(tmp_path, arguments, code, slow):
    program = "import sys, atexit; atexit.register(lambda: print(*sys.modules)); import langdiff.cli as c; c.main()"
    command = [sys.executable, "-c", program, *arguments]
    nowhere = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}  # CmdStan, if it is somewhere, is slow to ask
    nowhere |= {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=nowhere)
    assert done.returncode == code, done.stderr
    modules = set(done.stdout.splitlines()[-1].split())
    assert "langdiff.cli" in modules
    assert not slow.intersection(modules)


@pytest.mark.filterwarnings("default:only one edition is selected")
def test_select_names_what_it_did_not_choose(langdiff, tmp_path):
    texts = {"deu-a": [f"Satz {k}" for k in range(9)], "eng-a": [f"line {k}" for k in range(9)]}
    few = {"fra-a": [f"phrase {k}" if k < 2 else None for k in range(9)]}
    ld.write_multitext(ld.read_frame(pd.DataFrame(texts | few)), tmp_path / "three", format="moses")
    done = langdiff("select", tmp_path / "three", "--format", "moses").good
    assert "2 editions in 2 languages × 9 intents" in done.out
    assert "Not selected: 1 edition: fra-a (2 intents)" in done.out
    apart = {"deu-a": [*texts["deu-a"], *[None] * 8], "eng-a": [*[None] * 9, *texts["eng-a"][:8]]}
    ld.write_multitext(ld.read_frame(pd.DataFrame(apart)), tmp_path / "apart", format="moses")
    done = langdiff("select", tmp_path / "apart", "--format", "moses", "--json").good
    assert [row["edition"] for row in json.loads(done.out)["editions"]] == ["deu-a"]
    assert "warning: only one edition is selected, 'deu-a'" in done.err
    assert "Not selected: 1 edition: eng-a (8 intents)" in done.err


def test_select_writes_what_it_chose(langdiff, corpus, tmp_path):
    done = langdiff("select", corpus, "--min-intents", 100, "--out", tmp_path / "chosen", "--json").good
    assert "proven optimal" in done.err  # JSON says nothing of it
    chosen = ld.read_multitext(tmp_path / "chosen")
    assert sorted(row["edition"] for row in json.loads(done.out)["editions"]) == sorted(chosen.editions)
    assert len(chosen) == 150


def test_train_and_score(langdiff, corpus, tmp_path):
    models = tmp_path / "models"
    assert langdiff("train", corpus, "--lm", "char-tiny", "--out", models, "--json").code == 0
    assert langdiff("score", models, corpus, "--lm", "char-tiny", "--out", tmp_path / "all.csv", "--json").code == 0
    test_part = ld.read_surprisals(models / "surprisals-char-tiny.csv")
    everything = ld.read_surprisals(tmp_path / "all.csv")
    assert everything.bits.shape == (150, 3)
    again = everything.bits.loc[test_part.intents, test_part.editions]
    np.testing.assert_allclose(again, test_part.bits, atol=1e-3)  # bits do not depend on the batch
    missing = langdiff("score", models, corpus, "--lm", "bpe-tiny", "--out", tmp_path / "x.csv")
    assert missing.code == 1
    assert "no finished language model" in missing.err
    unknown = langdiff("score", models, corpus, "--lm", "char-tiny", "--out", tmp_path / "x.xlsx")
    assert "unknown kind of table '.xlsx'" in unknown.err
    otherwise = langdiff("train", corpus, "--lm", "char-tiny", "--out", models, "--as-is")
    assert "tokenization was 'reversible', not 'as-is'" in otherwise.err
    assert not list(tmp_path.glob("x.*"))
    next(models.glob("*/char-tiny/*/checksums.json")).unlink()  # as if it had been interrupted
    unfinished = langdiff("score", models, corpus, "--lm", "char-tiny", "--out", tmp_path / "x.csv")
    assert "training was interrupted or never begun" in unfinished.err


def test_brackets_in_names_are_no_markup(capsys):
    print_frame(pd.DataFrame({"edition": ["eng[red]", "[/x]"], "[b]": [1.5, np.nan]}), "table", {})
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("eng[red]", "[/x]", "[b]", "–"))


def test_doctor_reports_torch(langdiff):
    found = {row["what"]: row for row in json.loads(langdiff("doctor", "--json").out)}
    assert found["torch"]["ok"]
    assert "HiGHS" in found["ILP solvers"]["detail"]
    assert "torch" in langdiff("doctor").out
    extras = {name.removeprefix("extra ") for name in found if name.startswith("extra ")}
    assert extras == set(importlib.metadata.metadata("langdiff").get_all("Provides-Extra")) - {"all"}
    assert f"hypothesis {importlib.metadata.version('hypothesis')}" in found["extra dev"]["detail"]


def test_doctor_names_a_cmdstan_that_is_not_there(langdiff, tmp_path, monkeypatch):
    monkeypatch.setenv("CMDSTAN", str(tmp_path / "nowhere"))
    found = {row["what"]: row for row in json.loads(langdiff("doctor", "--json").out)}
    assert not found["CmdStan"]["ok"]
    assert found["CmdStan"]["detail"].startswith(
        f"CMDSTAN points to {tmp_path / 'nowhere'}, which is not there: correct"
    )


def test_debug_shows_the_traceback(langdiff, tmp_path):
    with pytest.raises(DataError, match="not a finished run"):
        langdiff("--debug", "report", tmp_path)


def test_version(langdiff):
    assert langdiff("--version").out == f"langdiff {ld.__version__}\n"


def test_names_of_pictures_are_checked_before_any_work(langdiff, tmp_path):
    (tmp_path / "none.csv").touch()
    done = langdiff("fit", tmp_path / "none.csv", "--plot", tmp_path / "forest.doc")
    assert done.code == 1
    assert "unknown kind of picture '.doc'" in done.err
    done = langdiff("translationese", tmp_path / "none.csv", tmp_path / "none.csv", "--plot", "native.doc")
    assert done.code == 1
    assert "unknown kind of picture '.doc'" in done.err


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["--clusters", "book", "--correction", "CR3"], {"clusters": "book", "errors": Sandwich("CR3")}),
        (["--clusters", "book", "--strata", "part"], {"clusters": "book", "errors": Sandwich(strata="part")}),
        (["--intents", "random", "--size-formula", "book"], {"intents": Random(formula="book")}),
        (["--model", "1", "--dispersion", "edition"], {"model": "1", "dispersion": "edition"}),
        (["--model", "1", "--method", "lbfgs", "--errors", "information"], {"model": "1", "errors": "information"}),
    ],
)
def test_fit_by_command_is_fit_in_python(langdiff, truth_and_table, tmp_path, arguments, settings):
    path = truth_and_table[1]
    table = ld.read_surprisals(path)
    (tmp_path / "intents.csv").write_text(
        "intent,book,part\n" + "\n".join(f"{name},b{k % 15},{k % 3}" for k, name in enumerate(table.intents))
    )
    used = any(option in arguments for option in ("--clusters", "--size-formula"))
    attributes = ["--intent-info", tmp_path / "intents.csv"] if used else []
    done = langdiff("fit", path, "--json", *attributes, *arguments).good
    expected = ld.fit(table.with_intent_info(tmp_path / "intents.csv") if used else table, **settings).to_frame()
    found = pd.DataFrame(json.loads(done.out)).set_index("edition")
    for column in ("difficulty", "std_error", "low"):
        assert found[column].to_dict() == pytest.approx(expected[column].to_dict(), abs=1e-6)


@pytest.mark.parametrize("column", ["rank", "difficulty"])
def test_groups_may_be_named_like_a_column_of_the_result(langdiff, truth_and_table, tmp_path, column):
    (tmp_path / "editions.csv").write_text(f"edition,{column}\ne1,a\ne2,a\ne3,b\ne4,b\ne5,b\n")
    arguments = ["--edition-info", tmp_path / "editions.csv", "--edition-groups", column]
    done = langdiff("fit", truth_and_table[1], *arguments, "--json")
    assert done.code == 0
    assert [row["group"] for row in sorted(json.loads(done.out), key=lambda row: row["rank"])] in (
        ["a", "b"],
        ["b", "a"],
    )
    assert langdiff("fit", truth_and_table[1], *arguments).code == 0


def test_numbers_of_editions_are_numbers_in_a_formula(langdiff, truth_and_table, tmp_path):
    path = truth_and_table[1]
    table = ld.read_surprisals(path)
    words = pd.Series(range(len(table.editions)), table.editions, name="words")
    words.rename_axis("edition").to_csv(tmp_path / "editions.csv")
    done = langdiff(
        *("fit", path, "--json", "--model", "1", "--formula", "words", "--dispersion", "common"),
        *("--edition-info", tmp_path / "editions.csv"),
    ).good
    expected = ld.fit(table, model="1", formula="words", dispersion="common", edition_info=words.to_frame())
    found = pd.DataFrame(json.loads(done.out)).set_index("edition")["difficulty"]
    assert found.to_dict() == pytest.approx(expected.difficulty.to_dict(), abs=1e-6)


def test_a_run_on_a_dask_cluster_is_the_same_run(langdiff, tmp_path):
    distributed = pytest.importorskip("distributed")
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "study"\ncorpus = {format = "synthetic", n_intents = 60, n_languages = 3}\n'
        '[lm]\nmodels = ["kneser-ney-2"]\nmax_replaced = 1.0\n'
    )
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address="127.0.0.1:0"
    ) as cluster:
        there = langdiff("run", study, "--out", tmp_path / "there", "--dask", cluster.scheduler_address)
    assert there.code == 0, there.err
    assert langdiff("run", study, "--out", tmp_path / "here").code == 0
    name = "surprisals/kneser-ney-2.csv"
    assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
