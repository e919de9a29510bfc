"""Pictures import effects only, so that every stage can draw and none depends on another through a picture."""

import ast
from pathlib import Path

import langdiff.plots

ALLOWED = {
    "base",
    "errors",
    "plots",
    "tables.effects",
    "tables.rule",
    "tables.contrasts",
    "tables.effect_sources",
    "tables.pairs",
}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("langdiff"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("langdiff"))


def test_pictures_import_results_for_types_only():
    found = set()
    for path in Path(langdiff.plots.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = [ast.Pass()]
        for name in imported(tree):
            folder, file = [*name.split("."), ""][1:3]
            found.add(f"{folder}.{file}" if folder == "tables" else folder)
    assert found >= {"tables.effects", "tables.rule"}
    assert found <= ALLOWED
