"""`langdiff doctor`: what is installed; nothing slow is imported to find out."""

import json
import os
import platform
import re
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

import langdiff

Finding = tuple[str, bool, str]


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show what is installed: device, solvers, Stan, extras.

    Example: langdiff doctor
    """
    findings = [*_base(), *_torch(), *_solvers(), *_stan(), *_extras()]
    if as_json:
        typer.echo(json.dumps([{"what": w, "ok": ok, "detail": d} for w, ok, d in findings], indent=2))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title="langdiff doctor", title_justify="left")
    for name in ("what", "", "detail"):
        table.add_column(name, overflow="fold")
    for what, ok, detail in findings:
        table.add_row(what, Text("yes", "green") if ok else Text("no", "yellow"), Text(detail))
    Console().print(table)


def _base() -> list[Finding]:
    cores = os.cpu_count() or 1
    return [
        ("langdiff", True, langdiff.__version__),
        (
            "Python",
            sys.version_info >= (3, 11),
            f"{platform.python_version()} on {platform.platform()}, {cores} cores",
        ),
    ]


def _torch() -> list[Finding]:
    version = _version("torch")
    if version is None:
        return [("torch", False, "pip install torch")]
    return [("torch", True, version), ("CUDA device", *_cuda(version))]


def _cuda(version: str) -> tuple[bool, str]:
    """Tell whether torch sees a GPU; torch, which is slow to import, is asked only where there may be one."""
    if version.endswith("+cpu"):
        return False, "torch was built for CPUs: training runs on the CPU"
    if sys.platform == "linux" and not any(Path("/dev").glob("nvidia*")) and not Path("/dev/kfd").exists():
        return False, "no GPU is visible: training runs on the CPU"
    import torch

    there = torch.cuda.is_available()
    return there, torch.cuda.get_device_name(0) if there else "training runs on the CPU"


def _solvers() -> list[Finding]:
    import pulp

    found = pulp.listSolvers(onlyAvailable=True)
    return [("ILP solvers", bool(found), ", ".join(found) or "install highspy")]


def _stan() -> list[Finding]:
    why, where = "CmdStan is not installed: run `langdiff install-stan`", ""
    if os.environ.get("CMDSTAN") or (Path.home() / ".cmdstan").is_dir():  # CmdStanPy is slow to import
        import cmdstanpy

        from langdiff.regression.stan.cmdstan import why_no_cmdstan

        why = why_no_cmdstan()
        where = "" if why else cmdstanpy.cmdstan_path()
    compiler = shutil.which("g++") or shutil.which("clang++")
    return [
        ("CmdStan", not why, where or f"{why}; PyStan samples too, CmdStan is faster"),
        ("C++ compiler", compiler is not None, compiler or "Stan programs cannot be compiled without one"),
    ]


def _extras() -> list[Finding]:
    """Return the packages of each extra, as the metadata of this package name them."""
    from importlib import metadata

    packages: dict[str, list[str]] = {}
    for requirement in metadata.requires("langdiff") or []:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        extra = re.search(r"extra == .([\w-]+)", requirement)
        if extra and name != "langdiff" and "python_version" not in requirement:  # those are needed by others of them
            packages.setdefault(extra[1], []).append(name)
    return [(f"extra {extra}", *_packages(extra, names)) for extra, names in packages.items()]


def _packages(extra: str, names: list[str]) -> tuple[bool, str]:
    versions = {name: _version(name) for name in names}
    there = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    missing = ", ".join(name for name, version in versions.items() if not version)
    if not missing:
        return True, there
    return False, f"pip install 'langdiff[{extra}]' for {missing}" + (f"; there: {there}" if there else "")


def _version(package: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
