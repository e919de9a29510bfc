"""Sermons and essays as released: statistics, the published splits, and the same parallelisms in three forms."""

import json
import warnings
from collections import Counter

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from langdiff.errors import LangdiffWarning
from langdiff.parallelism import nesting, parallelism_statistics, read_parallelisms, split_documents, tag_counts

pytestmark = pytest.mark.real_data
STATISTICS = {
    "asp": {"documents": 64, "sections": 396, "tokens": 107206, "branched tokens": 15666, "branches": 3704,
            "nested branches": 25, "parallelisms": 1644, "nested parallelisms": 10, "related pairs": 2702},
    "psei": {"documents": 327, "sections": 3080, "tokens": 192955, "branched tokens": 19835, "branches": 1692,
             "nested branches": 0, "parallelisms": 619, "nested parallelisms": 0, "related pairs": 1637},
}  # fmt: skip
MEANS = {
    "asp": [(4.15, 3.16), (2.25, 0.68), (2.57, 2.47), (4.23, 2.61), (0.24, 0.19)],
    "psei": [(0.20, 0.47), (2.73, 0.74), (2.45, 4.36), (11.72, 7.03), (0.31, 0.15)],
}
HISTOGRAMS = {
    "asp": [698, 317, 628, 549, 154, 217, 96, 21, 7, 15],
    "psei": [91, 288, 454, 400, 197, 123, 59, 13, 1, 11],
}
WITHOUT_OVERLAP = {"asp": 24.2, "psei": 2.1}
CATEGORIES = {"asp": {"flat": 57, "nested": 7}, "psei": {"flat": 327}}
ERRORS = {"asp": (1.58e-5, 2.31e-6, 9.0e-6), "psei": (9.85e-6, 1.45e-7, 5.0e-6)}
WELCH = {  # statistic and p-value of inner, then of outer counts, for every pair of parts
    "asp": [0.5722, 0.5797, 0.4990, 0.6284, -0.2162, 0.8347, -0.3236, 0.7557, 0.3668, 0.7210, 0.7405, 0.4727,
            -0.5816, 0.5705, -0.5942, 0.5631, -0.1848, 0.8557, 0.0509, 0.9601, 0.4290, 0.6751, 0.7038, 0.4980],
    "psei": [-0.3236, 0.7476, -0.4972, 0.6212, -0.0588, 0.9533, 0.2235, 0.8240, -0.0148, 0.9882, 1.1381, 0.2588,
             0.2166, 0.8291, 0.5588, 0.5779, 0.2560, 0.7987, 1.1540, 0.2526, 0.0353, 0.9720, 0.5780, 0.5651],
}  # fmt: skip
SPLIT = {
    "asp": [(55, 13833), (9, 1935), (7, 1863), (9, 2070)],
    "psei": [(286, 17736), (40, 2618), (41, 2565), (42, 2610)],
}
OTHER_WORDS = {"183", "213", "262"}  # "daemon", "germen", "simeon" are cut as if they ended in an enclitic


def folder(real_data, name):
    found = real_data / name
    if not found.is_dir():
        pytest.skip(f"no annotated parallelisms: {found} does not exist")
    return found


@pytest.fixture(scope="module", params=["asp", pytest.param("psei", marks=pytest.mark.slow)])
def corpus(request, real_data):
    if request.param == "asp":
        return "asp", request.getfixturevalue("sermons")
    return "psei", read_parallelisms(folder(real_data, "psei/abbreviated"))


def test_statistics(corpus):
    name, documents = corpus
    found = parallelism_statistics(documents)
    table = found.to_frame().set_index("statistic")
    assert table.loc[list(STATISTICS[name]), "value"].to_dict() == STATISTICS[name]
    means = table.iloc[8:13].round(2)
    assert list(means.itertuples(index=False, name=None)) == MEANS[name]
    assert found.histogram.tolist() == HISTOGRAMS[name]
    assert round(table.at["% pairs without overlap", "value"], 1) == WITHOUT_OVERLAP[name]
    assert Counter(nesting(one.parallelisms) for one in documents.values()) == CATEGORIES[name]


def test_published_splits(corpus, real_data):
    name, documents = corpus
    published = json.loads((real_data / name / "published_splits.json").read_text())
    files = pd.DataFrame(published["files"]).set_index("file")
    split = split_documents(files)
    found = split.to_frame().set_index("document")["part"]
    assert (found == files["split"].reindex(found.index)).all()
    parts = split.parts()
    assert list(parts[["documents", "inner"]].itertuples(index=False, name=None)) == SPLIT[name]
    assert_allclose(list(split.errors().values()), ERRORS[name], rtol=0.006)
    assert_allclose(split.tests()[["statistic", "p_value"]].to_numpy().ravel(), WELCH[name], atol=5.1e-5)
    counts = tag_counts(documents)
    ending = {"asp": "_annotated.xml", "psei": ".xml"}[name]
    assert (counts.to_numpy() == files.loc[counts.index + ending, ["inner", "outer"]].to_numpy()).all()


def spans(document):
    return [one.branches for one in document.parallelisms]


def letters(document):
    """Letters of every branch, whatever words they are in."""
    return [
        [sorted("".join(document.tokens[slice(*span)]).replace("-", "")) for span in one.branches]
        for one in document.parallelisms
    ]


def three_forms(real_data, sermons, names):
    """Read sermons of all three forms and compare these; return the documents of brat."""
    brat = read_parallelisms([folder(real_data, "asp/original") / f"{name}.ann" for name in names])
    text = read_parallelisms([real_data / f"asp/xml/untokenized/{name}_annotated.xml" for name in names])
    words = {name: sermons[name] for name in names}
    assert brat.keys() == text.keys() == words.keys()
    for name in brat:
        assert letters(brat[name]) == letters(text[name])
        if name != "211":  # where the XML has "<" escaped twice, which makes other tokens
            assert brat[name].tokens == text[name].tokens
            assert spans(brat[name]) == spans(text[name])
            assert brat[name].sections == text[name].sections
        if name not in OTHER_WORDS:
            assert letters(text[name]) == letters(words[name])
        assert [len(own) for own in spans(text[name])] == [len(own) for own in spans(words[name])]
    return brat


def test_three_forms_of_some_sermons(real_data, sermons):
    three_forms(real_data, sermons, ["179", "211", *sorted(OTHER_WORDS)])


@pytest.mark.slow
def test_three_forms_of_all_sermons(real_data, sermons):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LangdiffWarning)
        brat = three_forms(real_data, sermons, sermons)
    assert len(caught) == 5  # of the sermons with branches in no relation
    kinds = Counter(one.kind for document in brat.values() for one in document.parallelisms)
    assert kinds == {"synchystic": 1615, "chiastic": 29}


def test_annotations_of_essays(real_data):
    found = read_parallelisms(folder(real_data, "psei/annotations"))
    assert len(found) == 151
    assert sum(len(one.parallelisms) for one in found.values()) == 210
    assert sum(len(branches) for one in found.values() for branches in spans(one)) == 587
