"""The CmdStan engine: what is asked of CmdStanPy, and what is said where CmdStan is not installed."""

from types import ModuleType, SimpleNamespace

import cmdstanpy
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import langdiff
from langdiff import diagnose, fit, simulate
from langdiff.errors import ConfigError, LangdiffWarning, SolverError
from langdiff.plots import plot_posterior
from langdiff.regression.stan import draws, engines, sampling
from langdiff.regression.stan.draws import import_arviz, posterior_table
from langdiff.regression.stan.posterior import program_path
from langdiff.regression.stan.sampling import approximate, choose_engine
from tests.helpers import refused
from tests.regression.stan.conftest import sample

NOT_INSTALLED = "CmdStan is not installed: run `langdiff install-stan`, or use engine='pystan'"


@pytest.fixture(scope="module")
def bits():
    return simulate(20, 4, seed=3).surprisals.bits


@pytest.fixture
def absent(monkeypatch):
    def path():
        raise ValueError("no CmdStan installation found")

    monkeypatch.setattr(cmdstanpy, "cmdstan_path", path)
    monkeypatch.delenv("CMDSTAN", raising=False)


class FakeProgram:
    """Remembers what it was asked, and answers with the shapes that CmdStanPy documents."""

    name = "model_2"

    def __init__(self):
        self.asked = {}

    def sample(self, **asked):
        self.asked = asked
        chains, draws = asked["chains"], asked["iter_sampling"]
        rng = np.random.default_rng(0)
        flat = {"difficulty": (4,), "intent_size": (20,), "dispersion": (), "e": (3,)}
        stats = {"lp__": np.arange(chains * draws).reshape(draws, chains), "divergent__": np.zeros((draws, chains))}
        values = {name: np.exp(rng.normal(size=(chains * draws, *shape))) for name, shape in flat.items()}
        values["dispersion"] = 1 + np.arange(chains * draws)  # chain after chain
        return SimpleNamespace(method_variables=lambda: stats, stan_variables=lambda: values)

    def _drawn(self, asked, draws):
        self.asked = asked
        values = {
            "difficulty": np.ones((*draws, 4)),
            "intent_size": np.ones((*draws, 20)),
            "dispersion": np.ones(draws),
        }
        return SimpleNamespace(stan_variables=lambda: values)

    def pathfinder(self, **asked):
        return self._drawn(asked, (asked["draws"],))

    def laplace_sample(self, **asked):
        return self._drawn(asked, (asked["draws"],))

    def optimize(self, **asked):
        return self._drawn(asked, ())


@pytest.fixture
def program(monkeypatch):
    fake = FakeProgram()
    monkeypatch.setattr(engines, "compiled", lambda path: fake)
    monkeypatch.setattr(sampling, "compiled", lambda path: fake)
    return fake


@pytest.mark.filterwarnings("ignore::langdiff.errors.ConvergenceWarning")
def test_what_is_asked_of_the_sampler(bits, program):
    idata = sample(bits, engine="cmdstan", chains=3, iter_warmup=150, iter_sampling=10, seed=5, max_treedepth=6)
    asked = program.asked
    names = ("chains", "iter_warmup", "iter_sampling", "max_treedepth", "adapt_delta", "show_progress")
    assert [asked[name] for name in names] == [3, 150, 10, 6, 0.8, False]
    # warm-up is all step size: a unit metric is right already
    assert [asked[f"adapt_{part}"] for part in ("init_phase", "metric_window", "step_size")] == [0, 0, 150]
    assert [set(init) for init in asked["inits"]] == [{"a", "e", "k", "s"}] * 3
    assert asked["data"]["I"] == 20
    assert 0 < asked["seed"] < 2**31
    # chain after chain, draw after draw
    np.testing.assert_array_equal(idata.posterior["dispersion"], 1 + np.arange(30).reshape(3, 10))
    np.testing.assert_array_equal(idata.sample_stats["lp"], np.arange(30).reshape(10, 3).T)
    assert idata.posterior["difficulty"].shape == (3, 10, 4)
    assert idata.posterior.attrs["engine"] == "cmdstan"


