import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.plots import plot_parity

TEXTS = pd.DataFrame({"eng": ["Good day", "Thanks"] * 12, "ell": ["Καλημέρα", "Ευχαριστώ"] * 12})


def test_points_intervals_and_the_characters_beside():
    result = ld.measure_parity(ld.read_frame(TEXTS), reference="eng")
    ax = plot_parity(result)
    drawn = ax.containers[0]
    assert drawn.lines[0].get_xdata().tolist() == result.estimates["byte_premium"].tolist()
    segment = drawn.lines[2][0].get_segments()[1]
    assert np.allclose(segment[:, 0], [result.low.loc["ell", "byte_premium"], result.high.loc["ell", "byte_premium"]])
    assert ax.lines[1].get_xdata().tolist() == result.estimates["character_premium"].tolist()
    assert ax.get_xlabel() == "bytes for the same content (eng = 1)"
    assert ax.get_xscale() == "log"


def test_a_measure_without_a_reference_has_a_plain_axis():
    result = ld.measure_parity(ld.read_frame(TEXTS), reference="eng")
    ax = result.plot("bytes_per_character")
    assert ax.get_xscale() == "linear"
    with pytest.raises(ConfigError, match="unknown measure 'x'"):
        result.plot("x")
