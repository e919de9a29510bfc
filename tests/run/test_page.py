"""Pages allow no script but their own: the policy comes first, and is about the script that is there."""

import base64
import hashlib
import re
from html import unescape
from html.parser import HTMLParser

import pytest

import langdiff as ld
from langdiff.run import Experiment, run_experiment
from langdiff.run.report import write_parity_report

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; "
    "form-action 'none'"
)


class Page(HTMLParser):
    """Elements of a page in order, and the text of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements and self.elements[-1][0] == "script" and data.strip():
            self.scripts.append(data)


@pytest.fixture(scope="module", params=["report", "parity"])
def page(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "parity":
        bits = ld.simulate(60, 3, seed=1).surprisals
        path = write_parity_report(ld.measure_parity(bits, reference="e1"), folder / "parity.html", fit=ld.fit(bits))
    else:
        settings = {
            "name": "policy",
            "corpus": {"format": "synthetic", "n_intents": 100, "n_languages": 2},
            "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0, "baselines": False},
        }
        path = run_experiment(Experiment.model_validate(settings), folder / "run", progress=False).report
    return path.read_text(encoding="utf-8")


def test_the_policy_is_first_and_of_the_one_script(page):
    parsed = Page(page)
    tags = [tag for tag, _ in parsed.elements]
    assert len(parsed.scripts) == tags.count("script") == 1
    digest = base64.b64encode(hashlib.sha256(parsed.scripts[0].encode()).digest()).decode()
    first = parsed.elements[tags.index("head") + 1]
    assert first == ("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY.format(digest)})
    assert page.index("charset") < 1024  # where browsers look for it


def test_no_handlers_and_no_addresses_of_others(page):
    for tag, attributes in Page(page).elements:
        assert not [name for name in attributes if name.startswith("on")]
        assert tag not in ("iframe", "object", "embed", "base", "form", "link")
        assert attributes.get("src", "data:").startswith("data:")
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"url\(|@import", page.split("</style>")[0])


def test_the_report_begins_with_the_sentences_of_the_table_and_has_the_differences(tmp_path):
    settings = {
        "name": "two",
        "corpus": {"format": "synthetic", "n_intents": 100, "n_languages": 3},
        "lm": {"models": ["kneser-ney-2", "kneser-ney-3"], "max_replaced": 1.0, "baselines": False},
    }
    run = run_experiment(Experiment.model_validate(settings), tmp_path / "run", progress=False)
    text = run.report.read_text(encoding="utf-8")
    compared = ld.table(run.fits)
    shown = re.sub(r"\s+", " ", unescape(text))
    for sentence in compared.sentences():
        assert sentence in shown
    worst = compared.differences.loc[compared.differences["percent"].abs().idxmax()]
    assert f"{worst['percent']:+.1f} ± {worst['percent_std_error']:.1f}".replace("-", "−") in shown
