"""The structure of the package: where things lie, what imports what, and that each kind of thing is declared once."""

import ast
import importlib
import inspect
import statistics
from functools import cache
from pathlib import Path

import pytest

import langdiff as ld
from langdiff.base.result import Result

ROOT = Path(ld.__file__).parent
AT_ROOT = {"", "errors", "__main__"}  # may be imported from everywhere
FEWEST_LINES = 90  # of code, in half of the files
MOST_PACKAGES, MOST_ARROWS, MOST_LAYERS = 17, 60, 9
MOST_PARAMETERS, MOST = 15, {"langdiff.fit": 12, "langdiff.read_multitext": 16, "langdiff.corpora.read_multitext": 16}


@cache
def trees() -> dict[str, ast.Module]:
    """Return every file of the package, by dotted name below it."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").rstrip("."): ast.parse(
            path.read_text(encoding="utf-8")
        )
        for path in sorted(ROOT.rglob("*.py"))
    }


def guarded(tree: ast.Module) -> set[int]:
    """Return the nodes that only type checkers read."""
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    return {id(node) for block in blocks for node in ast.walk(block)}


@cache
def shown() -> dict[str, str]:
    """Return the file of every public name, such as ``lm.Recipe``, from the stubs."""
    found = {}
    for path in ROOT.rglob("__init__.pyi"):
        package = ".".join(path.parent.relative_to(ROOT).parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level:
                place = f"{package}.{node.module or ''}".strip(".")
                found |= {f"{package}.{alias.name}".strip("."): place for alias in node.names}
    return found


def home(module: str, name: str) -> str:
    """Return the file that a name is imported from: that of the name itself where a package shows it."""
    below = module.removeprefix("langdiff").strip(".")
    full = f"{below}.{name}".strip(".")
    return full if full in trees() else shown().get(full, below)


@cache
def arrows() -> dict[str, set[str]]:
    """Return what each file imports of the package, inside functions too, but not for type checkers."""
    found: dict[str, set[str]] = {}
    for name, tree in trees().items():
        skipped, targets = guarded(tree), set()
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").split(".")[0] == "langdiff"
                and id(node) not in skipped
            ):
                targets |= {home(node.module, alias.name) for alias in node.names}
        found[name] = targets & set(trees()) - {name, ""}
    return found


def packages() -> dict[str, set[str]]:
    """Return what each folder imports from other folders."""
    found: dict[str, set[str]] = {name.split(".")[0]: set() for name in trees() if name.split(".")[0] not in AT_ROOT}
    for name, targets in arrows().items():
        here = name.split(".")[0]
        if here in found:
            found[here] |= {target.split(".")[0] for target in targets} - AT_ROOT - {here}
    return found


def reached(start: str) -> set[str]:
    found, left = set(), [start]
    while left:
        new = arrows()[left.pop()] - found
        found |= new
        left += new
    return found


def test_no_module_lies_loose_at_the_root():
    assert {path.stem for path in ROOT.glob("*.py")} == {"__init__", "__main__", "errors"}


def test_folders_are_few_and_lie_in_layers():
    found = packages()
    assert len(found) <= MOST_PACKAGES
    assert sum(map(len, found.values())) <= MOST_ARROWS
    height = dict.fromkeys(found, 0)
    for _ in range(len(found) + 1):  # grows past the number of folders if there is a cycle
        height = {name: 1 + max((height[below] for below in targets), default=0) for name, targets in found.items()}
    assert max(height.values()) <= MOST_LAYERS


def test_files_do_not_import_each_other_in_a_circle():
    assert [name for name in trees() if name in reached(name)] == []


def test_files_are_large_enough_to_deserve_their_place():
    lines = []
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        docs = [
            node.body[0]
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None
        ]
        described = {line for doc in docs for line in range(doc.lineno, doc.end_lineno + 1)}
        code = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
        lines.append(len(code) - len(described & {n for n, line in enumerate(text.splitlines(), 1) if line.strip()}))
    assert statistics.median(count for count in lines if count > 3) >= FEWEST_LINES


def test_every_class_with_a_table_and_a_summary_is_a_result():
    for name, tree in trees().items():
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            own = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            if {"to_frame", "summary"} <= own and (name, node.name) != ("base.result", "Result"):
                found = getattr(importlib.import_module(f"langdiff.{name}"), node.name)
                assert issubclass(found, Result), f"langdiff.{name}.{node.name}"


def words_of(tree: ast.Module) -> set[str]:
    """Return the texts of a file that are no docstrings."""
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
    return {node.value for node in constants if isinstance(node.value, str)}


@pytest.mark.parametrize(("words", "most"), [({"2L", "2C"}, 3), ({"beta-binomial"}, 1)])
def test_models_are_named_where_they_are_declared(words, most):
    assert len([name for name, tree in trees().items() if words & words_of(tree)]) <= most


def test_no_code_asks_for_the_class_of_a_language_model():
    kinds = {"Recipe", "KneserNeyRecipe", "LanguageModelRecipe", "LanguageModel", "KneserNeyModel"}
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                named = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
                assert not named & kinds, f"{name}, line {node.lineno}"


def public_functions():
    for path in sorted(ROOT.rglob("__init__.pyi")):
        package = importlib.import_module(".".join(("langdiff", *path.parent.relative_to(ROOT).parts)))
        for name in package.__all__:
            if inspect.isfunction(found := getattr(package, name)):
                yield f"{package.__name__}.{name}", inspect.signature(found).parameters


def test_functions_have_few_parameters_and_seeds_a_default():
    for name, parameters in public_functions():
        assert len(parameters) <= MOST.get(name, MOST_PARAMETERS), name
        if "seed" in parameters:
            assert parameters["seed"].default == 0, name
