import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.discourse import (
    DiscourseTree,
    binarize,
    evaluate_discourse,
    parse_discourse,
    read_discourse,
    tree_of_attachments,
    write_discourse,
)
from langdiff.discourse.files import write_dis, write_spans
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.discourse.strategies import shapes, tree_of
from tests.discourse.test_tree import chain
from tests.helpers import refused

HEADER = (
    '<rst><header><relations><rel name="cause" type="rst"/><rel name="list" type="multinuc"/>'
    '<rel name="both" type="rst"/><rel name="both" type="multinuc"/></relations></header><body>\n'
)
RS3 = (
    HEADER
    + """<segment id="1" parent="10" relname="span">It &lt;rained&gt;,</segment>
<segment id="2" parent="1" relname="cause">so (they say)
   we stayed.</segment>
<segment id="3" parent="11" relname="list">We read,</segment>
<segment id="4" parent="11" relname="list">we ate.</segment>
<group id="10" type="span" parent="12" relname="span"/>
<group id="11" type="multinuc" parent="10" relname="cause"/>
<group id="12" type="span"/>
<secedges><secedge id="1-3" source="1" target="3" relname="cause"/></secedges>
<signals><signal source="2" type="dm"/></signals>
</body></rst>"""
)


def same(one, other):
    return one.nodes == other.nodes and one.texts == other.texts


@given(shape=shapes())
def test_every_format_keeps_every_tree(tmp_path_factory, shape):
    tree = tree_of(shape)
    folder = tmp_path_factory.mktemp("trees")
    for format in ("dis", "rs3", "spans", "attachments"):
        source = binarize(tree) if format == "attachments" else tree
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LangdiffWarning)  # texts
            write_discourse({"d": source}, folder, format=format)
        back = read_discourse(folder / f"d.{format}")["d"]
        assert back.nodes == source.nodes, format
        assert back.texts == (tree.texts if format in ("dis", "rs3") else None)
        assert back.document == "d"


def test_a_satellite_that_would_be_read_as_a_nucleus(tmp_path):
    """Of a name that is both mononuclear and multinuclear, the type of the group decides."""
    rows = "1 2 N span\n1 1 N both\n2 2 N both\n3 3 S both"
    tree = parse_discourse(rows, format="spans", document="d")
    [path] = write_discourse({"d": tree}, tmp_path, format="rs3")
    assert read_discourse(path)["d"].nodes == tree.nodes
    assert path.read_text().count('<rel name="both"') == 2


def test_rs3_by_hand(tmp_path):
    (tmp_path / "rain.rs4").write_text(RS3)
    tree = read_discourse(tmp_path)["rain"]
    assert tree.secondary_edges == 1
    said = "The 1 secondary edge(s) of the reference are not part of trees and were ignored."
    assert said in evaluate_discourse(tmp_path, {"same": tmp_path}).summary()
    assert [tuple(node) for node in tree.nodes] == [
        (1, 4, "Root", "---"),
        (1, 2, "Nucleus", "span"),
        (1, 1, "Nucleus", "span"),
        (2, 2, "Satellite", "cause"),
        (3, 4, "Satellite", "cause"),
        (3, 3, "Nucleus", "list"),
        (4, 4, "Nucleus", "list"),
    ]
    assert tree.texts == ("It <rained>,", "so (they say) we stayed.", "We read,", "we ate.")


def test_several_satellites_of_one_node_stay_sisters(tmp_path):
    satellite = '<segment id="3" parent="1" relname="cause">c</segment>\n'
    body = RS3.replace('<segment id="3" parent="11" relname="list">We read,</segment>\n', satellite)
    body = re.sub(r'<segment id="4".*\n|<group id="11".*\n', "", body)
    (tmp_path / "rain.rs3").write_text(body)
    assert len(read_discourse(tmp_path)["rain"].children[0]) == 3


def segment(number, parent="", relation=""):
    up = f' parent="{parent}" relname="{relation}"' if parent else ""
    return f'<segment id="{number}"{up}>t{number}</segment>\n'