@pytest.mark.filterwarnings("ignore::langdiff.errors.ConvergenceWarning")
def test_the_plain_program_adapts_its_metric(bits, program):
    sample(bits, engine="cmdstan", plain=True, iter_sampling=10, seed=5)
    assert not {"adapt_init_phase", "adapt_metric_window", "adapt_step_size"} & set(program.asked)
    assert set(program.asked["inits"][0]) == {"n", "share", "kappa"}
    assert program.asked["inits"][0]["share"].sum() == pytest.approx(1)
    np.testing.assert_allclose(program.asked["inits"][0]["n"], fit(bits).intent_size)


@pytest.mark.parametrize(("algorithm", "draws"), [("pathfinder", 99), ("laplace", 99), ("optimize", 1)])
def test_approximations(bits, program, algorithm, draws):
    idata = approximate(bits, algorithm=algorithm, n_draws=99, seed=1)
    assert idata.posterior["difficulty"].shape == (1, draws, 4)
    assert idata.posterior["dispersion"].shape == (1, draws)
    assert f"algorithm:{algorithm}" in idata.posterior.attrs["signature"]
    start = program.asked["opt_args"]["inits"] if algorithm == "laplace" else program.asked["inits"]
    assert set(start) == {"a", "e", "k", "s"}  # s is empty: intents are fixed
    assert program.asked.get("draws", 1) == draws


def test_failures_of_cmdstan_come_in_a_line(bits, program):
    def fail(**asked):
        raise RuntimeError("Error during sampling:\n\nchain 1 ran away\n")

    program.sample = fail
    with pytest.raises(SolverError, match=r"CmdStan could not sample model_2: Error during sampling: chain 1 ran"):
        sample(bits, engine="cmdstan", seed=1)


def test_absent_cmdstan_is_said_before_anything_else(bits, absent):
    refused(ConfigError, NOT_INSTALLED, sample, bits, engine="cmdstan", seed=1)
    refused(ConfigError, NOT_INSTALLED, approximate, bits, seed=1)
    assert choose_engine("auto") == "pystan"


@pytest.mark.parametrize(("inside", "said"), [(None, "is not there"), ("", "has no makefile, so is not a CmdStan")])
def test_a_variable_that_points_to_no_cmdstan_is_named(bits, monkeypatch, tmp_path, inside, said):
    named = tmp_path / "cmdstan-2.35.0"
    if inside is not None:
        named.mkdir()
    monkeypatch.setenv("CMDSTAN", str(named))
    message = f"CMDSTAN points to {named}, which {said}: correct that environment variable, or unset it"
    for call in (sample, approximate):
        with pytest.raises(ConfigError, match=f"^{message}, or use engine='pystan'"):
            call(bits, seed=1, **({"engine": "cmdstan"} if call is sample else {}))
    monkeypatch.setattr("langdiff.regression.stan.sampling.sample_pystan", lambda request: 1 / 0)
    with (
        pytest.warns(LangdiffWarning, match=f"^{message}. PyStan is used instead") as caught,
        pytest.raises(ZeroDivisionError),
    ):
        langdiff.sample(bits, seed=1)
    assert [w.filename for w in caught] == [__file__]


class ArvizOne(ModuleType):
    """What is used of ArviZ 1, whose `from_dict` takes groups as one dictionary and gives a DataTree."""

    __version__ = "1.3.0"

    @staticmethod
    def from_dict(data, *, dims, coords):
        groups = {}
        for group, variables in data.items():
            sample = () if group == "observed_data" else ("chain", "draw")
            arrays = {name: ((*sample, *dims.get(name, ())), values) for name, values in variables.items()}
            sizes = xr.Dataset(arrays).sizes
            counted = {name: np.arange(sizes[name]) for name in sample}
            groups[group] = xr.Dataset(arrays, counted | {d: names for d, names in coords.items() if d in sizes})
        return xr.DataTree.from_dict(groups)

    @staticmethod
    def rhat(data):
        assert isinstance(data, xr.Dataset)  # of a DataArray, ArviZ 1 gives a DataArray
        return import_arviz().rhat(data)

    @staticmethod
    def ess(data, method):
        assert isinstance(data, xr.Dataset)
        return import_arviz().ess(data, method=method)


