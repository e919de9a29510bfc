"""Documents that cannot be compared: an error that names all of them, or left out on all sides and listed."""

import pandas as pd
import pytest

from langdiff.discourse import discourse_similarity, evaluate_discourse, parse_discourse, read_discourse
from langdiff.errors import DataError, LangdiffWarning
from tests.helpers import refused

TREES = {
    "a": "1 1 N span\n2 2 S cause\n",
    "b": "1 1 N span\n2 3 S list\n2 2 N joint\n3 3 N joint\n",
    "c": "1 1 S cause\n2 2 N span\n",
    "d": "1 2 N span\n1 1 N joint\n2 2 N joint\n3 3 S cause\n",
}


@pytest.fixture
def folders(tmp_path):
    """Write the same four documents for a reference and two systems."""
    for system in ("gold", "p", "q"):
        (tmp_path / system).mkdir()
        for name, text in TREES.items():
            (tmp_path / system / f"{name}.spans").write_text(text)
    return tmp_path


def parsed(names):
    return {name: parse_discourse(TREES[name], format="spans") for name in names}


def evaluate(folders, **options):
    return evaluate_discourse(folders / "gold", {"p": folders / "p", "q": folders / "q"}, **options)


def test_every_faulty_document_is_named(folders):
    (folders / "gold" / "a.spans").write_text("1 1 N span\n2 2 X cause\n")
    (folders / "p" / "b.spans").write_bytes(b"1 1 N span\n\xff\n")
    (folders / "q" / "c.spans").write_text("")
    with pytest.raises(DataError) as raised:
        evaluate(folders)
    lines = str(raised.value).splitlines()
    lines[2] = lines[2].partition(" As ")[0]  # what the bytes may be
    assert lines == [
        "3 of 4 documents cannot be compared:",
        f"  {folders}/gold/a.spans, line 2: nuclearity is Nucleus, Satellite or Root (or N, S, R); got 'X'.",
        f"  {folders}/p/b.spans, line 2: not UTF-8 in byte 1 (0xff).",
        f"  {folders}/q/c.spans, line 1: the file has no nodes.",
        "Mend these documents, or leave them out on all sides: on_error='skip'.",
    ]
    assert [fault.line for fault in raised.value.faults] == [2, 2, 1]


def test_what_is_left_out_is_left_out_on_all_sides(folders):
    """Scores are those of the documents that are left, read alone."""
    (folders / "p" / "b.spans").write_text("nothing\n")
    (folders / "q" / "d.spans").unlink()
    with pytest.warns(LangdiffWarning, match="2 of 4 documents cannot be compared and are left out on all") as said:
        result = evaluate(folders, on_error="skip")
    assert said[0].filename == __file__
    rest = parsed("ac")
    expected = evaluate_discourse(rest, {"p": rest, "q": rest})
    scores = expected.to_frame().drop(columns="left_out")
    pd.testing.assert_frame_equal(result.to_frame().drop(columns="left_out"), scores)
    assert set(result.to_frame()["left_out"]) == {2}
    assert result.signature == expected.signature
    assert result.left_out[["document", "system", "reason"]].to_numpy().tolist() == [
        ["b", "p", "a line is 'start end nuclearity relation', with numbers of EDUs; got 'nothing'."],
        ["d", "q", "no prediction."],
    ]
    assert result.left_out["line"].tolist() == [1, pd.NA]
    assert f"  b (p): {folders}/p/b.spans, line 1: a line is" in result.summary()
    assert "  d (q): no prediction." in result.summary()
    assert "left out" not in expected.summary()
    assert expected.left_out.empty


def test_other_units_are_all_named(folders):
    for name in "ab":
        (folders / "p" / f"{name}.spans").write_text(TREES["a"] + "3 3 S cause\n4 4 S cause\n")
    with pytest.raises(
        DataError, match=r"a: the reference has EDUs 1–2, p has EDUs 1–4(.|\n)*b: .*has EDUs 1–3"
    ) as raised:
        evaluate(folders)
    assert str(raised.value).count("spans='chars'") == 1
    with pytest.warns(LangdiffWarning, match="2 of 4 documents"):
        assert evaluate(folders, on_error="skip").documents == ("c", "d")


def test_nothing_is_left(folders):
    for name in TREES:
        (folders / "p" / f"{name}.spans").write_text("nothing\n")
    for on_error in ("raise", "skip"):
        with pytest.raises(DataError, match="4 of 4 documents cannot be compared") as raised:
            evaluate(folders, on_error=on_error)
        assert "on_error" not in str(raised.value)  # leaving out would leave nothing
    refused(DataError, "4 of 4 documents cannot be used", read_discourse, folders / "p", on_error="skip")


def test_trees_that_were_read_with_documents_left_out_are_not_taken_for_complete(folders):
    (folders / "gold" / "b.spans").write_text("nothing\n")
    with pytest.raises(DataError, match=r"1 of 4 documents cannot be used:\n.*b.spans, line 1: .*\n.*on_error='skip'"):
        read_discourse(folders / "gold")
    with pytest.warns(LangdiffWarning, match="1 of 4 documents cannot be used and are left out") as said:
        gold = read_discourse(folders / "gold", on_error="skip")
    assert said[0].filename == __file__
    assert list(gold) == ["a", "c", "d"]
    refused(DataError, "1 of 4 documents cannot be compared", evaluate_discourse, gold, {"p": folders / "p"})
    with pytest.warns(LangdiffWarning, match="b.spans, line 1"):
        result = evaluate_discourse(gold, {"p": folders / "p"}, on_error="skip")
    assert result.left_out["system"].tolist() == ["reference"]


def test_similarity_leaves_out_the_same_documents(folders):
    (folders / "p" / "b.spans").write_text("nothing\n")
    (folders / "q" / "a.spans").write_text(TREES["a"].replace("cause", "result"))
    systems = {"p": folders / "p", "q": folders / "q"}
    refused(DataError, "1 of 4 documents", discourse_similarity, systems)
    with pytest.warns(LangdiffWarning, match="1 of 4 documents") as said:
        table = discourse_similarity(systems, on_error="skip")
    assert len(said) == 1
    assert (
        table.loc["p", "q"] == table.loc["q", "p"] == 3 / 4
    )  # decisions: one of a is wrong, one of c and two of d right


def test_a_system_may_have_the_name_of_the_reference(folders):
    (folders / "gold" / "a.spans").write_text("nothing\n")
    with pytest.warns(LangdiffWarning, match="left out on all sides"):
        found = evaluate_discourse(folders / "gold", {"reference": folders / "p"}, on_error="skip")
    assert found.left_out["document"].tolist() == ["a"]