TWO, SPAN_GROUP, MULTINUC = segment(2, 1, "cause"), '<group id="9" type="span"/>', '<group id="9" type="multinuc"/>'
BAD_RS3 = {
    "not declared": (segment(1) + segment(2, 1, "why"), 3, "the relation 'why' of '2' is not declared"),
    "two roots": (segment(1) + segment(2), 3, r"2 elements have no parent: '1' \(line 2\), '2' \(line 3\)"),
    "cycle": (segment(1) + segment(2, 3, "cause") + segment(3, 2, "cause"), 3, r"2 element\(s\) .* in a cycle"),
    "no root": (segment(1, 2, "cause") + TWO, None, "no root"),
    "no segment": ("", None, "the file has no segments"),
    "no parent": (segment(1) + segment(2, 7, "cause"), 3, "the parent '7' of '2' does not exist"),
    "twice": (segment(1) + segment(1, 1, "cause"), 3, "the id '1' of this segment is there twice"),
    "no id": (segment(""), 2, "the id '' of this segment is missing"),
    "no nucleus": (segment(1, 9, "cause") + SPAN_GROUP, 3, "group '9' has no nucleus"),
    "one nucleus": (segment(1, 9, "list") + MULTINUC, 3, "multinuclear group with one nucleus"),
    "nucleus of a segment": (segment(1) + segment(2, 1, "span"), 3, "segment '1' has a nucleus"),
    "type": ('<group id="9" type="tree"/>', 2, "span or multinuc; got 'tree'"),
    "gap": (segment(1) + segment(2, 4, "cause") + segment(3, 1, "cause") + segment(4, 1, "cause"), 4, "do not follow"),
    "not closed": ("<segment>", 2, "the id '' of this segment is missing"),
    "not XML": ("<<", 2, "not well-formed XML in column 2"),
}


@pytest.mark.parametrize("name", BAD_RS3)
def test_bad_rs3(tmp_path, name):
    body, line, message = BAD_RS3[name]
    path = tmp_path / "bad.rs3"
    path.write_text(HEADER + body + "</body></rst>")
    where = f"bad.rs3, line {line}: " if line else "bad.rs3"
    refused(DataError, f"{where}.*{message}", read_discourse, path)


def test_an_entity_is_not_expanded(tmp_path):
    (tmp_path / "bad.rs3").write_text('<!DOCTYPE rst [<!ENTITY a "b">]>\n' + RS3)
    refused(DataError, "defines entities", read_discourse, tmp_path)


def test_a_line_that_is_not_text_is_named(tmp_path):
    (tmp_path / "bad.rs3").write_bytes(RS3.encode().replace(b"We read", b"We \xff read"))
    refused(DataError, r"bad\.rs3, line 5: not UTF-8 in byte .*\. Or let its first", read_discourse, tmp_path)
    (tmp_path / "bad.rs3").rename(tmp_path / "bad.dis")  # any bytes
    refused(DataError, r"bad\.dis, line 5: not UTF-8 .*: iconv -f WINDOWS-1252 -t UTF-8", read_discourse, tmp_path)


def test_an_encoding_is_read_as_declared_if_it_is_not_utf8(tmp_path):
    (tmp_path / "e.rs3").write_text(RS3.replace("We read", "Wé read"), encoding="utf-8")
    expected = read_discourse(tmp_path)["e"]
    declared = '<?xml version="1.0" encoding="ISO-8859-1"?>\n' + RS3.replace("We read", "Wé read")
    for encoding in ("latin-1", "utf-8"):  # some programs declare one encoding and write another
        (tmp_path / "e.rs3").write_bytes(declared.encode(encoding))
        assert read_discourse(tmp_path)["e"].texts == expected.texts
    for wrong in ("UTF-8", "UTF-16", "klingon"):
        (tmp_path / "e.rs3").write_bytes(declared.replace("ISO-8859-1", wrong).encode("latin-1"))
        refused(DataError, rf"e\.rs3, line 6: not UTF-8 .* declares the encoding '{wrong}'", read_discourse, tmp_path)


