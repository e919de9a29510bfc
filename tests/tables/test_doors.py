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
        ("order", 3), ("totals", 60), ("attachment", 50), ("discourse", 30), ("five_recall", 60),
        *(
            pytest.param(name, tables, marks=pytest.mark.slow)
            for name, tables in {
                "parity": 400, "parity_few": 400, "discourse_16": 600, "recall": 400, "agreement": 300, "fit": 400,
                "stack_test": 400, "paired": 200, "noise": 400, "five_fit": 400, "five_xmi": 400, "five_parity": 400,
                "five_discourse": 400, "five_attachment": 400,
                "perturbations": 400, "measures": 300, "divergences": 60,
            }.items()
        ),
    ],
)  # fmt: skip
def test_intervals_cover_and_tests_keep_their_level(doors, name, tables):
    line = doors.run(name, doors.DOORS[name], tables, 1)
    assert not any(verdict in line for verdict in ("FAILS", "too wide", "NOT MEASURED", "without a number")), line


@pytest.fixture(scope="module")
def floor():
    spec = importlib.util.spec_from_file_location("floor", SOURCE.parents[1] / ".ci" / "floor.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_file_beside_the_floor_makes_an_interval(floor):
    assert floor.main(SOURCE.parents[1]) == 0


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("half = s.t.ppf(0.975, 5)", True),
        ("tail = 2 * norm.sf(z)", True),
        ("tail = 1 - s.norm.cdf(z)", True),
        ("z = ndtri(0.975)", True),
        ("tail = special.chdtrc(2, x)", True),
        ("t, tail = stats.ttest_rel(x, y)", True),
        ("tail = fitted.f_pvalue", True),
        ("ends = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])", True),
        ("ends = np.percentile(draws, 2.5)", True),
        ("middle = draws.quantile(0.5)", False),
        ("low, high = x - half, x + half", True),
        ("frame['low'] = x - half", True),
        ("row = {'percent_high': x + half}", True),
        ("frame = frame.assign(high=x + half)", True),
        ("ends = x - 2 * std_error, x + 2 * std_error", True),
        ("ends = x + table['std_error'] * q", True),
        ("total = x + 2 * other", False),
        ("tail = (1 + beyond) / (n_draws + 1)", True),
        ("p = float(np.mean(drawn >= observed))", True),
        ("p_value = (np.abs(drawn) > observed).sum() / n", True),
        ("share = float(np.mean(bits > 0))", False),
        ("low, high = t_interval(x, error, freedom)", False),
        ("ENOUGH_CLUSTERS = 30", True),
    ],
)
def test_ends_and_p_by_hand_are_found(floor, tmp_path, line, found):
    (tmp_path / "langdiff").mkdir()
    (tmp_path / "langdiff" / "x.py").write_text(line)
    assert (floor.main(tmp_path) > len(floor.EXEMPT)) == found
