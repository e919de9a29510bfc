"""Bad files give an error with file, line and reason."""

import pytest

from langdiff.errors import FaultsError
from langdiff.parallelism import read_parallelisms
from tests.helpers import refused

TEXT = "he came, she saw.\n"
ANN = "T1\tParallelArm 0 7\the came\nT2\tParallelArm 9 16\tshe saw\n"
WORD = '<word cont="{}" parallelism_id_1="{}" branch_id_1="{}"/>\n'


def words(*rows, root="<sermon>"):
    lines = "".join(WORD.format(*row) for row in rows)
    return f"{root}\n<section>\n{lines}</section>\n</sermon>"


@pytest.mark.parametrize(
    ("record", "line", "reason"),
    [
        ("R1\tParallel Arg1:T1 Arg2:T7", 3, "R1 relates T7, but there is no such branch"),
        ("R1\tParallel Arg1:T1 Arg2:T1", 3, "R1 relates T1 to itself"),
        ("R1\tContrast Arg1:T1 Arg2:T2", 3, "relations are Parallel, Parallelism, Chiasm; got 'Contrast'"),
        ("R1\tParallel T1 T2", 3, "neither a branch, a relation nor a note"),
        ("nonsense", 3, "neither a branch, a relation nor a note"),
        ("T3\tParallelArm 9 x\tshe", 3, "neither a branch, a relation nor a note"),
        ("T3\tParallelArm 9 99\tshe", 3, "T3 ends outside of the text, which has 18 characters"),
        ("T3\tParallelArm 9 9\t", 3, "T3 has no characters"),
        ("T3\tParallelArm 9 12\the", 3, "T3 is 'she' in the text, but 'he' here"),
        ("T1\tParallelArm 9 12\tshe", 3, "T1 is there already, in line 1"),
        ("T3\tNoun 9 12\tshe", 3, "branches are labelled ParallelArm, Branch, ChiasmA, ChiasmB; got 'Noun'"),
        ("R1\tParallel Arg1:T1 Arg2:T2\nR1\tParallel Arg1:T2 Arg2:T1", 4, "R1 is there already, in line 3"),
        ("T3\tBranch 7 9\t,\nR1\tParallel Arg1:T1 Arg2:T3", 3, "T3 has no words besides the punctuation at its end"),
    ],
)
def test_brat(tmp_path, record, line, reason):
    (tmp_path / "1.txt").write_text(TEXT)
    (tmp_path / "1.ann").write_text(f"{ANN}{record}\n")
    with pytest.raises(FaultsError) as caught:
        read_parallelisms(tmp_path)
    [fault] = caught.value.faults
    assert (fault.file, fault.line) == (str(tmp_path / "1.ann"), line)
    assert reason in fault.fault


@pytest.mark.parametrize("name", ["1.ann", "1.txt"])
def test_half_a_pair(tmp_path, name):
    (tmp_path / name).write_text(ANN)
    other = {"1.ann": "1.txt", "1.txt": "1.ann"}[name]
    refused(FaultsError, f"{name}: {other} is missing", read_parallelisms, tmp_path / name)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (words(("a", 1, 1), ("b", -1, -1), ("c", 1, 1)), 5, "token 'c' continues branch 1 of parallelism 1 after"),
        (words(("a", 1, 1), ("b", 2, 1), ("c", 2, 2)), 3, "parallelism 1 has one branch only"),
        (words(("a", -1, 1)), 3, "token 'a' has the id of a branch but not of a parallelism (stratum 1)"),
        (words(("a", 1, -1)), 3, "token 'a' has the id of a parallelism but not of a branch (stratum 1)"),
        (words(("a", "x", 1)), 3, "parallelism_id_1 is a whole number, or -1 for none; got 'x'"),
        (words(("a b", 1, 1)), 3, "a token is not empty and has no spaces in it; got 'a b'"),
        (words(("", 1, 1)), 3, "a token is not empty and has no spaces in it; got ''"),
        (words(("a", 1, 1), root='<sermon stratum_count="0">'), 3, "does not name a stratum"),
        (words(("a", 1, 1), root='<sermon stratum_count="many">'), 1, "stratum_count is a number from 0 to 50; got"),
        ("<doc>\n<word/><section/></doc>", 2, "a token is not empty"),
        ("<doc>\n<word><word/></word></doc>", 2, "<word> inside of a <word>"),
        ('<doc>\n<word cont="a"/><parallelism/></doc>', 2, "<parallelism> in a file of words"),
        ("<sermon>\n<section>a</word></section></sermon>", 2, "not well-formed XML"),
        ("<sermon><section/></sermon>", None, "the file has no tokens"),
        ("<sermon>\n<section><section/></section></sermon>", 2, "a <section> inside of a section"),
        ("<sermon>\nhe came</sermon>", 2, "text outside of a <section>: 'he came'"),
        (
            '<sermon><section>\n<parallelism id="1" part="1">a</parallelism> b</section></sermon>',
            2,
            "parallelism 1 has one branch only",
        ),
        (
            '<sermon><section>\n<parallelism id="1" part="1">a</parallelism>\n'
            '<parallelism id="1" part="1">b</parallelism></section></sermon>',
            3,
            "part 1 of parallelism 1 is there already, in line 2",
        ),
        ('<sermon><section>\n<parallelism id="1"/></section></sermon>', 2, "id and part of a branch are whole numbers"),
        (
            '<sermon><section>\n<parallelism id="1" part="1"> . </parallelism></section></sermon>',
            2,
            "part 1 of parallelism 1 has no words",
        ),
        ('<!DOCTYPE a [<!ENTITY b "c">]>\n<sermon><section>&b;</section></sermon>', 1, "defines entities"),
    ],
)
def test_xml(tmp_path, text, line, reason):
    check(tmp_path / "1.xml", text, line, reason)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("token\tp1\na\t1\n", 1, "1 columns besides the token; there are two per stratum"),
        ("token\tp1\tb1\na\t1\n", 2, "1 identifiers, but line 1 names 2 (two per stratum)"),
        ("token\tp1\tb1\na\t1\t1\n\n", 3, "0 identifiers, but line 1 names 2"),
        ("token\tp1\tb1\na\t1\tx\n", 2, "identifiers are whole numbers, or -1 for none; got 'x'"),
        ("token\tp1\tb1\na\t1\t1\nb\t-1\t-1\nc\t1\t1\n", 4, "continues branch 1 of parallelism 1 after a gap"),
        ("token\tp1\tb1\na\t1\t1\n", 2, "parallelism 1 has one branch only"),
        ("token\tp1\tb1\n", None, "the file has no tokens"),
        ("", None, "the file has no tokens"),
        ("token\na\0\n", 2, "a NUL byte"),
    ],
)
def test_table(tmp_path, text, line, reason):
    check(tmp_path / "1.tsv", text, line, reason)


def check(path, text, line, reason):
    path.write_text(text)
    with pytest.raises(FaultsError) as caught:
        read_parallelisms(path)
    [fault] = caught.value.faults
    assert (fault.file, fault.line) == (str(path), line)
    assert reason in fault.fault


def test_predictions_may_have_one_branch(tmp_path):
    (tmp_path / "1.tsv").write_text("token\tp1\tb1\na\t1\t1\nb\t-1\t-1\n")
    found = read_parallelisms(tmp_path, predicted=True)["1"].parallelisms
    assert [one.branches for one in found] == [((0, 1),)]
