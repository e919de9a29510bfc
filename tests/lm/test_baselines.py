"""What n-grams and compressors make of a test part, and which models do worse."""

import lzma
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import DataError, LangdiffWarning, MissingExtraError
from langdiff.lm import compare_with_baselines, lzma_bits, measure_baselines, ppmd_bits, train_kneser_ney
from tests.lm.conftest import verses


@pytest.fixture(scope="module")
def parts():
    return ld.split(ld.synthesize(300, 2, seed=3).multitext)


def test_baselines_are_those_of_the_models_and_compressors(parts):
    pytest.importorskip("pyppmd")
    baselines = measure_baselines(parts, progress=False)
    assert list(baselines.columns) == ["kneser-ney-6", "kneser-ney-10", "kneser-ney-16", "lzma", "ppmd"]
    for edition, row in baselines.iterrows():
        train, dev, test = (part.text(edition) for part in (parts.train, parts.dev, parts.test))
        model = train_kneser_ney(train, dev, recipe="kneser-ney-10")
        table = model.surprisal(test)
        assert row["kneser-ney-10"] == pytest.approx(table["bits"].sum() / table["characters"].sum(), rel=1e-12)
        applied = [[model.alphabet.apply(text) for text in part] for part in (train, test)]
        price = sum(map(model.alphabet.replaced_bits, test))
        assert row["lzma"] == pytest.approx((lzma_bits(*applied) + price) / test.str.len().sum(), rel=1e-12)
        assert row["ppmd"] < row["lzma"]


def test_baselines_are_those_of_the_tables_of_compute_surprisals(parts):
    baselines = measure_baselines(parts, progress=False)
    table = ld.compute_surprisals(parts, lm="kneser-ney-6", progress=False)
    rates = table.bits_per_character()["bits_per_character"]
    pd.testing.assert_series_equal(rates, baselines["kneser-ney-6"], check_names=False, rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        found = compare_with_baselines([table], baselines)
    assert (found["baseline"] != "kneser-ney-6").all()  # a baseline is not set beside itself


def test_models_above_their_baselines_are_named():
    characters = pd.DataFrame({"eng": [10.0, 10.0], "deu": [10.0, 10.0]})
    table = ld.Surprisals(bits=characters * [2.0, 3.0], characters=characters, lm="char-small")
    baselines = pd.DataFrame({"kneser-ney-10": [2.5, 2.5], "lzma": [4.0, 2.75]}, index=["eng", "deu"])
    with pytest.warns(LangdiffWarning, match=r"^char-small: 1 of 2 edition\(s\) need more bits .*: 'deu'"):
        found = compare_with_baselines([table], baselines).set_index("edition")
    assert found["percent"].round(6).to_dict() == {"eng": 20.0, "deu": -20.0}
    assert found["baseline"].to_dict() == {"eng": "kneser-ney-10", "deu": "kneser-ney-10"}


def test_what_is_not_known_is_refused():
    bits = pd.DataFrame({"eng": [10.0]})
    baselines = pd.DataFrame({"lzma": [2.5]}, index=["deu"])
    with pytest.raises(DataError, match="have no baselines: 'eng'"):
        compare_with_baselines([ld.Surprisals(bits=bits, lm="mine")], baselines)
    with pytest.raises(DataError, match="'mine': the table has no numbers of characters"):
        compare_with_baselines([ld.Surprisals(bits=bits, lm="mine")], baselines.rename(index={"deu": "eng"}))


def test_ppmd_learns_a_text_by_heart_and_no_noise():
    pytest.importorskip("pyppmd")
    rng = np.random.default_rng(1)
    noise = ["".join(rng.choice(list("abcdefgh"), 60)) for _ in range(400)]
    assert ppmd_bits(noise, noise[:10]) < 0.2 * 3 * 600
    assert 3 * 600 < ppmd_bits(noise[10:], noise[:10]) < 1.25 * 3 * 600  # three bits per character, and what it hopes
    assert ppmd_bits(noise, []) == 0


def test_ppmd_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyppmd", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'langdiff\[ppmd\]'"):
        ppmd_bits(["a"], ["b"])


def test_against_the_sizes_of_xz_streams():
    train, test = verses("eng", 400, 0), verses("eng", 200, 1)

    def size(texts):
        return len(lzma.compress(("\n".join(texts) + "\n").encode(), preset=9 | lzma.PRESET_EXTREME))

    by_xz = 8 * (size(train + test) - size(train))  # headers cancel; other settings of LZMA
    assert lzma_bits(train, test) == pytest.approx(by_xz, rel=0.05)


def test_what_was_seen_is_nearly_free_and_noise_costs_its_entropy():
    rng = np.random.default_rng(0)
    noise = ["".join(rng.choice(list("abcdefgh"), 100)) for _ in range(400)]  # 3 bits per character
    train, test = noise[:200], noise[200:]
    characters = sum(map(len, test))
    assert lzma_bits(train, train[:100]) < 0.05 * lzma_bits(train, test[:100])
    assert 3.0 <= lzma_bits(train, test) / characters < 3.3


def test_the_window_sees_all_of_a_long_text():
    rng = np.random.default_rng(0)
    first, *others = ["".join(map(chr, rng.integers(0x4E00, 0x9F00, 1000))) for _ in range(600)]  # 1.8 MB
    assert lzma_bits([first, *others], [first]) < 8 * 50
