"""Modules imported through the links at the root of a checkout are those of the package."""

import shutil
import subprocess
import sys
import zipfile

import pytest

PACKAGE_FIRST = """
import copy, importlib, pickle
import lm, langdiff as ld, regression, selection
import regression.kernel.optimizers as own, langdiff.regression.kernel.optimizers as its
from regression.result import DifficultyFit
assert lm is ld.lm
assert ld.DifficultyFit is regression.DifficultyFit is DifficultyFit
assert selection.Selection is ld.selection.Selection  # of the stub
assert own is its
assert own.__spec__.name == "langdiff.regression.kernel.optimizers"
assert copy.deepcopy(DifficultyFit) is pickle.loads(pickle.dumps(DifficultyFit)) is DifficultyFit
assert importlib.reload(lm) is ld.lm
"""
LINK_FIRST = "from regression.result import DifficultyFit as F; import langdiff as ld; assert F is ld.DifficultyFit"


@pytest.mark.parametrize("code", [f"import langdiff\n{PACKAGE_FIRST}", PACKAGE_FIRST, LINK_FIRST])
def test_links_lead_to_the_package(code, root):
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=root, check=True)


def test_a_wheel_has_no_module_but_the_package(tmp_path, root):
    source = tmp_path / "source"
    shutil.copytree(root / "langdiff", source / "langdiff", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source / name)
    for link in ("lm", "regression", "selection"):
        (source / link).symlink_to(f"langdiff/{link}")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), "."]
    subprocess.run(build, cwd=source, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    top = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert top == {"langdiff", wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info"}
