import json
import sys

import cmdstanpy
import pytest

import langdiff as ld
from langdiff.regression.stan.draws import import_arviz


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "bits.csv"
    ld.simulate(30, 3, seed=1).surprisals.save(path)
    return path


def test_sample_prints_and_saves_what_the_api_draws(langdiff, table, tmp_path):
    settings = ["--model", 2, "--chains", 2, "--iter-warmup", 100, "--iter-sampling", 800, "--seed", 4]
    settings += ["--engine", "pystan", "--out", tmp_path / "posterior.nc"]
    done = langdiff("sample", table, *settings, "--json").good
    rows = {row["edition"]: row for row in json.loads(done.out)}
    idata = import_arviz().from_netcdf(tmp_path / "posterior.nc")
    assert idata.posterior.sizes["draw"] == 800
    means = idata.posterior["difficulty"].mean(("chain", "draw"))
    assert {name: row["difficulty"] for name, row in rows.items()} == pytest.approx(means.to_series().to_dict())
    effective = {"ess_bulk", "ess_tail", "ess_sd"}
    assert set(rows["e1"]) == {"edition", "difficulty", "sd", "low", "high", "percent", "r_hat"} | effective
    assert "seed:4" in idata.posterior.attrs["signature"]


def test_absent_cmdstan_is_one_line(langdiff, table, monkeypatch):
    def path():
        raise ValueError("no CmdStan installation found")

    monkeypatch.setattr(cmdstanpy, "cmdstan_path", path)
    monkeypatch.delenv("CMDSTAN", raising=False)
    done = langdiff("sample", table, "--engine", "cmdstan")
    assert (done.code, done.out) == (1, "")
    assert done.err == ("langdiff: CmdStan is not installed: run `langdiff install-stan`, or use --engine pystan.\n")


def test_install_stan(langdiff, monkeypatch, tmp_path):
    asked = {}

    def install(**settings):
        asked.update(settings)
        sys.stdout.write("CmdStan install directory: here")
        return True

    monkeypatch.setattr(cmdstanpy, "install_cmdstan", install)
    monkeypatch.setattr(cmdstanpy, "cmdstan_path", lambda: "cmdstan")
    done = langdiff("install-stan", "--version", "2.35.0", "--out", tmp_path)
    assert (done.code, done.out) == (0, "cmdstan\n")
    assert asked == {"version": "2.35.0", "dir": str(tmp_path), "cores": 2}

    def fail(**settings):
        raise OSError("Name or service not known")

    monkeypatch.setattr(cmdstanpy, "install_cmdstan", fail)
    done = langdiff("install-stan")
    assert (done.code, done.out) == (1, "")
    assert "CmdStan could not be installed (Name or service not known): check the network" in done.err
    assert done.err.count("\n") == 1
