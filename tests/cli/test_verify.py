"""Commands that read surprisals refuse those that are not what was saved, unless told otherwise."""

from dataclasses import replace

import pytest

import langdiff as ld
from langdiff.tables.provenance import Provenance


@pytest.mark.parametrize("command", ["fit", "compare", "reliability", "plot table", "stability"])
def test_commands_refuse_altered_bits(langdiff, tmp_path, command):
    table = ld.simulate(40, 5, model="1", sigma=0.2, seed=0).surprisals
    path = tmp_path / "s.csv"
    replace(table, provenance=Provenance(recipe="mine#1")).save(path)
    first, cells, *others = path.read_text(encoding="utf-8").split("\n")
    intent, edition, bits, lm = cells.split(",")
    path.write_text("\n".join([first, f"{intent},{edition},1{bits},{lm}", *others]), encoding="utf-8")
    arguments = [*command.split(), path, *(["--out", tmp_path / "t.svg"] if command == "plot table" else [])]
    refused = langdiff(*arguments)
    assert refused.code == 1
    assert f"{path}: these are not the bits that were saved" in refused.err
    assert "--no-verify" in refused.err
    assert "these are not the bits" not in langdiff(*arguments, "--no-verify").err
