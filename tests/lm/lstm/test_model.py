import json

import pytest
import torch

import langdiff as ld
from langdiff.base.checksums import seal
from langdiff.errors import CheckpointError, DataError
from langdiff.lm.units.bpe import BPEUnits
from tests.helpers import refused
from tests.lm.conftest import verses

TEXTS = [*verses("eng", 12, 7), "◊ é  x"]


def test_saved_and_loaded_gives_the_same_bits(model, tmp_path):
    model.save(tmp_path / "m")
    loaded = ld.read(tmp_path / "m")
    assert loaded.surprisal(TEXTS).equals(model.surprisal(TEXTS))
    assert repr(loaded) == repr(model)
    assert loaded.to_frame().equals(model.to_frame())
    for field in ("recipe", "alphabet", "units", "history", "name", "seed", "cautions"):
        assert getattr(loaded, field) == getattr(model, field)


def test_characters_and_units_are_counted(model):
    frame = model.surprisal(TEXTS)
    assert frame["characters"].tolist() == [len(text) for text in TEXTS]
    if isinstance(model.units, BPEUnits):
        assert (frame["units"] < frame["characters"]).sum() >= 12  # but for the text of unknown words
    else:
        assert (frame["units"] == frame["characters"]).all()


def test_a_replaced_model_leaves_no_stale_files(model, tmp_path):
    model.save(tmp_path)
    with torch.no_grad():
        weights = dict(model.network.named_parameters())["decoder_bias"]
        weights += 1.0
    model.save(tmp_path)
    with torch.no_grad():
        weights -= 1.0
    subwords = [".model"] if isinstance(model.units, BPEUnits) else []
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", *subwords, ".safetensors"]
    ld.read(tmp_path)


def damage(path, how):
    blob = path.read_bytes()
    if how == "truncated":
        path.write_bytes(blob[: len(blob) // 2])
    elif how == "bit":
        path.write_bytes(blob[:-9] + bytes([blob[-9] ^ 1]) + blob[-8:])
    else:
        path.unlink()


@pytest.mark.parametrize("how", ["truncated", "bit", "missing"])
@pytest.mark.parametrize("which", ["weights-*", "subwords-*", "model.json"])
def test_damaged_files_are_named(model, tmp_path, which, how):
    model.save(tmp_path)
    files = list(tmp_path.glob(which))
    if not files:
        assert not isinstance(model.units, BPEUnits)
        return
    damage(files[0], how)
    refused(CheckpointError, f"{files[0].name}: (damaged|cannot be read)", ld.read, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "format 1"),
        ({"files": {}}, "list of files"),
        ({"files": {"weights": {"name": "../../x"}}}, "list of files"),
        ({"recipe": {"name": "x"}}, "incompatible version"),
        ({"alphabet": {"characters": "ab", "replacement": "◊"}}, "incompatible version"),
    ],
)
def test_edited_index(model, tmp_path, change, message):
    model.save(tmp_path)
    path = tmp_path / "model.json"
    index = json.loads(path.read_text())
    assert index.pop("sha256")
    path.write_text(json.dumps(seal({**index, **change})))
    refused(CheckpointError, message, ld.read, tmp_path)


@pytest.mark.parametrize(
    ("texts", "message"),
    [(["a", ""], "intent 1 is empty"), (["a", float("nan")], "intent 1 is nan"), ("abc", "not one string")],
)
def test_texts_without_surprisal(model, texts, message):
    refused(DataError, message, model.surprisal, texts)


def test_no_texts_no_rows(model):
    frame = model.surprisal([])
    assert list(frame.columns) == ["bits", "eos_bits", "characters", "bytes", "units", "replaced"]
    assert len(frame) == 0
