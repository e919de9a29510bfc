"""Tables of Polars, through Arrow."""

import pytest

import langdiff as ld


def test_a_table_of_polars_is_a_long_table():
    polars = pytest.importorskip("polars", reason="needs polars, which is not a dependency")
    columns = {"doc": ["1", "1", "2"], "lang": ["eng", "deu", "eng"], "score": [-7.0, -8.0, -9.0]}
    settings = {"intent": "doc", "edition": "lang", "bits": "score", "unit": "nats"}
    found = ld.Surprisals.from_long(polars.DataFrame(columns), **settings)
    assert found.bits.equals(ld.Surprisals.from_long(columns, **settings).bits)
    assert list(found.editions) == ["eng", "deu"]
