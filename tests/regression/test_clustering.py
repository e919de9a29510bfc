"""The cluster of every intent."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse.csgraph import connected_components

from langdiff.errors import ConfigError, DataError
from langdiff.regression.clustering import independent_units, name_of_clusters
from langdiff.tables.surprisals import Surprisals
from langdiff.tables.units import first_copies
from tests.helpers import refused

VERSES = ["40001001", "40001002", "40002001", "41001001"]


def table(intents=VERSES, info=None):
    bits = pd.DataFrame(np.ones((len(intents), 2)), index=list(intents), columns=["eng", "deu"])
    return Surprisals(bits=bits, intent_info=None if info is None else pd.DataFrame(info, index=list(intents)))


def resolve_clusters(of, clusters):
    return independent_units(of.intents, of.intent_info, clusters).labels


def test_a_column_of_what_is_known():
    labels = resolve_clusters(table(info={"book": ["MAT"] * 3 + ["MRK"], "speaker": list("abca")}), "speaker")
    assert labels.to_dict() == dict(zip(VERSES, "abca", strict=True))
    assert labels.name == "speaker"
    assert labels.index.name == "intent"


def test_books_and_chapters_of_verse_ids():
    assert resolve_clusters(table(), "book").tolist() == ["40", "40", "40", "41"]
    assert resolve_clusters(table(), "chapter").tolist() == ["40001", "40001", "40002", "41001"]
    known = resolve_clusters(table(info={"book": ["MAT"] * 3 + ["MRK"]}), "book")
    assert known.tolist() == ["MAT"] * 3 + ["MRK"]  # what is known comes first
    assert name_of_clusters(known) == name_of_clusters(resolve_clusters(table(), "book"))


@pytest.mark.parametrize("kind", [dict, pd.Series, lambda labels: pd.Series(labels)[::-1].astype("category")])
def test_labels_by_intent_come_in_the_order_of_the_table(kind):
    given = kind({"41001001": "z", "66001001": "w", "40001001": "x", "40002001": "y", "40001002": "x"})
    labels = resolve_clusters(table(), given)
    assert labels.tolist() == ["x", "x", "y", "z"]
    assert list(labels.index) == VERSES
    assert labels.name == "cluster"


def test_a_series_keeps_its_name_and_numbers():
    labels = resolve_clusters(table(), pd.Series([1, 1, 2, 2], index=VERSES, name="sermon"))
    assert labels.tolist() == [1, 1, 2, 2]
    assert labels.name == "sermon"


def test_two_are_crossed():
    both = resolve_clusters(table(), ["book", pd.Series(list("abab"), index=VERSES, name="translator")])
    assert list(both.columns) == ["book", "translator"]
    assert both.to_numpy().tolist() == [["40", "a"], ["40", "b"], ["40", "a"], ["41", "b"]]
    same_name = resolve_clusters(
        table(), [pd.Series(list("abab"), index=VERSES), pd.Series(list("aabb"), index=VERSES)]
    )
    assert list(same_name.columns) == ["cluster 1", "cluster 2"]


@pytest.mark.parametrize(
    ("intents", "info", "clusters", "message"),
    [
        (VERSES, None, "document", r"clusters='document': intent_info has no such column\. There are 'book'"),
        (VERSES, {"speaker": list("abcd")}, "documents", r"There are 'speaker', 'book', 'chapter'; "),
        (["1", "2"], {"speaker": list("ab")}, "chapter", r"There are 'speaker'; `Surprisals.with_intent_info`"),
        (["1", "2"], None, "chapter", r"no such column\. There is none; `Surprisals.with_intent_info` adds columns"),
        (["40001001", "4000100"], None, "book", "no such column"),
        (VERSES, None, 7, r"clusters must be a column of intent_info, .* not int"),
        (VERSES, None, pd.DataFrame({"a": [1]}), r"not DataFrame"),
        (VERSES, None, ["book", "chapter", "book"], r"two clusterings can be crossed, not 3"),
        (VERSES, None, ["book"], r"two clusterings can be crossed, not 1"),
        (VERSES, None, ["book", "book"], r"'book' and 'book' divide the intents alike"),
        (VERSES, None, ["book", 7], r"mapping or a Series from intent to cluster, not int"),
        (VERSES, None, {verse: [1] for verse in VERSES}, r"named by text or numbers, not by \[1\]"),
    ],
)
def test_settings_that_cannot_be_used(intents, info, clusters, message):
    refused(ConfigError, message, resolve_clusters, table(intents, info), clusters)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ({"40001001": "a", "41001001": "b"}, r"2 of 4 intents have no cluster \(cluster\): '40001002', '40002001'"),
        (dict.fromkeys(VERSES, "a"), r"all intents are in one cluster \(cluster 'a'\)"),
        (pd.Series(["a", "b", "c"], index=[0, 1, 2]), r"clusters are of other intents: 0, 1, …, and the table has"),
        (pd.Series(list("abcde"), index=[*VERSES, "40001001"]), r"1 intent\(s\) have several: '40001001'"),
        (["book", dict.fromkeys(VERSES, "a")], r"all intents are in one cluster"),
    ],
)
def test_clusters_that_do_not_fit(clusters, message):
    refused(DataError, message, resolve_clusters, table(), clusters)


def test_an_intent_whose_column_is_empty_is_named():
    with pytest.raises(DataError, match=r"1 of 4 intents have no cluster \(document\): '40001002'"):
        resolve_clusters(table(info={"document": ["x", None, "y", "y"]}), "document")


def test_one_book_alone_is_one_cluster():
    refused(DataError, r"all intents are in one cluster \(book '40'\)", resolve_clusters, table(VERSES[:3]), "book")


def test_the_hash_tells_partitions_apart():
    a, b = pd.Series(list("aab"), name="x"), pd.Series(list("abb"), name="x")
    assert name_of_clusters(a) != name_of_clusters(b)
    assert name_of_clusters(a) == name_of_clusters(pd.Series([7, 7, 1], name="x"))
    assert name_of_clusters(a).startswith("x#")


BIBLE = [
    f"{book:02d}{chapter:03d}{verse:03d}" for book in range(1, 7) for chapter in range(1, 4) for verse in range(1, 5)
]


def units(intents, **info):
    intents = pd.Index(intents)
    return independent_units(intents, pd.DataFrame(info, index=intents) if info else None)


def test_books_of_verse_ids_are_found():
    found = units(BIBLE)
    assert (found.kind, found.name, found.count, found.source) == ("found", "book", 6, "from verse ids")
    assert found.labels.tolist() == [verse[:2] for verse in BIBLE]
    assert found.words == "6 books (from verse ids)"


def test_of_few_books_chapters_are_found_and_the_books_stay_as_they_are():
    found = units(BIBLE[:48])  # four books of three chapters
    assert (found.name, found.count) == ("chapter", 12)
    assert found.strata.tolist() == [verse[:2] for verse in BIBLE[:48]]
    few = units(BIBLE[:36])  # nine chapters are too few
    assert (few.name, few.count, few.strata) == ("book", 3, None)


def test_the_coarsest_attribute_that_divides_the_intents_is_taken():
    document = np.arange(60) // 3
    assert units(range(60), document=document, book=document // 4).name == "book"
    assert units(range(60), document=document, book=np.zeros(60)).name == "document"  # one book
    assert units(range(60), document=np.arange(60)).kind == "intents"  # as many documents as intents
    assert units(BIBLE, document=np.arange(72)).source == "from verse ids"


def test_one_document_is_said():
    found = units(range(60), document=["a"] * 60)
    assert found.kind == "intents"
    assert found.notes == ("All intents are of one document; errors say nothing of other documents.",)


def test_intents_without_a_value_are_clusters_of_their_own():
    document = pd.Series(np.arange(60) // 6, dtype=object)
    document[[3, 59]] = None
    found = units(range(60), document=document.to_numpy())
    assert found.count == 12
    assert found.labels.nunique() == 12
    assert "2 intents without a document are clusters of their own." in found.notes


def test_chapters_whose_numbers_begin_anew_are_those_of_their_book():
    found = units(range(48), book=np.arange(48) // 12, chapter=np.arange(48) // 4 % 3)
    assert (found.name, found.count) == ("chapter", 12)


def test_other_attributes_are_named_and_not_used():
    found = units(range(60), translator=np.arange(60) % 7, genre=["prose"] * 60)
    assert found.kind == "intents"
    assert found.notes == ("Not used: translator.",)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([f"doc{d}_s{s}" for d in range(5) for s in range(3)], ("document", 5)),
        ([f"n{d:02d}-{s:03d}" for d in range(5) for s in range(3)], ("document", 5)),
        ([f"GEN.{c}.{v}" for c in range(6) for v in range(3)], ("document", 6)),  # one book
        ([f"{b}.{c}.{v}" for b in ("GEN", "EXO") for c in range(6) for v in range(3)], ("section", 12)),
        ([f"b{b}.{c}.{v}" for b in range(5) for c in range(6) for v in range(3)], ("document", 5)),
        ([f"s{k}" for k in range(15)], ("intent", 15)),
        ([f"sent_{k}" for k in range(15)], ("intent", 15)),  # one prefix
        ([f"doc{d}_s{s}" for s in (1, 3, 2) for d in range(5)], ("document", 5)),  # in any order
        ([f"doc{d}_s{s}" for d in range(4) for s in range(3)], ("intent", 12)),  # too few to be told by names
        ([f"doc{d}_{x}1" for d in range(5) for x in "abc"], ("intent", 15)),  # numbers that are not distinct
        ([f"doc{d}_s1" for d in range(15)], ("intent", 15)),  # a document each
        ([*(f"doc{d}_s{s}" for d in range(5) for s in range(3)), "title"], ("intent", 16)),  # not all
        (list(range(15)), ("intent", 15)),
    ],
)
def test_documents_are_found_in_names(names, expected):
    found = units(names)
    assert (found.name, found.count) == expected


def divided(size, units):
    return [f"x{k * units // size}" for k in range(size)]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"Doc_ID": 12}, ("document", 12, "from the column Doc_ID")),
        ({"docName": 12}, ("document", 12, "from the column docName")),
        ({"Book-No": 12}, ("book", 12, "from the column Book-No")),
        ({"story number": 12}, ("story", 12, "from the column story number")),
        ({"URL": 12, "Passage.key": 6}, ("passage", 6, "from the column Passage.key")),  # the coarser one
        ({"talk": 6, "speech_nr": 12}, ("talk", 6, "from the column talk")),
        ({"link": 7, "article": 12}, ("article", 12, "from the column article")),  # which do not nest: the order
        ({"text": 59}, ("text", 59, "from the column text")),
        ({"document": 3, "source": 12}, ("source", 12, "from the column source")),  # three are taken as they are
    ],
)
def test_columns_are_known_in_any_spelling(columns, expected):
    found = units(range(60), **{name: divided(60, count) for name, count in columns.items()})
    assert (found.name, found.count, found.source) == expected
    shuffled = np.random.default_rng(1).permutation(60)
    again = units(shuffled, **{name: np.array(divided(60, count))[shuffled] for name, count in columns.items()})
    assert (again.name, again.count, again.source) == expected


def test_texts_that_are_mostly_different_are_no_clusters_where_verse_ids_tell_books():
    assert units(BIBLE, text=["the same", "the same", *map(str, range(70))]).source == "from verse ids"


def bits(rows, editions=5, seed=1):
    rng = np.random.default_rng(seed)
    return 100 * np.exp(rng.normal(0, 0.6, (rows, 1)) + rng.normal(0, 0.17, (rows, editions)))


def n_by_brute_force(values):
    """Return the number of rows that are no copies: each pair in a slow loop."""
    z, joined = np.log(values), np.eye(len(values), dtype=bool)
    for one in range(len(z)):
        apart = np.abs(z - z[one])
        common, largest = (~np.isnan(apart)).sum(axis=1), np.nan_to_num(apart).max(axis=1)
        joined[one] |= ((common >= 3) & (largest <= 1e-9)) | ((common >= 4) & (largest <= 0.005))
    return connected_components(joined)[0]


@pytest.mark.parametrize("near", [0.0, 0.002])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_copies_are_one_unit_in_any_order_and_with_holes(near, missing):
    rng = np.random.default_rng(2)
    values = np.tile(bits(100, 7), (3, 1)) * np.exp(rng.uniform(-near, near, (300, 7)))
    values[rng.random(values.shape) < missing] = np.nan
    place = rng.permutation(300)
    first = first_copies(values[place])
    truth, found = place % 100, place[first] % 100
    assert (truth == found).all()  # only copies are joined
    assert len(np.unique(first)) == n_by_brute_force(values[place])
    names = pd.Index([f"s{k}" for k in place])
    units = independent_units(names, None, bits=values[place])
    assert (units.kind, units.noun) == ("copies", "texts")
    assert re.search(r"intents stand (2 to )?3 times \(s\d+, s\d+, …\): one unit each\.", units.notes[0])


def test_copies_need_three_equal_cells_and_differ_from_rows_that_are_near_by_chance():
    two = np.tile(bits(50, 2), (2, 1))
    assert (first_copies(two) == np.arange(100)).all()
    precise = 100 * np.exp(np.random.default_rng(3).normal(0, 0.01, (400, 4)))  # pairs are near here and there
    assert (first_copies(precise) == np.arange(400)).all()


def test_units_that_share_copies_are_joined_unless_that_joins_half():
    labels = pd.Series(np.repeat(list("abcdefgh"), 6), [f"s{k}" for k in range(48)], name="document")
    values = bits(48)
    values[6] = values[0]  # of a and b
    info = labels.to_frame()
    found = independent_units(info.index, info, bits=values)
    assert found.count == found.labels.nunique() == 7
    assert found.notes[0] == "1 intent stands 2 times (s0): documents that share them are one unit."
    values[6::6] = values[0]  # of all
    found = independent_units(info.index, info, bits=values)
    assert found.count == 8
    assert "that stay apart" in found.notes[0]


def test_clusters_that_cannot_be_spared_are_left_for_finer_ones():
    intents = pd.Index(BIBLE)
    found = independent_units(intents, None, usable=lambda labels: labels.name != "book")
    assert (found.name, found.count) == ("chapter", 18)
    assert "Without one book some editions could not be compared, so that books are not the clusters." in found.notes
    assert independent_units(intents, None, usable=lambda labels: False).kind == "intents"


def test_the_word_none_is_for_commands():
    refused(ConfigError, "here it is None", independent_units, pd.Index(BIBLE), None, "none")


def test_labels_of_any_type_can_be_saved():
    labels = pd.Series([(1, 2), (1, 2), 1.5, "1"], index=VERSES)
    found = independent_units(pd.Index(VERSES), None, labels)
    assert found.labels.map(type).isin([str, int]).all()
    assert found.labels.nunique() == 3
