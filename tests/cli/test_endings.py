"""What a file holds goes by the ending of its name; another ending is refused before any work is done."""

import csv
import re

import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import DataError
from tests.tables.test_table_forms import Rows, of_tex

PARTS = ("json", "csv", "tsv", "parquet")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = ld.simulate(60, 12, seed=3).surprisals
    table.save(tmp_path / "bits.csv")
    noise = ld.simulate(60, 12, seed=4).surprisals
    noise.save(tmp_path / "other.csv")
    answers = ld.simulate_outcomes(60, 3, seed=1).outcomes
    answers.save(tmp_path / "answers.csv")
    return tmp_path


def written(path):
    """Return the names and numbers of a table, those of text to the last digit."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file, delimiter={".csv": ",", ".tsv": "\t"}[path.suffix])
    frame = pd.DataFrame(rows, columns=head)
    return frame.apply(lambda column: column if column.str.contains("[a-z]").any() else column.map(float))


@pytest.mark.parametrize("ending", PARTS)
def test_a_fit_or_its_table(langdiff, folder, ending):
    out = folder / f"fit.{ending}"
    assert langdiff("fit", "bits.csv", "--model", "1", "--out", out).code == 0
    expected = ld.fit(ld.read_surprisals(folder / "bits.csv"), model="1")
    if ending == "json":
        assert ld.read(out).difficulty.equals(expected.difficulty)
        return
    with pytest.raises(DataError):
        ld.read(out)
    frame = expected.to_frame().reset_index()
    pd.testing.assert_frame_equal(written(out), frame, check_exact=True, check_dtype=False)


TABLE = "use .csv, .tsv or .parquet."
FIT = "use .json (the result), .csv, .tsv, .parquet (its table), .md, .tex, .html or .txt."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "bits.csv", "--out", "x.cvs"], f"x.cvs: unknown kind of file '.cvs'; {FIT}"),
        (["fit", "bits.csv", "--out", "x"], f"x: unknown kind of file ''; {FIT}"),
        (["fit", "bits.csv", "--out", "x.feather"], f"x.feather: unknown kind of file '.feather'; {FIT}"),
        (["outcomes", "fit", "answers.csv", "--out", "x.nc"], f"x.nc: unknown kind of file '.nc'; {FIT}"),
        (["compare-models", "bits.csv", "--out", "x.json"], f"x.json: unknown kind of table '.json'; {TABLE}"),
        (["parity", "bits.csv", "--reference", "e1", "--out", "x.doc"], "unknown kind of file '.doc'; use .json"),
        (["parity", "bits.csv", "--reference", "e1", "--report", "x.md"], "unknown kind of page '.md'; use .html."),
        (["sample", "bits.csv", "--out", "x.csv"], "x.csv: draws are saved as NetCDF; use a name that ends in .nc."),
        (["constructions", "mine", "bits.csv", "--out", "x.csv"], "unknown kind of file '.csv'; use .tsv."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_other_endings_are_refused(langdiff, folder, arguments, message):
    before = sorted(path.name for path in folder.iterdir())
    done = langdiff(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert sorted(path.name for path in folder.iterdir()) == before


WORDS = ("1 it it PRON _ _ {} nsubj _ _", "2 ran run VERB _ _ 0 root _ _", "3 off off ADV _ _ 2 {} _ _", "\n")
BANK = "\n".join(WORDS).replace(" ", "\t")
CALLS = [
    ["fit", "bits.csv", "--contrast", "e2 - e1"],
    ["outcomes", "fit", "crossed.csv", "--contrast", "s2 - s1"],
    ["correlate", "e.csv", "x.csv", "-t", "area", "--edition-info", "places.csv", "--contrast", "b - a"],
    ["translationese", "bits.csv", "origins.csv", "--min-native", "10"],
    ["constructions", "attachment", "gold.conllu", "--parser", "one=one.conllu", "--by", "relation"],
    ["table", "bits.csv", "other.csv", "--contrast", "e2 - e1"],
]


def bare(cells):
    """Return cells as one text without spaces and without signs of errors, which are columns of their own in LaTeX."""
    return re.sub(r"[\s±]", "", "".join(cells))


def rows_of_latex(text):
    """Yield the rows of all tables, after checking that each has as many columns as its table."""
    for shape, body in re.findall(r"\\begin\{tabular\}\{(.*)\}\n(?s:(.*?))\\end\{tabular\}", text):
        count = len(re.sub(r"@\{[^}]*\}\}?", "", shape))
        for line in body.split("\\midrule\n", 1)[1].splitlines():
            if line in (r"\midrule", r"\bottomrule"):
                continue
            cells = re.split(r"(?<!\\) & ", line.removesuffix(r" \\"))
            spans = [re.fullmatch(r"\\multicolumn\{(\d+)\}\{.\}\{(.*)\}", cell) for cell in cells]
            assert sum(int(span[1]) if span else 1 for span in spans) == count
            own = (
                re.sub(r"^\\emph\{(.*)\}$", r"\1", span[2] if span else cell)
                for span, cell in zip(spans, cells, strict=True)
            )
            yield bare(map(of_tex, own))


def rows_of_markdown(text):
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        for line in table.splitlines()[2:]:
            cells = [re.sub(r"\\([\\|*_`\[\]])", r"\1", cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            yield bare(re.sub(r"^\*(.*)\*$", r"\1", cell).replace("&lt;", "<") for cell in cells)


def rows_of_html(text):
    for table in re.findall("<tbody>.*?</tbody>", text, re.DOTALL):
        page = Rows()
        page.feed(table)
        yield from map(bare, page.rows)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
@pytest.mark.filterwarnings("ignore")
def test_print_and_files_have_the_same_cells(langdiff, folder, call):
    ld.simulate_crossed_outcomes(60, 3, 3, seed=1).outcomes.save(folder / "crossed.csv")
    names = [f"e{k + 1}" for k in range(12)]
    pd.DataFrame({"edition": names, "lm": [k % 5 / 9 for k in range(12)]}).to_csv("e.csv", index=False)
    pd.DataFrame({"edition": names, "kind": list("aabb") * 3}).to_csv("x.csv", index=False)
    places = {"edition": names, "language": names, "latitude": range(12), "longitude": [k * k % 50 for k in range(12)]}
    pd.DataFrame(places).to_csv("places.csv", index=False)
    rows = {"intent": ld.read_surprisals("bits.csv").intents, "original_language": ["e1", "e2", "und"] * 20}
    pd.DataFrame(rows).to_csv("origins.csv", index=False)
    (folder / "gold.conllu").write_text(3 * BANK.format(2, "advmod"))
    (folder / "one.conllu").write_text(2 * BANK.format(2, "advmod") + BANK.format(3, "compound"))
    printed = langdiff(*call, columns=None).good.out
    shown = [bare(line) for line in printed.splitlines()]
    found = {}
    for ending, rows_of in ((".tex", rows_of_latex), (".md", rows_of_markdown), (".html", rows_of_html)):
        path = folder / f"t{ending}"
        assert langdiff(*call, "--out", path).code == 0
        found[ending] = list(rows_of(path.read_text(encoding="utf-8")))
    assert len(found[".md"]) > 1
    assert found[".tex"] == found[".md"] == found[".html"]
    assert [row for row in shown if row in set(found[".md"])] == found[".md"]
    if "--contrast" in call and call[0] != "table":
        assert langdiff(*call, "--out", folder / "t.csv").code == 0
        kinds = pd.read_csv(folder / "t.csv")["table"]
        assert kinds.iloc[-1] == "contrasts"
        assert kinds.nunique() == 2
