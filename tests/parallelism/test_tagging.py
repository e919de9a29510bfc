import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.errors import ConfigError, DataError
from langdiff.parallelism import (
    Parallelism,
    TaggingScheme,
    make_document,
    read_parallelisms,
    strata,
    tag_transitions,
)
from langdiff.parallelism.tagging import TAGGING_SCHEMES
from tests.helpers import refused
from tests.parallelism.strategies import flat_documents, nested_documents

EXAMPLE = [((0, 3), (5, 7), (9, 13))]
INTERLOCKED = [((0, 2), (5, 7)), ((2, 4), (8, 10))]


def document(sets, length):
    return make_document("d", ["w"] * length, [Parallelism(branches) for branches in sets])


def branches(parallelisms):
    return [one.branches for one in parallelisms]


def test_there_are_sixteen_schemes():
    assert len({scheme.name for scheme in TAGGING_SCHEMES}) == 16
    assert [TaggingScheme.named(scheme.name) for scheme in TAGGING_SCHEMES] == list(TAGGING_SCHEMES)


# the example of the paper, in the eight schemes worked out by hand, and two parallelisms that interlock
@pytest.mark.parametrize(
    ("sets", "length", "name", "tags"),
    [
        (EXAMPLE, 14, "BIO-TD", "B I I O O B-3 I O O B-3 I I I O"),
        (EXAMPLE, 14, "BIOE-TD", "B I E O O B-3 E O O B-3 I I E O"),
        (EXAMPLE, 14, "BIOJ-TD", "B I I O O B-3 J O O B-3 J J J O"),
        (EXAMPLE, 14, "BIOM-TD", "B I I M M B-3 I M M B-3 I I I O"),
        (EXAMPLE, 14, "BIOJE-TD", "B I E O O B-3 E O O B-3 J J E O"),
        (EXAMPLE, 14, "BIOME-BD", "B I E M M B-1 E M M B-1 I I E O"),
        (EXAMPLE, 14, "BIOMJ-TD", "B I I M M B-3 J M M B-3 J J J O"),
        (EXAMPLE, 14, "BIOMJE-BD", "B I E M M B-1 E M M B-1 J J E O"),
        (INTERLOCKED, 12, "BIO-TD", "B I B I O B-4 I O B-5 I O O"),
        (INTERLOCKED, 12, "BIO-BD", "B I B I O B-2 I O B-2 I O O"),
        (INTERLOCKED, 12, "BIOMJE-BD", "B E B E M B-2 E M B-2 E O O"),
        ([((0, 1), (1, 2))], 3, "BIOE-TD", "B B-1 O"),
    ],
)
def test_worked_examples(sets, length, name, tags):
    scheme = TaggingScheme.named(name)
    assert " ".join(scheme.encode(document(sets, length))) == tags
    assert branches(scheme.decode(tags.split())) == sets


@pytest.mark.parametrize(
    ("name", "tags", "found"),
    [
        ("BIO-TD", "I I O B I O", [((3, 5),)]),
        ("BIO-TD", "B I O B-3 I O", [((0, 2),), ((3, 5),)]),  # nothing ends 3 tokens back
        ("BIO-BD", "B I O B-1 I O O B-2 I", [((0, 2), (3, 5)), ((7, 9),)]),  # not the latest branch of its parallelism
        ("BIOMJE-TD", "B I M M O B J E I", [((0, 2),), ((5, 9),)]),
        ("BIO-BD", "B-1 I O", [((0, 2),)]),
        ("BIO-TD", "start B E E stop B-3", [((1, 4),), ((5, 6),)]),
        ("BIO-TD", "B B-0 B-x B-99999999999999999999 B- BX", [((k, k + 1),) for k in range(5)]),
        ("BIO-BD", "", []),
    ],
)
def test_invalid_sequences_decode(name, tags, found):
    assert branches(TaggingScheme.named(name).decode(tags.split())) == found


@given(
    scheme=st.sampled_from(TAGGING_SCHEMES),
    tags=st.lists(st.sampled_from(["B", "I", "J", "E", "M", "O", "start", *(f"B-{d}" for d in range(9))])),
)
def test_any_sequence_decodes_to_disjoint_branches(scheme, tags):
    spans = sorted(span for one in scheme.decode(tags) for span in one.branches)
    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    starts = [place for place, tag in enumerate(tags) if tag.startswith("B")]
    assert [start for start, _ in spans] == starts


