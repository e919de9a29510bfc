"""Modules imported through the links at the root of a checkout are those of the package."""

import shutil
import subprocess
import sys
import zipfile

import pytest

CHECKS = {
    "the same package": "import lm, langdiff; assert lm is langdiff.lm",
    "the same class": (
        "import langdiff as ld; from regression.result import DifficultyFit as F;assert ld.DifficultyFit is F"
    ),
    "the link first": (
        "from regression.result import DifficultyFit as F; import langdiff as ld;assert F is ld.DifficultyFit"
    ),
    "names of the stub": "import langdiff as ld, selection; assert selection.Selection is ld.selection.Selection",
    "deep modules": (
        "import regression.kernel.optimizers as own, langdiff.regression.kernel.optimizers as its; assert own is its;"
        "assert own.__spec__.name == 'langdiff.regression.kernel.optimizers'"
    ),
    "reloaded": "import importlib, lm; again = importlib.reload(lm); import langdiff; assert again is langdiff.lm",
    "copied": "import copy, regression; f = regression.DifficultyFit; assert copy.deepcopy(f) is f",
    "sent to another process": (
        "import pickle; import regression.result as r;"
        "assert pickle.loads(pickle.dumps(r.DifficultyFit)) is r.DifficultyFit"
    ),
}


@pytest.mark.parametrize("code", CHECKS.values(), ids=CHECKS)
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
