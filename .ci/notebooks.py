"""Execute notebooks in place and store what they print and draw: `make notebooks` calls it.

Outputs are stored so that they can be read where nothing is executed, with a hash of the code that gave them, which
tests/test_notebooks.py compares. Pictures are reduced to 128 colours. A notebook that fails is left as it was.
"""

import base64
import hashlib
import io
import os
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

PLACE = re.compile(r"^\S*ipykernel_\d+\S*:\d+: ", re.MULTILINE)  # where a cell warned: a file of this run alone
COLOURS = 128
PICTURE = "image/png"


def hash_of_code(cells):
    """Return a hash of the source of all cells of code."""
    return hashlib.sha256(
        "\0".join(cell["source"] for cell in cells if cell["cell_type"] == "code").encode()
    ).hexdigest()


def reduced(picture):
    """Return a picture with few colours and without metadata, in base 64."""
    drawn = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    stream = io.BytesIO()
    drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(stream, "png", optimize=True)
    return base64.b64encode(stream.getvalue()).decode()


def execute(path):
    """Execute a notebook and store its outputs in it."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, kernel_name="python3", timeout=None, record_timing=False, resources=resources)
    client.execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("metadata", {}).clear()
            if "text" in output:
                output["text"] = PLACE.sub("", output["text"])
            if PICTURE in output.get("data", {}):
                output["data"][PICTURE] = reduced(output["data"][PICTURE])
    notebook.metadata["langdiff"] = {"code": hash_of_code(notebook.cells)}
    notebook.metadata["language_info"] = {"name": "python"}  # not the version of the Python that executed it
    nbformat.write(notebook, path)


if __name__ == "__main__":
    os.environ["LANGDIFF_DATA"] = os.devnull  # what is stored is what a fresh clone prints, without real corpora
    for name in sys.argv[1:]:
        execute(Path(name))
        sys.stdout.write(f"{name}\n")
