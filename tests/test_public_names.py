"""What is public, said once more: a name that goes missing for users or for type checkers is noticed here."""

import ast
import importlib
import re
from pathlib import Path

import pytest

NAMES = """
langdiff:
    Bootstrap Contrast CrossMutualInformation DifficultyCurve DifficultyFit DifficultyShares Drawn Effects
    EditionSpread Explanation Folds HuggingFaceLM ItemFaults Logs Multitext OutcomeFit OutcomePriors
    OutcomeSimulation
    Outcomes Pairs Parity Parts Provenance Random Recipe Result RunComparison Sandwich Scoring Selection Simulation
    Surprisals
    Table TokenScores TwoWay adjust as_effects balance_by_origin check_outcomes compare compare_runs compare_treebanks
    compute_surprisals
    correlate cross_validate cross_validate_outcomes detokenize diagnose difficulty_curve
    difficulty_shares edition_spread
    explain fit fit_outcomes flag_outliers generalizability goodness held_out_log_likelihood
    plan plan_items
    measure_parity measure_treebanks pareto_front predictors rank_probabilities read
    read_frame read_logs read_multitext read_outcomes
    read_surprisals read_treebank replicate reproduce run_balanced run_experiment
    sample sample_outcomes score_multitext select short_form simulate simulate_crossed_outcomes simulate_outcomes
    split stack split_by_origin split_into_folds standardized_residuals surprisals_of sweep_merges
    synthesize table tokenize train_language_model translationese write_multitext xmi
langdiff.constructions:
    Agreement AttachmentScores CheckedClaims ConstructionScores GoldTargets Parses Rules check_claims compare_annotators
    constructed_gold default_rules evaluate evaluate_attachment mine_candidates mined_counts mined_gold
    read_gold read_parses read_rules read_vetted study_outputs
langdiff.corpora:
    Alignment Automaton CostepStatistics Format FormatText Reading SyntheticLanguage SyntheticMultitext check_alignment
    corpus_sizes costep_statistics detokenize edition_marks fetch native_share perturb read_frame read_multitext
    same_as synthesize tokenize write_multitext
langdiff.datasets:
    Bothwell2023 Measurements Morey2017 PublishedFigures belebele2024 bender2011 bothwell2023 byte_premium2024
    conll_parsers edition_atlas goldfish2024 mielke2019 morey2017 ntrex10 testaments three_corpora
    tokenization_lengths2023 xmi2020
langdiff.discourse:
    Attachment DiscourseEvaluation DiscourseTree TreeComparison attachments_of binarize
    compare_trees discourse_similarity evaluate_discourse parse_discourse read_classes
    read_discourse tree_of_attachments write_discourse
langdiff.experiments:
    BalancedResult DeletionBias Goodness IntentStability LanguageSpread PerturbationContrasts
    Replicates
    Reproduction SweepResult TranslationeseByModel TranslationeseResult balance_by_origin deletion_bias
    difficulty_curve goodness intent_stability perturbation_contrasts read_origins replicate reproduce
    run_balanced split_by_origin split_by_source spread_within_languages sweep_merges translationese
    translationese_by_model write_origins
langdiff.lm:
    merge_shards score_shard
    Compute HuggingFaceLM KneserNeyRecipe LanguageModelRecipe Model RECIPES Recipe Scoring SurprisalModel
    compare_with_baselines compute_surprisals fit_mixture lzma_bits measure_baselines ppmd_bits
    read_models read_training read_training_logs score_multitext TrainingBits
    surprisals_of token_scores train_kneser_ney train_language_model
langdiff.parallelism:
    AnnotatorAgreement Document DocumentSplit Parallelism ParallelismErrors ParallelismScores
    ParallelismStatistics RankComparison Section Tagger TaggerSearch TaggerSettings
    TaggingScheme annotator_agreement classify_errors compare_treatments
    make_document nesting parallelism_statistics passage_html passage_text
    published_settings read_error_labels read_parallelisms read_settings
    score_parallelisms search_taggers
    split_documents strata tag_counts tag_transitions train_tagger write_parallelisms
langdiff.parity:
    CrossMutualInformation Parity measure_parity xmi
langdiff.plots:
    plot_against_truth plot_alignment plot_average_ranks plot_balanced plot_bpe_sweep plot_by_language
    plot_certificate plot_constructions plot_corpus_sizes plot_correlation plot_deletion_bias plot_difficulties
    plot_difficulty_curves plot_discourse_comparison plot_discourse_relations plot_discourse_tree
    plot_divergences plot_forest plot_goodness_of_fit plot_intent_stability plot_intents_per_edition
    plot_languages_per_intent plot_learning_curves plot_lexical_overlap plot_line_follow plot_lm_differences
    plot_metric_maps
    plot_multitext plot_native_share plot_pareto_front plot_parity plot_perturbation plot_perturbation_contrasts
    plot_posterior
    plot_power
    plot_predictor plot_presence plot_rank_changes plot_ranks plot_residuals plot_scheme_scores plot_shares
    plot_size_correlations plot_tag_transitions plot_tagger_training plot_translationese
    plot_translationese_by_model plot_treebank_measures plot_treebank_profile plot_two_models
    plot_within_languages plot_wright_map
langdiff.regression:
    Asymptotes Blunders Bootstrap Cauchy CrossValidation DifficultyCurve DifficultyFit Errors
    FoldComparison Generalizability Laplace Optimizer Priors
    Random Sampler Sandwich ShortForm Simulation Underserved Variant approximate compare compare_folds
    compare_totals cross_validate diagnose fit fit_curve flag_outliers generalizability
    CellTerms ItemPlan Likelihood Number Plan plan plan_items
    held_out_log_likelihood posterior_table sample short_form simulate
    standardized_residuals
langdiff.run:
    Analysis Experiment Section read_experiment read_run run_experiment section
    verify verify_run
langdiff.selection:
    ParetoFront Selection pareto_front select split split_into_folds
langdiff.treebanks:
    PerturbationCurve SimilaritySettings TreebankComparison TreebankMeasures TreebankProfile
    compare_treebanks dependency_length head_pos_entropy measure_treebanks perturbation_curve
    read_treebank reorder score_trees
langdiff.typology:
    LanguageTable
    Correlations MultipleRegression Predictors PropagatedCorrelations RelatednessComparison adjust
    compare_relatedness correlate propagate_errors read_glottolog read_tree read_wals
    regress
submodules:
    constructions corpora datasets discourse errors experiments lm parallelism parity plots regression run
    selection treebanks typology
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
