"""Signatures: results that differ never share one, and the same call gives the same one again."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import LangdiffError, LangdiffWarning
from langdiff.regression import Blunders, Bootstrap, Optimizer
from langdiff.tables.long_tables import Provenance

INFO = pd.DataFrame({"side": list("aabb"), "year": [1.0, 2, 4, 8]}, index=["e1", "e2", "e3", "e4"])


@st.composite
def tables(draw):
    """Draw one of few tables, so that two of them are often the same or differ little."""
    table = ld.simulate(15, 4, sigma=0.3, seed=draw(st.integers(0, 1))).surprisals
    bits = table.bits.copy()
    match draw(st.sampled_from(["", "", "nudged", "missing", "renamed", "reordered"])):
        case "nudged":
            bits.iloc[3, 2] = np.nextafter(bits.iloc[3, 2], 0) if draw(st.booleans()) else 1.1 * bits.iloc[3, 2]
        case "missing":
            bits.iloc[draw(st.integers(0, 1)), 1] = np.nan
        case "renamed":
            bits = bits.rename(index={bits.index[0]: "first"})
        case "reordered":
            bits = bits[::-1]
    seed = draw(st.sampled_from([None, None, 0, 7]))
    record = None if seed is None else Provenance(recipe="char-tiny#1", seed=seed)
    return replace(table, bits=bits, provenance=record)


TIED = dict.fromkeys(["e1", "e2", "e3"], "a") | {"e4": "b"}


class Few(Bootstrap):
    """A bootstrap of so few samples that many fits take no time."""

    def __post_init__(self): ...


OPTIONS = {  # of langdiff.fit, in parts that may change one at a time
    "model": [
        *({"model": "2", "optimizer": Optimizer(method)} for method in ("auto", "newton", "lbfgs")),
        {"model": "1"},
        {"model": "2", "restricted": True},
        {"model": "2L"},
        *({"model": Blunders(scale=b)} for b in (0.003, 0.003 + 1e-9)),
    ],
    "ties": [{}, {"groups": "side"}, {"groups": TIED}, {"formula": "side"}, {"formula": "year"}],
    "errors": [{}, *({"errors": Few(n), "seed": seed} for n in (3, 4) for seed in (0, 1, "generator"))],
    "limit": [{}, {}, *({"optimizer": Optimizer(max_iterations=n)} for n in (1, 2))],
}


def calls():
    """Draw a table and the parts of the options."""
    parts = st.fixed_dictionaries({part: st.sampled_from(choices) for part, choices in OPTIONS.items()})
    return st.tuples(tables(), parts)


@st.composite
def pairs_of_calls(draw):
    """Draw two calls that differ in all, in one part, or in nothing."""
    table, parts = draw(calls())
    change = draw(st.sampled_from(["nothing", "all", "table", *OPTIONS]))
    if change == "all":
        return (table, parts), draw(calls())
    other = draw(tables()) if change == "table" else replace(table, bits=table.bits.copy())
    redrawn = {change: draw(st.sampled_from(OPTIONS[change]))} if change in OPTIONS else {}
    return (table, parts), (other, parts | redrawn)


def run(function, *arguments, seed=None, **options):
    """Call a function; a seed "generator" becomes a new one each time."""
    given_seed = np.random.default_rng(5) if seed == "generator" else seed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # so few cells that a dispersion vanishes
        try:
            return function(*arguments, seed=given_seed, **options)
        except LangdiffError:
            assume(False)


def numbers_of_fit(fit):
    frames = (fit.difficulty, fit.covariance, fit.intent_size, fit.terms)
    return [None if frame is None else (frame.to_numpy().tolist(), list(frame.index)) for frame in frames] + [
        fit.dispersion,
        fit.log_likelihood,
        fit.converged,
    ]


def check(one, other, numbers, same_call):
    if repr(numbers(one)) != repr(numbers(other)):
        assert one.signature != other.signature
    if same_call:
        assert one.signature == other.signature


def same_inputs(one, other):
    return one[1] == other[1] and one[0].bits.equals(other[0].bits) and one[0].provenance == other[0].provenance


@settings(max_examples=40)
@given(pairs_of_calls())
def test_fits_that_differ_never_share_a_signature(pair):
    found = []
    for table, parts in pair:
        options = {name: value for part in parts.values() for name, value in part.items()}
        if parts["model"] == {"model": "1"}:
            options.pop("max_iterations", None)  # it is solved exactly
        found.append(run(ld.fit, table, edition_info=INFO, **options))
    check(*found, numbers_of_fit, same_call=same_inputs(*pair))


@pytest.mark.slow
@given(
    tables=st.tuples(tables(), tables()),
    models=st.tuples(*[st.sampled_from([("1",), ("1", "2"), ("2", "1")])] * 2),
    seeds=st.tuples(*[st.sampled_from([0, 1, "generator"])] * 2),
    change=st.booleans(),
)
def test_cross_validations_that_differ_never_share_a_signature(tables, models, seeds, change):
    second = 1 if change else 0
    one = run(ld.cross_validate, tables[0], models[0], n_folds=2, seed=seeds[0], progress=False)
    other = run(ld.cross_validate, tables[second], models[second], n_folds=2, seed=seeds[second], progress=False)
    check(one, other, lambda result: result.per_intent.to_dict(), same_call=not change)


@pytest.mark.slow
@settings(max_examples=30)
@given(
    trained=st.tuples(tables(), tables()),
    scored=st.tuples(tables(), tables()),
    options=st.tuples(
        *[
            st.fixed_dictionaries(
                {
                    "fix": st.sampled_from(["difficulty", "difficulty+dispersion"]),
                    "n": st.sampled_from(["map", "posterior"]),
                    "seed": st.sampled_from([0, 1, "generator"]),
                }
            )
        ]
        * 2
    ),
    change=st.booleans(),
)
def test_held_out_likelihoods_that_differ_never_share_a_signature(trained, scored, options, change):
    second = 1 if change else 0
    results = []
    for k in (0, second):
        fit = run(ld.fit, trained[k])
        results.append(run(ld.held_out_log_likelihood, fit, scored[k], **options[k]))
    check(*results, lambda result: (result.per_intent.to_dict(), result.dispersion), same_call=not change)


def test_a_table_from_a_file_has_the_signature_of_the_one_that_was_saved(tmp_path):
    table = ld.simulate(20, 3, missing=0.2, seed=1).surprisals
    for kind in ("csv", "parquet"):
        table.save(tmp_path / f"x.{kind}")
        assert ld.fit(ld.read_surprisals(tmp_path / f"x.{kind}")).signature == ld.fit(table).signature


def test_a_generator_that_has_drawn_is_another_seed():
    table = ld.simulate(20, 3, seed=1).surprisals
    rng = np.random.default_rng(0)
    one, other = (ld.fit(table, errors=Bootstrap(99), seed=rng) for _ in range(2))
    assert not one.covariance.equals(other.covariance)
    assert one.signature != other.signature


@pytest.mark.parametrize("seed", [3, np.int64(3)])
def test_a_seed_is_named_as_given(seed):
    table = ld.simulate(20, 3, seed=1).surprisals
    assert "|errors:bootstrap-99,seed:3|" in ld.fit(table, errors=Bootstrap(99), seed=seed).signature
    assert "seed" not in ld.fit(table, seed=seed).signature  # without a bootstrap there is no chance


def test_fewer_iterations_are_named_where_they_may_matter():
    table = ld.simulate(20, 3, seed=1).surprisals
    with pytest.warns(LangdiffWarning, match="did not converge"):
        assert "|max_iterations:1|" in ld.fit(table, optimizer=Optimizer(max_iterations=1)).signature
    assert "max_iterations" not in ld.fit(table).signature
    assert (
        ld.fit(table, model="1", optimizer=Optimizer(max_iterations=1)).signature == ld.fit(table, model="1").signature
    )
