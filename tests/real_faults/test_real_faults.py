"""Faults that users reported and public files have, each in a folder: read right, refused, or named.

A folder ``NN-name`` has small inputs of own wording and ``case.toml``:

* ``kind``: what is wrong, in a few words; ``source``: a public report;
* ``reader``: dotted name below ``langdiff``; ``path``: what is read, below the folder; ``options``: of the reader;
* ``right``: ``refused = "words of the message"``, ``named = "words of a warning or of left_out"``, or ``value = …`` as
  ``show`` (one of `SHOWN`) shows it; several of them must all hold;
* ``records``: kinds of `langdiff.base.suspicion` without which the case fails.
"""

import re
import tomllib
import warnings
from functools import reduce
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import langdiff as ld
from langdiff.base.suspicion import SUSPICIONS, Suspicion
from langdiff.errors import ConfigError, LangdiffError, LangdiffWarning
from langdiff.tables.text_features import measure

HERE = Path(__file__).parent
CASES = {path.parent.name: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("*/case.toml"))}
MOST_BYTES = 40_000

SHOWN = {  # what is read, in the form in which a case has its right value
    "texts": lambda read: {name: column.dropna().tolist() for name, column in read.to_frame().items()},
    "trees": lambda read: {name: [f"{a}-{b} {c} {d}" for a, b, c, d in tree.nodes] for name, tree in read.items()},
    "values": lambda read: {name: own["label"].tolist() for name, own in read.values.groupby("feature")},
    "names": lambda read: {"names": sorted(read.places)},
    "parallelisms": lambda read: {
        name: [" | ".join(" ".join(one.tokens[slice(*span)]) for span in found.branches) for found in one.parallelisms]
        for name, one in read.items()
    },
    "languages": lambda read: read.edition_info["language"].to_dict(),
}


def read(name: str) -> tuple[object, str, str]:
    """Return what the reader of a case returns, the error, and what warnings and `left_out` say."""
    case = CASES[name]
    reader = reduce(getattr, case["reader"].split("."), ld)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = reader(HERE / name / case.get("path", ""), **case.get("options", {}))
        except LangdiffError as error:
            return None, str(error), ""
    said = [str(one.message) for one in caught if issubclass(one.category, LangdiffWarning)]
    if isinstance(table := getattr(found, "left_out", None), pd.DataFrame):
        said += [" ".join(map(str, row)) for row in table.to_numpy()]
    return found, "", "\n".join(said)


def is_right(name: str) -> bool:
    """Return whether a case is read as it says."""
    case = CASES[name]
    found, error, said = read(name)
    right: dict[str, Any] = case["right"]
    if not right or (error and "refused" not in right):
        return False
    holds = {
        "refused": lambda words: words in error,
        "named": lambda words: words in said,
        "value": lambda value: error == "" and SHOWN[case["show"]](found) == value,
    }
    return all(holds[way](value) for way, value in right.items())


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_read_right_or_refused_or_named(name: str) -> None:
    found, error, said = read(name)
    assert is_right(name), error or said or SHOWN[CASES[name].get("show", "texts")](found)


@pytest.mark.parametrize(("name", "record"), [(name, one) for name, c in CASES.items() for one in c.get("records", [])])
def test_a_case_fails_without_its_record(name: str, record: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(SUSPICIONS, record)
    assert not is_right(name)


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_small_and_has_a_source(name: str) -> None:
    assert sum(path.stat().st_size for path in (HERE / name).rglob("*") if path.is_file()) <= MOST_BYTES
    assert {"kind", "source", "reader", "right"} <= CASES[name].keys()


@pytest.mark.parametrize("kind", SUSPICIONS.values(), ids=SUSPICIONS)
def test_a_record_has_a_case_that_fails_without_it(kind: Suspicion) -> None:
    assert kind.name in CASES[kind.case]["records"]
    assert kind.source
    assert kind.sentence.format(n=1, seen=1, where="", example="")
    kind.remedy.format(where="", trust="", skip="", item="")


@pytest.mark.parametrize("wrong", [{"action": "ignore"}, {"share": 1.0}, {"share": -0.1}, {"case": ""}, {"least": 0}])
def test_a_wrong_record_is_refused(wrong: dict[str, Any]) -> None:
    right = dict.fromkeys(("name", "of", "sentence", "remedy", "source", "case"), "x")
    with pytest.raises(ConfigError):
        Suspicion(**right | {"least": 1, "share": 0.1, "action": "name"} | wrong)  # type: ignore[arg-type]


def test_trust_names_known_kinds_only() -> None:
    with pytest.raises(ConfigError, match="the kinds of doubts are"):
        ld.read_frame(pd.DataFrame({"eng": ["a"]}), trust=["nothing"])


def test_readers_of_texts_warn_of_what_texts_hold_through_the_records_only() -> None:
    structure = {"bible": 2, "costep": 1, "mteval": 1, "osis": 1, "records": 1}  # verses, paragraphs, names of books …
    folder = Path(ld.__file__).parent / "corpora" / "formats"
    found = {path.stem: len(re.findall(r"\bwarn\(", path.read_text(encoding="utf-8"))) for path in folder.glob("*.py")}
    assert {name: count for name, count in found.items() if count} == structure


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a < b and c > d, <3, 5 < 6", []),
        ("AT&T & Co; R&D", []),
        ("Is it? Yes: «é» №1", []),
        ("Где? «Рёбра» — Рік", []),
        ("C# and #1, #REF", []),
        ("o\u200bne two\u200b", []),
        ("one <w:t xml:space='preserve'>two", ["markup"]),
        ("\\add one\\add* two", ["markup"]),
        ("&#x27;so&#x27;", ["escaped"]),
        ("W?rter", ["lost"]),
        (" #BEZUG! ", ["formula"]),
        ("\ufeffone", ["invisible"]),
        ("Ă©tĂ©", ["recoded"]),
        ("b├╝cher", ["recoded"]),
        ("Î•Î»Î»Î¬Î´Î±", ["recoded"]),
    ],
)
def test_kinds_of_one_text(text: str, kinds: list[str]) -> None:
    assert sorted({one.kind for one in measure(["one", text, "two"]).doubtful}) == kinds


PAGE = """# Faults of real files

Public reports and collections have these faults; every one is a folder of `tests/real_faults` with small files of own
wording, and a test reads it. Kinds with a name are doubts: `trust` switches one off
([reading a corpus](corpora.md#what-is-doubted)). Other tools were not tried.

`python tests/real_faults/test_real_faults.py` writes this page.

| fault | reported | langdiff | name of the doubt |
|---|---|---|---|
"""


def page() -> str:
    """Return the table of all cases in Markdown."""
    ways = {"value": "reads it right", "refused": "refuses it", "named": "names it"}
    rows = []
    for case in CASES.values():
        right = " and ".join(ways[way] for way in ways if way in case["right"])
        names = ", ".join(f"`{name}`" for name in case.get("records", []))
        rows.append(f"| {case['kind']} | {case['source']} | {right} | {names} |".replace("\\", "\\\\"))
    return PAGE + "\n".join(rows) + "\n\n## What next\n[Reading a corpus](corpora.md) and [logs](logs.md).\n"


DOCS = HERE.parents[1] / "docs" / "real-faults.md"


def test_the_page_has_all_cases() -> None:
    assert DOCS.read_text(encoding="utf-8") == page(), "python tests/real_faults/test_real_faults.py writes it"


if __name__ == "__main__":
    DOCS.write_text(page(), encoding="utf-8")
