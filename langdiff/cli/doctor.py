"""`langdiff doctor`: what is installed."""

import json
import os
import platform
import shutil
import sys
from importlib import metadata, util
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

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
    import torch

    gpu = torch.cuda.is_available()
    detail = torch.cuda.get_device_name(0) if gpu else "training runs on the CPU"
    return [("torch", True, torch.__version__), ("CUDA device", gpu, detail)]


def _solvers() -> list[Finding]:
    import pulp

    found = pulp.listSolvers(onlyAvailable=True)
    return [("ILP solvers", bool(found), ", ".join(found) or "install highspy")]


def _stan() -> list[Finding]:
    import cmdstanpy

    from langdiff.regression.stan.cmdstan import why_no_cmdstan

    why = why_no_cmdstan()
    where = f"{why}; PyStan samples too, CmdStan is faster" if why else cmdstanpy.cmdstan_path()
    compiler = shutil.which("g++") or shutil.which("clang++")
    return [
        ("CmdStan", not why, where),
        ("C++ compiler", compiler is not None, compiler or "Stan programs cannot be compiled without one"),
    ]


def _extras() -> list[Finding]:
    extras = {"stan": ("pystan", "stan"), "hf": ("transformers",) * 2, "cluster": ("distributed",) * 2}
    findings = []
    for extra, (package, module) in extras.items():
        there = util.find_spec(module) is not None
        detail = f"{package} {metadata.version(package)}" if there else f"pip install 'langdiff[{extra}]'"
        findings.append((f"extra {extra}", there, detail))
    return findings