def test_a_group_with_one_nucleus_is_collapsed_if_asked(tmp_path):
    body = segment(1, 9, "list") + '<group id="9" type="multinuc"/>\n' + segment(2, 9, "cause")
    (tmp_path / "d.rs3").write_text(HEADER + body + "</body></rst>")
    tree = read_discourse(tmp_path, collapse_unary=True)["d"]
    assert [tuple(node) for node in tree.nodes[1:]] == [(1, 1, "Nucleus", "span"), (2, 2, "Satellite", "cause")]


DIS = """( Root (span 1 3)
  ( Nucleus (span 1 2) (rel2par span)
    ( Nucleus (leaf 1) (rel2par List) (text _!A ) bracket ( and <s>more</s> _!) )
    ( Nucleus (leaf 2) (rel2par List) (text <EDU>two
      lines<P></EDU>) )
  )
  ( Satellite (leaf 3) (rel2par problem-solution-n-e) ) //TT_ERR
)"""


def test_dis_by_hand():
    tree = parse_discourse(DIS)
    assert [tuple(node) for node in tree.nodes] == [
        (1, 3, "Root", "---"),
        (1, 2, "Nucleus", "span"),
        (1, 1, "Nucleus", "List"),
        (2, 2, "Nucleus", "List"),
        (3, 3, "Satellite", "problem-solution-n-e"),
    ]
    assert tree.texts == ("A ) bracket ( and more", "two lines", "")
    assert same(parse_discourse("".join(DIS.split("\n"))), tree)  # white space is free
    assert same(parse_discourse(write_dis(tree)), tree)


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (lambda text: text[:-1], 1, "the bracket of this Root is never closed"),
        (lambda text: text + "\n)", 9, "a bracket is closed that was not opened"),
        (lambda text: text + "( Root (leaf 4) )", 8, "a second top node"),
        (lambda text: text.replace("more</s> _!", "more"), 3, "the text that begins here has no end"),
        (lambda text: text.replace("(leaf 3)", "(leaf x)"), 7, r"leaf takes 1 number\(s\); got 'x'"),
        (lambda text: text.replace("(leaf 3)", ""), 7, "this one has 0"),
        (lambda text: text.replace("(leaf 3)", "(leaf 4)"), 7, "do not follow each other: EDU 4 where 3 comes"),
        (lambda text: text.replace("(span 1 2)", "(span 1 1)"), 7, "do not follow each other: EDU 3 where 2 comes"),
        (lambda text: text.replace("(rel2par span)", ""), 2, r"this Nucleus has no \(rel2par RELATION\)"),
        (lambda text: text.replace("(rel2par span)", "(rel3par span)"), 2, "'rel3par' is not known"),
        (lambda text: text.replace("(leaf 3)", "(leaf 3) (leaf 3)"), 7, "this node has leaf twice"),
        (lambda text: text.replace("//TT_ERR", "word"), 7, "'word' is not expected here"),
        (lambda text: text.replace("( Nucleus (span", "( Satellite (span"), 1, "no nucleus, only satellites"),
        (lambda text: text.replace("( Satellite", "( Nucleus"), 2, "EDUs 1–2 carries 'span'"),
        (lambda text: "(span 1 2)" + text, 1, "span is outside of the tree"),
        (lambda text: text.replace("(span 1 3)", "(span 1 4)"), 1, "the children of EDUs 1–4 end with EDU 3"),
        (lambda text: text.replace("(rel2par span)", "(rel2par span) (text _!a_!)"), 2, "a text belongs to a leaf"),
        (lambda text: "", 1, "there is no tree in it"),
        (lambda text: "( ( Root", 1, "a bracket without a name"),
    ],
)
def test_bad_dis(tmp_path, change, line, message):
    path = tmp_path / "bad.dis"
    path.write_text(change(DIS))
    refused(DataError, f"bad.dis, line {line}: .*{message}", read_discourse, path)


