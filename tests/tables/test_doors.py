"""Null simulations of the doors beside `ld.fit`: benchmarks/doors.py with few tables."""

import importlib.util
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "benchmarks" / "doors.py"


@pytest.fixture(scope="module")
def doors():
    spec = importlib.util.spec_from_file_location("doors", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("order", 3), ("totals", 60), ("attachment", 50), ("discourse", 30),
        *(
            pytest.param(name, tables, marks=pytest.mark.slow)
            for name, tables in {
                "parity": 400, "parity_few": 400, "discourse_16": 600, "recall": 400, "agreement": 300, "fit": 400,
                "stack_test": 400, "paired": 200, "noise": 400, "five_fit": 400, "five_xmi": 400, "five_parity": 400,
                "five_discourse": 400, "five_attachment": 400, "five_recall": 400,
                "perturbations": 400, "measures": 300, "divergences": 60,
            }.items()
        ),
    ],
)  # fmt: skip
def test_intervals_cover_and_tests_keep_their_level(doors, name, tables):
    line = doors.run(name, doors.DOORS[name], tables, 1)
    assert not any(verdict in line for verdict in ("FAILS", "too wide", "NOT MEASURED", "without a number")), line


def test_no_file_beside_the_floor_makes_an_interval(tmp_path):
    spec = importlib.util.spec_from_file_location("floor", SOURCE.parents[1] / ".ci" / "floor.py")
    floor = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(floor)
    assert floor.main(SOURCE.parents[1]) == 0
    (tmp_path / "langdiff").mkdir()
    (tmp_path / "langdiff" / "x.py").write_text("import scipy.stats as s\nhalf = s.t.ppf(0.975, 5)\np = s.t.sf(2, 5)\n")
    assert floor.main(tmp_path) >= 2
