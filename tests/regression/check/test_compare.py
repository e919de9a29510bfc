"""Fits side by side: only those whose likelihoods are of the same cells."""

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import DataError


@pytest.fixture(scope="module")
def bits():
    return ld.simulate(60, 4, seed=2).surprisals.bits


def noisier(bits):
    """The bits of a worse language model: more for the same text, and less noise, so that the likelihood is higher."""
    means = bits.mean(axis=1).to_numpy()[:, None] * np.exp(np.log(bits).mean() - np.log(bits).mean().mean()).to_numpy()
    return ld.Surprisals(bits=1.2 * means * (bits / means) ** 0.5, lm="worse")


def test_language_models_are_not_compared_by_their_likelihoods(bits):
    better, worse = ld.Surprisals(bits=bits, lm="better"), noisier(bits)
    assert worse.bits.sum().sum() > better.bits.sum().sum()
    fits = {"A": ld.fit(better), "B": ld.fit(worse)}
    assert fits["B"].log_likelihood > fits["A"].log_likelihood  # and yet it is the worse of the two
    message = (
        r"^fits 'A' and 'B' are of different tables \(of better, bits [0-9a-f]{8}, and of worse, bits [0-9a-f]{8}\)"
    )
    with pytest.raises(DataError, match=message) as caught:
        ld.compare(fits)
    assert "total bits or bits per intent" in str(caught.value)


def test_one_cell_more_is_another_table(bits):
    less = bits.copy()
    less.iloc[0, 0] = np.nan
    with pytest.raises(DataError, match="different tables"):
        ld.compare([ld.fit(bits), ld.fit(less)])


def test_the_table_is_known_after_saving_and_with_any_name(bits, tmp_path):
    named = ld.Surprisals(bits=bits, lm="a|bits:00000000|b")
    ld.fit(named).save(tmp_path / "fit.json")
    table = ld.compare({"read": ld.read_fit(tmp_path / "fit.json"), "1": ld.fit(bits, model="1")})
    assert table.loc["1", "log_likelihood"] == pytest.approx(ld.fit(bits, model="1").log_likelihood)


def test_restricted_and_unrestricted_fits_are_refused(bits):
    message = r"^restricted and unrestricted likelihoods do not compare: fit '2 \(2\)' is restricted, fit '2' is not\."
    with pytest.raises(DataError, match=message):
        ld.compare([ld.fit(bits), ld.fit(bits, restricted=True)])
    both = ld.compare([ld.fit(bits, model=model, restricted=True) for model in ("2", "2L")])
    assert both["restricted"].all()


def test_grouped_fits_of_one_table_are_compared(bits):
    """Groups change the parameters, not the cells."""
    language = dict(zip(bits.columns, "aabb", strict=True))
    info = pd.DataFrame({"half": [0.0, 0, 1, 1]}, index=bits.columns)
    names = [ld.fit(bits, formula="half", edition_info=info), ld.fit(bits)]
    table = ld.compare(names)
    assert table["parameters"].diff().iloc[1] == 2
    with pytest.raises(DataError, match="different editions"):
        ld.compare([ld.fit(bits, groups=language), ld.fit(bits)])
