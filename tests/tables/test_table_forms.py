"""A table of results has the same numbers under the same names in text, Markdown, LaTeX, HTML and CSV, parsed back."""

import csv
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import langdiff as ld

MISSING, WIDE = "–", 400
LETTERS = st.text(st.sampled_from("ab&%_|<>#$~^{}\\*'=+-@é汉语אבعربي"), min_size=1, max_size=9)
TEX = next(filter(None, map(shutil.which, ("xelatex", "lualatex", "tectonic"))), None)
OF_TEX = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textless{}": "<",
    r"\textgreater{}": ">", r"\textbar{}": "|", r"$\pm$": "±", "$-$": "\u2212", "--": "–", r"\ldots{}": "…",
    **{rf"\{mark}": mark for mark in "&%$#_{}"},
}  # fmt: skip


def of_tex(text):
    """Return a text whose characters were escaped for LaTeX, the longest escapes first."""
    known = [*sorted(OF_TEX, key=len, reverse=True), "{}"]
    return re.sub("|".join(map(re.escape, known)), lambda found: OF_TEX.get(found[0], ""), text)


def effects_of(names, rng):
    """Return random difficulties of editions with a random covariance."""
    root = rng.normal(0, 0.05, (40, len(names)))
    index = pd.Index(names)
    return ld.Effects.from_covariance(
        pd.Series(rng.normal(0, 0.2, len(names)), index), covariance=pd.DataFrame(root.T @ root / 40, index, index)
    )


def from_text(made):
    """Yield names and cells from the grid as text: a name is known by its place, cells by three spaces or more."""
    for line, name in zip(made.grid().text(WIDE).splitlines()[2:], made.lines["name"], strict=True):
        assert line.startswith(f"  {name}")
        cells = re.split(r"\s{3,}", line[2 + len(name) :].strip())
        yield name, [cell.replace(" ±", "±") for cell in cells if cell]


def from_markdown(made):
    """Yield names and cells from a pipe table."""
    for line in made.grid().markdown().splitlines()[2:]:
        name, *cells = (part.strip() for part in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1])
        name = re.sub(r"^\*(?=.)(.*)(?<!\\)\*$", r"\1", name)
        name = re.sub(r"&(lt|amp);", lambda entity: {"lt": "<", "amp": "&"}[entity[1]], name)
        name = re.sub(r"\\([\\|*_])", r"\1", name)
        yield name, [cell.replace(" ± ", "±") for cell in cells if cell]


def from_latex(made):
    """Yield names and cells from the lines between the rules, after checking that all have one number of columns."""
    text = made.to_latex()
    shape = re.search(r"\\begin\{tabular\}\{(.*)\}\n", text)[1]
    count = len(re.sub(r"@\{[^}]*\}\}?", "", shape))
    body = text[text.index("\\midrule\n") : text.index("\\bottomrule")]
    for line in body.splitlines()[1:]:
        if line == r"\midrule":
            continue
        assert line.endswith(r" \\")
        if found := re.fullmatch(r"\\multicolumn\{(\d+)\}\{l\}\{\\emph\{(.*)\}\} \\\\", line):
            assert int(found[1]) == count
            yield of_tex(found[2]), []
            continue
        name, *cells = re.split(r"(?<!\\) & ", line.removesuffix(r" \\"))
        spans = [re.fullmatch(r"\\multicolumn\{2\}\{r\}\{(.*)\}", cell) for cell in cells]
        assert 1 + sum(2 if span else 1 for span in spans) == count
        texts, place = [], 0
        while place < len(cells):
            if spans[place] or not re.fullmatch(r"(\+|\$-\$)[\d.]+", cells[place]):
                texts.append(of_tex(spans[place][1] if spans[place] else cells[place]))
                place += 1
            else:
                texts.append(f"{of_tex(cells[place])}±{cells[place + 1]}")
                place += 2
        yield of_tex(name), [text for text in texts if text]


class Rows(HTMLParser):
    """The rows of a page's tables."""

    def __init__(self):
        super().__init__()
        self.rows, self.cell = [], None

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.cell = ""

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            self.rows[-1].append(self.cell)
            self.cell = None


def from_html(made):
    """Yield names and cells from the body of a page's table."""
    page = Rows()
    page.feed(made.grid().html("a caption"))
    for name, *cells in page.rows[2:]:
        yield name, [cell.replace(" ± ", "±") for cell in cells if cell]


