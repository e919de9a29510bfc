"""JSON Lines and Parquet: their layouts, what is refused, and what is written comes back."""

import json

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import langdiff as ld
from langdiff.base.suspicion import SUSPICIONS
from langdiff.corpora import read_multitext
from langdiff.corpora.formats import parquet as reader
from langdiff.errors import ConfigError, DataError, FaultsError, LangdiffWarning
from tests.helpers import is_meant, refused

FORMATS = ("jsonl", "parquet", "arrow", "stream")
LONG = [
    {"id": 1, "lang": "deu_Latn", "text": "ein Hund"},
    {"id": 1, "lang": "eng_Latn", "text": "a dog"},
    {"id": 2, "lang": "eng_Latn", "text": "a cat"},
    {"id": 2, "lang": "deu_Latn", "text": None},
    {"id": 3, "lang": "deu_Latn", "text": "ein Baum"},
    {"id": 3, "lang": "eng_Latn", "text": " "},
]
WIDE = [{"sentence_deu_Latn": "ein Hund", "sentence_eng_Latn": "a dog", "URL": "x"}]
PAIRS = [{"translation": {"de": "ein Hund", "en": "a dog"}}, {"translation": {"de": "eine Katze", "en": None}}]


def written(file, rows, kind="jsonl"):
    file.parent.mkdir(parents=True, exist_ok=True)
    if kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "parquet":
        parquet.write_table(pa.Table.from_pylist(rows), file)
    else:
        table = pa.Table.from_pylist(rows)
        with (pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream)(file, table.schema) as writer:
            writer.write_table(table)
    return file


def path(folder, kind, stem="a"):
    return folder / f"{stem}.{'arrow' if kind == 'stream' else kind}"


@pytest.mark.parametrize("kind", FORMATS)
def test_a_text_and_a_language_per_row(tmp_path, kind):
    multitext = read_multitext(written(path(tmp_path, kind), LONG, kind))
    assert list(multitext.editions) == ["deu_Latn", "eng_Latn"]
    assert multitext.edition_info["language"].tolist() == ["deu", "eng"]
    assert multitext.text("deu_Latn").to_dict() == {"1": "ein Hund", "3": "ein Baum"}
    assert multitext.text("eng_Latn").to_dict() == {"1": "a dog", "2": "a cat"}


@pytest.mark.parametrize("kind", FORMATS)
def test_rows_with_a_text_per_language(tmp_path, kind):
    wide = read_multitext(written(path(tmp_path, kind), WIDE, kind))
    assert {edition: wide.text(edition).to_dict() for edition in wide.editions} == {
        "deu_Latn": {"1": "ein Hund"},
        "eng_Latn": {"1": "a dog"},
    }
    pairs = read_multitext(written(path(tmp_path, kind), PAIRS, kind))
    assert pairs.text("de").to_dict() == {"1": "ein Hund", "2": "eine Katze"}
    assert pairs.text("en").to_dict() == {"1": "a dog"}


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_or_folder_per_language(tmp_path, kind):
    for language in ("deu", "eng"):
        rows = [{"sentence": f"{language} {number}"} for number in range(1, 8)]
        written(path(tmp_path / "files", kind, language), rows, kind)
        for part, (first, last) in enumerate([(0, 3), (3, 5), (5, 7)]):  # in the order of their numbers
            written(path(tmp_path / "folders" / language, kind, f"dev-0000{part}-of-00003"), rows[first:last], kind)
        written(path(tmp_path / "folders" / language, kind, "test"), rows[:1], kind)
    files = read_multitext(tmp_path / "files")
    folders = read_multitext(f"{tmp_path}/folders/*", split="dev")
    for multitext in (files, folders):
        assert multitext.text("eng").to_dict() == {str(number): f"eng {number}" for number in range(1, 8)}
    assert len(read_multitext(f"{tmp_path}/folders/*", split="test")) == 1
    refused(DataError, r"2 splits, 'dev', 'test'. Say which: split='dev'", read_multitext, f"{tmp_path}/folders/*")
    refused(DataError, "no split 'train'", read_multitext, f"{tmp_path}/folders/*", split="train")
    path(tmp_path / "folders" / "eng", kind, "dev-00001-of-00003").unlink()
    with pytest.raises(DataError, match=r"of 3 parts of 'dev', number 1 is missing"):
        read_multitext(f"{tmp_path}/folders/*", split="dev")


