"""A run says which passages of its corpus are out of step, in its manifest, its tables and its report."""

import json

import pytest

import langdiff as ld
from langdiff.corpora import write_multitext
from langdiff.run import read_run

pytestmark = pytest.mark.filterwarnings("always::langdiff.errors.LangdiffWarning")  # the command prints it


@pytest.fixture
def corpus(tmp_path):
    """Return a folder of four editions, one of which is a line ahead from line 61 to line 120."""
    texts = ld.synthesize(200, 4, seed=3).multitext.to_frame()
    texts.iloc[60:120, 1] = texts.iloc[61:121, 1].to_numpy()
    write_multitext(ld.read_frame(texts), tmp_path / "texts", format="moses")
    return tmp_path / "texts", texts.columns[1]


@pytest.mark.parametrize("how", ["warn", "leave-out", "off"])
def test_a_run_says_what_is_out_of_step(langdiff, corpus, tmp_path, how):
    folder, edition = corpus
    file, directory = tmp_path / "one.toml", tmp_path / "out"
    file.write_text(f"""name = "one"
[corpus]
format = "moses"
path = "{folder}"
alignment = "{how}"
[selection]
n_editions = 4
[lm]
models = ["kneser-ney-2"]
max_replaced = 1.0
baselines = false
""")
    done = langdiff("run", file, "--out", directory).good
    assert (f"do not fit ({edition} 1)" in done.err) is (how != "off")
    run = read_run(directory)
    manifest = json.loads((directory / "manifest.json").read_text())
    page = (directory / "report.html").read_text()
    if how == "off":
        assert manifest["alignment"] is None
        assert "Are the texts aligned?" not in page
        return
    assert [(row["edition"], row["kind"], row["offset"]) for row in manifest["alignment"]] == [(edition, "shifted", 1)]
    assert run.analyses["alignment"].table["edition"].tolist() == [edition]
    assert (directory / "tables" / "alignment.csv").is_file()
    assert "Are the texts aligned?" in page
    assert "of the others" in page
    assert (len(run.left_out) > 0) is (how == "leave-out")
    assert (sum(manifest["parts"][name] for name in ("train", "dev", "test")) < 200) is (how == "leave-out")
