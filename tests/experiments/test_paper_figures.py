"""The redrawn figures show the published numbers, and the index says what agrees."""

import pandas as pd
import pytest

from langdiff.datasets import mielke2019
from langdiff.datasets.published_figures import read_shipped
from langdiff.experiments.reproduction import DRAWN


@pytest.fixture(scope="module")
def saved(reproduction, tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    return folder, reproduction.save_figures(folder)


def test_every_figure_and_table_is_written_and_described(saved):
    folder, index = saved
    assert index["of"].tolist() == ["Figure 3", "Figure 4", "Figure 5", "Table 1", "Table 2", "Table 3", "Table 4"]
    assert {path.name for path in folder.iterdir()} == {*index["file"], "index.md"}
    text = (folder / "index.md").read_text(encoding="utf-8")
    for row in index.itertuples():
        (line,) = [line for line in text.splitlines() if f"({row.file})" in line]
        assert row.shows in line
    assert "Figure 2: bits by number of BPE merges are not published" in text


def test_what_agrees_is_counted_from_the_claims(saved):
    agreement = saved[1].set_index("of")["agreement"]
    assert agreement["Table 4"] == "4 of 4 claims of the paper agree"
    assert agreement["Table 2"].startswith("19 of 20 claims of the paper agree. WALS 81A SVO, char: mean (SD)")
    assert (
        "Hardest of the 14 shared languages in the Bibles, bpe: published deu, recomputed hun" in agreement["Figure 4"]
    )
    assert agreement["Table 1"].startswith("Sizes of the corpora: cannot be recomputed (")


def test_every_pattern_finds_claims(reproduction):
    for pattern in read_shipped("mielke2019_figures.csv")["claims"].dropna():
        assert reproduction.claims["claim"].str.contains(pattern).any(), pattern


def test_tables_hold_the_published_numbers(saved, reproduction):
    folder, _ = saved
    for number in (2, 3, 4):
        written = pd.read_csv(folder / f"table{number}.csv")
        assert written.shape == reproduction.table(number).shape
    sizes = pd.read_csv(folder / "table1.csv").set_index(["corpus", "unit"])
    europarl = mielke2019().europarl["word_tokens"]
    row = sizes.loc[("Europarl", "word_tokens")]
    assert (row["editions"], row["min"], row["max"]) == (21, europarl.min(), europarl.max())
    assert row["mean"] == pytest.approx(europarl.mean())


def test_figure_4_has_three_panels_of_21_14_and_106_points(reproduction):
    panels = DRAWN["figure4"](mielke2019(), reproduction).axes
    assert [ax.get_title(loc="left").split(",")[0] for ax in panels] == ["21 editions", "14 languages", "106 editions"]
    german = [next(line for line in ax.lines if line.get_label() == "deu") for ax in panels]
    assert [len(line.get_xdata()) for line in german] == [1, 1, 11]


def test_pictures_are_the_same_bytes_again(saved, reproduction, tmp_path):
    reproduction.save_figures(tmp_path)
    again = tmp_path / "figure5.svg"
    assert again.read_bytes() == (saved[0] / "figure5.svg").read_bytes()
    assert b">difficulty (nats)</text>" in again.read_bytes()  # text stays text
