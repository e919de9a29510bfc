"""Defects planted into texts, and the findings in real corpora."""

import warnings

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.base.suspicion import SUSPICIONS
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.helpers import refused


@pytest.fixture(scope="module")
def texts():
    """Return texts of 600 intents in 8 editions, whose lengths follow those of the intents."""
    random = np.random.default_rng(5)
    content = np.exp(random.normal(4.2, 0.5, 600))
    frame = {}
    for j in range(8):
        sizes = np.maximum(content * np.exp(random.normal(0.1 * j, 0.12, 600)), 3).astype(int)
        frame[f"e{j}"] = ["".join(random.choice([*"abcdefghij"], size)) for size in sizes]
    return pd.DataFrame(frame, index=[str(number) for number in range(1, 601)])


def check(frame, **options):
    return ld.corpora.check_alignment(ld.read_frame(frame, trust=["repeated"]), progress=False, **options)


def planted(texts, edition, rows, sources):
    changed = texts.copy()
    changed.iloc[rows, changed.columns.get_loc(edition)] = texts[edition].iloc[sources].to_numpy()
    return changed


def test_texts_in_step(texts):
    found = check(texts)
    assert found.passages.empty
    assert found.is_clean
    assert found.headline() == "Alignment: nothing is wrong in 8 editions."
    assert (found.fit > 0).all(axis=None)


@pytest.mark.parametrize("offset", [1, -2, 3])
def test_a_shift(texts, offset):
    rows = np.arange(200, 250)
    found = check(planted(texts, "e3", rows, rows + offset))
    row = found.passages.iloc[0]
    assert len(found.passages) == 1
    assert (row["edition"], row["kind"], row["offset"]) == ("e3", "shifted", offset)
    assert abs(int(row["first"]) - 201) <= 3
    assert abs(int(row["last"]) - 250) <= 3
    assert not found.is_clean


def test_a_passage_from_elsewhere_and_two_that_are_exchanged(texts):
    found = check(planted(texts, "e2", np.arange(100, 130), np.arange(400, 430)))
    assert found.passages[["kind", "offset"]].to_numpy().tolist() == [["moved", 300]]
    here, there = np.arange(100, 130), np.arange(400, 430)
    both = check(planted(texts, "e2", np.append(here, there), np.append(there, here)))
    assert both.passages["offset"].tolist() == [300, -300]
    assert all(says.endswith("exchanged with it") for says in both.passages["says"])


def test_another_text_and_another_file(texts):
    random = np.random.default_rng(0)
    other = texts.copy()
    other.iloc[300:350, 4] = ["x" * int(size) for size in np.exp(random.normal(4.2, 0.5, 50))]
    assert check(other).passages["kind"].tolist() == ["unrelated"]
    other.iloc[:, 4] = texts["e4"].to_numpy()[random.permutation(600)]
    found = check(other)
    assert found.passages["says"].tolist() == ["no passage fits: this is not the same text"]


def test_a_lost_line_at_the_top(texts):
    found = check(planted(texts, "e1", np.arange(599), np.arange(1, 600)))
    assert found.passages["says"].tolist() == ["every text fits the next one: was a line lost at the top?"]


def test_placeholders_and_longer_passages(texts):
    other = texts.copy()
    other.iloc[100:130, 6] = [f"(see verse {number})" for number in range(130, 160)]
    other.iloc[300:340, 5] = [text * 3 for text in other.iloc[300:340, 5]]
    kinds = check(other).passages.set_index("edition")
    assert kinds["kind"].to_dict() == {"e6": "placeholder", "e5": "level"}
    assert kinds["factor"]["e5"] == pytest.approx(3, rel=0.1)


