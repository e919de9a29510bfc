import pytest

from langdiff.base.iso639 import ISO_639_3
from langdiff.errors import DataError
from langdiff.typology.glottolog import files_by_edition


def test_two_letter_codes_are_those_of_cldr():
    aliases = pytest.importorskip("babel.core").get_global("language_aliases")
    former = {"iw", "in", "ji", "jw", "mo"}
    pairs = {two: three for two, three in ISO_639_3.items() if len(two) == 2 and two not in former}
    differing = {two for two, three in pairs.items() if aliases.get(three) != two}
    # Twi, Serbo-Croatian and Tagalog, which CLDR files under Akan, Serbian and Filipino
    assert differing == {"tw", "sh", "tl"}
    assert len(pairs) == 184


def test_files_are_found_by_edition_then_by_language(tmp_path):
    for name in ["deu-luther.conllu", "de_pud.conllu.gz", "zh_pud.conllu", "fin", "rus.txt", ".hidden"]:
        (tmp_path / name).touch()
    languages = {"deu-luther": "deu", "deu-menge": "deu", "union": "cmn", "fin-1938": "fin", "nameless": None}
    found = files_by_edition(tmp_path, languages, "treebanks")
    assert {edition: file.name for edition, file in found.items()} == {
        "deu-luther": "deu-luther.conllu",
        "deu-menge": "de_pud.conllu.gz",  # not the other's own
        "union": "zh_pud.conllu",
        "fin-1938": "fin",
    }


def test_folders_that_fit_badly(tmp_path):
    with pytest.raises(DataError, match=r"holds no files of lexicons"):
        files_by_edition(tmp_path, {"deu": "deu"}, "lexicons")
    (tmp_path / "fra").touch()
    with pytest.raises(DataError, match=r"none of 1 file.s., 'fra', fits .* of the multitext, 'deu'"):
        files_by_edition(tmp_path, {"deu": "deu"}, "lexicons")
    (tmp_path / "deu_x.tsv").touch()
    (tmp_path / "de-y.tsv").touch()
    with pytest.raises(DataError, match=r"2 lexicons fit edition 'luther': 'de-y.tsv', 'deu_x.tsv'. Leave one there"):
        files_by_edition(tmp_path, {"luther": "deu"}, "lexicons")
    with pytest.raises(DataError, match="cannot be read as a folder of lexicons: Not a directory"):
        files_by_edition(tmp_path / "fra", {"deu": "deu"}, "lexicons")


def test_editions_may_have_dots_in_their_names(tmp_path):
    for name in ["deu.v1.conllu", "deu.v1.b.conllu.gz"]:
        (tmp_path / name).touch()
    languages = dict.fromkeys(["deu.v1", "deu.v1.b", "deu.v2"], "deu")
    found = files_by_edition(tmp_path, languages, "treebanks")
    assert {edition: file.name for edition, file in found.items()} == {
        "deu.v1": "deu.v1.conllu",
        "deu.v1.b": "deu.v1.b.conllu.gz",
    }
