"""What is public, said once more: a name that goes missing for users or for type checkers is noticed here."""

import ast
import importlib
import re
from pathlib import Path

import pytest

NAMES = """
langdiff:
    AbilityRegression Contrast DifficultyFit Effects Folds HuggingFaceLM Multitext OutcomeFit OutcomePriors
    OutcomeSimulation Outcomes Parts Provenance Recipe Scoring Selection Simulation Surprisals adjust as_effects
    balance_by_origin compare compare_treebanks compute_surprisals correlate cross_validate cross_validate_outcomes
    detokenize
    diagnose explain_abilities fit fit_outcomes held_out_log_likelihood measure_treebanks pareto_front
    predictors rank_probabilities read_fit read_frame read_language_model read_log_likelihoods read_multitext
    read_outcome_fit read_outcomes read_surprisals read_treebank replicate reproduce run_balanced run_experiment
    sample sample_outcomes score_multitext select simulate simulate_outcomes split split_by_origin split_into_folds
    standardized_residuals surprisals_of sweep_merges synthesize tokenize train_language_model translationese
    write_multitext
langdiff.constructions:
    ConstructionScores GoldTargets Parses Rules check_claims compare_annotators constructed_gold default_rules
    evaluate mine_candidates mined_counts mined_gold order_columns read_gold read_parses read_queries read_rules
    read_vetted
langdiff.corpora:
    SyntheticLanguage corpus_sizes costep_statistics detokenize fetch native_share read_frame read_multitext
    synthesize tokenize write_multitext
langdiff.datasets:
    bender2011 mielke2019 morey2017
langdiff.discourse:
    Attachment DiscourseDifferences DiscourseEvaluation DiscourseTree TreeComparison attachments_of binarize
    compare_trees discourse_similarity error_reduction evaluate_discourse parse_discourse read_classes
    read_discourse relation_class tree_of_attachments write_discourse
langdiff.experiments:
    balance_by_origin read_origins replicate reproduce run_balanced split_by_origin split_by_source sweep_merges
    translationese translationese_by_model write_origins
langdiff.lm:
    HuggingFaceLM KneserNeyRecipe Mixture RECIPES Recipe Scoring SurprisalModel compare_with_floors
    compute_surprisals fit_mixture lzma_bits measure_floors ppmd_bits read_kneser_ney read_language_model
    read_mixture read_training_logs score_multitext surprisals_of train_kneser_ney train_language_model
langdiff.parallelism:
    Document Parallelism Section make_document
langdiff.plots:
    plot_against_truth plot_balanced plot_bpe_sweep plot_certificate plot_constructions plot_corpus_sizes
    plot_correlation plot_difficulties plot_discourse_comparison plot_discourse_relations plot_discourse_tree
    plot_divergences plot_goodness_of_fit plot_intents_per_edition plot_languages_per_intent
    plot_learning_curves plot_line_follow plot_metric_maps plot_native_share plot_pareto_front plot_perturbation
    plot_posterior plot_predictor plot_presence plot_ranks plot_residuals plot_translationese
    plot_translationese_by_model plot_treebank_measures plot_treebank_profile plot_two_models plot_wright_map
langdiff.regression:
    DifficultyFit Priors Simulation approximate compare compare_folds compare_totals cross_validate diagnose fit
    held_out_log_likelihood posterior_table read_fit sample simulate standardized_residuals
langdiff.run:
    Experiment clean_run read_experiment read_run read_status run_experiment verify_run write_report
langdiff.selection:
    Selection pareto_front select split split_into_folds
langdiff.treebanks:
    SimilaritySettings UDPipeParser compare_treebanks dependency_length head_pos_entropy measure_treebanks
    perturbation_curve read_treebank
langdiff.typology:
    adjust benjamini_hochberg compare_relatedness correlate propagate_errors read_glottolog read_tree read_wals
    regress
submodules:
    constructions corpora datasets discourse errors experiments lm parallelism plots regression run selection treebanks
    typology
"""
PUBLIC = {package: set(names.split()) for package, names in re.findall(r"^(\S+):\n((?:    .*\n)+)", NAMES, flags=re.M)}
SUBMODULES = PUBLIC.pop("submodules")
PUBLIC["langdiff"] |= SUBMODULES  # reachable after `import langdiff as ld`


def stub_of(package):
    return ast.parse(Path(importlib.import_module(package).__file__).with_suffix(".pyi").read_text(encoding="utf-8"))


def test_no_name_is_public_by_accident():
    for package, names in PUBLIC.items():
        assert sorted(importlib.import_module(package).__all__) == sorted(names), package


@pytest.mark.parametrize("package", sorted(PUBLIC))
def test_every_public_name_is_there_and_documented(package):
    module = importlib.import_module(package)
    for name in PUBLIC[package]:
        assert getattr(module, name).__doc__, name


@pytest.mark.parametrize("package", sorted(PUBLIC))
def test_type_checkers_see_every_public_name(package):
    """A stub exports a name only if it is imported as itself (PEP 484)."""
    aliases = [alias for node in ast.walk(stub_of(package)) if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(alias.name for alias in aliases if alias.asname == alias.name) == sorted(PUBLIC[package])


@pytest.mark.parametrize("package", sorted(PUBLIC))
def test_a_public_function_never_hides_behind_a_module(package):
    folder = Path(importlib.import_module(package).__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert (PUBLIC[package] - SUBMODULES) & modules == set()


def test_the_reference_shows_every_public_name(root):
    shown = "\n".join(path.read_text(encoding="utf-8") for path in (root / "docs" / "reference").glob("*.md"))
    listed = set(re.findall(r"^::: (langdiff[\w.]*)$", shown, flags=re.M))
    in_part = {f"{package}.{name}" for package in PUBLIC if package != "langdiff" for name in PUBLIC[package]}
    top = {f"langdiff.{name}" for name in PUBLIC["langdiff"] - SUBMODULES}
    elsewhere = {name.rsplit(".", 1)[1] for name in listed}
    assert {name for name in top | in_part if name.rsplit(".", 1)[1] not in elsewhere} == set()
