"""Write `numbers.json`, the numbers that langdiff computed before its code was rearranged.

Each case calls public functions of langdiff on a small table or text that is made here, and records what they return:
some numbers with twelve significant digits, and the text of signatures, of `repr` and of `summary()`. The test beside
this file (`test_golden.py`) computes all cases again and compares them, so that a change that should only move code
and does change a number is seen at once, together with the name of the case.

The file is written by ::

    OMP_NUM_THREADS=1 python tests/golden/make.py

which is right only where a number is meant to change; a change of the file needs a reason in the changelog. Calls
name every option that matters, so that a new default changes no number here. Tables are rounded to a few decimals,
so that they, and the hashes of them in signatures, are the same on all processors.
"""

import json
import re
import sys
from importlib import import_module
from pathlib import Path

AREAS = (
    "make_fit",
    "make_checks",
    "make_outcomes",
    "make_texts",
    "make_languages",
    "make_annotations",
    "make_experiments",
)


def all_cases():
    """Return the declared cases of all areas by name."""
    for area in AREAS:
        import_module(f"tests.golden.{area}")
    return import_module("tests.golden.record").CASES


def main():
    """Compute all cases and write the file."""
    cases = all_cases()
    record = import_module("tests.golden.record")
    values = {name: record.record(case) for name, case in cases.items()}
    text = json.dumps(values, indent=1, ensure_ascii=False)
    text = re.sub(r'\[[^][{}"]*\]', lambda numbers: re.sub(r"\s+", " ", numbers[0]), text)  # lists of numbers on a line
    record.FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
