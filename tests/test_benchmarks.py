"""Every script in benchmarks/ can be imported, and says what its options are."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_begins(monkeypatch, capsys, script):
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(script.parent))  # where scripts find one another
    before = set(sys.modules)
    takes_options = "ArgumentParser(" in script.read_text(encoding="utf-8")
    monkeypatch.setattr("sys.argv", [script.name, "--help"])
    try:
        if takes_options:
            with pytest.raises(SystemExit, match=r"^0$"):
                runpy.run_path(str(script), run_name="__main__")
            assert "usage:" in capsys.readouterr().out
        else:
            runpy.run_path(str(script))
    finally:
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "").parent == script.parent:
                del sys.modules[name]