@given(one=st.one_of(flat_documents(), nested_documents()))
def test_documents_come_back_stratum_by_stratum(one):
    for scheme in TAGGING_SCHEMES:
        found = [parallelism for stratum in (0, 1) for parallelism in scheme.decode(scheme.encode(one, stratum))]
        assert make_document("d", one.tokens, found).parallelisms == one.parallelisms


@given(one=flat_documents())
def test_between_tags_lie_within_a_parallelism(one):
    tags = TaggingScheme("BIOM", "TD").encode(one)
    covered = {place for p in one.parallelisms for branch in p.branches for place in range(*branch)}
    for place, tag in enumerate(tags):
        within = any(p.branches[0][0] < place < p.branches[-1][1] for p in one.parallelisms)
        assert (tag == "M") == (place not in covered and within)


def test_branches_of_one_stratum_may_not_share_tokens():
    with pytest.raises(DataError, match="share tokens in stratum 0"):
        TaggingScheme("BIO", "TD").encode(document([((0, 4), (8, 9)), ((2, 6), (9, 10))], 10))


@pytest.mark.parametrize("name", ["BIO", "BIO-XD", "IOB-TD", "", "BIO-TD-"])
def test_unknown_schemes_are_refused(name):
    refused(ConfigError, "tagging scheme is one of", TaggingScheme.named, name)


def test_transitions_count_whole_documents():
    table = tag_transitions([document(EXAMPLE, 14), document([], 3)], TaggingScheme.named("BIOMJ-TD"))
    assert table.to_numpy().sum() == 14 + 1 + 3 + 1
    assert table.loc["start"].to_dict() == {"B": 1, "B-X": 0, "I": 0, "J": 0, "M": 0, "O": 1, "stop": 0}
    assert table.loc["J", "O"] == table.loc["J", "M"] == 1
    assert table.loc["I", "O"] == table.loc["B", "O"] == 0
    refused(DataError, "no documents", tag_transitions, [], TaggingScheme.named("BIO-TD"))


def come_back(documents, scheme):
    for one in documents:
        levels = range(1 + max(strata(one), default=0))
        found = [parallelism for level in levels for parallelism in scheme.decode(scheme.encode(one, level))]
        assert sorted(branches(found)) == sorted(branches(one.parallelisms)), one.name


@pytest.mark.slow
def test_all_sermons_and_essays_come_back(sermons, real_data):
    essays = read_parallelisms(real_data / "psei" / "abbreviated")
    for scheme in TAGGING_SCHEMES:
        come_back([*sermons.values(), *essays.values()], scheme)


def test_transitions_and_tags_of_the_training_sermons(sermons, real_data):
    splits = json.loads((real_data / "asp" / "published_splits.json").read_text(encoding="utf-8"))["files"]
    names = {one["file"].removesuffix("_annotated.xml") for one in splits if one["split"] == "training"}
    training = [one for name, one in sermons.items() if name in names]
    assert len(training) == 45
    # B, B-X, I, O, stop, as worked out independently
    assert tag_transitions(training, TaggingScheme("BIO", "TD")).to_numpy().tolist() == [
        [5, 0, 0, 40, 0],
        [0, 0, 1226, 4, 0],
        [0, 0, 1532, 6, 0],
        [3, 10, 6184, 2745, 0],
        [1222, 1528, 0, 64524, 45],
    ]
    # B, B-X, I, J, M, O, stop
    assert tag_transitions(training, TaggingScheme("BIOMJ", "TD")).to_numpy().tolist() == [
        [5, 0, 0, 0, 0, 40, 0],
        [0, 0, 1226, 0, 4, 0, 0],
        [0, 0, 0, 1532, 3, 3, 0],
        [0, 10, 2759, 0, 1216, 0, 0],
        [3, 0, 0, 3425, 315, 1214, 0],
        [10, 1528, 0, 0, 714, 0, 0],
        [1212, 0, 0, 0, 0, 63810, 45],
    ]
    least = {"TD": 24, "BD": 7}
    for scheme in TAGGING_SCHEMES:
        tags = {tag for one in training for tag in scheme.encode(one)}
        assert len(tags) == least[scheme.link] + len(scheme.tagset) - len("BIO")
