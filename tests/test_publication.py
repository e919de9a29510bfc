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
    licences = [name.rpartition("/")[2] for name in codemeta["license"]]
    assert CITATION["license"] == licences
    assert {" AND ".join(licences), RECIPE["about"]["license"]} == {PROJECT["license"]}
    assert zenodo["license"] == licences[0]
    assert codemeta["keywords"] == zenodo["keywords"] == CITATION["keywords"]
    assert len(codemeta["author"]) == len(zenodo["creators"]) == len(CITATION["authors"])


def test_people_become_persons():
    author = {"family-names": "Doe", "given-names": "Kim", "orcid": "https://orcid.org/0000-0001"}
    assert MADE["_creator"](author) == {"name": "Doe, Kim", "orcid": "0000-0001"}
    assert MADE["_person"](author)["@type"] == "Person"


def test_conda_recipe_has_our_dependencies():
    (python, *rest), (_, *networks) = (output["requirements"]["run"] for output in RECIPE["outputs"])
    assert python == "python >=${{ python_min }}"
    assert f">={RECIPE['context']['python_min']}" == PROJECT["requires-python"]
    for lines, wanted in ((rest, PROJECT["dependencies"]), (networks, PROJECT["optional-dependencies"]["lm"])):
        assert {CONDA.get(name, name) + bound for name, bound in (line.split() for line in lines)} == set(wanted)


WORKFLOWS = {path.stem: path.read_text("utf-8") for path in (ROOT / ".github/workflows").iterdir()}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_are_pinned_and_may_do_little(name):
    jobs = yaml.safe_load(WORKFLOWS[name])
    assert jobs["permissions"] == {"contents": "read"}
    for job in jobs["jobs"].values():
        assert job["timeout-minutes"] <= 90
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        assert all(re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action) for action in used)
        assert "id-token" not in job.get("permissions", {}) or "RELEASE" in job["if"]


def test_every_classifier_has_a_job():
    versions = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", line)}
    systems = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Operating System" in line}
    assert versions <= set(re.findall(r"\b3\.\d+\b", WORKFLOWS["checks"]))
    assert systems == {"Linux", "MacOS", "Windows"}
    assert {"ubuntu", "macos", "windows"} == set(re.findall(r"(ubuntu|macos|windows)-", WORKFLOWS["checks"]))


def test_forms_are_complete():
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert [path.stem for path in forms] == ["bug", "corpus-format", "question"]
    for path in forms:
        form = yaml.safe_load(path.read_text("utf-8"))
        assert {"name", "description", "body"} <= set(form)
        ids = [field["id"] for field in form["body"]]
        assert len(ids) == len(set(ids))


OURS = {".py", ".pyi", ".stan", ".html", ".css", ".js", ".typed", ".pyc"}  # code


def test_every_shipped_file_of_data_has_its_licence():
    lines = (ROOT / "NOTICES.md").read_text("utf-8").splitlines()
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| `")]
    files = [path for path in (ROOT / "langdiff").rglob("*") if path.is_file() and path.suffix not in OURS]
    assert [row[0] for row in rows] == sorted(path.relative_to(ROOT / "langdiff").as_posix() for path in files)
    assert all(len(row) == 4 and all(row) for row in rows)
    named = {"MIT" if "MIT" in licence else licence.replace(" ", "-") for _, _, licence, _ in rows}
    assert set(PROJECT["license"].split(" AND ")) <= named
    for path in (ROOT / "licenses").glob("MIT-*.txt"):
        assert path.stem.removeprefix("MIT-") in (ROOT / "NOTICES.md").read_text("utf-8")
        assert re.search(r"^Copyright \(c\) \d{4}", path.read_text("utf-8"), re.MULTILINE)


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
    assert re.search(r"Copyright \d{4} the langdiff developers", (ROOT / "LICENSE").read_text("utf-8"))


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
