"""The trees of GUM, as released in three forms, and the figures that were computed on them independently."""

import warnings

import pytest

from langdiff.discourse import (
    attachments_of,
    binarize,
    evaluate_discourse,
    read_discourse,
    tree_of_attachments,
    write_discourse,
)
from langdiff.errors import LangdiffWarning

pytestmark = pytest.mark.real_data
LEFT = {
    "rst-parseval": {"micro": [0.9611] * 4, "macro": [0.9570] * 4},
    "parseval": {"micro": [0.9222] * 4, "macro": [0.9140] * 4},
}
CHAIN = {
    ("fine", "rst-parseval"): {"micro": [0.5453, 0.2984, 0.1996, 0.1996], "macro": [0.5501, 0.2994, 0.2005, 0.2005]},
    ("fine", "parseval"): {"micro": [0.0905, 0.0219, 0.0094, 0.0094], "macro": [0.1002, 0.0233, 0.0111, 0.0111]},
    ("gum", "rst-parseval"): {"micro": [0.5453, 0.2984, 0.2004, 0.2004], "macro": [0.5501, 0.2994, 0.2013, 0.2013]},
    ("gum", "parseval"): {"micro": [0.0905, 0.0219, 0.0110, 0.0110], "macro": [0.1002, 0.0233, 0.0127, 0.0127]},
}


@pytest.fixture(scope="module")
def folder(real_data):
    folder = real_data / "rst"
    if not folder.is_dir():
        pytest.skip(f"no discourse trees: {folder} does not exist")
    return folder


@pytest.fixture(scope="module")
def nary(folder):
    return read_discourse(folder / "dis_nary")


def test_the_part_is_the_one_described(nary):
    assert len(nary) == 47
    assert sum(tree.n_edus for tree in nary.values()) == 5150
    children = [len(own) for tree in nary.values() for own in tree.children if own]
    assert (len(children), sum(count > 2 for count in children), max(children)) == (4706, 205, 10)


def test_xml_is_the_released_tree(folder, nary):
    assert read_discourse(folder / "rs4") == nary  # texts, too


@pytest.mark.parametrize("mode", ["right", "right_mixed"])  # GUM has no satellites on both sides of a nucleus
def test_binarization_is_the_released_one(folder, nary, mode):
    assert {name: binarize(tree, mode) for name, tree in nary.items()} == read_discourse(folder / "dis_binary")


def test_every_document_survives_every_format(folder, nary, tmp_path):
    binary = read_discourse(folder / "dis_binary")
    for format in ("dis", "rs3", "spans", "attachments"):
        trees = binary if format == "attachments" else nary
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LangdiffWarning)  # texts
            write_discourse(trees, tmp_path / format, format=format)
        back = read_discourse(tmp_path / format)
        assert {name: tree.nodes for name, tree in back.items()} == {name: tree.nodes for name, tree in trees.items()}
        if format in ("dis", "rs3"):
            assert back == trees
    assert all(tree_of_attachments(attachments_of(tree)).nodes == tree.nodes for tree in binary.values())


def test_figures_of_the_specification(nary):
    left = {name: binarize(tree, "left") for name, tree in nary.items()}
    chain = {
        name: tree_of_attachments([(i, i, tree.n_edus, "NS", "elaboration-additional") for i in range(1, tree.n_edus)])
        for name, tree in nary.items()
    }
    for labels in ("fine", "gum"):
        result = evaluate_discourse(nary, {"left": left, "chain": chain}, classes=None if labels == "fine" else labels)
        hits = result.counts().groupby(level=["procedure", "system"])[["S", "gold"]].sum()
        assert hits.loc[("rst-parseval", "left")].tolist() == [9809, 10206]
        assert hits.loc[("parseval", "left")].tolist() == [4706, 5103]
        assert hits.loc[("rst-parseval", "chain"), "S"] == 5565
        assert hits.loc[("parseval", "chain"), "S"] == 462
        for procedure in ("rst-parseval", "parseval"):
            for averaging in ("micro", "macro"):
                scores = result.scores(procedure, averaging).round(4)
                assert scores.loc["left"].tolist() == LEFT[procedure][averaging]
                assert scores.loc["chain"].tolist() == CHAIN[labels, procedure][averaging]
