"""Each kind of log on made-up records of its layout, and what bad input of each gets."""

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.helpers import refused

MADE_UP = Path(__file__).parents[2] / "data" / "logs" / "made_up"
EXACT = 1e-12


def lines(name):
    return [json.loads(line) for line in (MADE_UP / name).read_text(encoding="utf-8").splitlines()]


def write(folder, name, records):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records) + "\n", encoding="utf-8")
    return path


def test_choices_of_lm_eval():
    logs = ld.read_logs(MADE_UP / "samples_qa_deu.jsonl")
    row = logs.answers.iloc[0]
    assert (row["successes"], row["chance"], row["answer"], row["target"]) == (1, 0.5, "1", "1")
    assert row["system"] == "made_up"  # no results file: that of the folder
    assert "no results file" in logs.summary()
    outcomes = logs.outcomes()
    assert outcomes.items["chance"].tolist() == [0.5]
    refused(DataError, "no texts with bits, only answers", logs.surprisals)


def test_rolling_texts_of_lm_eval():
    logs = ld.read_logs(MADE_UP / "samples_flores_deu.jsonl")
    table = logs.surprisals()
    assert table.bits.iloc[0, 0] == pytest.approx(17.673, abs=5e-4)
    assert table.bits.iloc[0, 0] == pytest.approx(12.25 / np.log(2), rel=EXACT)
    assert (table.characters.iloc[0, 0], table.bytes.iloc[0, 0]) == (9, 9)
    assert table.eos_bits is None
    refused(DataError, "no answers, only texts", logs.outcomes)


def test_results_beside_samples_name_the_system(tmp_path):
    folder = tmp_path / "org__model"
    for date, name in (("2026-01-02T03-04-05.6", "org/model"), ("2026-01-03T03-04-05.6", "org/other")):
        write(folder, f"samples_flores_deu_{date}.jsonl", lines("samples_flores_deu.jsonl"))
        results = {"model_name": name, "tokenizer_bos_token": ["<s>", "0"], "n-shot": {"flores_deu": 2}}
        results |= {"lm_eval_version": "0.4.13", "config": {"model_args": "pretrained=x,add_bos_token=False"}}
        (folder / f"results_{date}.json").write_text(json.dumps(results))
    logs = ld.read_logs(tmp_path)
    assert logs.systems == ["org/model", "org/other"]
    assert logs.sources["version"].tolist() == ["0.4.13"] * 2
    assert "examples before each question: 2" in logs.summary()
    results |= {"config": {"model_args": {"pretrained": "x"}}}
    (folder / f"results_{date}.json").write_text(json.dumps(results))
    with pytest.warns(LangdiffWarning, match="a start token may have been scored before each text"):
        ld.read_logs(tmp_path)


def test_completions_of_openai():
    with pytest.raises(DataError, match="the first token of 2 of 2 texts by m has no log-probability and is part"):
        ld.read_logs(MADE_UP / "completions.jsonl")
    logs = ld.read_logs(MADE_UP / "completions.jsonl", start="drop")
    bits = logs.surprisals().bits
    assert bits.loc["7"].to_dict() == pytest.approx({"deu": 3.5 / np.log(2), "fin": 1.25 / np.log(2)}, rel=EXACT)
    assert logs.surprisals().characters.loc["7"].to_dict() == {"deu": 5, "fin": 2}
    assert logs.treatment["start"] == "first token of each text dropped"
    assert "the first token of 2 texts is left out" in logs.summary()
    assert logs.surprisals().provenance.scoring == "openai,start:first token of each text dropped,end:as scored"


