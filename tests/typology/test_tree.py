"""Covariance along trees: by hand, by simulation of steps along branches; files in Newick's format and NEXUS."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_allclose

from langdiff.errors import DataError
from langdiff.typology import read_tree
from langdiff.typology.family_tree import parse_newick, plant
from tests.helpers import refused


def tree_of(*texts):
    return plant(map(parse_newick, texts))


def test_covariance_worked_by_hand():
    tree = tree_of("((a:1,b:3)x:2,c:4):1;", "(d:1,e:1);")
    found = tree.covariance(["e", "a", "b", "nowhere", "c", "x"])
    assert list(found) == list(found.index) == ["e", "a", "b", "c", "x"]  # nowhere is nowhere in the tree
    depths = {"e": 1, "a": 4, "b": 6, "c": 5, "x": 3}
    shared = {("a", "b"): 3, ("a", "c"): 1, ("b", "c"): 1, ("a", "x"): 3, ("b", "x"): 3, ("c", "x"): 1}
    for i in found:
        for j in found:
            expected = 1.0 if i == j else shared.get((i, j), shared.get((j, i), 0)) / np.sqrt(depths[i] * depths[j])
            assert_allclose(found.loc[i, j], expected, rtol=1e-12)


def test_covariance_is_that_of_steps_along_the_branches():
    nodes = parse_newick("(((a:1,b:1):1,c:2):1,(d:0.5,e:1.5):1.5):0.5;")
    steps = np.random.default_rng(0).normal(size=(200_000, len(nodes.names)))
    values = steps * np.sqrt(nodes.lengths)
    for node in range(len(nodes.names) - 2, -1, -1):  # parents come after their children
        values[:, node] += values[:, nodes.parents[node]]
    names = list("abcde")
    simulated = np.corrcoef(values[:, [nodes.names.index(name) for name in names]], rowvar=False)
    assert_allclose(plant([nodes]).covariance(names), simulated, atol=0.01)  # Monte Carlo, 4 errors


def test_without_lengths_every_branch_is_one_and_with_lengths_only_the_root_may_lack_one():
    classified = tree_of("((a,b),c);").covariance("abc")
    assert_allclose(classified, tree_of("((a:1,b:1):1,c:1):1;").covariance("abc"))
    dated = tree_of("((a:1,b:1):1,c:2);").covariance("abc")
    assert_allclose(dated, [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    refused(DataError, r"1 of 3 branches have no length: above 'c'", tree_of, "(a:1,b:1,c);")


def test_inner_labels_may_repeat_but_languages_may_not():
    tree = tree_of("((a,b)95,(c,d)95);")  # support values
    assert list(tree.covariance(["a", "95"])) == ["a"]
    refused(DataError, r"1 language\(s\) occur more than once: 'a'", tree_of, "(a,b);", "(c,a);")


def test_a_root_has_no_variance():
    refused(DataError, "'top' is the root", tree_of("(a:1,b:1)top;").covariance, ["a", "top"])


def test_files(tmp_path):
    newick = tmp_path / "two.nwk"
    newick.write_text("((a:1,b:1):1,c:2):1;\n(d:1,\n 'e, f\\'s':1):1;\n", encoding="utf-8")
    nexus = tmp_path / "two.nex.gz"
    nexus.write_bytes(
        gzip.compress(
            b"#NEXUS\n[a; comment]\nBEGIN TREES;\n\tTRANSLATE\n\t\t1 a,\n\t\t2 b,\n\t\t3 'e, f''s'\n\t;\n"
            b"\ttree one = [&R] ((1:1,2:1):1,c:2):1;\n\tTREE 'second; tree' = (d:1,3:1):1;\nEND;\n"
        )
    )
    names = ["a", "b", "c", "d", "e, f's"]
    first, second = (read_tree(path).covariance(names) for path in (newick, nexus))
    assert list(first) == names
    assert_allclose(second, first)
    assert repr(read_tree(newick)) == "LanguageTree: 2 trees, 5 named nodes"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no tree"),
        ("#NEXUS\nBEGIN DATA;\nEND;\n", "holds no tree"),
        ("(a,b);\n\n(c,(d);\n", r"tree.nwk, tree that begins in line 3: .*character 7: the tree ends, and 1 group"),
        ("(,);", "no node of any tree has a name"),
        ("(a:1,b);", r"tree.nwk: 1 of 2 branches have no length"),
    ],
)
def test_bad_files_are_named(tmp_path, text, message):
    path = tmp_path / "tree.nwk"
    path.write_text(text, encoding="utf-8")
    refused(DataError, message, read_tree, path)
    refused(DataError, "cannot be read", read_tree, tmp_path / "nothing.nwk")
