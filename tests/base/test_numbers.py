"""Numbers from text are those that Python reads, and cells are numbers where pandas says so."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.base import cells
from langdiff.base.cells import exact_numbers, in_format, read_exact_csv

ODD = ["1_0", "٣", "0x10", "1e", "+.5", "5.", " 7.5 ", "1e400", "inf", "nan", "", "1,5", "True", "1d3", "1.0.0", "- 1"]


@pytest.fixture(params=["this pandas", "any pandas"], autouse=True, scope="module")
def version(request):
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "any pandas":
            patch.setattr(cells, "pandas_is_exact", lambda: False)
        yield


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_what_was_written_is_read_to_the_last_bit(values):
    text = pd.Series([repr(number) for number in values])
    assert exact_numbers(text).astype(float).tolist() == values
    assert exact_numbers(text.astype(object).mask(text.index == 0)).astype(float).tolist()[1:] == values[1:]


def test_cells_are_numbers_where_pandas_says_so():
    for odd in ODD:
        cells = pd.Series([odd, "0.1"], dtype=object)
        pd.testing.assert_series_equal(exact_numbers(cells), pd.to_numeric(cells, errors="coerce"))
    mixed = pd.Series([True, 1.5, None, "2.5", np.nan, 3], dtype=object, name="bits", index=list("abcdef"))
    expected = pd.Series([1.0, 1.5, np.nan, 2.5, np.nan, 3.0], name="bits", index=list("abcdef"))
    pd.testing.assert_series_equal(exact_numbers(mixed), expected)
    assert exact_numbers(pd.Series(["1", "2"])).dtype == np.int64


def test_floats_of_a_file_are_read_again_where_pandas_is_not_exact(tmp_path, monkeypatch):
    path, read = tmp_path / "table.csv", pd.read_csv

    def rounded(source, **options):
        frame = read(source, **options)
        return frame if options["dtype"] is str else frame.assign(bits=np.nextafter(frame["bits"], 0))

    path.write_text("edition,bits,words,known\n01,0.12345678901234568,3,True\nnan,,4,False\n")
    options = {"dtype": {"edition": str}, "keep_default_na": False, "na_values": [""]}
    expected = read(path, **options).assign(bits=[0.12345678901234568, np.nan])
    monkeypatch.setattr(pd, "read_csv", rounded)
    monkeypatch.setattr(cells, "pandas_is_exact", lambda: False)
    pd.testing.assert_frame_equal(read_exact_csv(path, **options), expected, check_exact=True)
    assert read_exact_csv(path, **options | {"dtype": str})["bits"][0] == "0.12345678901234568"


@given(st.floats(-1e6, 1e6), st.integers(0, 6), st.sampled_from(["", "+", ","]))
def test_numbers_in_a_format_are_pythons_but_for_the_sign_of_zero(value, digits, look):
    template = f"{{:{look}.{digits}f}}"
    text = in_format(value, template)
    assert float(text.replace(",", "")) == round(value, digits)
    assert text == (template.format(value) if round(value, digits) else template.format(0.0))


def test_infinity_and_text_keep_their_minus():
    assert [in_format(value, "{}") for value in (-np.inf, "-", "-x", -1e-10, -3)] == ["-inf", "-", "-x", "-1e-10", "-3"]
