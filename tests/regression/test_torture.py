"""Rows of the torture table: what intervals of the shortest call cover, and what its audit finds."""

import numpy as np
import pytest

from benchmarks.torture import ROWS, draw, one_table

A_FEW = 5
SLOW_TABLES, LEAST, MOST = 40, 0.85, 1.0
FOUND = 0.9  # of the tables with clusters or unequal noise
BY_NAME = {row.name: row for row in ROWS}
# with so few tables the mean over pairs has an error of about .04; without the audit these rows cover .45 to .55
LEAST_OF_A_FEW = 0.75


@pytest.mark.parametrize("name", ["8", "9", "19"])
def test_clusters_are_found_and_intervals_hold(name):
    found = [one_table(BY_NAME[name], table) for table in range(A_FEW)]
    assert np.mean([one.naive for one in found]) >= LEAST_OF_A_FEW
    assert np.mean([one.naive for one in found]) > np.mean([one.today for one in found])
    assert all(set(BY_NAME[name].expected) <= one.found for one in found)


def test_tables_are_drawn_again_alike():
    one, other = draw(BY_NAME["11"], 3), draw(BY_NAME["11"], 3)
    assert one.surprisals.bits.equals(other.surprisals.bits)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if not row.fails], ids=lambda row: row.name)
def test_intervals_hold_in_every_row(row):
    found = [one_table(row, table) for table in range(SLOW_TABLES)]
    assert LEAST <= np.mean([one.naive for one in found]) <= MOST
    if row.expected:
        assert np.mean([set(row.expected) <= one.found for one in found]) >= FOUND
