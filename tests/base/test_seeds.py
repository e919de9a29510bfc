"""One rule for all seeds: the default is 0, and the same are refused everywhere in the same words."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import langdiff as ld
from langdiff import parallelism
from langdiff.base.types import generator, seed_number, seed_numbers
from langdiff.errors import ConfigError
from langdiff.lm.device import torch_generator
from langdiff.lm.lstm.loop import Randomness
from langdiff.regression import Bootstrap
from langdiff.regression.outcomes.likelihoods import Likelihood
from langdiff.regression.seeds import combine_seeds
from langdiff.regression.variants.variant import Variant
from langdiff.treebanks.conllu import Tree
from langdiff.treebanks.treebank import Treebank
from tests.helpers import refused

PACKAGE = Path(ld.__file__).parent
HOMES = {PACKAGE / "base/types.py", PACKAGE / "lm/device.py"}  # of NumPy's and of PyTorch's
STAGES = [path.parent.name for path in sorted(PACKAGE.glob("*/__init__.pyi"))]
REFUSED = r"seed must be a whole number from 0 up or a numpy Generator, so that the result can be repeated.*; got "
NOT_SEEDS = [None, True, -1, 1.5, "1", [1, 2], np.random.SeedSequence(1)]


@pytest.mark.parametrize("seed", NOT_SEEDS, ids=repr)
def test_what_is_not_a_seed_is_refused(seed):
    for make in (generator, seed_number, lambda seed: seed_numbers(seed, 2)):
        refused(ConfigError, REFUSED, make, seed)


def test_a_seed_is_numpys():
    assert generator(np.int64(3)).random() == generator(3).random() == np.random.default_rng(3).random()


def test_a_generator_is_used_and_moves_on():
    rng = np.random.default_rng(3)
    assert generator(rng) is rng
    assert seed_number(rng) != seed_number(rng)


def test_streams_of_training_are_children_of_the_seed():
    initial, dropout, batches = np.random.default_rng(5).spawn(3)
    made = Randomness.from_seed(5, torch.device("cpu"))
    assert made.initial.initial_seed() == torch_generator(initial).initial_seed()
    assert made.dropout.initial_seed() == torch_generator(dropout).initial_seed() != made.initial.initial_seed()
    assert made.batches.random() == batches.random()


def with_a_seed():
    """Every public function and method that has a parameter of that name, by its name."""
    found = {}
    for package in (ld, *(importlib.import_module(f"langdiff.{stage}") for stage in STAGES)):
        for name in package.__all__:
            thing = getattr(package, name)
            own = vars(thing).items() if inspect.isclass(thing) else [(None, thing)]
            for method, function in own:
                if inspect.isfunction(function) and function.__name__ != "__init__":
                    parameters = inspect.signature(function).parameters
                    inner = (
                        issubclass(thing, (Variant, Likelihood)) if inspect.isclass(thing) else False
                    )  # draws for `simulate`
                    assert inner or not {"rng", "random_state"} & set(parameters), f"{name}: the name is seed"
                    if "seed" in parameters:
                        found[f"{name}.{method}" if method else name] = parameters["seed"]
    return found


def test_a_seed_is_a_keyword_whose_default_is_0():
    for name, parameter in with_a_seed().items():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, name
        assert parameter.default == 0, name


def treebank(name):
    tree = Tree(("I", "run"), ("PRON", "VERB"), (2, 0), ("nsubj", "root"))
    return Treebank.from_trees([tree] * 4, name=name)


def parts():
    return ld.split(ld.read_frame(pd.DataFrame({"deu": ["ein Text"] * 40, "eng": ["a text"] * 40})))


def bits():
    return pd.DataFrame({"deu": [9.0, 8, 7, 5], "eng": [6.0, 5, 4, 4]})


def folds_of_bits():
    table = bits()
    return ld.Surprisals(bits=table, lm="any", intent_info=pd.DataFrame({"fold": list("1212")}, index=table.index))


def outcomes():
    return ld.simulate_outcomes(40, 3, documents=8, seed=1).outcomes


def replicates():
    combined = combine_seeds([ld.simulate(50, 2, seed=1).surprisals] * 2, ld.fit)
    return ld.experiments.Replicates(surprisals={}, combined=combined, model="2")


def sung():
    return parallelism.make_document("1", ["we", "sing"], [])


def tagger_settings():
    return parallelism.TaggerSettings(
        embedding="learned-word", encoder="none", tagset="BIO", link="TD", learning_rate=0.1, input_size=1
    )


# A seed is looked at before anything else that takes long, so that nothing else has to be good.
CALLS = {
    "Automaton.texts": lambda seed: ld.corpora.Automaton([{"a": (1, 1)}, {}]).texts(2, seed=seed),
    "Effects.draws": lambda seed: ld.fit(bits()).effects.draws(9, seed=seed),
    "Effects.ranks": lambda seed: ld.fit(bits()).effects.ranks(seed=seed),
    "DifficultyFit.pairs": lambda seed: ld.fit(bits()).pairs(seed=seed),
    "Effects.pairs": lambda seed: ld.fit(bits()).effects.pairs(seed=seed),
    "Replicates.draws": lambda seed: replicates().draws(9, seed=seed),
    "annotator_agreement": lambda seed: parallelism.annotator_agreement({}, {}, seed=seed),
    "approximate": lambda seed: ld.regression.approximate(bits(), seed=seed),
    "balance_by_origin": lambda seed: ld.balance_by_origin(None, "deu", seed=seed),
    "compare_folds": lambda seed: ld.regression.compare_folds(folds_of_bits(), seed=seed),
    "compare_treebanks": lambda seed: ld.compare_treebanks([treebank("a"), treebank("b")], seed=seed),
    "compute_surprisals": lambda seed: ld.compute_surprisals(parts(), lm="char-tiny", seed=seed),
    "correlate": lambda seed: ld.correlate(None, None, tests="permutation", seed=seed),
    "cross_validate": lambda seed: ld.cross_validate(bits(), seed=seed),
    "cross_validate_outcomes": lambda seed: ld.cross_validate_outcomes(outcomes(), seed=seed),
    "deletion_bias": lambda seed: ld.experiments.deletion_bias(bits(), seed=seed),
    "difficulty_curve": lambda seed: ld.difficulty_curve(None, train_sizes=[], seed=seed),
    "fit": lambda seed: ld.fit(bits(), errors=Bootstrap(99), seed=seed),
    "fit_curve": lambda seed: ld.regression.fit_curve({}, seed=seed),
    "fit_outcomes": lambda seed: ld.fit_outcomes(outcomes(), clusters="document", errors="bootstrap", seed=seed),
    "goodness": lambda seed: ld.goodness(bits(), ["2"], seed=seed),
    "held_out_log_likelihood": lambda seed: ld.held_out_log_likelihood(ld.fit(bits()), bits(), seed=seed),
    "intent_stability": lambda seed: ld.experiments.intent_stability(bits(), n_intents=[2, 3], seed=seed),
    "perturb": lambda seed: ld.corpora.perturb(
        ld.read_frame(pd.DataFrame({"deu": ["ein Text"]})), ["reverse"], seed=seed
    ),
    "perturbation_curve": lambda seed: ld.treebanks.perturbation_curve(treebank("a"), seed=seed),
    "plot_ranks": lambda seed: ld.plots.plot_ranks(ld.fit(bits()), seed=seed),
    "propagate_errors": lambda seed: ld.typology.propagate_errors(None, None, seed=seed),
    "rank_probabilities": lambda seed: ld.rank_probabilities(ld.fit(bits()), seed=seed),
    "reorder": lambda seed: ld.treebanks.reorder("missing.conllu", "forms", seed=seed),
    "replicate": lambda seed: ld.experiments.replicate(None, seed=seed),
    "run_balanced": lambda seed: ld.run_balanced(None, ["deu"], seed=seed),
    "sample": lambda seed: ld.sample(bits(), seed=seed),
    "sample_outcomes": lambda seed: ld.sample_outcomes(outcomes(), seed=seed),
    "search_taggers": lambda seed: parallelism.search_taggers([], [], [], "bert", "BIO-TD", seed=seed),
    "short_form": lambda seed: ld.short_form(folds_of_bits(), 2, seed=seed),
    "simulate": lambda seed: ld.simulate(3, 2, seed=seed),
    "simulate_crossed_outcomes": lambda seed: ld.simulate_crossed_outcomes(20, 2, 3, seed=seed),
    "simulate_outcomes": lambda seed: ld.simulate_outcomes(9, 2, seed=seed),
    "sweep_merges": lambda seed: ld.sweep_merges(None, seed=seed),
    "synthesize": lambda seed: ld.synthesize(3, 2, seed=seed),
    "table": lambda seed: ld.table(ld.fit(bits()), seed=seed),
    "train_language_model": lambda seed: ld.train_language_model(["a"], ["a"], seed=seed),
    "train_tagger": lambda seed: parallelism.train_tagger([sung()], [sung()], tagger_settings(), seed=seed),
}


def test_all_random_functions_are_called_here():
    assert sorted(with_a_seed()) == sorted(CALLS)


@pytest.mark.parametrize("seed", [None, True, -1, 0.5], ids=repr)
@pytest.mark.parametrize("name", CALLS)
def test_no_function_makes_up_a_seed(name, seed):
    refused(ConfigError, REFUSED, CALLS[name], seed)


def test_where_nothing_is_drawn_no_seed_is_needed():
    banks = [treebank("a"), treebank("b")]
    assert ld.compare_treebanks(banks, noise=False).signature.count("|seed:none|") == 1
    assert ld.fit(bits()).converged
    assert ld.rank_probabilities(bits()).shape == (2, 2)


def sources(words):
    """Yield the files that have one of some words, and their syntax."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if re.search(rf"\b({'|'.join(words)})\b", text := path.read_text(encoding="utf-8")):
            yield path, ast.parse(text)


def test_randomness_is_made_in_one_file():
    makers = {"default_rng", "RandomState", "SeedSequence", "manual_seed", "seed_all", "PCG64"}
    for path, tree in sources(makers):
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & makers
        assert path in HOMES or not used, f"{path}: {used}; use langdiff.base.types, or langdiff.lm.device"


def test_seeds_are_not_added_to_nor_taken_for_truth():
    for path, tree in sources(["seed", "rng"]):
        for node in ast.walk(tree):
            where = f"{path}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Mod):
                names = {side.id for side in (node.left, node.right) if isinstance(side, ast.Name)}
                assert "seed" not in names, f"{where}: spawn children"
            tested = [node.test] if isinstance(node, ast.If | ast.IfExp | ast.While) else []
            tested += node.values if isinstance(node, ast.BoolOp) else []
            for part in tested:
                part = part.operand if isinstance(part, ast.UnaryOp) else part
                assert not (isinstance(part, ast.Name) and part.id in ("seed", "rng")), f"{where}: seed 0 is a seed"
