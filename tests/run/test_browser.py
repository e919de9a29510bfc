"""The report in a real browser, headless Chromium; skipped where there is none."""

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
from dataclasses import replace

import pytest

import langdiff as ld
from langdiff.run import Experiment, run_experiment
from langdiff.run.report import write_report

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"no browser: none of {', '.join(NAMES)} is installed")
HOSTILE = "<script>document.title='run'<script> & $x_1$ \"q\""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a run in which an edition has a hostile name."""
    folder = tmp_path_factory.mktemp("browser")
    made = ld.synthesize(150, 4, seed=3).multitext
    ld.write_multitext(made, folder / "corpus")
    settings = {
        "name": "hostile",
        "corpus": {"format": "pbc", "path": str(folder / "corpus")},
        "lm": {"models": ["kneser-ney-2", "kneser-ney-3"], "max_replaced": 1.0, "baselines": False},
    }
    run = run_experiment(Experiment.model_validate(settings), folder / "run", progress=False)
    names = {run.editions.index[0]: HOSTILE}
    renamed = replace(
        run,
        editions=run.editions.rename(index=names),
        surprisals={lm: renamed_table(table, names) for lm, table in run.surprisals.items()},
    )
    fits = {lm: ld.fit(table) for lm, table in renamed.surprisals.items()}
    write_report(replace(renamed, fits=fits))
    return run.report


def renamed_table(table, names):
    fields = ("bits", "eos_bits", "characters", "bytes", "replaced", "units")
    frames = {field: getattr(table, field) for field in fields}
    info = None if table.edition_info is None else table.edition_info.rename(index=names)
    renamed = {k: None if f is None else f.rename(columns=names) for k, f in frames.items()}
    return replace(table, edition_info=info, **renamed)


def seen(page, folder, script, *flags, when="DOMContentLoaded"):
    """Return what a script finds on the page, and the messages on the console."""
    copy = folder / "page.html"
    told = f"document.documentElement.dataset.found = JSON.stringify((() => {{{script}}})())"
    told = f"addEventListener('{when}', () => {{ {told} }})"
    text = page.read_text(encoding="utf-8").replace("</body>", f"<script>{told}</script></body>")
    own = base64.b64encode(hashlib.sha256(told.encode()).digest()).decode()  # or the page's policy would block it
    copy.write_text(text.replace("script-src ", f"script-src &#39;sha256-{own}&#39; ", 1), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom", *flags]
    done = subprocess.run(
        [*command, f"--user-data-dir={folder / 'profile'}", copy.as_uri()], capture_output=True, text=True, timeout=300
    )
    found = re.search(r'data-found="([^"]*)"', done.stdout)
    assert found, done.stderr
    return json.loads(html.unescape(found[1])), [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_no_message_no_request_and_text_is_text(report, tmp_path):
    script = """
        const outside = performance.getEntriesByType("resource").filter((r) => !r.name.startsWith("data:"));
        return [document.scripts.length, outside.length, document.title];
    """
    found, console = seen(report, tmp_path, script)
    assert found == [2, 0, "hostile – langdiff report"]  # two scripts: the page's own and this
    assert console == []


def test_whatever_else_is_in_the_page_is_blocked(report, tmp_path):
    """As it would be if a name got into the page as it is: no script, handler, style sheet, form or picture of it."""
    page = tmp_path / "injected.html"
    others = """<script>document.body.dataset.bad = "script"</script><img src="https://example.com/x.png">
        <img src="x" onerror="document.body.dataset.bad = 1"><link rel="stylesheet" href="https://example.com/x.css">
        <iframe src="https://example.com"></iframe><base href="https://example.com/"></body>"""
    page.write_text(report.read_text(encoding="utf-8").replace("</body>", others), encoding="utf-8")
    script = "return [document.body.dataset.bad ?? null, document.baseURI]"
    (bad, base), console = seen(page, tmp_path, script, when="load")
    assert bad is None
    assert not base.startswith("https:")
    assert len([line for line in console if "Content Security Policy" in line]) >= 5


def test_every_picture_can_be_drawn(report, tmp_path):
    script = """
        const pictures = [...document.querySelectorAll("figure svg")];
        const texts = pictures.flatMap((picture) => [...picture.querySelectorAll("text")].map((t) => t.textContent));
        const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
        const uses = [...document.querySelectorAll("use")].map((use) => use.getAttribute("xlink:href").slice(1));
        const lost = uses.filter((id) => !document.getElementById(id));
        return [pictures.length, ids.length - new Set(ids).size, lost.length, uses.length, texts];
    """
    (pictures, twice, lost, uses, texts), _ = seen(report, tmp_path, script)
    assert pictures >= 6
    assert (twice, lost) == (0, 0)
    assert uses > 100
    beginning = HOSTILE[:20]  # as it is written; the end of a long name is cut
    assert any(text.startswith(beginning) for text in texts)


def test_a_click_sorts_and_another_turns_the_order(report, tmp_path):
    script = """
        const heads = [...document.querySelectorAll("#difficulties thead th")];
        const at = heads.findIndex((head) => head.textContent.endsWith("%"));
        const head = heads[at];
        const rows = () => [...document.querySelectorAll("#difficulties tbody tr")];
        const column = () => rows().map((row) => +row.cells[at].dataset.value);
        head.click();
        const first = column();
        head.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
        return [first, column(), head.getAttribute("aria-sort")];
    """
    (first, second, order), _ = seen(report, tmp_path, script)
    assert first == sorted(first, reverse=True)
    assert second == sorted(first)
    assert order == "ascending"


@pytest.mark.parametrize("width", [390, 1300])
def test_nothing_is_wider_than_the_window(report, tmp_path, width):
    """In a frame as wide as a phone: windows of the browser are at least 500 pixels wide."""
    framed = tmp_path / "framed.html"
    page = html.escape(report.read_text(encoding="utf-8"))
    framed.write_text(f'<body><iframe width="{width}" height="800" srcdoc="{page}"></iframe></body>', encoding="utf-8")
    script = """
        const inside = document.querySelector("iframe").contentDocument;
        return [inside.documentElement.clientWidth, inside.documentElement.scrollWidth, inside.links.length];
    """
    (shown, needed, links), _ = seen(framed, tmp_path, script, when="load")
    assert shown <= width
    assert needed <= shown
    assert links > 5


@pytest.mark.parametrize("dark", [True, False])
def test_the_page_follows_the_colours_of_the_system(report, tmp_path, dark):
    script = "return getComputedStyle(document.body).backgroundColor;"
    found, _ = seen(report, tmp_path, script, f"--blink-settings=preferredColorScheme={0 if dark else 1}")
    assert found == ("rgb(27, 27, 31)" if dark else "rgb(255, 255, 255)")


def test_every_entry_of_the_contents_leads_somewhere(report, tmp_path):
    script = "return [...document.querySelectorAll('nav a')].map((a) => !!document.querySelector(a.hash));"
    found, _ = seen(report, tmp_path, script)
    assert len(found) >= 6
    assert all(found)
