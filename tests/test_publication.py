"""The files for publication agree with each other and with the package, and what is missing in them is listed."""

import json
import re
import runpy
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
MADE = runpy.run_path(str(ROOT / "packaging/metadata.py"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RECIPE = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text("utf-8"))
CONDA = {"matplotlib-base": "matplotlib", "pytorch": "torch", "lazy-loader": "lazy_loader"}
KIT = [
    "AI_USE.md",
    "CITATION.cff",
    "Dockerfile",
    "codemeta.json",
    "langdiff.def",
    "paper.bib",
    "paper.md",
    ".readthedocs.yaml",
    ".zenodo.json",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / ".github").rglob("*") if path.is_file()),
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "packaging").rglob("*.*") if path.suffix != ".pyc"),
]
BRACKET = re.compile(
    r"\[date\]|\[([^\]\n]*(?:to be filled in|URL|SHA-256|GitHub names|affiliation|funding)[^\]\n]*)\](?!\()"
)


@pytest.mark.parametrize("name", ["codemeta.json", ".zenodo.json"])
def test_metadata_is_as_make_writes_it(name):
    assert (ROOT / name).read_text("utf-8") == MADE["text"](MADE["metadata"]()[name]), "run `make metadata`"


def test_metadata_agrees():
    codemeta, zenodo = (json.loads((ROOT / name).read_text("utf-8")) for name in ("codemeta.json", ".zenodo.json"))
    versions = {CITATION["version"], codemeta["version"], zenodo["version"], RECIPE["context"]["version"]}
    assert versions == {PROJECT["version"]}
    licences = {CITATION["license"], zenodo["license"], RECIPE["about"]["license"], codemeta["license"].split("/")[-1]}
    assert licences == {PROJECT["license"]}
    assert codemeta["keywords"] == zenodo["keywords"] == CITATION["keywords"]
    assert len(codemeta["author"]) == len(zenodo["creators"]) == len(CITATION["authors"])


def test_people_become_persons():
    author = {"family-names": "Doe", "given-names": "Kim", "orcid": "https://orcid.org/0000-0001"}
    assert MADE["_creator"](author) == {"name": "Doe, Kim", "orcid": "0000-0001"}
    assert MADE["_person"](author)["@type"] == "Person"


def test_conda_recipe_has_our_dependencies():
    python, *rest = RECIPE["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert f">={RECIPE['context']['python_min']}" == PROJECT["requires-python"]
    found = {CONDA.get(name, name) + bound for name, bound in (line.split() for line in rest)}
    assert found == set(PROJECT["dependencies"])


def test_workflows_call_our_checks_only():
    for path in (ROOT / ".github/workflows").iterdir():
        jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
        assert {step["run"] for job in jobs for step in job["steps"] if "run" in step} == {".ci/run"}


def test_forms_are_complete():
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert [path.stem for path in forms] == ["bug", "corpus-format", "question"]
    for path in forms:
        form = yaml.safe_load(path.read_text("utf-8"))
        assert {"name", "description", "body"} <= set(form)
        ids = [field["id"] for field in form["body"]]
        assert len(ids) == len(set(ids))


def test_every_shipped_file_has_its_licence():
    folder = ROOT / "langdiff/datasets"
    rows = [
        line.split("|")[1:-1] for line in (folder / "LICENSES.md").read_text("utf-8").splitlines() if line[:3] == "| `"
    ]
    assert [row[0].strip(" `") for row in rows] == sorted(
        path.name for path in folder.iterdir() if path.suffix in {".csv", ".parquet"}
    )
    assert all(len(row) == 4 and all(cell.strip() for cell in row) for row in rows)


def test_licences_are_in_the_wheel():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "datasets/LICENSES.md" in settings["tool"]["setuptools"]["package-data"]["langdiff"]


def test_what_waits_for_a_person_is_listed():
    table = (ROOT / "packaging/PLACEHOLDERS.md").read_text("utf-8")
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ") and "where" not in line]
    for what, where, _ in rows:
        for name in re.findall(r"`([^`/]+\.(?:md|cff|toml)|LICENSE|docs/\w+\.md|packaging/conda/recipe\.yaml)`", where):
            assert (ROOT / name).exists(), (what, name)
    for name in KIT:
        if name != "packaging/PLACEHOLDERS.md" and BRACKET.search((ROOT / name).read_text("utf-8")):
            assert f"`{name}`" in table, name
    for name in ("CITATION.cff", "pyproject.toml"):
        unnamed = "The langdiff developers" in (ROOT / name).read_text("utf-8")
        assert unnamed == (f"`{name}`" in rows[0][1]), "authors are known: take them out of the list"
    assert ("[name of copyright owner]" in (ROOT / "LICENSE").read_text("utf-8")) == ("`LICENSE`" in table)


def test_nothing_else_says_that_work_is_left():
    words = "|".join(("TO" + "DO", "FIX" + "ME", "T" + "BD"))
    listed = subprocess.run(
        ["git", "grep", "-nIwE", words, "--", ".", ":!*.ipynb", ":!*.svg", ":!docs/images"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode > 1:
        pytest.skip("not a checkout of git")
    assert listed.stdout == ""


@pytest.mark.parametrize("name", KIT)
def test_no_file_names_a_package_index_or_a_machine(name):
    content = (ROOT / name).read_text("utf-8")
    assert not re.search(r"pypi\.|files\.pythonhosted|download\.pytorch|anaconda\.org", content)
    assert not re.search(r"/(root|mnt|Users)/|/home/(?!langdiff)", content)
    assert str(ROOT) not in content  # the folder of this checkout, wherever it is


def test_paper():
    paper, library = ((ROOT / name).read_text("utf-8") for name in ("paper.md", "paper.bib"))
    head, body = paper.split("---\n", 2)[1:]
    assert yaml.safe_load(head)["bibliography"] == "paper.bib"
    sections = re.findall(r"^# (.+)$", body, re.M)
    assert sections == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "AI usage disclosure",
        "Acknowledgements",
        "References",
    ]
    assert 750 <= len(body.split()) <= 1750
    keys = re.findall(r"^@\w+\{([^,]+),", library, re.M)
    cited = set(re.findall(r"@([a-z][\w:-]+\d{4}\w*)", body))
    assert len(keys) == len(set(keys))
    assert cited == set(keys)
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", body, re.S):
        assert (ROOT / picture).exists()