def test_parts_whose_names_end_in_a_checksum(tmp_path):
    for part, checksum in enumerate(["0a1b2c3d4e5f6071", "9f8e7d6c5b4a3928"]):
        written(tmp_path / "deu" / f"train-0000{part}-of-00002-{checksum}.jsonl", [{"text": f"Satz {part}"}])
    assert read_multitext(tmp_path / "deu").text("deu").to_dict() == {"1": "Satz 0", "2": "Satz 1"}
    written(tmp_path / "deu" / "train-00001-of-00002.jsonl", [{"text": "Satz 1"}])
    with pytest.raises(DataError, match=r"two files are part 1 of 'train': .*train-00001.* and .*Remove one"):
        read_multitext(tmp_path / "deu")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("rows", "part", "column"),
    [
        ([{"id": 1, "lang": "deu", "text": "x"}, {"id": 2, "lang": "deu"}], 1, "text"),
        ([{"id": 1, "lang": "deu", "text": "x"}, {"id": 2, "text": "x"}], 1, "lang"),
        ([{"id": 1, "text": "x"}, {"id": 2, "text": "x", "lang": "deu"}], 0, "lang"),
        ([{"id": 1, "text": "x"}, {"text": "x"}], 1, "id"),
        ([{"text": "x"}, {"id": 1, "text": "x"}], 0, "id"),
        ([{"text_de": "x", "text_en": "y"}, {"text_de": "x", "text_en": "y", "text_fr": "z"}], 0, "text_fr"),
        ([{"translation": {"de": "x", "en": "y"}}, {"translation": {"de": "x"}}], 1, "en"),
        ([{"translation": {"de": "x"}}, {"translation": {"de": "x", "en": "y"}}], 0, "en"),
    ],
)
def test_parts_have_the_same_columns(tmp_path, kind, rows, part, column):
    for number, row in enumerate(rows):
        written(path(tmp_path / "parts", kind, f"train-0000{number}-of-00002"), [row], kind)
    message = f"train-0000{part}-of-00002.{kind}: has no column '{column}', which .*train-0000{1 - part}"
    refused(FaultsError, message, read_multitext, tmp_path / "parts")


def test_a_language_that_begins_late(tmp_path):
    rows = [{"text_de": "x", "text_en": "y"}] * 150 + [{"text_de": "x", "text_en": "y", "text_fr": "z"}]
    multitext = read_multitext(written(tmp_path / "wide.jsonl", rows))
    assert multitext.text("fr").to_dict() == {"151": "z"}
    rows = [{"translation": {"de": "x", "en": "y"}}] * 150 + [{"translation": {"de": "x", "fr": "z"}}]
    multitext = read_multitext(written(tmp_path / "pairs.jsonl", rows))
    assert multitext.text("fr").to_dict() == {"151": "z"}


def test_glottocodes_name_editions_only_where_they_are_needed(tmp_path):
    codes = [("cmn", "Hans", "beij1234"), ("cmn", "Hans", "sich1238"), ("deu", "Latn", "stan1295")]
    rows = [{"id": 1, "iso_639_3": a, "iso_15924": b, "glottocode": c, "text": f"{a} {c}"} for a, b, c in codes]
    multitext = read_multitext(written(tmp_path / "dev.jsonl", rows))
    assert list(multitext.editions) == ["cmn_Hans-beij1234", "cmn_Hans-sich1238", "deu_Latn"]
    assert multitext.text("cmn_Hans-sich1238").tolist() == ["cmn sich1238"]
    assert multitext.text("deu_Latn").tolist() == ["deu stan1295"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"text": "x", "sentence": "y"}], r"several columns may be the texts; the columns are 'text', 'sentence'"),
        ([{"number": 1}], r"no column is known to be the texts; the columns are 'number'.*columns=\{'text'"),
        ([{"text": "x", "lang": "a", "language": "b"}], r"columns lang and language may each name the edition"),
        ([{"text": "x", "translation": {"de": "y"}}], "several columns may be the texts"),
    ],
)
def test_columns_that_are_not_known_must_be_named(tmp_path, rows, message):
    refused(DataError, message, read_multitext, written(tmp_path / "a.jsonl", rows))


