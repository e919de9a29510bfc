"""Report of installed packages, solvers and compilers; only the standard library is imported here."""

import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import langdiff

Finding = tuple[str, bool, str]

# modules that are not named like their packages; type stubs have none
_MODULES: dict[str, str | None] = {
    "fonttools": "fontTools",
    "import-linter": "importlinter",
    "mkdocs-material": "material",
    "pandas-stubs": None,
    "pystan": "stan",
    "pytest-xdist": "xdist",
    "scipy-stubs": None,
}


def findings() -> list[Finding]:
    """Return a finding for each part of the installation, without importing packages that are slow to import."""
    tried = [*_tried("ILP solvers", _solvers), *_tried("CmdStan", _cmdstan)]
    return [*_base(), *_torch(), *tried, *_compiler(), *_extras()]


def missing_packages() -> list[str]:
    """Return the packages that langdiff needs and that are not installed, or cannot be found by Python."""
    return [name for name in _required() if not _is_there(name)]


def _base() -> list[Finding]:
    python = f"{platform.python_version()} on {platform.platform()}, {os.cpu_count() or 1} cores"
    found: list[Finding] = [
        ("langdiff", True, langdiff.__version__),
        ("Python", sys.version_info >= (3, 11), python),
    ]
    if not _required():
        return [*found, ("packages", False, "not known, as langdiff is not installed: pip install langdiff")]
    missing = missing_packages()
    detail = f"pip install {' '.join(missing)}" if missing else f"all {len(_required())} that langdiff needs"
    return [*found, ("packages", not missing, detail)]


def _tried(what: str, find: Callable[[], Finding]) -> list[Finding]:
    """Return a finding for which a package is imported that may be missing or damaged."""
    try:
        return [find()]
    except Exception as error:  # damaged packages raise anything, such as OSError for a library of the system
        return [(what, False, f"not known: {type(error).__name__}: {error}")]


def _torch() -> list[Finding]:
    version = _version("torch")
    if version is None or not _is_there("torch"):
        return [("torch", False, "n-grams do without; networks need it: pip install 'langdiff[lm]'")]
    return [("torch", True, version), *_tried("CUDA device", lambda: ("CUDA device", *_cuda(version)))]


def _cuda(version: str) -> tuple[bool, str]:
    """Return whether torch sees a GPU; torch, which is slow to import, is imported only where there may be one."""
    if version.endswith("+cpu"):
        return False, "torch was built for CPUs: training runs on the CPU"
    if sys.platform == "linux" and not any(Path("/dev").glob("nvidia*")) and not Path("/dev/kfd").exists():
        return False, "no GPU is visible: training runs on the CPU"
    import torch

    there = torch.cuda.is_available()
    return there, torch.cuda.get_device_name(0) if there else "training runs on the CPU"


def _solvers() -> Finding:
    import pulp

    found = pulp.listSolvers(onlyAvailable=True)
    return "ILP solvers", bool(found), ", ".join(found) or "pip install highspy"


def _cmdstan() -> Finding:
    why, where = "CmdStan is not installed: run `langdiff install-stan`", ""
    if os.environ.get("CMDSTAN") or (Path.home() / ".cmdstan").is_dir():  # CmdStanPy is slow to import
        import cmdstanpy

        from langdiff.regression.stan.engines import why_no_cmdstan

        why = why_no_cmdstan()
        where = "" if why else cmdstanpy.cmdstan_path()
    return "CmdStan", not why, where or f"{why}; PyStan samples too, CmdStan is faster"


def _compiler() -> list[Finding]:
    compiler = shutil.which("g++") or shutil.which("clang++")
    return [("C++ compiler", compiler is not None, compiler or "Stan programs cannot be compiled without one")]


def _extras() -> list[Finding]:
    """Return the packages of each extra, as the metadata of this package name them."""
    packages: dict[str, list[str]] = {}
    for requirement in _requirements():
        extra = re.search(r"extra == .([\w-]+)", requirement)
        name = _name(requirement)
        if extra and name != "langdiff" and "python_version" not in requirement:  # those are needed by others of them
            packages.setdefault(extra[1], []).append(name)
    return [(f"extra {extra}", *_packages(extra, names)) for extra, names in packages.items()]


def _packages(extra: str, names: list[str]) -> tuple[bool, str]:
    there = ", ".join(f"{name} {_version(name)}" for name in names if _is_there(name))
    missing = ", ".join(name for name in names if not _is_there(name))
    if not missing:
        return True, there
    return False, f"pip install 'langdiff[{extra}]' for {missing}" + (f"; there: {there}" if there else "")


def _required() -> list[str]:
    return [_name(requirement) for requirement in _requirements() if "extra ==" not in requirement]


def _requirements() -> list[str]:
    try:
        return metadata.requires("langdiff") or []
    except metadata.PackageNotFoundError:
        return []


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def _is_there(package: str) -> bool:
    """Return whether a package is installed and Python finds its module."""
    module = _MODULES.get(package, package.replace("-", "_"))
    try:
        return _version(package) is not None and (module is None or find_spec(module) is not None)
    except (ImportError, ValueError):  # of a parent that is missing, of a module that was made by hand
        return False


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
