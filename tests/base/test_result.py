"""What results inherit: text, HTML, LaTeX, pictures, and files that give everything back."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_index_equal, assert_series_equal

import langdiff as ld
from langdiff import plots
from langdiff.base.grids import display_width, frame_text
from langdiff.base.result import Drawn, Result
from langdiff.errors import DataError
from tests.helpers import refused

EVIL = "a_b & <i> 50% $x$ #1 {y}"


@dataclass(frozen=True, kw_only=True)
class Part:
    kind: Literal["one", "two"] = "one"
    limits: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Toy(Result):
    table: pd.DataFrame
    row: pd.Series = field(default_factory=lambda: pd.Series(dtype=float))
    names: pd.Index = field(default_factory=lambda: pd.Index([]))
    array: np.ndarray = field(default_factory=lambda: np.zeros(0))
    part: Part | None = None
    by_name: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    share: float | None = None
    error: float = float("nan")
    signature: str = ""

    plot = Drawn("plot_difficulties", lambda toy: toy.table["value"])

    def to_frame(self):
        return self.table

    def _notes(self):
        yield "A note on <all>."

    def __repr__(self):
        return "Toy <&>"


TABLE = pd.DataFrame({"value": [-0.00001, 1.23456], "n": [1, 2]}, index=pd.Index([EVIL, "日本"], name="edition"))


def equal(one, other):
    for place in fields(one):
        a, b = getattr(one, place.name), getattr(other, place.name)
        match a:
            case pd.DataFrame():
                assert_frame_equal(a, b, check_exact=True)
            case pd.Series():
                assert_series_equal(a, b, check_exact=True)
            case pd.Index():
                assert_index_equal(a, b, exact=True)
            case np.ndarray():
                assert a.dtype == b.dtype
                np.testing.assert_array_equal(a, b)
            case Mapping():
                assert list(a) == list(b)
                for key in a:
                    assert_frame_equal(a[key], b[key])
            case _:
                assert a == b or (a != a and b != b)


def test_summary_has_lines_table_notes_and_signature():
    summary = Toy(table=TABLE, signature="toy").summary().splitlines()
    assert [summary[0], *summary[-3:]] == ["Toy <&>", "A note on <all>.", "", "[toy]"]
    assert "-0.0" not in "".join(summary)
    assert summary[4].split() == [*EVIL.split(), "0.0000", "1"] or EVIL in summary[4]


def test_html_is_escaped():
    html = Toy(table=TABLE)._repr_html_()
    assert "<p>Toy &lt;&amp;&gt;</p>" in html
    assert "<i>" not in html
    assert "A note on &lt;all&gt;." in html


def test_latex_is_escaped_and_rounded():
    latex = Toy(table=TABLE).to_latex(caption="Toys")
    assert r"\toprule" in latex
    assert r"\caption{Toys}" in latex
    assert r"a\_b \& \textless{}i\textgreater{} 50\% \$x\$ \#1 \{y\} & 0.0000 & 1 \\" in latex


def test_a_picture_has_the_signature_of_its_function():
    assert (
        list(inspect.signature(Toy(table=TABLE).plot).parameters)
        == list(inspect.signature(plots.plot_difficulties).parameters)[1:]
    )
    assert Toy.plot is plots.plot_difficulties
    assert Toy(table=TABLE.set_axis(["a", "b"])).plot().get_xlabel() == "difficulty (nats)"


def test_every_field_comes_back(tmp_path):
    mixed = pd.DataFrame(
        {
            "text": ["a", None],
            "object": pd.Series([("x", 1), np.nan], dtype=object),
            "texts as objects": pd.Series(["a", "b"], dtype=object),
            "nullable": pd.array([1, None], dtype="Int64"),
            "flag": [True, False],
            "level": pd.Categorical(["low", "high"], ["low", "high"], ordered=True),
            "number": [np.inf, np.nan],
        },
        index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["edition", None]),
    )
    ratios = pd.DataFrame([[1.0, np.nan]], columns=pd.Index([0.5, 1.0], name="ratio"))
    toy = Toy(
        table=mixed,
        row=pd.Series([1, 2], index=["a", "b"], name="row"),
        names=pd.Index([1, 2], name="intent"),
        array=np.arange(6, dtype=np.int32).reshape(2, 3),
        part=Part(kind="two", limits=(1.0, np.inf)),
        by_name={"one": ratios, "two": TABLE},
        share=np.nan,
    )
    toy.save(tmp_path / "toy.json")
    equal(toy, ld.read(tmp_path / "toy.json"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"part": {"kind": "three", "limits": []}}, "damaged: ValueError: kind is 'three', not one of 'one', 'two'"),
        ({"signature": 1}, "damaged: TypeError: signature is 1, not of type str"),
        ({"table": 3}, "damaged"),
        ({"format": "langdiff.Nothing"}, "not a file that a result of langdiff has saved"),
        ({"format": "langdiff.fit"}, "not a file that a result of langdiff has saved"),
        ({"format_version": 7}, "format version 7; this langdiff reads 1"),
    ],
)
def test_what_is_not_a_result_is_refused(tmp_path, change, message):
    document = json.loads(Toy(table=TABLE).to_json())
    document.pop("sha256")
    path = tmp_path / "toy.json"
    path.write_text(json.dumps(document | change))
    refused(DataError, message, ld.read, path)


def test_damage_is_seen(tmp_path):
    path = tmp_path / "toy.json"
    path.write_text(Toy(table=TABLE).to_json().replace("1.23456", "1.23457"))
    refused(DataError, "damaged, or edited", ld.read, path)
    refused(DataError, "cannot be read: No such file", ld.read, tmp_path / "none.json")


def test_what_has_no_place_in_a_file_is_refused():
    refused(DataError, "by_name holds object, which cannot be saved", Toy(table=TABLE, by_name={"a": object()}).to_json)
    refused(DataError, "table has a cell of object", Toy(table=pd.DataFrame({"a": [object()]})).to_json)


def test_a_wide_table_is_printed_in_blocks_that_hold_every_cell():
    """Each line fits, each block repeats the names of rows, and together the blocks hold what one wide table holds."""
    numbers = np.round(np.random.default_rng(0).normal(size=(5, 14)), 4)
    names = ["deu", "eng", "汉语", "العربية", "fra"]
    table = pd.DataFrame(numbers, pd.Index(names, name="edition"), [f"column_{k}" for k in range(14)])
    shown = replace(Toy(table=table), signature="a:1|" * 40 + "b:2").text(60)
    assert max(map(display_width, shown.splitlines())) <= 60
    assert shown.replace("\n", "").count("a:1|") == 40
    blocks = [block.splitlines() for block in shown.split("\n\n") if block.startswith("edition")]
    assert len(blocks) > 2
    found = pd.concat([pd.DataFrame([row.split() for row in block[1:]], columns=block[0].split()).set_index("edition")
                       for block in blocks], axis=1)  # fmt: skip
    assert found.index.tolist() == names
    assert found.columns.tolist() == table.columns.tolist()
    np.testing.assert_array_equal(found.to_numpy(dtype=float), table.to_numpy())


def test_words_of_a_cell_are_folded_and_none_is_lost():
    text = "a long cell of words that goes on " * 5 + "https://example.org/" + "x" * 70
    frame = pd.DataFrame({"name": ["one", "two"], "what": [text, "short"], "n": [1, 2]})
    shown = frame_text(frame, 60, index=False)
    assert [line.strip() for line in shown.splitlines() if display_width(line) > 60] == text.split()[-1:]
    assert shown.split("\n\n")[0].split() == ["name", "what", "one", *text.split(), "two", "short"]
    assert frame_text(frame, index=False) == frame.to_string(index=False)  # outside of commands as wide as it is


def test_tables_of_odd_shapes_fit():
    """An index called like a column, heads of two levels, names of rows that are long, and no rows at all."""
    heads = pd.MultiIndex.from_product([["first", "second"], [f"measure {k}" for k in range(5)]])
    long = pd.Index(["a name of very many words that is longer than half of a line", "b"], name="edition")
    shapes = {
        "index": pd.DataFrame(np.ones((2, 9)), long, ["edition", *[f"column_{k}" for k in range(8)]]),
        "levels": pd.DataFrame(np.ones((2, 10)), long, heads),
        "rows": pd.DataFrame(np.ones((2, 9)), pd.MultiIndex.from_product([["one"], ["deu", "fra"]])).add_prefix(
            "many_"
        ),
        "none": pd.DataFrame(columns=[f"column_{k}" for k in range(20)]),
    }
    for name, frame in shapes.items():
        shown = frame_text(frame, 50)
        assert max(map(display_width, shown.splitlines())) <= 50, name
        assert shown.split().count("1.0") == frame.size, name
        words = " ".join(" ".join(map(str, head)) if isinstance(head, tuple) else str(head) for head in frame.columns)
        assert all(word in shown for word in words.split()), name