def test_a_common_prefix_is_no_content(tmp_path):
    records = lines("completions.jsonl")
    for record in records:
        choice = record["response"]["body"]["choices"][0]
        choice["text"] = "\n" + choice["text"]
        probabilities = choice["logprobs"]
        probabilities["tokens"].insert(0, "\n")
        probabilities["token_logprobs"] = [None, -2.0, probabilities["token_logprobs"][1]]
        probabilities["text_offset"] = [0, *(place + 1 for place in probabilities["text_offset"])]
    logs = ld.read_logs(write(tmp_path, "c.jsonl", records))
    assert logs.surprisals().bits.loc["7", "deu"] == pytest.approx(5.5 / np.log(2), rel=EXACT)
    assert logs.surprisals().characters.loc["7"].to_dict() == {"deu": 8, "fin": 4}
    assert logs.tokens().tokens["token"].tolist() == ["Ein", " Haus", "Ta", "lo"]
    assert logs.token_table["text_start"].tolist() == [1, 4, 1, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"content": []}, "log-probabilities of a chat: answers, not texts"),
        ({"token_logprobs": [None]}, "not two lists of one length"),
        ({"token_logprobs": [None, None]}, "line 1: token 2 has no log-probability"),
        ({"token_logprobs": [-1.0, -2.0]}, r"tokens that the model generated.*echo=True, max_tokens=0"),
    ],
)
def test_bad_completions(tmp_path, change, message):
    record = lines("completions.jsonl")[0]
    record["response"]["body"]["choices"][0]["logprobs"] |= change
    refused(DataError, message, ld.read_logs, write(tmp_path, "c.jsonl", [record]), start="drop")


def test_generated_tokens_are_cut_where_the_prompt_is_known(tmp_path):
    record = lines("completions.jsonl")[0]
    body = record["response"]["body"]
    body["choices"][0] |= {"text": "Ein Haus ist"}
    body["choices"][0]["logprobs"] = {
        "tokens": ["Ein", " Haus", " ist"],
        "token_logprobs": [None, -3.5, -0.5],
        "text_offset": [0, 3, 8],
    }
    path = write(tmp_path, "c.jsonl", [record | {"prompt": "Ein Haus"}])
    assert ld.read_logs(path, start="drop").surprisals().bits.iloc[0, 0] == pytest.approx(3.5 / np.log(2))
    body["usage"] = {"prompt_tokens": 2, "completion_tokens": 1}
    with pytest.raises(DataError, match="1 tokens were generated after the text"):
        ld.read_logs(write(tmp_path, "c.jsonl", [record]), start="drop")


def test_prompts_of_vllm():
    logs = ld.read_logs(MADE_UP / "vllm.jsonl", system="m")
    assert logs.surprisals().bits.loc["7"].round(3).to_dict() == {"deu": 10.82, "fin": 8.656}
    assert logs.surprisals().characters.loc["7"].to_dict() == {"deu": 8, "fin": 4}
    assert logs.treatment["start"] == "start token left out (id 1)"
    assert logs.tokens().tokens["token"].tolist() == ["Ein", " Haus", "Talo"]


