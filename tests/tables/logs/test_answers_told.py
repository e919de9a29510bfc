"""What answers in logs are told by: chance, filters, and names of tasks that are not languages."""

import json

import numpy as np
import pytest

import langdiff as ld
from langdiff.errors import DataError
from langdiff.tables.logs.files import families_of, languages_of


def write(folder, task, *, filter="none", unconditional=False, n=30):
    """Write samples of questions with four choices, which may be scored again without the question."""
    rng, lines = np.random.default_rng(len(task)), []
    for i in range(n):
        requests = [{"arg_0": "Q", "arg_1": f" {letter}"} for letter in "ABCD"]
        requests += [{"arg_0": "", "arg_1": f" {letter}"} for letter in "ABCD"] if unconditional else []
        scores = [[str(-1.0 - (k % 4 != i % 4)), "False"] for k in range(len(requests))]
        known = {"doc_id": i, "doc": {"id": i}, "target": "1", "filter": filter, "metrics": ["acc"]}
        known |= {"arguments": {f"gen_args_{k}": each for k, each in enumerate(requests)}, "filtered_resps": scores}
        lines.append(json.dumps(known | {"doc_hash": f"{task}{i}", "acc": float(rng.random() < 0.5)}))
    folder.mkdir(exist_ok=True)
    path = folder / f"samples_{task}_2026-01-01T00-00-00.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_choices_that_are_scored_twice_are_counted_once(tmp_path):
    outcomes = ld.read_outcomes(write(tmp_path / "m", "quiz", unconditional=True))
    assert outcomes.items["chance"].unique().tolist() == [0.25]


@pytest.mark.parametrize(
    "tasks", [("wic", "wsc", "rte"), ("mmlu_law", "mmlu_bio", "mmlu_art"), ("mlqa_ar_de", "mlqa_de_ar")]
)
def test_tasks_without_languages_are_asked_for_and_may_be_of_one(tmp_path, tasks):
    for task in tasks:
        write(tmp_path / "m", task)
    with pytest.raises(DataError, match=rf"{len(tasks)} tasks or files.*language={{'{min(tasks)}': '…'"):
        ld.read_outcomes(tmp_path / "m")
    outcomes = ld.read_outcomes(tmp_path / "m", language={"*": "eng"})
    assert outcomes.columns is None
    assert len(outcomes.items) == 30 * len(tasks)


FAMILIES = {  # names of tasks as benchmarks have them, and the languages
    "belebele": "belebele_deu_Latn belebele_zho_Hans belebele_arb_Latn: deu_Latn zho_Hans arb_Latn",
    "okapi": "arc_de arc_fr arc_vi: de fr vi",
    "hellaswag": "hellaswag_fr hellaswag_hy hellaswag_ne: fr hy ne",
    "m_mmlu": "m_mmlu_de m_mmlu_sv m_mmlu_en: de sv en",
    "truthfulqa": "truthfulqa_de_mc1 truthfulqa_ta_mc1: de ta",
    "global_mmlu": "global_mmlu_full_am global_mmlu_full_fil global_mmlu_full_en: am fil en",
    "mmmlu": "mmmlu_de_de mmmlu_zh_cn mmmlu_pt_br mmmlu_ar_xy mmmlu_es_la: de zh_cn pt_br ar_xy es_la",
    "simple-evals": "mmlu_DE-DE mmlu_YO-NG mmlu_EN: de yo-NG en",
    "include": "include_base_44_german include_base_44_north_macedonian include_base_44_greek: deu mkd ell",
    "chinese": "qa_chinese_simplified qa_chinese_traditional qa_persian: zho_Hans zho_Hant fas",
    "mlqa": "mlqa_ar_ar mlqa_de_de mlqa_hi_hi: ar de hi",
    "xnli": "xnli_sw xnli_ur xnli_bg: sw ur bg",
    "xcopa": "xcopa_et xcopa_ht xcopa_qu xcopa_id: et ht qu id",
    "xstorycloze": "xstorycloze_my xstorycloze_eu: my eu",
    "lambada": "lambada_openai_mt_de lambada_openai_mt_en lambada_openai_mt_it: de en it",
    "afrimgsm": "afrimgsm_amh_prompt_1 afrimgsm_ewe_prompt_1 afrimgsm_xho_prompt_1: amh ewe xho",
    "mgsm": "mgsm_en_cot_de mgsm_en_cot_th mgsm_en_cot_en: de th en",
    "piqa": "piqa_cloze_cmn_hans piqa_cloze_cmn_hant piqa_cloze_ekk_latn: cmn_hans cmn_hant ekk_latn",
    "fleurs": "fleurs_cmn_hans_cn fleurs_es_419 fleurs_ms_my fleurs_my_mm: cmn_hans_cn es_419 ms_my my_mm",
    "locales": "x_pt_pt x_pt_br x_fr_fr x_fr_ca: pt pt_br fr fr_ca",
    "paths": "suite/boolq.deu.txt suite/boolq.ell.txt: deu ell",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_languages_in_names_of_tasks(family):
    names, _, languages = FAMILIES[family].partition(": ")
    assert list(languages_of(names.split(), None, {}, tasks=True).values()) == languages.split()


@pytest.mark.parametrize(
    "names",
    [
        "mmlu_law mmlu_bio mmlu_art mmlu_management",
        "wic wsc rte cb",
        "blimp_male blimp_even blimp_anaphor",
        "mlqa_ar_de mlqa_ar_ar mlqa_de_ar mlqa_de_de",
        "mafand_amh-en mafand_bam-fr mafand_fon-fr mafand_hau-en",
        "wmt14-en-fr wmt14-fr-en",
        "copal_id_standard copal_id_colloquial",
        "quiz_de quiz_DE",
        "AraDiCE_piqa_egy AraDiCE_piqa_eng AraDiCE_piqa_lev AraDiCE_piqa_msa",
        "aexams_Biology aexams_Physics",
    ],
)
def test_subjects_sets_and_pairs_are_no_languages(names):
    assert all(not members or len(families_of(names.split())) > 1 for members in families_of(names.split()).values())


@pytest.mark.parametrize("names", ["qa_german qa_fra", "quiz_eng quiz_fin quiz_xxx", "a_deu_x a_fin_x b_deu_x b_fin_x"])
def test_languages_of_some_tasks_or_of_several_families_are_asked_for(names):
    families = families_of(names.split())
    assert len(families) > 1 or not any(families.values())


def test_names_of_files_need_no_wide_use():
    assert languages_of(["abk", "aln"], None, {}) == {"abk": "abk", "aln": "aln"}
    assert languages_of(["abk", "aln"], None, {}, tasks=True) == {}
    assert languages_of(["mmlu_law", "mmlu_bio"], {"mmlu_*": "eng"}, {}) == {"mmlu_law": "eng", "mmlu_bio": "eng"}
