import pytest

from langdiff.constructions import compare_annotators, read_gold

from . import worked


def test_agreement_of_two_annotators(write, gold):
    changed = worked.GOLD.replace("withdrew-9\tMOD\thaving-2|been-3|passed-4", "withdrew-9\tMOD\tpassed-4")
    changed = changed.replace("having-2|been-3|passed-4\tARG", "passed-4|been-3|having-2\tARG")  # the same target
    changed = changed.replace("i2\titexpl\t0\t*\t!ARG\tit-0\n", "")
    agreement = compare_annotators(gold, read_gold(write("second.tsv", changed), worked.WORDS, name="second"))
    table = agreement.to_frame().set_index("phenomenon")
    assert table.loc["vpart", ["items", "identical", "shared"]].tolist() == [2, 2, 4]
    assert table.loc["absol", ["items", "identical", "shared", "only_first", "only_second"]].tolist() == [1, 0, 2, 1, 1]
    assert table.loc["absol", "dice"] == pytest.approx(4 / 6)
    # i2 is in one set only, so it is not common to both
    assert table.loc["all", ["items", "identical", "share"]].tolist() == [4, 3, 0.75]
    assert agreement.differences[["annotator", "dependent"]].to_numpy().tolist() == [
        ["gold", "having-2|been-3|passed-4"],
        ["second", "passed-4"],
    ]
    assert "3 of 4 items" in repr(agreement)
    assert "passed-4" in agreement.summary()