def test_unary_nodes_are_an_error_unless_they_are_collapsed():
    unary = DIS.replace("( Root (span 1 3)", "( Root (span 1 3) ( Nucleus (span 1 3) (rel2par span)") + ")"
    refused(DataError, r"string, line 1: EDUs 1–3 has a single child\. .* drop", parse_discourse, unary)
    assert same(parse_discourse(unary, collapse_unary=True), parse_discourse(DIS))
    spans = "1 1 N span\n2 2 S cause\n2 2 N list"
    refused(DataError, "line 2: EDU 2 has a single child", parse_discourse, spans, format="spans")
    assert parse_discourse(spans, format="spans", collapse_unary=True).nodes[-1].relation == "cause"  # the outer one's


@given(data=st.data())
def test_damaged_strings_give_trees_or_say_what_is_wrong(data):
    format = data.draw(st.sampled_from(["dis", "spans", "attachments"]))
    text = {
        "dis": DIS,
        "spans": "1 1 N list\n2 2 N list\n3 4 N list\n3 3 S cause\n4 4 N span\n",
        "attachments": "1 2 4 NS cause\n1 1 2 NN list\n3 3 4 SN cause\n",
    }[format]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        text = text[:start] + data.draw(st.text("()_! \n12ANSaleftxSatellite<>", max_size=4)) + text[end:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        try:
            tree = parse_discourse(text, format=format, collapse_unary=data.draw(st.booleans()))
        except DataError:
            return
    assert parse_discourse(write_spans(tree), format="spans").nodes == tree.nodes


def test_a_missing_root_is_added_to_a_list_of_spans():
    with_root = "# remark\n2 2 Satellite cause\n\n1 2 Root anything\n1 1 nucleus span\n"
    tree = parse_discourse(with_root, format="spans")
    assert tree == parse_discourse("1 1 N span\n2 2 S cause", format="spans")
    assert tree.nodes[0].relation == "---"


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("spans", "1 2 N a\n2 3 N a\n", r"line 2: EDUs 2–3 and EDUs 1–2 \(line 1\) cross"),
        ("spans", "1 1 N a\n3 3 N a\n", "do not follow each other"),
        ("spans", "1 1 N a\n2 1 N a\n", "EDUs 2–1 ends before it begins"),
        ("spans", "1 2 N a\n1 1 R a\n", "line 2: EDU 1 is a second root"),
        ("spans", "1 1 N\n", "line 1: a line is 'start end nuclearity relation'"),
        ("spans", "1 -1 N a\n", "line 1: a line is"),
        ("spans", "1 1 X a\n", "nuclearity is Nucleus, Satellite or Root"),
        ("spans", "\n", "the file has no nodes"),
        ("attachments", "1 1 2 NS\n", "line 1: a line is 'start split end nuclearity relation'"),
        ("attachments", "1 1 3 NS a\n2 2 3 SS a\n", "line 2: nuclearity is NS, SN or NN"),
        ("attachments", "1 1 2 NS a\n4 4 5 NS a\n", "line 2: EDUs 4–5 are not a part"),
        ("attachments", "1 1 2 NS a\n1 1 2 NS b\n", r"line 2: EDUs 1–2 are divided a second time\.$"),
        ("attachments", "1 2 3 NS a\n1 1 2 NS b\n1 1 3 NS a", r"line 3: EDUs 1–3 are divided a second time\.$"),
        ("attachments", "1 2 3 NS a\n1 1 2 NN Span\n", "line 2: 'span' is not a relation"),
        ("attachments", "", "the list has no attachments"),
    ],
)
def test_bad_lists(tmp_path, format, text, message):
    path = tmp_path / f"bad.{format}"
    path.write_text(text)
    refused(DataError, f"bad.{format}.*{message}", read_discourse, path)


@pytest.mark.parametrize("to", ["right", "left"])
def test_deep_trees_are_written_and_read(tmp_path, to):
    tree = chain(5001, to)
    for format in ("dis", "rs3", "spans", "attachments"):
        [path] = write_discourse({"deep": tree}, tmp_path, format=format)
        assert read_discourse(path)["deep"].nodes == tree.nodes, format


