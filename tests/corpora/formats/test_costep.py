"""CoStEP, on days written here after the description of the corpus; figures are counted by hand or by a slow loop."""

import gzip
import zipfile
from collections import Counter
from functools import partial
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.base.suspicion import SUSPICIONS
from langdiff.corpora import costep_statistics, native_share
from langdiff.corpora.origin import languages_per_intent, origin_accounting
from langdiff.errors import DataError, LangdiffWarning
from tests.helpers import refused

read = partial(ld.read_multitext, format="costep")

DAY = """<?xml version="1.0" encoding="UTF-8"?>
<session date="2000-01-17">
  <chapter id="1">
    <headline language="de">Wiederaufnahme</headline>
    <headline language="en">Resumption</headline>
    <turn id="1">
      <speaker president="yes">
        <text language="de"><p type="speech">Die Sitzung ist eröffnet.</p></text>
        <text language="en"><p type="speech">The sitting is open.</p></text>
        <text language="fr" empty="yes"/>
      </speaker>
    </turn>
    <turn id="2">
      <speaker president="no" name="Berger" language="de">
        <text language="de">
          <p type="speech">Der Bericht <report>A4-0114/97</report> sagt
            <quote start="„" end="“">nein <ellipsis/> nie</quote>; siehe <url>www.x.eu</url>.</p>
          <p type="comment">(Beifall)</p>
          <p type="speech">Danke.</p>
        </text>
        <text language="en">
          <p type="speech">The report <report>A4-0114/97</report> says
            <quote start="‘" end="’">no <ellipsis>...</ellipsis> never</quote>; see <url>www.x.eu</url>.</p>
          <p type="speech">Thank you.</p>
        </text>
        <text language="fr"><p type="speech">Le rapport dit non.</p><p type="speech"> </p></text>
      </speaker>
    </turn>
    <turn id="3">
      <speaker president="no" name="Fox" language="en">
        <text language="de"><p type="speech">Eins. Zwei.</p></text>
        <text language="en"><p type="speech">One.</p><p type="speech">Two.</p><p type="speech">Three.</p></text>
      </speaker>
    </turn>
  </chapter>
  <chapter id="2">
    <turn id="1">
      <speaker president="no" name="Nobody"><text language="en"><p type="speech">Well.</p></text></speaker>
    </turn>
    <turn id="2">
      <speaker president="no" name="Papadopoulos" language="el">
        <text language="en"><p type="speech">Greek, once.</p></text>
        <text language="fr"><p type="speech">Grec, jadis <n>12</n>.</p></text>
      </speaker>
    </turn>
  </chapter>
</session>
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "2000-01-17.xml").write_text(DAY, encoding="utf-8")
    return tmp_path


def read_quietly(path, **settings):
    return costep_statistics(path, **settings).multitext


def test_texts_are_what_was_said(folder):
    multitext = read_quietly(folder)
    assert multitext.text("de").to_dict() == {
        "2000-01-17.1.1.1": "Die Sitzung ist eröffnet.",
        "2000-01-17.1.2.1": "Der Bericht A4-0114/97 sagt „nein … nie“; siehe www.x.eu.",
        "2000-01-17.1.2.2": "Danke.",
    }
    assert multitext.text("en")["2000-01-17.1.2.1"] == "The report A4-0114/97 says ‘no … never’; see www.x.eu."
    assert multitext.text("fr").to_dict() == {
        "2000-01-17.1.2.1": "Le rapport dit non.",
        "2000-01-17.2.2.1": "Grec, jadis 12.",
    }
    assert list(multitext.editions) == ["de", "en", "fr"]
    assert list(multitext.edition_info["language"]) == ["deu", "eng", "fra"]


def test_what_is_known_of_intents(folder):
    info = read_quietly(folder).intent_info
    assert list(info.index) == [f"2000-01-17.{rest}" for rest in ("1.1.1", "1.2.1", "1.2.2", "2.1.1", "2.2.1")]
    assert list(info["original_language"]) == ["und", "de", "de", "und", "el"]
    assert list(info["president"]) == [True, False, False, False, False]
    assert list(info["session"].unique()) == ["2000-01-17"]
    assert list(info["document"]) == ["2000-01-17.1"] * 3 + ["2000-01-17.2"] * 2
    assert list(info["turn"]) == [f"2000-01-17.{turn}" for turn in ("1.1", "1.2", "1.2", "2.1", "2.2")]
    assert list(info["speaker"].fillna("none")) == ["none", "Berger", "Berger", "Nobody", "Papadopoulos"]


def test_loss_is_counted_and_warned_of(folder):
    statistics = costep_statistics(folder, trust=SUSPICIONS)
    assert statistics.lost_intents == 3  # of the turn of one and three paragraphs
    assert list(statistics.turns["fits"]) == [True, True, False, True, True]
    with pytest.warns(LangdiffWarning, match=r"1 of 5 turns are left out, .* 3 of 8 intents \(37.5 %\)"):
        ld.read_multitext(folder, format="costep")
    assert "3 of 8 intents" in statistics.summary()
    assert "3 of 8 intents" in repr(statistics)


def test_nothing_is_warned_of_where_all_fits(tmp_path):
    (tmp_path / "day.xml").write_text(DAY.replace("Eins. Zwei.", 'a</p><p>b</p><p type="speech">c'), encoding="utf-8")
    assert len(read(tmp_path)) == 8


def test_native_language_is_accounted_for(folder):
    statistics = costep_statistics(folder, trust=SUSPICIONS)
    assert statistics.accounting()["intents"].to_dict() == {"native": 2, "president": 1, "unknown": 1, "not found": 1}
    assert statistics.accounting()["percent"].to_dict() == {
        "native": 40.0, "president": 20.0, "unknown": 20.0, "not found": 20.0
    }  # fmt: skip
    frame = statistics.to_frame()
    assert frame["intents"].to_dict() == {"de": 3, "en": 5, "fr": 2}
    assert frame["native"].to_dict() == {"de": 2, "en": 0, "fr": 0}
    assert frame["native_percent"].round(2).to_dict() == {"de": 66.67, "en": 0.0, "fr": 0.0}
    assert statistics.languages_per_intent().to_dict() == {0: 0, 1: 1, 2: 3, 3: 1}
    axes = statistics.plot()
    assert [bar.get_width() for bar in axes.patches] == sorted(frame["native_percent"])
    axes.figure.clear()


@pytest.mark.filterwarnings("ignore:no edition is in an original language")
def test_without_the_speakers_language_the_native_text_is_not_found(folder):
    multitext = read_quietly(folder, editions=["en", "fr"])
    assert origin_accounting(multitext)["intents"].to_dict() == {
        "native": 0, "president": 1, "unknown": 1, "not found": 3
    }  # fmt: skip
    assert list(multitext.editions) == ["en", "fr"]
    assert len(multitext) == 5  # which turns fit is judged by all languages


def test_days_come_in_order_whatever_their_wrapping(tmp_path):
    later = DAY.replace("2000-01-17", "2000-01-18")
    (tmp_path / "2000-01-18.xml.gz").write_bytes(gzip.compress(later.encode()))
    (tmp_path / "2000-01-17.xml").write_text(DAY, encoding="utf-8")
    multitext = read_quietly(tmp_path)
    assert list(multitext.intent_info["session"].unique()) == ["2000-01-17", "2000-01-18"]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("sessions/2000-01-17.xml", DAY)
        archive.writestr("sessions/2000-01-18.xml", later)
    zipped = read_quietly(tmp_path / "all.zip")
    pd.testing.assert_frame_equal(zipped.presence, multitext.presence)
    assert zipped.text("fr").to_dict() == multitext.text("fr").to_dict()


def test_numbers_stand_in_for_ids(tmp_path):
    (tmp_path / "2001-02-03.xml").write_text(
        "<session><chapter><turn><speaker><text language='EN'><p>a</p></text></speaker>"
        "<speaker language='EN'><text language='en'><p>b</p></text></speaker></turn></chapter></session>"
    )
    assert read_quietly(tmp_path).text("en").to_dict() == {"2001-02-03.1.1.1": "a", "2001-02-03.1.1-2.1": "b"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</session>", "", r"day.xml, line \d+: not well-formed XML in column \d+"),
        ("<session", "<bible", r"day.xml, line 2: expected <session>, found <bible>; this is not a file of CoStEP"),
        ('<text language="fr">', "<text>", r"line 26: turn 2000-01-17.1.2 has a <text> without language"),
        ('<text language="fr">', '<text language="en">', "turn 2000-01-17.1.2 has a <text> in 'en' again"),
        ('<turn id="2">', '<turn id="1">', r"day.xml, line \d+: turn 2000-01-17.1.1 is there twice, first in line \d+"),
        ('type="speech"', 'type="comment"', "day.xml: no turn with text fits"),
        ("<speaker", "<orator", "a <text> outside a <speaker>"),
    ],
)
def test_bad_files_are_refused_where_they_are_bad(tmp_path, old, new, message):
    text = DAY.replace(old, new).replace("</speaker", f"</{new[1:]}" if old == "<speaker" else "</speaker")
    text = text.replace("</session>", "</bible>") if new == "<bible" else text
    (tmp_path / "day.xml").write_text(text, encoding="utf-8")
    refused(DataError, message, read, tmp_path)


# --- days drawn at random, against a slow count


paragraphs = st.lists(st.sampled_from(["a", "b & c", "<d>", " ", "é"]), max_size=3)
speakers = st.sampled_from([{"president": "yes"}, {}, {"language": "unknown"}, {"language": "de"}, {"language": "sv"}])
turns = st.tuples(speakers, st.dictionaries(st.sampled_from(["de", "en", "fr"]), paragraphs, max_size=3))


def written(days):
    for number, day in enumerate(days):
        body = "".join(
            "<turn><speaker " + " ".join(f"{key}={quoteattr(value)}" for key, value in speaker.items()) + ">"
            + "".join(
                f'<text language="{code}">' + "".join(f"<p>{escape(p)}</p>" for p in spoken) + "</text>"
                for code, spoken in texts.items()
            )
            + "</speaker></turn>"
            for speaker, texts in day
        )  # fmt: skip
        yield f"1999-01-{number + 1:02}", f"<session><chapter>{body}</chapter></session>"


@pytest.mark.filterwarnings("ignore:no edition is in an original language")  # nor is it, if only Swedes speak
@given(st.lists(st.lists(turns, max_size=4), min_size=1, max_size=3))
def test_agrees_with_a_slow_count(tmp_path_factory, days):
    folder = tmp_path_factory.mktemp("days")
    for name, text in written(days):
        (folder / f"{name}.xml").write_text(text, encoding="utf-8")
    kept, lost, kinds, languages = [], 0, Counter(), Counter()
    for speaker, texts in (turn for day in days for turn in day):
        spoken = {code: list_ for code, list_ in texts.items() if list_}
        if len({len(list_) for list_ in spoken.values()}) > 1:
            lost += max(map(len, spoken.values()))
            continue
        for number in range(max(map(len, spoken.values()), default=0)):
            cell = {code: list_[number] for code, list_ in spoken.items() if list_[number].strip()}
            kept.append(cell)
            languages[len(cell)] += 1
            native = speaker.get("language")
            unknown = "president" if "president" in speaker else "unknown"
            kinds[("native" if native in cell else "not found") if native in ("de", "sv") else unknown] += 1
    if not kept:
        refused(DataError, "no turn with text fits", costep_statistics, folder)
        return
    statistics = costep_statistics(folder, trust=SUSPICIONS)
    frame = statistics.multitext.to_frame()
    assert [row.dropna().to_dict() for _, row in frame.iterrows()] == kept
    assert statistics.lost_intents == lost
    assert {k: n for k, n in statistics.accounting()["intents"].items() if n} == dict(kinds)
    assert {k: n for k, n in statistics.languages_per_intent().items() if n} == dict(languages)
    assert statistics.to_frame()["intents"].sum() == sum(map(len, kept))


# --- the same figures of any multitext


def test_shares_of_a_multitext_with_codes_of_its_own():
    texts = pd.DataFrame({"deu-a": ["x"] * 4, "eng-b": ["y", "y", None, None]}, index=list("abcd"))
    origin = pd.Series({"a": "de", "b": "en", "c": "en", "d": np.nan})
    multitext = ld.read_frame(texts)
    share = native_share(multitext, origin, {"deu-a": "de", "eng-b": "en"})
    assert share["native"].to_dict() == {"deu-a": 1, "eng-b": 1}
    assert share["native_percent"].to_dict() == {"deu-a": 25.0, "eng-b": 50.0}
    found = origin_accounting(multitext, origin, {"deu-a": "de", "eng-b": "en"})["intents"]
    assert found.to_dict() == {"native": 2, "president": 0, "unknown": 1, "not found": 1}


def test_presidents_whose_language_is_known_are_no_gap():
    texts = pd.DataFrame({"deu": ["x"] * 5}, index=list("abcde"))
    origin = pd.Series({"a": "deu", "b": "und", "c": "und", "d": "und", "e": "deu"})
    info = pd.DataFrame(
        {"president": pd.Series([True, True, np.nan, False, False], dtype=object).to_numpy()}, list("abcde")
    )
    found = origin_accounting(ld.read_frame(texts, intent_info=info), origin)["intents"]
    assert found.to_dict() == {"native": 2, "president": 1, "unknown": 2, "not found": 0}


def test_codes_that_match_no_edition_are_warned_of():
    multitext = ld.read_frame(pd.DataFrame({"deu-a": ["x", "y"], "eng-b": ["x", "y"]}, index=["a", "b"]))
    origin = pd.Series({"a": "de", "b": "en"})
    for count in (native_share, origin_accounting):
        with pytest.warns(LangdiffWarning, match=r"editions are in 'deu', 'eng', intents from 'de', 'en'\. If these"):
            count(multitext, origin)
    assert native_share(multitext, pd.Series("und", index=["a", "b"]))["native"].sum() == 0  # nothing to warn of


def test_numbers_of_languages_that_no_intent_has_are_counted_as_none():
    texts = pd.DataFrame({"deu": ["x", None], "eng": [None, "y"], "fra": [None, None]}, index=["a", "b"])
    assert languages_per_intent(ld.read_frame(texts)).to_dict() == {0: 0, 1: 2, 2: 0, 3: 0}


def test_what_is_not_known_is_asked_for():
    multitext = ld.read_frame(pd.DataFrame({"deu": ["x", "y"]}, index=["a", "b"]))
    refused(DataError, "has no column 'original_language'", native_share, multitext)
    refused(DataError, "must be a Series indexed by intent, not dict", native_share, multitext, {"a": "deu"})
    with pytest.raises(DataError, match="1 of 2 intents have no original language: 'b'"):
        native_share(multitext, pd.Series({"a": "deu"}))
    with pytest.raises(DataError, match=r"1 intent\(s\) with several original languages: 'a'"):
        native_share(multitext, pd.Series(["deu"] * 3, index=["a", "a", "b"]))
    with pytest.raises(DataError, match="edition_info: 1 unknown edition"):
        native_share(multitext, pd.Series({"a": "deu", "b": "deu"}), {"fra": "fr"})


@pytest.mark.real_data
def test_shares_of_europarl(real_data):
    folder = real_data / "europarl"
    read = {code: gzip.decompress((folder / f"{code}.txt.gz").read_bytes()).decode() for code in ("en", "fr")}
    multitext = ld.read_frame(pd.DataFrame({code: text.split("\n")[:-1] for code, text in read.items()}))
    codes = gzip.decompress((folder / "original_language.txt.gz").read_bytes()).decode().split()
    origin = pd.Series(codes, index=multitext.intents)
    # the numbers of the sample's own description
    assert native_share(multitext, origin)["native"].to_dict() == {"en": 603, "fr": 642}
    assert origin_accounting(multitext, origin)["intents"].to_dict() == {
        "native": 1245, "president": 0, "unknown": 1117, "not found": 2789
    }  # fmt: skip
    assert languages_per_intent(multitext).to_dict() == {0: 0, 1: 0, 2: 5151}