def from_csv(made, folder):
    """Return percents and errors by fit and row; an apostrophe protects names that a spreadsheet would calculate."""
    made.save(folder / "table.csv")
    found = {}
    with (folder / "table.csv").open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            column, row = (re.sub(r"^'(?='*[=+@\-\t])", "", line[name]) for name in ("column", "row"))
            found[column, row, line["statistic"]] = float(line["value"])
    return found


def as_printed(value, error, digits):
    """Return a number and its standard error as they are to be printed."""
    return f"{value:+z.{digits}f}".replace("-", "\u2212") + f"±{error:.{digits}f}"


@settings(max_examples=30, deadline=None)
@example(names=["&lt;", "=1+1", "a|b\\"], seed=3, fits=2, grouped=True)
@example(names=["''", "'=1", "<"], seed=0, fits=1, grouped=False)
@given(
    names=st.lists(LETTERS, min_size=3, max_size=6, unique=True),
    seed=st.integers(0, 99),
    fits=st.integers(1, 3),
    grouped=st.booleans(),
)
def test_the_same_numbers_in_every_form(tmp_path_factory, names, seed, fits, grouped):
    rng = np.random.default_rng(seed)
    # the last edition is in the first fit only
    given = {f"lm {k} & %": effects_of(names if k == 0 else names[:-1], rng) for k in range(fits)}
    groups = [f"F{k % 2}_" for k in range(len(names))]
    info = pd.DataFrame({"family": groups}, pd.Index(names, name="edition"))
    if set(groups) & set(names):
        return
    made = ld.table(given, paired=False, **({"by": "family", "edition_info": info} if grouped else {}))
    forms = [list(form(made)) for form in (from_text, from_markdown, from_latex, from_html)]
    for form in forms[1:]:
        assert form == forms[0]

    exact = from_csv(made, tmp_path_factory.mktemp("forms"))
    digits = len(re.search(r"\.(\d+)±", " ".join(cell for _, cells in forms[0] for cell in cells))[1])
    for (shown, cells), line in zip(forms[0], made.lines.itertuples(), strict=True):
        wanted = []
        for name, effects in given.items() if line.kind != "group" else ():
            own = [edition for edition in effects.estimate.index if groups[names.index(edition)] == line.group]
            members = own if line.kind == "mean" else [line.row]
            if not set(members) <= set(effects.estimate.index):
                wanted.append(MISSING)
                continue
            if line.kind == "mean" and len(members) < 2:
                wanted.append(MISSING)
                continue
            # by hand: the mean of some logarithms, and the root of the mean of their covariance
            value = effects.estimate[members].mean()
            error = np.sqrt(effects.covariance.loc[members, members].to_numpy().mean())
            percent, of_percent = 100 * np.expm1(value), 100 * np.exp(value) * error
            wanted.append(as_printed(percent, of_percent, digits))
            assert exact[name, str(line.row), "percent"] == pytest.approx(percent, rel=1e-12)
            assert exact[name, str(line.row), "percent_std_error"] == pytest.approx(of_percent, rel=1e-9)
        assert shown == line.name
        assert [cell for cell in cells if "±" in cell or cell == MISSING] == wanted
    refuse_unbalanced(made.to_latex())


def refuse_unbalanced(text):
    """Assert that braces, dollars and environments of a LaTeX text are closed in their order, and marks escaped."""
    plain = re.sub(r"\\[\\&%$#_{}]", "", "\n".join(line for line in text.splitlines() if not line.startswith("%")))
    depth = 0
    for mark in re.findall("[{}]", plain):
        depth += 1 if mark == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert plain.count("$") % 2 == 0
    assert not re.search("[%#_~^]", plain)
    opened = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", plain):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []


@pytest.mark.parametrize("text", [r"a_b", r"\emph{a", r"\begin{table}", "$a", "50 %"])
def test_what_is_not_balanced_is_found(text):
    with pytest.raises(AssertionError):
        refuse_unbalanced(text)


@pytest.mark.skipif(TEX is None, reason="needs xelatex, lualatex or tectonic")
def test_latex_compiles_with_booktabs_alone(tmp_path):
    effects = effects_of(["a & b", "50 %_x", "{c}~^\\", "汉语", "<|>", "#$1"], np.random.default_rng(0))
    table = ld.table({"one & two": effects, "three": effects}, paired=False, contrasts="pairs").to_latex()
    document = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n" + table + "\n\\end{document}\n"
    (tmp_path / "table.tex").write_text(document, encoding="utf-8")
    batch = [] if "tectonic" in str(TEX) else ["-interaction=batchmode", "-halt-on-error"]
    done = subprocess.run([str(TEX), *batch, "table.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "table.pdf").stat().st_size > 0
