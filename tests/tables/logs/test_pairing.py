"""Items of several languages: their key, and checks that tell shuffled rows."""

import json

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.base.suspicion import Doubts
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.tables.logs.first_token import intercept, sensitivity
from langdiff.tables.logs.pairing import check_pairing, find_key
from tests.helpers import refused

LANGUAGES = ["deu_Latn", "eng_Latn", "fin_Latn", "zho_Hans"]


def documents(rng, n=120):
    """Return questions by language, in another order in each, with texts of related lengths."""
    sizes = rng.integers(5, 60, n)
    right = rng.integers(0, 4, n)
    for language in LANGUAGES:
        order = np.arange(n) if language == "eng_Latn" else rng.permutation(n)
        yield (
            language,
            [
                {"link": f"a{i // 2}", "question_number": int(i % 2 + 1), "dialect": language, "n": 4}
                | {"passage": "x" * int(sizes[i] * rng.uniform(0.9, 1.1)), "answer": int(right[i])}
                for i in order
            ],
        )


def write(folder, rng, *, shuffled=None, systems=5, change=None):
    """Write samples as lm-evaluation-harness does."""
    n = 120
    difficulty = rng.normal(0, 1.5, n)
    for system in range(systems):
        for language, rows in documents(np.random.default_rng(1)):
            path = folder / f"m{system}" / f"samples_belebele_{language}_2026-01-02T03-04-05.678.jsonl"
            path.parent.mkdir(exist_ok=True)
            lines = []
            for place, document in enumerate(rows):
                item = 2 * int(document["link"][1:]) + document["question_number"] - 1
                p = 1 / (1 + np.exp(difficulty[item] - system / 2 + 1))
                right = rng.random() < p
                if language == shuffled:
                    number = (item + 37) % n
                    document = document | {"link": f"a{number // 2}", "question_number": number % 2 + 1}
                sample = {"doc_id": place, "doc": document, "target": str(document["answer"]), "acc": float(right)}
                sample |= {"metrics": ["acc"], "filter": "none", "doc_hash": f"{language}{place}", "filtered_resps": []}
                lines.append(json.dumps(sample | (change or {})))
            path.write_text("\n".join(lines))
    return folder


def test_the_key_is_found_in_the_documents(tmp_path):
    outcomes = ld.read_outcomes(write(tmp_path, np.random.default_rng(2)))
    assert outcomes.pairing.key == ("link", "question_number")
    assert outcomes.successes.shape == (120, 20)
    assert outcomes.columns["language"].unique().tolist() == LANGUAGES
    checks = outcomes.pairing.checks
    assert (checks["text"] > 0.9).all()
    assert (checks["easiness"] > 0.3).all()
    assert (checks["targets"] == 1).all()
    assert outcomes.items["link"].nunique() == 60


def test_rows_that_are_shuffled_are_refused(tmp_path):
    folder = write(tmp_path, np.random.default_rng(2), shuffled="fin_Latn")
    with pytest.raises(DataError, match=r"texts of fin_Latn do not go with .*items of fin_Latn do not go with those"):
        ld.read_outcomes(folder)
    with pytest.warns(LangdiffWarning) as caught:
        outcomes = ld.read_outcomes(folder, pairing="unchecked")
    assert len(caught) == 1
    assert len(outcomes.pairing.notes) == 3
    assert outcomes.pairing.checks["targets"]["fin_Latn"] < 0.3


def test_easiness_alone_tells_shuffled_rows():
    rng = np.random.default_rng(3)
    easy = rng.normal(0, 1.5, 300)
    rows = pd.DataFrame(
        [
            {
                "item": i,
                "language": language,
                "system": system,
                "rate": float(rng.random() < 1 / (1 + np.exp(-easy[j]))),
            }
            for language in LANGUAGES
            for i, j in enumerate(rng.permutation(300) if language == "fin_Latn" else range(300))
            for system in range(5)
        ]
    ).assign(text=None, bits=np.nan, target=None)
    with pytest.raises(DataError, match=r"items of fin_Latn .*\(r = -?0\.\d\d, others 0\.\d\d\).*Shuffled rows\?"):
        check_pairing(("id",), rows, strictness="checked", doubts=Doubts())
    right = check_pairing(("id",), rows[rows["language"] != "fin_Latn"], strictness="checked", doubts=Doubts())
    assert right.notes == ()
    few = check_pairing(
        ("id",), rows[(rows["item"] < 9) & (rows["system"] == 0)], strictness="checked", doubts=Doubts()
    )
    assert few.notes == ("pairing cannot be told from these answers",)


def test_options_in_another_order_are_a_warning():
    rng = np.random.default_rng(4)
    target = rng.integers(0, 4, 200)
    rows = pd.DataFrame(
        [
            {"item": i, "language": language, "target": str((target[i] + (language == "fin_Latn") * i) % 4)}
            for language in LANGUAGES
            for i in range(200)
        ]
    ).assign(text=None, bits=np.nan, rate=np.nan, system="m")
    doubts = Doubts()
    found = check_pairing(("id",), rows, strictness="checked", doubts=doubts)
    assert "right options of 'fin_Latn' are others than in other languages" in str(doubts.judged()[0])
    assert found.checks["targets"]["deu_Latn"] == 1


