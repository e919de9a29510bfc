"""Outputs that are stored in notebooks are of their current code, small, and say nothing of the machine."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST = 150_000  # bytes of a notebook
PLACES = re.compile(r"(?<![\w.:/])/(?:tmp|home|root|work|Users|private|var)/")


@pytest.fixture(scope="module")
def hash_of_code():
    pytest.importorskip("nbclient", reason="the script that stores outputs needs the extra dev")
    spec = importlib.util.spec_from_file_location("store_outputs", ROOT / ".ci" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.hash_of_code


def read(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_of_the_current_code(path, hash_of_code):
    notebook = read(path)
    stored = notebook["metadata"].get("langdiff", {}).get("code")
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if stored is None:
        assert not any(cell["outputs"] for cell in code), "outputs were not stored by `make notebooks`"
        pytest.skip("no outputs are stored; `make notebooks` stores them")
    assert stored == hash_of_code(notebook["cells"]), "the code has changed: run `make notebooks`"
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert path.stat().st_size < MOST


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_have_no_errors_and_no_paths_of_the_machine(path):
    for cell in read(path)["cells"]:
        for output in cell.get("outputs", []):
            assert output["output_type"] != "error"
            texts = [
                output.get("text", ""),
                *(output.get("data", {}).get(kind, "") for kind in ("text/plain", "text/html")),
            ]
            for text in texts:
                assert not PLACES.search("".join(text)), (
                    f"a path of this machine in the outputs of: {cell['source'][:80]}"
                )


def test_another_line_of_code_is_noticed_and_another_text_is_not(hash_of_code):
    cells = [{"cell_type": "markdown", "source": "A"}, {"cell_type": "code", "source": "1 + 1"}]
    assert hash_of_code(cells) == hash_of_code([{"cell_type": "markdown", "source": "B"}, cells[1]])
    assert hash_of_code(cells) != hash_of_code([cells[0], {"cell_type": "code", "source": "1 + 2"}])