def test_columns_that_are_named(tmp_path):
    rows = [{"text": "x", "sentence": "y", "lang": "deu", "language": "German", "key": "k", "id": 1, "page": "p"}]
    columns = {"text": "sentence", "edition": "lang", "intent": "key", "document": "page"}
    multitext = read_multitext(written(tmp_path / "a.jsonl", rows), columns=columns)
    assert multitext.text("deu").to_dict() == {"k": "y"}
    assert multitext.intent_info["document"].tolist() == ["p"]
    refused(DataError, "has no column 'other'", read_multitext, tmp_path / "a.jsonl", columns={"text": "other"})
    refused(ConfigError, "unknown 'texts'", read_multitext, tmp_path / "a.jsonl", columns={"texts": "text"})


def test_ids_in_some_files_only(tmp_path):
    written(tmp_path / "deu.jsonl", [{"id": 1, "text": "x"}])
    written(tmp_path / "eng.jsonl", [{"text": "x"}])
    refused(FaultsError, r"eng.jsonl: some files have an id per row, others have none", read_multitext, tmp_path)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_rows_without_ids_that_are_not_as_many_in_every_edition(tmp_path, kind):
    rows = {"deu": 5, "eng": 4, "fra": 5}
    for code, number in rows.items():
        written(path(tmp_path, kind, code), [{"text": f"{code} {row}"} for row in range(number)], kind)
    with pytest.raises(FaultsError, match=r"eng.*: edition 'eng' has 4 rows, 'deu' in .*deu\..* has 5: .*give every"):
        read_multitext(tmp_path)
    with pytest.warns(LangdiffWarning, match="left out"):
        assert list(read_multitext(tmp_path, on_error="skip").editions) == ["deu", "fra"]
    assert len(read_multitext(tmp_path, editions=["eng"])) == 4
    table = [{"lang": code, "text": "x"} for code, number in rows.items() for _ in range(number)]
    with pytest.raises(FaultsError, match="edition 'eng' has 4 rows"):
        read_multitext(written(path(tmp_path / "long", kind), table, kind))


def test_the_row_that_is_missing_is_named(tmp_path):
    texts = ["x" * (5 + row * 37 % 101) for row in range(300)]
    for code in ("deu", "eng", "fra"):
        own = texts[:119] + texts[120:] if code == "eng" else texts
        written(tmp_path / f"{code}.jsonl", [{"text": text} for text in own])
    refused(FaultsError, r"has 299 rows.* Rows from 120 on fit one later: row 120", read_multitext, tmp_path)


FAULTS = {
    "not JSON": ("{", "3"),
    "not an object": ("[1]", "3"),
    "a name twice": ('{"id": 4, "id": 4, "lang": "deu", "text": "x"}', "4"),
    "NaN": ('{"id": NaN, "lang": "deu", "text": "x"}', "4"),
    "a number": ('{"id": 4, "lang": "deu", "text": 7}', "4"),
    "half a character": ('{"id": 4, "lang": "deu", "text": "\\ud800"}', "4"),
    "NUL": ('{"id": 4, "lang": "deu", "text": "\\u0000"}', "4"),
    "no edition": ('{"id": 4, "text": "x"}', "4"),
    "id is true": ('{"id": true, "lang": "deu", "text": "x"}', "4"),
    "twice": ('{"id": 1, "lang": "deu", "text": "x"}', "1"),
    "too deep": ('{"id": 4, "lang": "deu", "text": "x", "y": ' + "[" * 100_000, "4"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_row_is_left_out_alone(tmp_path, fault):
    line, gone = FAULTS[fault]
    rows = {"1": "a", "2": "b", "3": "c"}
    lines = [json.dumps({"id": int(intent), "lang": "deu", "text": text}) for intent, text in rows.items()]
    if gone == "3":
        lines.pop()
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, line]) + "\n")
    refused(FaultsError, f"line {len(lines) + 1}: ", read_multitext, tmp_path / "a.jsonl")
    with pytest.warns(LangdiffWarning, match="left out"):
        multitext = read_multitext(tmp_path / "a.jsonl", on_error="skip")
    assert multitext.text("deu").to_dict() == {intent: text for intent, text in rows.items() if intent != gone}


