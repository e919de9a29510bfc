"""A result of one's own with its picture: declared here, shown, drawn, saved and read through the public API."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

import langdiff as ld


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Lengths(ld.Result):
    """Characters per intent of each edition."""

    table: pd.DataFrame
    signature: str

    plot = ld.Drawn("plot_parity", lambda lengths: lengths.as_parity())

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition."""
        return self.table

    def as_parity(self) -> ld.Parity:
        """Return the lengths as premiums, which langdiff draws."""
        premium = self.table / self.table.iloc[0]
        columns = premium.set_axis(["character_premium"], axis=1)
        return ld.Parity(
            reference=str(premium.index[0]),
            totals=self.table,
            estimates=columns,
            measures={},
            language=None,
            signature=self.signature,
        )

    def _notes(self) -> Iterator[str]:
        yield "Code points, not letters."

    def __repr__(self) -> str:
        return f"Lengths of {len(self.table)} editions"


LENGTHS = Lengths(
    table=pd.DataFrame({"characters": [12.3456, 10.0]}, index=pd.Index(["eng", "zho"], name="edition")),
    signature="lengths",
)


def test_it_is_shown():
    assert LENGTHS.summary().splitlines() == [
        "Lengths of 2 editions",
        "",
        "         characters",
        "edition            ",
        "eng         12.3456",
        "zho         10.0000",
        "",
        "Code points, not letters.",
        "",
        "[lengths]",
    ]
    assert '<td class="number">12.3456</td>' in LENGTHS._repr_html_()
    assert "12.3456" in LENGTHS.to_latex()


def test_it_is_drawn():
    assert "character" in LENGTHS.plot().get_xlabel()


def test_it_is_saved_and_read(tmp_path):
    LENGTHS.save(tmp_path / "lengths.json")
    again = ld.read(tmp_path / "lengths.json")
    assert type(again) is Lengths
    pd.testing.assert_frame_equal(again.table, LENGTHS.table)