@pytest.mark.filterwarnings("ignore::langdiff.errors.ConvergenceWarning")
def test_the_same_under_arviz_1(bits, program, monkeypatch):
    settings = {"engine": "cmdstan", "chains": 2, "iter_sampling": 20, "seed": 5}
    usual = sample(bits, **settings)
    table, verdict = posterior_table(usual), diagnose(usual)
    monkeypatch.setattr(draws, "import_arviz", lambda: ArvizOne("arviz"))
    tree = sample(bits, **settings)
    assert isinstance(tree, xr.DataTree)
    assert set(tree.children) == {"posterior", "sample_stats", "observed_data", "posterior_predictive"}
    assert tree.posterior.attrs["signature"] == usual.posterior.attrs["signature"]
    xr.testing.assert_equal(tree.posterior["difficulty"], usual.posterior["difficulty"])
    pd.testing.assert_frame_equal(posterior_table(tree), table)
    assert diagnose(tree) == verdict
    plot_posterior(tree).figure.clear()


def test_auto_is_cmdstan_where_it_is(monkeypatch):
    monkeypatch.setattr(cmdstanpy, "cmdstan_path", lambda: "cmdstan")
    assert choose_engine("auto") == "cmdstan"
    assert choose_engine("pystan") == "pystan"


def test_compiled_programs_are_kept_by_content(monkeypatch, tmp_path):
    monkeypatch.setattr(cmdstanpy, "cmdstan_path", lambda: "cmdstan-2.35.0")
    monkeypatch.setattr(engines, "user_cache_path", lambda name, appauthor: tmp_path / name)
    seen = []
    monkeypatch.setattr(cmdstanpy, "CmdStanModel", lambda stan_file: seen.append(stan_file))
    path = tmp_path / "mine.stan"
    for content in ("parameters { real y; }", "parameters { real x; }", "parameters { real y; }"):
        path.write_text(content)
        engines.compiled(path)
        assert seen[-1].read_text() == content
    assert seen[0] == seen[2] != seen[1]
    assert seen[0].is_relative_to(tmp_path / "langdiff" / "stan")
    assert engines.cache_folder(path, "cmdstan-2.36.0") != engines.cache_folder(path, "cmdstan-2.35.0")


def test_every_program_is_there():
    for model in ("1", "2", "2L", "3"):
        for plain in (False, True):
            assert program_path(model, plain=plain).is_file()


needs_cmdstan = pytest.mark.skipif(bool(engines.why_no_cmdstan()), reason="CmdStan is not installed")


@pytest.mark.cmdstan
@needs_cmdstan
@pytest.mark.parametrize("model", ["1", "2"])
def test_cmdstan_samples(bits, model):
    idata = sample(bits, model=model, engine="cmdstan", seed=1, progress=False)
    assert diagnose(idata).good
    point = fit(bits, model=model)
    shift = idata.posterior["difficulty"].mean(("chain", "draw")) - point.difficulty.to_numpy()
    assert (np.abs(shift) < 0.2 * point.std_error.to_numpy()).all()


@pytest.mark.cmdstan
@needs_cmdstan
@pytest.mark.parametrize("algorithm", ["pathfinder", "laplace", "optimize"])
def test_cmdstan_approximates(bits, algorithm):
    idata = approximate(bits, algorithm=algorithm, seed=1)
    point = fit(bits)
    shift = idata.posterior["difficulty"].mean(("chain", "draw")) - point.difficulty.to_numpy()
    limit = 1e-4 if algorithm == "optimize" else 0.5 * point.std_error.to_numpy()
    assert (np.abs(shift) < limit).all()