def test_single_texts(texts):
    other = texts.copy()
    other.iloc[10, 0] = "…!?"
    other.iloc[20:23, 1] = "это не на этом языке"
    other.iloc[30, 2] = other.iloc[30, 2][: len(other.iloc[30, 2]) // 10]
    other["e7"] = other["e7"].str.slice(0, 90)
    found = check(other)
    by_kind = found.cells[found.cells["what"] != "cut"].set_index(["edition", "intent"])["what"].to_dict()
    assert by_kind[("e0", "11")] == "no words"
    assert {intent for (edition, intent), what in by_kind.items() if what == "script"} == {"21", "22", "23"}
    assert ("e2", "31") in by_kind
    cut = found.cells[found.cells["what"] == "cut"]
    assert set(cut["edition"]) == {"e7"}
    assert len(cut) == (other["e7"].str.len() == 90).sum()


def test_two_editions_are_a_pair(texts):
    rows = np.arange(200, 260)
    found = check(planted(texts[["e0", "e1"]], "e0", rows, rows + 1))
    assert found.passages[["kind", "offset"]].to_numpy().tolist() == [["shifted", 1]]
    assert found.passages["says"][0].startswith("e0 and e1: ")


def test_texts_that_do_not_belong_are_left_out_and_listed(texts):
    rows = np.arange(200, 250)
    multitext = ld.read_frame(planted(texts, "e3", rows, rows + 1))
    found = ld.corpora.check_alignment(multitext, progress=False)
    applied = found.applied(multitext)
    gone = multitext.presence & ~applied.presence
    n_gone = int(found.passages["texts"][0])
    assert gone.sum().to_dict() == {edition: n_gone * (edition == "e3") for edition in multitext.editions}
    assert len(applied.skipped) == n_gone
    assert applied.left_out[["edition", "level"]].to_numpy().tolist() == [["e3", "text"]]
    assert ld.corpora.check_alignment(applied, progress=False).passages.empty
    assert found.applied(multitext, kinds=["moved"]) is multitext
    refused(ConfigError, "cannot be left out", found.applied, multitext, kinds=["level"])


def test_features_kept_while_reading_are_those_of_the_texts(texts, tmp_path):
    ld.write_multitext(ld.read_frame(texts), tmp_path, format="moses")
    multitext = ld.read_multitext(tmp_path, format="moses", progress=False)
    assert multitext.features is not None
    part = multitext.sel(intents=multitext.intents[50:400], editions=["e5", "e2"])
    kept, read = part.measured(), part.map_text(str).measured()
    np.testing.assert_array_equal(kept.lengths, read.lengths)
    np.testing.assert_array_equal(kept.hashes, read.hashes)


def test_what_cannot_be_checked(texts):
    refused(DataError, "100 intents and 2 editions", check, texts.iloc[:99])
    refused(DataError, "2 editions", check, texts[["e1"]])
    refused(ConfigError, "alpha", check, texts, alpha=0)
    refused(ConfigError, "max_offset", check, texts, max_offset=0)


EXPECTED = {
    ("ces-kralicka", "43001035", "43001051"): -1,
    ("eus-basquent", "45008020", "45008038"): 1,
    ("hun-karoli", "21002002", "21002025"): -1,
    ("hun-karoli", "43001038", "43001050"): -1,
    ("hye-armenianpart", "40006011", "40006032"): -1,
    ("hye-armenianpart", "42006020", "42006048"): -3,
    ("nld-statenvertaling", "43001036", "43001050"): -1,
    ("rus-synodal", "22001001", "22001017"): 1,
    ("slv-stritar1882", "43001036", "43001050"): -1,
}


@pytest.mark.real_data
def test_the_findings_in_74_bibles(real_data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        multitext = ld.read_multitext(real_data / "bible", progress=False)
    found = ld.corpora.check_alignment(multitext, progress=False)
    wrong = found.passages[found.passages["kind"] != "level"]
    shifts = {(row.edition, row.first, row.last): row.offset for row in wrong.itertuples() if row.kind == "shifted"}
    assert EXPECTED.items() <= shifts.items()
    assert 20 <= len(wrong) <= 22
    assert wrong.query("kind == 'placeholder'")[["edition", "first"]].to_numpy().tolist() == [["hat-hcv", "13025009"]]
    repeated = found.repeats[found.repeats["severity"] == "warning"]
    assert set(repeated["edition"]) == {"zul-zulunt"}
    assert set(repeated["first"]) == {"45012001", "49003001"}
    cut = found.cells[found.cells["what"] == "cut"]
    assert cut["edition"].value_counts().to_dict() == {"spa-reinavalera1909": 447}
    assert found.editions["correlation"].median() == pytest.approx(0.938, abs=5e-4)
    fit = {
        ("hye-armenianpart", "MAT 6"): -0.24,
        ("deu-luther1912", "MAT 6"): 1.28,
        ("eus-basquent", "ROM 8"): -0.05,
        ("eng-kjv", "ROM 8"): 1.10,
        ("zul-zulunt", "ROM 11"): 0.90,
        ("zul-zulunt", "ROM 12"): -1.11,
    }
    for (edition, chapter), value in fit.items():
        assert found.fit.loc[edition, chapter] == pytest.approx(value, abs=0.015)
    assert found.fit.stack().median() == pytest.approx(1.15, abs=0.005)


@pytest.mark.real_data
@pytest.mark.parametrize(("corpus", "kinds"), [("ntrex", []), ("flores200", ["level", "level"])])
def test_line_aligned_corpora_are_in_step(real_data, corpus, kinds):
    found = ld.corpora.check_alignment(
        ld.read_multitext(real_data / corpus, format="moses", progress=False, trust=SUSPICIONS), progress=False
    )
    assert found.passages["kind"].tolist() == kinds
    if corpus == "ntrex":
        assert found.cells[found.cells["what"] == "script"]["intent"].value_counts().to_dict() == {"681": 11, "321": 1}
        assert found.editions.index[found.editions["level_z"].abs() >= 5].tolist() == ["orm"]