def test_rows_that_only_their_number_names_are_not_counted_past_a_fault_of_unknown_edition(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"lang": "deu", "text": "x"}\n{\n{"lang": "deu", "text": "y"}\n')
    refused(FaultsError, r"the rows below cannot be counted", read_multitext, tmp_path / "a.jsonl", on_error="skip")
    (tmp_path / "deu.jsonl").write_text('{"text": "x"}\n{\n{"text": "y"}\n')  # all of one edition: row 2 is missing
    with pytest.warns(LangdiffWarning):
        multitext = read_multitext(tmp_path / "deu.jsonl", on_error="skip")
    assert multitext.text("deu").to_dict() == {"1": "x", "3": "y"}


def test_attributes_that_differ_are_left_empty(tmp_path):
    rows = [{"id": 1, "lang": code, "text": "x", "document": code} for code in ("deu", "eng")]
    with pytest.warns(LangdiffWarning, match="rows of 1 intents differ in attributes"):
        multitext = read_multitext(written(tmp_path / "a.jsonl", rows))
    assert multitext.intent_info["document"].isna().all()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_file_cut_off(tmp_path, kind):
    file = written(path(tmp_path, kind), LONG, kind)
    file.write_bytes(file.read_bytes()[:-100])
    refused(FaultsError, "cannot be read as Parquet or Arrow", read_multitext, file)


def test_a_file_that_expands_too_far(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "MAX_SMALL", 1 << 10)
    written(tmp_path / "deu.parquet", [{"text": "x" * 10_000}] * 1000, "parquet")  # held once, a thousand times over
    assert (tmp_path / "deu.parquet").stat().st_size < 1 << 14
    refused(FaultsError, "expands to more than", read_multitext, tmp_path / "deu.parquet")


NAMES = st.from_regex(r"[a-z]{3}(-[a-z0-9]{1,5})?", fullmatch=True)
TEXTS = st.none() | st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1).filter(
    lambda text: text.strip() and is_meant(text)
)


@st.composite
def multitexts(draw):
    editions = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    intents = draw(st.lists(st.text("abc/. 1é", min_size=1).filter(str.strip), min_size=1, max_size=6, unique=True))
    frame = pd.DataFrame(
        {edition: draw(st.lists(TEXTS, min_size=len(intents), max_size=len(intents))) for edition in editions},
        index=intents,
        dtype=object,
    )
    frame.iloc[0] = frame.iloc[0].fillna("x")  # an edition has a text
    documents = draw(st.lists(st.sampled_from(["a", "b", None]), min_size=len(intents), max_size=len(intents)))
    info = pd.DataFrame({"document": documents}, index=intents, dtype=object) if any(documents) else None
    return ld.read_frame(frame, intent_info=info, trust=SUSPICIONS)


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
@given(multitext=multitexts())
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_read_again(format, multitext, tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    files = ld.write_multitext(multitext, folder, format=format)
    assert sorted(folder.iterdir()) == sorted(files)
    again = read_multitext(folder, nfc=False, trust=SUSPICIONS)
    pd.testing.assert_frame_equal(again.presence, multitext.presence)
    for edition in multitext.editions:
        assert again.text(edition).to_dict() == multitext.text(edition).to_dict()
    assert again.edition_info["language"].fillna("").tolist() == multitext.edition_info["language"].fillna("").tolist()
    for name in multitext.intent_info:
        assert again.intent_info[name].fillna("").tolist() == multitext.intent_info[name].fillna("").tolist()


@pytest.mark.real_data
def test_flores_in_long_form(real_data, tmp_path):
    names = ["deu_Latn", "zho_Hans", "acq_Arab", "fra_Latn"]
    lines = read_multitext(real_data / "flores200", format="moses", editions=names)
    rows = [
        {"id": int(intent), "iso_639_3": name[:3], "iso_15924": name[4:], "text": text}
        for name in names
        for intent, text in lines.text(name).items()
    ]
    long = read_multitext(written(path(tmp_path, "parquet"), rows, "parquet"), editions=names)
    assert long.to_frame().equals(lines.to_frame())
    assert len(long) == 2009
