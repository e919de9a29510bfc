"""Logs that programs wrote of two small random models, against the same texts scored by `HuggingFaceLM`.

lm-evaluation-harness 0.4.13, minicons 0.3.39 and Inspect 0.3.285 scored made-up sentences with Llamas of 46,000 random
weights; ``llama-plain.csv`` and ``llama-bos.csv`` are `surprisals_of` these models, which differ in whether their
tokenizer adds a start token.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.helpers import refused

REAL = Path(__file__).parents[2] / "data" / "logs" / "real"
CHARGE = 15.225004943341343  # ld.start_charge of llama-bos
SAME = 1e-5  # single precision, summed in another order


class Model:
    """What `read_logs` asks of a model."""

    def __init__(self, bits):
        self.bits = bits

    def start_charge(self):
        return self.bits


class Tokenizer:
    bos_token_id = 0

    def __init__(self, *, adds):
        self.adds = adds

    def encode(self, text):
        return [0, 5] if self.adds else [5]


def own(model):
    """Return bits of the texts without their end."""
    table = ld.read_surprisals(REAL / f"{model}.csv")
    return table.bits - table.eos_bits, table


def test_rolling_texts_of_lm_eval_are_those_scored_here():
    logs = ld.read_logs(REAL / "lm_eval" / "llama-plain" / "toy", tokenizer=Model(0.0))
    table = logs.surprisals()
    bits, scored = own("llama-plain")
    bits = bits.loc[table.intents, table.editions]
    assert table.bits.shape == (12, 3)
    assert_allclose(table.bits, bits, rtol=SAME)
    for size in ("characters", "bytes"):
        assert getattr(table, size).equals(getattr(scored, size).loc[table.intents, table.editions].astype(float))
    assert "start token not charged, as its tokenizer tells" in logs.summary()
    assert logs.pairing.key == ("id",)
    assert logs.systems == ["llama-plain"]


def test_a_charged_start_token_is_found_and_subtracted():
    folder = REAL / "lm_eval" / "llama-bos" / "toy"
    with pytest.warns(LangdiffWarning, match="a start token may have been scored"):
        as_scored = ld.read_logs(folder)
    assert "a charge of 13 bits would change difficulties by up to" in as_scored.summary()
    charged = ld.read_logs(folder, tokenizer=Tokenizer(adds=True))
    assert "llama-bos: start token charged, as its tokenizer tells" in charged.summary()
    assert charged.texts.equals(as_scored.texts)
    plain = ld.read_logs(folder, tokenizer={"llama-bos": Tokenizer(adds=False)})
    assert "start token not charged" in plain.summary()
    subtracted = ld.read_logs(folder, tokenizer=Model(CHARGE), start="subtract")
    assert_allclose(subtracted.texts["bits"], as_scored.texts["bits"] - CHARGE)
    assert "charged of 15.23 bits" in subtracted.summary()
    bits, _ = own("llama-bos")
    table = subtracted.surprisals().bits
    differ = (table - bits.loc[table.index, table.columns]).to_numpy()
    assert abs(differ.mean()) < CHARGE / 4  # one constant mends the mean, not each text
    assert differ.std() > 0.1
    with pytest.raises(ConfigError, match="needs the model of each system"):
        ld.read_logs(folder, tokenizer=Tokenizer(adds=True), start="subtract")
    refused(ConfigError, "no system 'other'", ld.read_logs, folder, tokenizer={"other": Model(1.0)})


def test_answers_of_lm_eval_are_paired_by_link_and_number():
    logs = ld.read_logs(REAL / "lm_eval", metric="acc", tokenizer=Model(0.0))
    outcomes = logs.outcomes()
    assert outcomes.pairing.key == ("link", "question_number")
    assert outcomes.successes.shape == (12, 6)
    assert set(outcomes.columns["system"]) == {"llama-bos", "llama-plain"}
    assert outcomes.items["chance"].unique().tolist() == [0.25]
    assert outcomes.items["link"]["d3/2"] == "d3"
    assert outcomes.pairing.checks["targets"].tolist() == [1, 1, 1]
    chosen = logs.answers["answer"] == logs.answers["target"]
    assert (chosen == logs.answers["successes"].astype(bool)).all()  # the likeliest option is the answer
    with pytest.raises(DataError, match=r"2 metrics: 'acc', 'acc_norm'. Choose one: metric='acc'"):
        ld.read_outcomes(REAL / "lm_eval" / "llama-bos" / "toymc")


ZEROS = "ignore:zeros"


@pytest.mark.filterwarnings(ZEROS)
def test_tokens_of_minicons():
    files = {edition: REAL / "minicons" / "with_start" / f"{edition}.csv" for edition in ("eng_Latn", "deu_Latn")}
    logs = ld.read_logs(files, unit="nats", system="llama-plain")
    bits, _ = own("llama-plain")
    table = logs.surprisals().bits
    assert_allclose(table.to_numpy(), bits[list(files)].to_numpy(), rtol=SAME)
    assert logs.treatment["start"] == "start token left out ('<s>')"
    assert logs.sources["kind"].unique().tolist() == ["minicons"]


@pytest.mark.filterwarnings(ZEROS)
def test_tokens_of_minicons_without_a_start_token():
    files = {edition: REAL / "minicons" / "without_start" / f"{edition}.csv" for edition in ("eng_Latn", "deu_Latn")}
    refused(DataError, "the first token of 24 of 24 texts", ld.read_logs, files, unit="nats")
    table = ld.read_logs(files, unit="nats", start="drop").surprisals()
    with_start = ld.read_logs(
        {edition: path.parents[1] / "with_start" / path.name for edition, path in files.items()}, unit="nats"
    ).surprisals()
    assert (table.units == with_start.units - 1).all().all()
    assert (table.characters < with_start.characters).all().all()


def test_logs_of_inspect_in_both_formats():
    archive, text = (ld.read_logs(REAL / "inspect" / f"qa_fin.{ending}") for ending in ("eval", "json"))
    assert archive.answers["item"].tolist() != []
    for column in ("item", "successes", "chance", "answer", "target", "intent_link"):
        assert sorted(archive.answers[column]) == sorted(text.answers[column])
    both = ld.read_outcomes([REAL / "inspect" / "qa_fin.eval", REAL / "inspect" / "qa_deu.json"])
    assert both.columns["language"].tolist() == ["fin", "deu"]
    assert both.trials.loc["0"].tolist() == [1, 2]  # epochs are trials
    assert np.allclose(both.items["chance"], 1 / 3)


def test_a_damaged_archive_of_inspect(tmp_path):
    content = bytearray((REAL / "inspect" / "qa_fin.eval").read_bytes())
    content[200] ^= 0xFF  # within the first member; samples come later
    content[2500] ^= 0xFF
    (tmp_path / "a.eval").write_bytes(content)
    refused(DataError, r"cannot be read|damaged", ld.read_logs, tmp_path / "a.eval")
