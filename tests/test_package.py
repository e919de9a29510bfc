import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import langdiff as ld


def _fresh(code):
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def test_import_is_quick_and_leaves_torch_alone():
    code = (
        "import json, sys, time; start = time.perf_counter(); import langdiff;"
        "print(json.dumps([time.perf_counter() - start, sorted({'torch', 'pandas', 'cmdstanpy'} & set(sys.modules))]))"
    )
    _, heavy = _fresh(code)
    assert heavy == []


@pytest.mark.parametrize("stage", ["lm", "regression", "selection", "corpora", "experiments", "run", "plots"])
def test_a_stage_imports_without_torch(stage):
    assert _fresh(f"import json, sys, langdiff.{stage}; print(json.dumps('torch' in sys.modules))") is False


@pytest.mark.parametrize("name", [name for name in ld.__all__ if name != "__version__"])
def test_every_public_name_is_there_and_documented(name):
    thing = getattr(ld, name)
    assert thing.__doc__
    assert thing.__module__.startswith("langdiff.")
    # a public function never has the name of a module beside it: the module would take its place
    assert thing.__module__ != f"langdiff.{name}"


@pytest.mark.parametrize(
    "package",
    ["langdiff", "langdiff.lm", "langdiff.regression", "langdiff.selection", "langdiff.experiments", "langdiff.run"],
)
def test_lazy_names_are_those_that_are_listed(package):
    module = importlib.import_module(package)
    assert sorted(module._HOME) == sorted(name for name in module.__all__ if name != "__version__")
    seen_by_type_checkers = set(re.findall(r"\w+", Path(module.__file__).read_text().split("TYPE_CHECKING:")[1]))
    assert set(module._HOME) <= seen_by_type_checkers


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        ld.fitt  # noqa: B018


@pytest.mark.parametrize("door", ["lm", "regression", "selection"])
def test_engine_rooms_are_one_step_from_the_door(root, door):
    assert (root / door).resolve() == root / "langdiff" / door