def test_prompts_of_a_server_of_vllm_and_bare_numbers(tmp_path):
    records = [
        {"item": n, "language": "deu", "choices": [{"prompt_logprobs": [None, {"5": -4.0}]}], "model": "m"}
        for n in "12"
    ]
    logs = ld.read_logs(write(tmp_path, "v.jsonl", records), start="drop")
    assert logs.surprisals().bits["deu"].tolist() == pytest.approx([4 / np.log(2)] * 2)
    assert logs.systems == ["m"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompt_token_ids": None}, r"token 2: 2 ids, and no prompt_token_ids.*prompt_logprobs=0, or return token"),
        ({"prompt_token_ids": [1, 8]}, "the id 8 of the text is not among those"),
        ({"prompt_token_ids": [1]}, "2 log-probabilities of 1 tokens"),
        ({"prompt_logprobs": [None, {"9": "x"}]}, "prompt_logprobs 2 is .*'x'.*, not a number"),
        ({"prompt_logprobs": [None, None]}, "token 2 has no log-probability"),
    ],
)
def test_bad_prompts_of_vllm(tmp_path, change, message):
    record = lines("vllm.jsonl")[1] | change
    refused(DataError, message, ld.read_logs, write(tmp_path, "v.jsonl", [record]))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("server.jsonl", '{"content": "x", "completion_probabilities": []}', "are of answers that the model generated"),
        ("ppl.txt", "perplexity: calculating perplexity over 655 chunks", "means over chunks of a file"),
        ("ppl.txt", "[1]4.5,[2]5.1", "llama-cpp-python"),
        ("x.jsonl", '{"completion": "x"}', r"not a log of a known kind; it begins with '\{\"completion\": \"x\"\}'"),
        ("x.jsonl", "no JSON at all", "begins with 'no JSON at all'. Kinds: lm-eval "),
        ("x.jsonl", '{"bits": 1, "item": 1, "id": 2, "language": "x"}', r"columns 'item', 'id' may both name the item"),
        ("x.jsonl", '{"bits": 1, "item": 1, "language": "x", "lang": "y"}', "both name the language; say which"),
        ("x.jsonl", '{"bits": 1, "score": 2, "item": 1, "language": "x"}', "2 columns of scores"),
        ("x.jsonl", '{"bits": 1, "item": 1, "language": "x"}\n[1]', "line 2: not a JSON object"),
        ("x.jsonl", '{"bits": 1, "item": 1, "language": "x"}\n{', "line 2: not JSON"),
        ("x.eval", "no archive", "cannot be read as a zip archive"),
    ],
)
def test_what_is_refused(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    refused(DataError, message, ld.read_logs, tmp_path / name)


@pytest.mark.filterwarnings("ignore:zeros")
def test_minicons_writes_0_for_a_token_without_score(tmp_path):
    refused(ConfigError, "give the unit of the logarithms", ld.read_logs, MADE_UP / "minicons_deu.csv")
    with pytest.raises(DataError, match="the first token of 1 of 1 texts by unknown has no log-probability"):
        ld.read_logs(MADE_UP / "minicons_deu.csv", unit="nats")
    text = (MADE_UP / "minicons_deu.csv").read_text() + "Ein Haus,ist,2.5\n"
    (tmp_path / "deu.csv").write_text(text)
    logs = ld.read_logs(tmp_path / "deu.csv", unit="nats", start="drop", system="gpt2")
    assert logs.left_out["level"].tolist() == ["repaired"]
    assert logs.surprisals().bits.to_dict() == {"deu": {"1": pytest.approx(6 / np.log(2))}}
    assert logs.sources["kind"].tolist() == ["minicons"]


def test_texts_of_a_start_token_alone_are_missing(tmp_path):
    path = tmp_path / "deu.csv"
    path.write_text("id,token,surprisal\n1,<s>,\n2,<s>,\n2,a,1.5\n", encoding="utf-8")
    with pytest.warns(LangdiffWarning, match=r"1 text\(s\) have one token only"):
        logs = ld.read_logs(path, unit="bits")
    assert logs.surprisals().bits.to_dict() == {"deu": {"2": 1.5}}
    path.write_text("id,token,surprisal\n1,<s>,\n2,<s>,\n", encoding="utf-8")
    refused(DataError, "nothing is scored", ld.read_logs, path, unit="bits")


def test_logs_of_inspect():
    logs = ld.read_logs(MADE_UP / "inspect.json")
    assert logs.answers["successes"].tolist() == [1, 0]
    assert logs.answers["chance"].tolist() == [0.5, 0.5]
    assert logs.answers["answer"].tolist() == ["B", "B"]
    assert logs.outcomes().items.index.tolist() == ["qa_deu/7", "qa_deu/8"]


def test_flat_bits_of_several_systems_keep_what_items_belong_to(tmp_path):
    (tmp_path / "t.csv").write_text(
        "id,lang,model,bits,document,text\n1,eng,a,10,x,a dog\n1,eng,b,11,x,a dog\n"
        "1,fin,a,12,x,koira\n1,fin,b,13,x,koira\n"
    )
    logs = ld.read_logs(tmp_path / "t.csv")
    table = logs.stack()
    assert table.bits.loc["1"].to_dict() == {"eng@a": 10, "fin@a": 12, "eng@b": 11, "fin@b": 13}
    assert table.intent_info["document"].to_dict() == {"1": "x"}
    assert logs.surprisals("b").characters.loc["1"].to_dict() == {"eng": 5, "fin": 5}
    refused(ConfigError, "of 2 systems, 'a', 'b': name one", logs.surprisals)
    refused(ConfigError, "no system 'c'", logs.surprisals, "c")
    (tmp_path / "t.csv").write_text("id,lang,bits\n1,eng,10\n1,eng,11\n")
    refused(DataError, r"t\.csv, line 3: a second text of item '1' in eng by unknown", ld.read_logs, tmp_path / "t.csv")


def test_a_folder_may_mix_kinds_and_hold_archives(tmp_path):
    write(tmp_path, "a/samples_flores_deu.jsonl", lines("samples_flores_deu.jsonl"))
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as stream:
        stream.write((MADE_UP / "vllm.jsonl").read_text())
    (tmp_path / "eval-set.json").write_text('{"id": 1}')
    with pytest.warns(LangdiffWarning, match=r"not read, since of no known kind of log: .*eval-set\.json"):
        logs = ld.read_logs(tmp_path, language={"flores_deu": "deu"})
    assert logs.sources["kind"].tolist() == ["lm-eval", "vllm"]
    assert logs.texts[["item", "language", "system"]].to_numpy().tolist() == [
        ["9", "deu", "a"],
        ["7", "deu", "unknown"],
        ["7", "fin", "unknown"],
    ]


def test_languages_are_told_by_names_of_tasks_or_by_the_user(tmp_path):
    for task in ("flores_deu_Latn", "flores_zho_Hans"):
        write(tmp_path, f"m/samples_{task}.jsonl", lines("samples_flores_deu.jsonl"))
    assert list(ld.read_logs(tmp_path).surprisals().editions) == ["deu_Latn", "zho_Hans"]
    given = ld.read_logs(tmp_path, language={"flores_deu_Latn": "German", "flores_zho_Hans": "Chinese"})
    assert list(given.surprisals().editions) == ["German", "Chinese"]
    with pytest.raises(DataError, match="no language is given for 1 task"):
        ld.read_logs(tmp_path, language={"flores_deu_Latn": "German"})
    refused(DataError, r"line 1: no key 'tongue'", ld.read_logs, tmp_path, language="doc tongue")
    write(tmp_path, "m/samples_ntrex_deu.jsonl", lines("samples_flores_deu.jsonl"))
    refused(DataError, r"2 families of tasks.*flores_\*: 2 task\(s\), 1 texts each; ntrex_deu", ld.read_logs, tmp_path)


def test_ends_are_scored_of_all_texts_or_of_none(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,language,system,token,bits\n1,x,a,t,3\n1,x,a,,1\n1,x,b,t,2\n")
    refused(DataError, r"1 of 2 texts have no end that was scored \(systems 'b'\).*end='drop'", ld.read_logs, path)
    logs = ld.read_logs(path, end="drop")
    assert logs.stack().bits.loc["1"].tolist() == [3, 2]
    assert "a: the end of 1 texts is left out" in logs.summary()


def test_a_first_token_is_dropped_of_all_systems(tmp_path):
    path = tmp_path / "t.jsonl"
    records = [
        {"item": item, "language": "x", "system": system, "token": token, "bits": bits}
        for item, first in (("1", "a"), ("2", "b"))
        for system, rows in {"lacks": [(first, None), ("c", 2.0)], "has": [(first, 5.0), ("c", 3.0)]}.items()
        for token, bits in rows
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    refused(DataError, "2 of 2 texts by lacks", ld.read_logs, path)
    logs = ld.read_logs(path, start="drop")
    assert logs.stack().bits.to_numpy().tolist() == [[2, 3], [2, 3]]
    assert logs.stack().units.to_numpy().tolist() == [[1, 1], [1, 1]]


def test_logs_are_written_and_read_again(tmp_path):
    logs = ld.read_logs(MADE_UP / "vllm.jsonl", system="m")
    for ending in ("parquet", "csv"):
        for per, same in (("bits", "texts"), ("tokens", "token_table")):
            logs.write(tmp_path / f"{per}.{ending}", per)
            again = ld.read_logs(tmp_path / f"{per}.{ending}")
            assert again.surprisals().bits.to_dict() == logs.surprisals().bits.to_dict()
            assert list(getattr(again, same)["item"]) == list(getattr(logs, same)["item"])
    answers = ld.read_logs(MADE_UP / "inspect.json")
    answers.write(tmp_path / "answers.parquet")
    outcomes = ld.read_outcomes(tmp_path / "answers.parquet")
    assert outcomes.successes.to_dict() == answers.outcomes().successes.to_dict()
    assert outcomes.items["chance"].tolist() == [0.5, 0.5]
    refused(DataError, "the logs have no tokens", answers.write, tmp_path / "t.parquet", "tokens")


def test_a_continuation_that_is_right_or_wrong_is_an_answer(tmp_path):
    record = {
        "doc_id": 0,
        "doc": {"text": "He said no"},
        "target": " no",
        "filter": "none",
        "metrics": ["acc", "perplexity"],
    }
    record |= {"arguments": {"gen_args_0": {"arg_0": "He said", "arg_1": " no"}}, "filtered_resps": [[-2.5, True]]}
    path = write(tmp_path, "m/samples_lambada.jsonl", [record | {"acc": 1, "perplexity": -2.5}])
    logs = ld.read_logs(path, metric="acc")
    assert logs.texts.empty
    assert logs.answers[["successes", "chance"]].to_numpy().tolist() == [[1, 0]]
    of_texts = record | {"metrics": ["perplexity"], "perplexity": -2.5}
    assert len(ld.read_logs(write(tmp_path, "n/samples_x_deu.jsonl", [of_texts])).texts) == 1


def test_texts_that_cannot_be_used_do_not_hide_answers(tmp_path):
    write(tmp_path, "m/samples_qa_deu.jsonl", lines("samples_qa_deu.jsonl"))
    write(tmp_path, "m/samples_wikitext.jsonl", lines("samples_flores_deu.jsonl") * 2)
    assert ld.read_outcomes(tmp_path).successes.size == 1
    logs = ld.read_logs(tmp_path)
    assert "texts cannot be used as they are" in logs.summary()
    refused(DataError, "second", logs.surprisals)


def test_documents_of_texts_are_checked(tmp_path):
    text = lines("samples_flores_deu.jsonl")[0]
    for system in "ab":
        write(tmp_path, f"{system}/samples_flores_deu.jsonl", [text | {"doc_hash": system}])
    refused(DataError, "not the same document in all files", ld.read_logs, tmp_path)
    same = [text | {"doc_id": i, "doc": {"id": i, "s": "x"}, "doc_hash": f"h{i}"} for i in range(3)]
    for task in ("flores_deu_Latn", "flores_fra_Latn"):
        write(tmp_path, f"c/samples_{task}.jsonl", same)
    with pytest.warns(LangdiffWarning, match="deu_Latn and fra_Latn: 3 of 3 documents are the same"):
        ld.read_logs(tmp_path / "c", trust="row")


def test_one_option_as_most_answers_is_told(tmp_path):
    qa = lines("samples_qa_deu.jsonl")[0]
    options = {f"gen_args_{k}": {"arg_0": "P", "arg_1": f" {k}"} for k in range(4)}
    records = [
        qa
        | {"doc_id": i, "doc": {"id": i}, "arguments": options, "target": str(i % 4), "acc": int(i % 4 == 2)}
        | {"filtered_resps": [[-1.0 - (k != (2 if i % 5 else 0)), False] for k in range(4)]}
        for i in range(40)
    ]
    with pytest.warns(LangdiffWarning, match="m: option 2 is 32 of 40 answers"):
        logs = ld.read_logs(write(tmp_path, "m/samples_qa_deu.jsonl", records))
    assert "0.8" in logs.summary().split("commonest answer")[1]  # 32 of 40


@pytest.mark.parametrize("name", ["language", "item"])
def test_a_record_without_the_name_that_others_have_is_a_fault(tmp_path, name):
    records = lines("vllm.jsonl")
    records.append({key: value for key, value in records[1].items() if key != name})
    with pytest.raises(DataError, match=f"line 3: has no {name}, which 2 other records of the file have"):
        ld.read_logs(write(tmp_path, "v.jsonl", records))
    with pytest.warns(LangdiffWarning, match=r"1 record\(s\) are left out"):
        assert len(ld.read_logs(tmp_path / "v.jsonl", on_error="skip").left_out) == 1


@pytest.mark.filterwarnings("ignore:zeros")
def test_tables_are_read_in_archives(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        archive.write(MADE_UP / "minicons_deu.csv", "minicons_deu.csv")
    options = {"unit": "nats", "start": "drop", "system": "m"}
    read = ld.read_logs(tmp_path / "m.zip", **options).surprisals().bits
    assert read.equals(ld.read_logs(MADE_UP / "minicons_deu.csv", **options).surprisals().bits)
