"""Run directories that langdiff 0.1.0 finished in November 2026 are resumed without repeating what they hold.

``python -m tests.run.test_old_run FOLDER`` made ``data/old_run.tar.xz``; FOLDER must not exist. Do not make it again:
with a version that does not find these results, users would have to repeat all of theirs.
"""

import json
import platform
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

import pandas as pd
import pytest

import langdiff as ld
from langdiff.run import read_run, run_experiment
from tests.as_before import agree, call, hashes

OLD = Path(__file__).parent / "data" / "old_run.tar.xz"
ATTRIBUTES = ("alignment", "baselines", "folds", "curve")  # of a run, but no sections, in November 2026
DRAWN = ("report.html", "figures", ".lock")  # not in the archive, as they are drawn again
CORPUS = """
seed = 3

[corpus]
format = "moses"
path = "corpus"

[lm]
max_replaced = 1.0
device = "cpu"
"""
EXPERIMENTS = {
    "parts": f"""
name = "parts"
{CORPUS}models = ["kneser-ney-2", "kneser-ney-3"]
floors = true

[selection]
min_intents = 60

[split]
block = 4
dev = 1
test = 2

[fit]
model = "2"
clusters = "document"

[curve]
sizes = [10, 30]
lm = "kneser-ney-2"

[compare]
models = ["1", "2", "2L"]
k = 3

[goodness]
models = ["1", "2"]
n_subsets = 2

[translationese]
languages = ["deu", "eng"]

[predictors]

[correlate]
tests = ["pearson", "spearman"]

[parity]
reference = "eng"
bootstrap = 20
""",
    "folds": f"""
name = "folds"
{CORPUS}models = ["kneser-ney-2"]
floors = false

[split]
groups = "document"
folds = 3

[fit]
model = "2"
restricted = true
bootstrap = 20

[compare]
models = ["1", "2"]

[goodness]
models = ["1", "2"]
n_subsets = 2

[parity]
reference = "eng"
bootstrap = 0
""",
}


def contents(run) -> dict:
    """Return the tables of a run."""
    tables = {f"bits by {lm}": table.bits for lm, table in run.surprisals.items()}
    tables |= {name: analysis.table for name, analysis in run.analyses.items() if name not in ATTRIBUTES}
    tables |= {
        "difficulties": run.to_frame().drop(columns=["rank_low", "rank_high"], errors="ignore"),
        "floors": run.baselines,
        "folds": run.folds,
    }
    tables |= {} if run.curve is None else {"curve": run.curve.to_frame()}
    known = {
        name: table.to_json(orient="split", double_precision=15) for name, table in tables.items() if table is not None
    }
    return {name: json.loads(table) for name, table in known.items()}


def resumed(folder: Path) -> dict:
    """Resume both runs, whose corpus now lies elsewhere."""
    found = {}
    for name in EXPERIMENTS:
        old = read_run(folder / name)
        corpus = old.experiment.corpus.model_copy(update={"path": [str(folder / "corpus")]})
        experiment = old.experiment.model_copy(update={"corpus": corpus})
        run = run_experiment(experiment, folder / name, progress=False)
        found[name] = {
            "read": contents(old),
            "resumed": contents(run),
            "notes": {
                section: list(analysis.notes) for section, analysis in run.analyses.items() if section not in ATTRIBUTES
            },
            "signatures": {lm: fit.signature for lm, fit in run.fits.items()},
            "provenance": {lm: table.provenance.signature() for lm, table in run.surprisals.items()},
        }
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Folder of the runs; files before they were resumed; what was expected, and what was found."""
    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(OLD) as archive:
        archive.extractall(folder, filter="data")
    before = {name: hashes(folder / name) for name in EXPERIMENTS}
    versions = json.loads((folder / "parts" / "manifest.json").read_text(encoding="utf-8"))["versions"]
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return folder, before, expected, call(versions, __name__, "resumed", folder)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_nothing_that_is_kept_is_made_again(runs, name):
    folder, before, *_ = runs
    # correlate depends on the estimates, whose last digits are those of the processor
    made = {
        file: known
        for file, known in before[name].items()
        if file.startswith(("jobs/", "curve-jobs/")) and not file.endswith("/correlate.json")
    }
    models = {"parts": 5 * 2 + 2 * 5, "folds": 3 * 5}[name]
    assert sum(file.endswith("/model/model.json") for file in made) == models
    sections = {"parts": "compare goodness translationese predictors parity", "folds": "compare goodness parity"}[name]
    assert {f"jobs/analyses/{section}.json" for section in sections.split()} <= made.keys()
    assert ("jobs/floors.json" in made) == (name == "parts")
    after = hashes(folder / name)
    assert {file for file, (content, _) in made.items() if after[file][0] != content} == set()
    written = {file for file in made if after[file] != made[file]}
    assert {file.split("/")[-1] for file in written} <= {"preparation.json"}  # written each time, with the same content
    new = {file for file in after.keys() - before[name].keys() if file.startswith(("jobs/", "curve-jobs/"))}
    assert new == {"jobs/analyses/alignment.json"}  # a section that these runs did not have


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_numbers_and_signatures_are_those_of_then(runs, name):
    *_, expected, found = runs
    then, now = expected[name], found[name]
    for tables in (now["read"], now["resumed"]):
        assert tables.keys() == then["read"].keys()
        # p-values of correlate were adjusted over all tests together, and are within each kind of test
        compared = [table for table in tables if table != "correlate"]
        assert [table for table in compared if not agree(tables[table], then["read"][table], 1e-6, 1e-8)] == []
    assert now["signatures"] == then["signatures"]
    assert now["provenance"] == then["provenance"]
    notes = {section: text for section, text in now["notes"].items() if section != "correlate"}
    assert notes == {section: text for section, text in then["notes"].items() if section != "correlate"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_report_is_made(runs, name):
    folder, before, *_ = runs
    assert not {file for file in before[name] if file.startswith(DRAWN)}
    assert "</html>" in (folder / name / "report.html").read_text(encoding="utf-8")


def make(folder: Path) -> None:
    """Write the corpus, run the experiments, and write the archive."""
    platform.platform = lambda: "Linux"  # nothing else about the machine is of use
    corpus = folder / "corpus"
    texts = ld.synthesize(120, 5, seed=3).multitext
    codes = dict(zip(["deu", "eng", "fin", "fra", "rus"], texts.editions, strict=True))
    frame = pd.DataFrame({code: texts.text(edition) for code, edition in codes.items()})
    ld.write_multitext(ld.read_frame(frame.set_axis(range(1, 121))), corpus)
    origins = [["deu", "eng", "fin"][k // 6 % 3] for k in range(120)]
    (corpus / "original_language.txt").write_text("\n".join([*origins, ""]))
    (corpus / "documents.tsv").write_text("\n".join(["document", *(f"d{k // 6}" for k in range(120)), ""]))
    for name, text in EXPERIMENTS.items():
        (folder / f"{name}.toml").write_text(text)
        run_experiment(folder / f"{name}.toml", folder / name, progress=False)
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        (folder / "expected.json").write_text(json.dumps(resumed(Path(copy))))
    with tarfile.open(OLD, "w:xz", preset=9) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            if not {*path.relative_to(folder).parts}.intersection(DRAWN):
                archive.add(path, path.relative_to(folder), filter=of_nobody)


def of_nobody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave the names of the owner out."""
    entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, "", ""
    return entry


if __name__ == "__main__":
    make(Path(sys.argv[1]))
