"""`langdiff doctor` names what is missing, whatever is missing."""

import importlib.metadata
import json
import re
import subprocess
import sys

import pytest

from tests.cli.conftest import langdiff as langdiff

REQUIREMENTS = importlib.metadata.requires("langdiff")
PACKAGES = sorted({re.match(r"[\w.-]+", requirement)[0] for requirement in REQUIREMENTS} - {"langdiff"})
REQUIRED = sorted(re.match(r"[\w.-]+", requirement)[0] for requirement in REQUIREMENTS if "extra ==" not in requirement)
THE_COMMAND = {"typer", "pydantic"}  # pydantic because newer typer needs it; without them no command runs
OTHERS = [package for package in PACKAGES if package not in THE_COMMAND and not package.endswith("-stubs")]
OPTIONAL = [package for package in OTHERS if package not in REQUIRED]
GROUPS = [*(OPTIONAL[start::6] for start in range(6)), *([package] for package in OTHERS if package in REQUIRED)]


def modules_of(package):
    """Return the modules of a package that is installed, as its list of files tells; the command does not read it."""
    files = importlib.metadata.files(package)
    tops = {file.parts[0].removesuffix(".py") for file in files if file.suffix == ".py" and ".." not in file.parts}
    return {top for top in tops if top.isidentifier() and not top.startswith("_")}


def is_here(package):
    try:
        return bool(importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        return False


def hide(monkeypatch, modules):
    for name in [*modules, *sys.modules]:
        if name.partition(".")[0] in modules:
            monkeypatch.setitem(sys.modules, name, None)


def details(langdiff):
    done = langdiff("doctor", "--json")
    assert (done.code, done.err) == (0, "")
    return {row["what"]: row for row in json.loads(done.out)}


def is_named(package, found):
    commands = [row["detail"] for row in found.values() if not row["ok"] and row["detail"].startswith("pip install")]
    return any(package in re.findall(r"[\w.-]+", command.partition("; there")[0]) for command in commands)


def test_what_is_there_is_not_called_missing(langdiff):
    found = details(langdiff)
    assert found["packages"]["ok"]
    assert [package for package in PACKAGES if is_named(package, found)] == [p for p in PACKAGES if not is_here(p)]


@pytest.mark.parametrize("absent", GROUPS, ids=" ".join)
def test_packages_that_cannot_be_imported_are_named(langdiff, monkeypatch, absent):
    hide(monkeypatch, set().union(*(modules_of(package) for package in absent if is_here(package))))
    found = details(langdiff)
    assert [package for package in absent if not is_named(package, found)] == []
    assert found["packages"]["ok"] == (not {*absent} & {*REQUIRED})


@pytest.mark.parametrize("absent", [*GROUPS, sorted(THE_COMMAND)], ids=" ".join)
def test_packages_that_are_not_installed_are_named(langdiff, monkeypatch, absent):
    version = importlib.metadata.version

    def without(name):
        if name in absent:
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr("importlib.metadata.version", without)
    found = details(langdiff)
    assert [package for package in absent if not is_named(package, found)] == []


@pytest.mark.parametrize("package", sorted(THE_COMMAND | {"rich"}))
def test_what_the_command_itself_needs_is_named(package):
    code = f"import sys; sys.modules[{package!r}] = None; sys.argv = ['langdiff', 'doctor']; import langdiff.cli as c; "
    done = subprocess.run([sys.executable, "-c", code + "c.main()"], capture_output=True, text=True, check=False)
    assert f"pip install {package}\n" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_package_that_raises_when_it_is_imported_is_named(langdiff, monkeypatch, tmp_path):
    (tmp_path / "pulp.py").write_text("raise OSError('libhighs.so: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "pulp"]:
        monkeypatch.delitem(sys.modules, name)
    found = details(langdiff)["ILP solvers"]
    assert not found["ok"]
    assert "OSError: libhighs.so: cannot open" in found["detail"]
