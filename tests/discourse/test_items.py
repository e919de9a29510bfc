import pytest

from langdiff.discourse import read_classes
from langdiff.discourse.items import RST_DT_CLASSES, relation_class
from langdiff.errors import ConfigError, DataError
from tests.helpers import refused

# the members as they are listed in public code, each with its class
MEMBERS = """
attribution: attribution attribution-n
background: background circumstance
cause: cause cause-result result consequence consequence-n consequence-s
comparison: comparison preference analogy proportion
condition: condition hypothetical contingency otherwise
contrast: contrast concession antithesis
elaboration: elaboration-additional elaboration-general-specific elaboration-part-whole elaboration-process-step
 elaboration-object-attribute elaboration-set-member example definition
enablement: purpose enablement
evaluation: evaluation evaluation-n evaluation-s interpretation interpretation-n interpretation-s conclusion comment
explanation: evidence explanation-argumentative reason
joint: list disjunction
manner-means: manner means
topic-comment: problem-solution problem-solution-n problem-solution-s question-answer question-answer-n
 question-answer-s statement-response statement-response-n statement-response-s topic-comment comment-topic
 rhetorical-question
summary: summary summary-n summary-s restatement
temporal: temporal-before temporal-after temporal-same-time sequence inverted-sequence
topic-change: topic-shift topic-drift
same-unit: same-unit
textual: textualorganization
""".replace("\n ", " ")
PAIRS = [(member, line.split(":")[0]) for line in MEMBERS.strip().split("\n") for member in line.split(":")[1].split()]


@pytest.mark.parametrize(("member", "name"), PAIRS)
def test_every_member_with_embedding_and_case(member, name):
    for spelling in (member, f"{member}-e", member.upper(), member.title(), f"{member.title()}-E"):
        assert relation_class(spelling, "rst-dt") == name
        assert relation_class(spelling) == member


def test_there_are_eighteen_classes():
    assert len(RST_DT_CLASSES) == 18
    assert len(PAIRS) == sum(map(len, RST_DT_CLASSES.values()))
    assert {relation_class(name, "rst-dt") for name in RST_DT_CLASSES} == set(RST_DT_CLASSES)  # stay what they are


def test_what_is_not_in_a_table_stays():
    assert relation_class("span", "rst-dt") == relation_class("span", "gum") == "span"
    assert relation_class("Brand-New", "rst-dt") == "brand-new"
    assert [relation_class(name, "gum") for name in ("joint-list", "same-unit", "Causal-cause")] == [
        *["joint", "same-unit", "causal"]
    ]
    refused(ConfigError, "classes are", relation_class, "joint", "pdtb")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "relation,kind\na,b\n", "line 1: the columns are relation and class; got 'relation', 'kind'"),
        ("a.csv", "relation,class\nList,joint\nlist-e,list\n", "line 3: 'list' is in 'joint' and in 'list'"),
        ("a.tsv", "relation\tclass\nList\t\n", "line 2: a relation or its class is empty"),
        ("a.csv", "relation,class\nList\n", "line 2: 1 cells"),
        ("a.csv", "relation,class\nspan,span\nspan,joint\n", "line 3: 'span' cannot be in 'joint'"),
    ],
)
def test_bad_tables_of_classes(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    refused(DataError, f"{name}, {message}", read_classes, tmp_path / name)


def test_a_table_of_classes(tmp_path):
    (tmp_path / "a.tsv").write_text("class\trelation\nJoint\tList\njoint\tdisjunction\n")
    classes = read_classes(tmp_path / "a.tsv")
    assert classes == {"list": "joint", "disjunction": "joint"}
    assert relation_class("LIST-e", classes) == "joint"
