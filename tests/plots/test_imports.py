"""Pictures know effects and frames only, so that every stage can draw and none depends on another through a picture."""

import ast
from pathlib import Path

import langdiff.plots

ALLOWED = {"base", "tables", "errors", "plots"}


def test_pictures_import_no_stage_not_even_for_types():
    imported = set()
    for path in Path(langdiff.plots.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("langdiff"):
                imported |= {f"{node.module}.{alias.name}".split(".")[1] for alias in node.names}
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names if alias.name.startswith("langdiff")}
    assert "tables" in imported
    assert imported <= ALLOWED
