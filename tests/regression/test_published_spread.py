"""The published spread of difficulties, recomputed: which definition it is (docs/evidence/models.md)."""

import numpy as np
import pandas as pd
import pytest

PUBLISHED = {  # Mielke et al. (2019, section 4.4), digits as printed: over which Bibles, BPE, char
    None: ("0.076", "0.063"),
    "deu": ("0.05", "0.04"),
    "fra": ("0.05", "0.04"),
    "eng": ("0.02", "0.04"),
}


def agrees(bibles, spread):
    for language, texts in PUBLISHED.items():
        rows = bibles if language is None else bibles[bibles["iso639_3"] == language]
        for column, text in zip(("difficulty_bpe", "difficulty_char"), texts, strict=True):
            if f"{spread(rows[column]):.{len(text) - 2}f}" != text:
                return False
    return True


@pytest.mark.real_data
def test_published_spread_is_the_sample_standard_deviation_of_log_factors(real_data):
    bibles = pd.read_csv(real_data / "mielke2019" / "bibles.csv")
    assert len(bibles) == 106
    for column in ("difficulty_bpe", "difficulty_char"):
        assert bibles[column].sum() == pytest.approx(106)
    assert agrees(bibles, lambda factor: np.log(factor).std(ddof=1))
    assert not agrees(bibles, lambda factor: np.log(factor).std(ddof=0))
    assert not agrees(bibles, lambda factor: factor.std(ddof=1))
    assert not agrees(bibles, lambda factor: factor.std(ddof=0))
