"""Batches of padded intents."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from langdiff.lm.lstm.batches import pad

END = 9
intents = st.lists(st.lists(st.integers(0, END - 1), max_size=12), min_size=1, max_size=6)


@given(intents)
def test_a_batch_holds_each_intent_between_end_symbols(intents):
    batch = pad([np.array(ids, dtype=np.int64) for ids in intents], END, torch.device("cpu"))
    steps = 1 + max(map(len, intents))
    columns = [ids + [END] * (steps - len(ids)) for ids in intents]
    assert batch.targets.T.tolist() == columns
    assert batch.inputs.T.tolist() == [[END, *ids[:-1]] for ids in columns]
    assert batch.lengths.tolist() == [len(ids) + 1 for ids in intents]


@given(intents)
def test_the_rows_of_a_batch_are_those_that_are_not_padding(intents):
    batch = pad([np.array(ids, dtype=np.int64) for ids in intents], END, torch.device("cpu"))
    rows = torch.arange(batch.targets.numel()) if batch.rows is None else batch.rows
    assert rows.tolist() == batch.real.flatten().nonzero()[:, 0].tolist()
    assert (batch.rows is None) == bool(batch.real.all())