def test_files_and_names(tmp_path):
    tree = tree_of_attachments([(1, 1, 2, "NS", "cause")], document="a")
    write_discourse({"a": tree, "b.out": tree}, tmp_path)
    (tmp_path / "README.txt").write_text("not a tree")
    assert list(read_discourse(tmp_path)) == ["a", "b.out"]
    assert list(read_discourse([tmp_path / "a.dis"])) == ["a"]
    (tmp_path / "a.spans").write_text("1 1 N span\n2 2 S cause")
    refused(DataError, r"a.spans: .*a.dis is of document 'a', too; give one file", read_discourse, tmp_path)
    for source, message in (
        ("nowhere", "no such file"),
        (tmp_path / "README.txt", "the ending '.txt' names no format"),
    ):
        refused(DataError, message, read_discourse, source)
    (tmp_path / "none").mkdir()
    refused(DataError, "no files of trees", read_discourse, tmp_path / "none")
    refused(ConfigError, "format is auto", read_discourse, tmp_path, format="xml")
    refused(ConfigError, "format is one of", write_discourse, {"a": tree}, tmp_path, format="xml")
    refused(ConfigError, "format is one of dis, spans, attachments", parse_discourse, "", format="rs3")
    (tmp_path / "none" / "a.txt").write_text("1 1 N span\n2 2 S cause")
    assert list(read_discourse(tmp_path / "none", format="spans")) == ["a"]


def test_what_a_format_cannot_hold_is_refused_before_anything_is_written(tmp_path):
    out = tmp_path / "out"
    fine = tree_of_attachments([(1, 1, 2, "NS", "cause")], texts=["a", "b"])
    marked = tree_of_attachments([(1, 1, 2, "NS", "cause")], texts=["a _! b", "c"])
    one_edu = DiscourseTree(nodes=[(1, 1, "Root", "---")])
    labelled = DiscourseTree(nodes=[(1, 2, "Root", "---"), (1, 1, "Nucleus", "cause"), (2, 2, "Satellite", "cause")])
    for bad, format, message in (
        (marked, "dis", "'_!', which would end it"),
        (one_edu, "attachments", "has one EDU"),
        *(
            (tree_of_attachments([(1, 1, 2, "NS", "cause")], texts=["a", f"b{odd}"]), "rs3", f"EDU 2 holds .* U.{code}")
            for odd, code in (("\b", "0008"), ("\ufffe", "FFFE"), ("\ud800", "D800"))
        ),
        (
            tree_of_attachments([(1, 1, 2, "NS", "ca\x01use")]),
            "rs3",
            "the relation of EDU 2 holds the character U.0001",
        ),
        (labelled, "rs3", "the nucleus EDU 1 carries 'cause' next to a satellite"),
    ):
        refused(DataError, message, write_discourse, {"fine": fine, "bad": bad}, out, format=format)
    spaced = tree_of_attachments([(1, 1, 2, "NS", "volitional cause")], texts=["a", "b"])
    for format in ("dis", "spans", "attachments"):
        with pytest.raises(DataError, match="'volitional cause' of EDU 2 is not one word"):
            write_discourse({"spaced": spaced}, out, format=format)
    refused(DataError, r"cannot be names of files: '\.\./x'", write_discourse, {"../x": fine}, out)
    assert not out.exists()
    with pytest.warns(LangdiffWarning, match="no place for texts"):
        write_discourse({"fine": fine}, out, format="spans")
    excerpt = DiscourseTree(nodes=[(7, 8, "Root", "---"), (7, 7, "Nucleus", "span"), (8, 8, "Satellite", "cause")])
    with pytest.warns(LangdiffWarning, match="numbers EDUs from 1"):
        write_discourse({"excerpt": excerpt}, out, format="rs3")
    assert write_discourse({"one": one_edu}, out)[0].name == "one.dis"
    assert read_discourse(out / "one.dis")["one"].nodes == one_edu.nodes
