"""The ratchet of `make lint`; what it measures in the package is compared there alone."""

import importlib.util
import json
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def tool(root) -> ModuleType:
    spec = importlib.util.spec_from_file_location("structure", root / ".ci" / "structure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_passed_ceiling_and_one_that_was_raised_fail(tool, tmp_path, capsys):
    (tmp_path / ".ci").mkdir()
    path = tmp_path / ".ci" / "ceilings.json"
    measured = {"code lines": (100, 90), "median code lines per file": (95, -90)}
    ratchet = lambda: tool.ratchet(tmp_path, measured, "HEAD", record=False)  # noqa: E731
    assert ratchet() == 1  # nothing is recorded
    assert tool.ratchet(tmp_path, measured, "HEAD", record=True) == 0
    assert json.loads(path.read_text())["ceilings"] == {"code lines": 100, "median code lines per file": 95}
    assert ratchet() == 0
    measured |= {"code lines": (103, 90)}
    capsys.readouterr()
    assert ratchet() == 1
    assert (
        capsys.readouterr().out == "code lines: 103, ceiling 100 in .ci/ceilings.json: take as much away elsewhere.\n"
    )
    path.write_text(json.dumps(json.loads(path.read_text()) | {"allowances": {"code lines": {"planned": 3}}}))
    assert ratchet() == 0
    measured |= {"median code lines per file": (94, -90)}
    assert ratchet() == 1
