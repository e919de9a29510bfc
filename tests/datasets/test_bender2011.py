from langdiff.constructions.target import PHENOMENA, is_type
from langdiff.datasets import bender2011


def test_frequencies_are_those_of_the_ten_phenomena():
    table = bender2011().phenomena
    assert table["name"].to_dict() == PHENOMENA
    assert table.loc["tough", ["percent", "vetted"]].tolist() == [0.07, 175]


def test_nothing_from_memory_is_presented_as_verified():
    figures = bender2011()
    assert set(figures.phenomena["mark"]) == set(figures.distances["mark"]) == {"M"}
    marks = figures.facts.set_index("fact")["mark"]
    assert marks[["targets", "negative targets", "initial agreement of annotators in percent of items"]].eq("M").all()
    assert marks[["phenomena", "parsers", "regular expressions"]].eq("P").all()
    assert "not verified" in repr(figures)
    assert "not verified" in " ".join((bender2011.__doc__ + type(figures).__doc__).replace("*", "").split())


def test_types_are_known():
    table = bender2011().distances
    assert table["type"].map(is_type).all()
    assert (table.dropna()["average"] <= table.dropna()["maximum"]).all()
