"""Passages as text and HTML, against golden text; nothing of the document is markup."""

from html.parser import HTMLParser

import pytest

from langdiff.errors import ConfigError, DataError
from langdiff.parallelism import Parallelism, Section, make_document, passage_html, passage_text
from tests.helpers import refused

TOKENS = "he [ came ] , and she <b> came \x1b[31m ; so they left & went .".replace("[ came ]", "came").split()
SETS = [Parallelism(((0, 4), (8, 10))), Parallelism(((0, 1), (2, 4)), "chiastic"), Parallelism(((5, 7), (11, 12)))]
GOLD = make_document("7", TOKENS, SETS, [Section("1", 0, 8), Section("2", 8, len(TOKENS))])
PREDICTED = make_document("7", TOKENS, SETS[:1], [Section("1", 0, 8), Section("2", 8, len(TOKENS))])
TEXT = r"[[he]₁χ came [, and]₁χ]₂ she [<b> came]₃ \u001b\[31m [; so]₂ they [left]₃ & went."
SIDES = """gold:
[[he]₁χ came [, and]₁χ]₂ she [<b> came]₃ \\u001b\\[31m
  2 word FM
  3 parallelism FN
predicted:
[he came, and]₁ she <b> came \\u001b\\[31m
  1 word FM"""
HTML = (
    '<p><span class="branch" style="border-color: #b5532a"><span class="branch chiastic" style="border-color: #2a6f97">'
    'he<sub>1χ</sub></span> came <span class="branch chiastic" style="border-color: #2a6f97">, and<sub>1χ</sub></span>'
    '<sub>2</sub></span> she <span class="branch" style="border-color: #5b8c3a">&lt;b&gt; came<sub>3</sub></span> '
    "\\u001b[31m</p>"
)


def test_text():
    assert passage_text({"gold": GOLD}) == TEXT
    labels = {"gold": {2: "word FM", 3: "parallelism FN", 9: "not there"}, "predicted": {1: "word FM"}}
    assert passage_text({"gold": GOLD, "predicted": PREDICTED}, section="1", labels=labels) == SIDES


def test_html():
    page = passage_html({"gold": GOLD}, section="1")
    assert HTML in page
    assert "http" not in page  # nothing is loaded
    both = passage_html({"<gold>": GOLD, "predicted": PREDICTED}, labels={"predicted": {1: "word <FM>"}})
    assert "<h2>&lt;gold&gt;</h2>" in both
    assert "<ul><li>1 word &lt;FM&gt;</li></ul>" in both


class Nesting(HTMLParser):
    """Checks that every element is closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, _):
        self.open += [] if tag == "meta" else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_html_is_well_nested_and_keeps_the_text():
    reader = Nesting()
    reader.feed(passage_html({"gold": GOLD}))
    assert reader.open == []
    assert "she <b> came3 \\u001b[31m" in reader.text


def test_overlapping_branches_only_as_text():
    sets = [Parallelism(((0, 2), (4, 5))), Parallelism(((1, 3), (5, 6)))]
    document = make_document("7", list("abcdef"), sets)
    assert passage_text({"x": document}) == "[a [b]₁ c]₂ d [e]₁ [f]₂"
    refused(DataError, r"Document 7 \(x\): overlapping branches cannot be boxes", passage_html, {"x": document})


def test_bad_requests():
    with pytest.raises(ConfigError, match=r"Document 7 has no section '9'; the first are '1', '2'"):
        passage_text({"gold": GOLD}, section="9")
    refused(ConfigError, "one or two sides; got 0", passage_text, {})
    refused(ConfigError, "labels of 'b', but the sides are a", passage_text, {"a": GOLD}, labels={"b": {}})
    with pytest.raises(DataError, match=r"the two sides have different tokens \(15 and 1\)"):
        passage_html({"a": GOLD, "b": make_document("7", ["x"], [])})
