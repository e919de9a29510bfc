"""Numbers and texts stay what they were when `numbers.json` was written; `make.py` says what they are."""

import json

import pytest

from tests.golden.make import all_cases
from tests.golden.record import EXACT, FILE, LOOSE, TOLERANCE, differences, record

CASES = all_cases()
STORED = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
PINS = {  # worked out with another program: BFGS on the likelihood, and a numerical Hessian of all parameters
    "pin_complete": ([0.0084409928, 0.0082250640, 0.0076992637], 56.0869284438, 14),
    "pin_two_cells_missing": ([0.0081822887, 0.0087853874, 0.0085140041], 53.5363868987, 12),
}
PRINTED = 6e-11  # half a unit of the tenth decimal, and rounding


def test_the_file_holds_the_cases():
    assert set(STORED) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    tolerance = TOLERANCE if EXACT else LOOSE.get(name, TOLERANCE)
    found = differences(record(CASES[name]), STORED[name], tolerance, name)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", PINS)
def test_pins_are_those_of_another_program(name):
    std_error, log_likelihood, freedom = PINS[name]
    assert STORED[name]["std_error"] == pytest.approx(std_error, abs=PRINTED)
    assert STORED[name]["log_likelihood"] == pytest.approx(log_likelihood, abs=PRINTED)
    assert STORED[name]["degrees_of_freedom"] == freedom


@pytest.mark.parametrize(
    ("found", "stored", "alike"),
    [
        ("sigma 0.1234, 24 cells", "sigma 0.1235, 24 cells", not EXACT),
        ("sigma 0.1234, 24 cells", "sigma 0.1236, 24 cells", False),
        ("sigma 0.1234, 24 cells", "sigma 0.1234, 25 cells", False),
        ("[bits:63a80e66]", "[bits:63a80e67]", False),
        ("a  0.0000", "a -0.0000", not EXACT),
        ("p 1.2e-05", "p 1.3e-05", not EXACT),
        ("p 1.2e-05", "p 1.2e-04", False),
        ("1,234.56 bits", "1,234.55 bits", not EXACT),
        (1.0, 1.0 + 1e-7, not EXACT),
        (1.0, 1.0 + 1e-5, False),
        (3, 4, False),
        (True, 1, False),
        ({"a": [1.0, 2]}, {"a": [1.0, 3]}, False),
        ({"a": 1}, {"b": 1}, False),
    ],
)
def test_comparison(found, stored, alike):
    assert (not differences(found, stored)) == alike
