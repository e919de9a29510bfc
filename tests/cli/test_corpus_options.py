"""The argument and the options that every command on a corpus has."""

import json

import pytest

COMMANDS = ("select", "train", "score", "sweep", "predictors", "plot", "describe", "parse")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_on_a_corpus_has_them(langdiff, command):
    group = {"describe": ["corpora"], "parse": ["treebanks"]}.get(command, [])
    shown = langdiff(*group, command, "--help").good
    for name in (
        "--format",
        "--edition-info",
        "--edition",
        "--on-error",
        "--decode-errors",
        "--ranges",
        "--marker",
        "--vref",
        "--original-language",
    ):
        assert name in shown.out


def test_ranges_and_list_of_verses(langdiff, tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "deu-a.txt").write_text("eins\nzwei und drei\n<range>\n")
    (tmp_path / "list.txt").write_text("GEN 1:1\nGEN 1:2\nGEN 1:3\n")
    say = ("corpora", "describe", tmp_path / "corpus", "--format", "ebible", "--vref", tmp_path / "list.txt", "--json")
    counts = {
        ranges: {row["what"]: row["count"] for row in json.loads(langdiff(*say, "--ranges", ranges).out)["counts"]}[
            "cells"
        ]
        for ranges in ("missing", "merge")
    }
    assert counts == {"missing": 1, "merge": 2}
    refused = langdiff("corpora", "describe", tmp_path / "corpus", "--format", "moses", "--ranges", "merge")
    assert (refused.code, refused.out) == (1, "")
    assert "format 'moses' does not have the option --ranges" in refused.err


def test_markers_of_ones_own(langdiff, tmp_path):
    (tmp_path / "eng.usfm").write_text("\\id GEN\n\\c 1\n\\v 1 a \\untr b\\untr*\n\\v 2 c \\own d\\own*\n")
    say = ("corpora", "describe", tmp_path / "eng.usfm", "--json")
    refused = langdiff(*say, "--marker", "own=note")
    assert (refused.code, refused.out) == (1, "")
    assert "line 3: unknown marker \\untr" in refused.err
    assert "Say what it is, --marker untr=char, remove it" in refused.err
    done = langdiff(*say, "--marker", "own=note", "--marker", "untr=char")
    counts = {row["what"]: row["count"] for row in json.loads(done.out)["counts"]}
    assert (counts["cells"], counts["words"]) == (2, 3)
    for given, message in (
        (["untr"], "--marker untr: write MARKER=KIND, such as untr=char"),
        (["untr=bold"], "--marker: \\untr must be one of char, note, para, skip, got 'bold'"),
        (["untr=char", "--marker", "untr=note"], "--marker untr=char and untr=note name the same twice"),
    ):
        refused = langdiff(*say, "--marker", *given)
        assert refused.code == 1
        assert message in refused.err


def test_what_is_selected_from_lines_can_be_written_and_read(langdiff, tmp_path):
    for name in ("deu", "eng"):
        (tmp_path / f"{name}.txt").write_text("a\nb\n")
    done = langdiff("select", tmp_path, "--format", "moses", "--out", tmp_path / "chosen").good
    assert "to be read with --format moses" in done.err
    again = langdiff("corpora", "describe", tmp_path / "chosen", "--format", "moses", "--json")
    assert json.loads(again.out)["counts"][0] == {"what": "editions", "count": 2}


def test_columns_of_editions(langdiff, tmp_path):
    (tmp_path / "a.txt").write_text("01001001\ta\n")
    (tmp_path / "about.csv").write_text("Datei,Sprache\na.txt,ger\n")
    say = (
        "corpora",
        "describe",
        tmp_path / "a.txt",
        "--edition-info",
        tmp_path / "about.csv",
        "--json",
    )
    done = langdiff(*say, "--rename", "Datei=file", "--rename", "Sprache=language")
    assert json.loads(done.out)["editions"][0]["language"] == "deu"
    refused = langdiff(*say, "--rename", "Datei")
    assert "--rename Datei: write THEIRS=OURS" in refused.err
    for twice in (["Datei=file", "Datei=edition"], ["Datei=file", "Sprache=file"]):
        options = [part for pair in twice for part in ("--rename", pair)]
        assert f"--rename {twice[0]} and {twice[1]} name the same twice" in langdiff(*say, *options).err
