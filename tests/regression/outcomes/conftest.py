"""The two small tables of worked numbers."""

import numpy as np
import pandas as pd
import pytest

import langdiff as ld

NAN = float("nan")
A = [[1, 1, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, NAN]]
B = [[4, 3, 2], [2, 3, 0], [3, 1, NAN], [1, 0, 0], [3, 2, 1], [2, 1, 0]]
B_TRIALS = [[4, 4, 4], [3, 3, 3], [5, 5, NAN], [2, 2, 2], [5, 5, 5], [4, 4, 4]]


def outcomes_of(cells, trials=None, **attributes):
    items = pd.Index([f"i{i}" for i in range(len(cells))])
    systems = [f"s{j + 1}" for j in range(len(cells[0]))]
    trials = None if trials is None else pd.DataFrame(np.array(trials, dtype=float), items, systems)
    successes = pd.DataFrame(np.array(cells, dtype=float), items, systems)
    return ld.Outcomes(successes=successes, trials=trials, items=pd.DataFrame(attributes, index=items), name="worked")


@pytest.fixture
def table_a():
    return outcomes_of(A)


@pytest.fixture
def table_b():
    return outcomes_of(B, B_TRIALS, construction=["easy"] * 3 + ["hard"] * 3)
