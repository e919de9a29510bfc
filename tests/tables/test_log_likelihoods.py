"""Files of one log-likelihood a line."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import DataError

ROUNDING = 1e-12


def write(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return {name: folder / f"{name}.txt" for name in texts}


@pytest.mark.parametrize(("unit", "base"), [("bits", 2.0), ("nats", np.e), ("log10", 10.0)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_units_and_signs(tmp_path, unit, base, sign):
    probabilities = {"eng": [0.5, 0.01], "deu": [0.25, 1e-30]}
    files = write(
        tmp_path,
        **{name: "\n".join(str(-sign * np.log(p) / np.log(base)) for p in ps) for name, ps in probabilities.items()},
    )
    bits = ld.read_logs(files, unit=unit, system="mine").surprisals().bits
    for name, ps in probabilities.items():
        assert_allclose(bits[name], -np.log2(ps), rtol=ROUNDING)
    assert list(bits.index) == ["1", "2"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"eng": "-1\nx\n"}, r"eng\.txt, line 2: 'x' is not a number"),
        ({"eng": "-1\n-2\n", "deu": "-1\n"}, "differ in length: 'eng.txt: 2 rows', 'deu.txt: 1 rows'"),
        ({"eng": "-1\n", "deu": "\n-1\n"}, "differ in length"),
        ({"eng": "-1\n-2\n", "deu": "\n7\n"}, r"eng\.txt has log-probabilities, and .*deu\.txt their negatives"),
        ({"eng": "-1\n-nan\n"}, "line 2: '-nan' is not a number"),
        ({"eng": "-1\n-2\x0b-3\n"}, r"line 2: '-2\\x0b-3' is not a number"),
        ({"eng": ""}, r"eng\.txt: no log-likelihood in 0 line"),
        ({"eng": "-1\n-2\n", "deu": "NaN\n\n"}, r"deu\.txt: no log-likelihood in 2 line"),
        ({"eng": "-1\n0\n"}, "1 of 2 surprisals are not positive"),
        ({"eng": "-inf\n-1\n"}, "have a mark for −∞"),
    ],
)
def test_bad_files(tmp_path, texts, message):
    with pytest.raises(DataError, match=message):
        ld.read_logs(write(tmp_path, **texts), unit="bits").surprisals()
