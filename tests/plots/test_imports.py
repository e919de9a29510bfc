"""Pictures know effects and frames only, so that every stage can draw and none depends on another through a picture.

The classes of results that some pictures take are named for type checkers alone.
"""

import ast
from pathlib import Path

import langdiff.plots

ALLOWED = {"_types", "effects", "errors", "plots"}


def is_for_types(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_pictures_import_no_stage_but_for_types():
    imported = set()
    for path in Path(langdiff.plots.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for_types = {inner for node in ast.walk(tree) if is_for_types(node) for inner in ast.walk(node)}
        for node in set(ast.walk(tree)) - for_types:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("langdiff"):
                imported |= {f"{node.module}.{alias.name}".split(".")[1] for alias in node.names}
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names if alias.name.startswith("langdiff")}
    assert "effects" in imported
    assert imported <= ALLOWED