def test_keys_that_do_not_serve():
    files, languages = pd.Series([0, 0, 1, 1]), pd.Series(["a", "a", "b", "b"])

    def key(*documents):
        return find_key(pd.Series(list(documents)), files, languages).keys

    assert key({"id": 7, "x": 1}, {"id": 2, "x": 2}, {"id": 7, "x": 3}, {"id": 2, "x": 4}) == ("id",)
    assert key({"t": "p", "id": 1}, {"t": "q", "id": 2}, {"t": "q", "id": 3}, {"t": "p", "id": 4}) == ("t",)
    assert key({"t": 1.5, "doc_id": 0}, {"t": 2, "doc_id": 1}, {"t": 3, "doc_id": 0}, {"t": 4, "doc_id": 1}) == (
        "doc_id",
    )
    assert key({"t": 1}, {"t": 1}, {"t": 1}, {"t": 1}) == ()


def test_the_user_names_the_key(tmp_path):
    folder = write(tmp_path, np.random.default_rng(2))
    named = ld.read_outcomes(folder, ["link", "question_number"])
    assert named.pairing.key == ("link", "question_number")
    refused(DataError, "no key 'uid' of items; keys of the document: 'link'", ld.read_outcomes, folder, "uid")
    refused(DataError, r"Shuffled rows\?", ld.read_outcomes, folder, "doc_id")


def test_chance_is_given_by_hand_or_by_language(tmp_path):
    folder = write(tmp_path, np.random.default_rng(2), systems=1)
    assert "chance" not in ld.read_outcomes(folder).items  # no requests in these samples
    assert ld.read_outcomes(folder, chance=0.25).items["chance"].unique().tolist() == [0.25]
    same = dict.fromkeys(LANGUAGES, 0.25)
    assert ld.read_outcomes(folder, chance=same).items["chance"].unique().tolist() == [0.25]
    with pytest.raises(DataError, match=r"120 item\(s\) have other numbers of choices"):
        ld.read_outcomes(folder, chance=same | {"fin_Latn": 0.2})
    refused(ConfigError, "from 0 to less than 1", ld.read_outcomes, folder, chance=1)
    refused(ConfigError, "no language or task 'x'", ld.read_outcomes, folder, chance={"x": 0.2})


def test_tables_of_several_languages_are_crossed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,language,system,successes,choices\n1,eng,a,1,4\n1,fin,a,0,4\n2,eng,a,1,4\n2,fin,a,1,4\n")
    outcomes = ld.read_outcomes(path)
    assert outcomes.successes.to_dict() == {"eng@a": {"1": 1, "2": 1}, "fin@a": {"1": 0, "2": 1}}
    assert outcomes.columns["language"].tolist() == ["eng", "fin"]
    assert outcomes.items["chance"].tolist() == [0.25, 0.25]
    assert "chance" not in ld.read_outcomes(path, chance=None).items
    path.write_text("item,language,system,successes\n1,eng,a,1\n2,fin,a,0\n")
    assert ld.read_outcomes(path).items["language"].tolist() == ["eng", "fin"]  # an attribute of items
    path.write_text("q,lang,model,successes\n1,eng,a,1\n1,fin,a,0\n")
    renamed = ld.read_outcomes(path, item="q", language="lang", system="model")
    assert renamed.successes.columns.tolist() == ["eng@a", "fin@a"]


def test_a_metric_takes_the_tasks_that_have_it(tmp_path):
    folder = write(tmp_path, np.random.default_rng(2), systems=1)
    other = folder / "m0" / "samples_squad_deu.jsonl"
    other.write_text(json.dumps({"doc_id": 0, "doc": {}, "filtered_resps": [], "metrics": ["f1"], "f1": 0.5}))
    refused(DataError, r"2 metrics: 'acc', 'f1'.*samples each, metrics acc", ld.read_outcomes, folder)
    with pytest.warns(LangdiffWarning, match="1 samples have no metric 'acc' and are left out: those of 'squad_deu'"):
        assert len(ld.read_outcomes(folder, metric="acc").items) == 120


def test_the_intercept_is_that_of_a_weighted_regression():
    rng = np.random.default_rng(5)
    item = np.repeat(np.arange(400), 2)
    language = np.tile(["a", "b"], 400)
    sizes = rng.integers(10, 60, 800).astype(float)
    bits = 13 + np.where(language == "a", 5.0, 7.0) * sizes + rng.normal(0, 1, 800) * np.sqrt(sizes)
    estimate, low, high = intercept(bits, sizes, language, item)
    design = np.column_stack([np.ones(800), (language == "a") * sizes, (language == "b") * sizes])
    scale = 1 / np.sqrt(sizes)
    assert estimate == pytest.approx(np.linalg.lstsq(design * scale[:, None], bits * scale, rcond=None)[0][0])
    assert low < 13 < high
    assert high - low < 1.5
    assert all(np.isnan(intercept(bits[:10], sizes[:10], language[:10], item[:10])))


def test_a_charge_draws_difficulties_together():
    """About 13/500 of a difficulty at 500 bits per text, and 18 % at 73."""
    bits = pd.DataFrame({"a": [500.0] * 9, "b": [500.0 * np.exp(0.1)] * 9})
    assert sensitivity(bits) == pytest.approx(0.05 * 13 / 513, rel=0.1)
    short = bits * 73 / 500
    assert sensitivity(short) == pytest.approx(0.05 * 0.2, rel=0.15)
