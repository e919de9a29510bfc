import gzip
from itertools import combinations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.errors import ConfigError, DataError
from langdiff.typology.predictors.external import morphological_counting_complexity as mcc
from langdiff.typology.predictors.external import read_unimorph
from tests.helpers import refused

GERMAN_NOUNS = """
Tag	Tag	N;NOM;SG
Tag	Tag	N;ACC;SG
Tag	Tag	N;DAT;SG
Tag	Tages	N;GEN;SG
Tag	Tage	N;NOM;PL
Tag	Tage	N;ACC;PL
Tag	Tagen	N;DAT;PL
Tag	Tage	N;GEN;PL
"""
BEAR = "".join(
    f"Bär\t{form}\tN;{case};{number}\n"
    for number, forms in (("SG", ["Bär", "Bären", "Bären", "Bären"]), ("PL", ["Bären"] * 4))
    for case, form in zip(["NOM", "ACC", "DAT", "GEN"], forms, strict=True)
)
# English in UniMorph's cells: five of verbs, two of nouns
ENGLISH = """
walk	walk	V;NFIN;IMP+SBJV
walk	walks	V;PRS;3;SG
walk	walked	V;PST
walk	walked	V;V.PTCP;PST
walk	walking	V;V.PTCP;PRS
sing	sing	V;NFIN;IMP+SBJV
sing	sings	V;SG;3;PRS
sing	sang	V;PST
sing	sung	V;V.PTCP;PST
sing	singing	V;V.PTCP;PRS
song	song	N;SG
song	songs	N;PL
"""


def lexicon(text):
    return pd.DataFrame([line.split("\t") for line in text.split("\n") if line], columns=["lemma", "form", "features"])


def test_cells_run_over_parts_of_speech_whatever_the_order_of_features():
    assert mcc(lexicon(ENGLISH)) == 7
    assert mcc(lexicon(ENGLISH), syncretism="merge") == 7


def test_syncretic_cells_are_merged_where_no_word_tells_them_apart():
    assert mcc(lexicon(GERMAN_NOUNS)) == 8
    # Tag: NOM=ACC=DAT, GEN in the singular; NOM=ACC=GEN, DAT in the plural
    assert mcc(lexicon(GERMAN_NOUNS), syncretism="merge") == 4
    # Bär splits the nominative off the singular: NOM | ACC=DAT | GEN || NOM=ACC=GEN | DAT
    assert mcc(lexicon(GERMAN_NOUNS + BEAR), syncretism="merge") == 5


def test_participles_belong_to_verbs_and_words_of_one_form_to_their_part_of_speech():
    regular = "walk\twalked\tV;PST\nwalk\twalked\tV.PTCP;PST\n"
    assert mcc(lexicon(regular), syncretism="merge") == 1
    assert mcc(lexicon(regular + "and\tand\tCONJ\nor\tor\tCONJ\nin\tin\tADP\n"), syncretism="merge") == 3


def test_several_forms_in_a_cell_are_a_set():
    both = "dream\tdreamed\tV;PST\ndream\tdreamt\tV;PST\ndream\tdreamt\tV;V.PTCP;PST\ndream\tdreamed\tV;V.PTCP;PST\n"
    assert mcc(lexicon(both), syncretism="merge") == 1
    assert mcc(lexicon(both.replace("dream\tdreamt\tV;PST\n", "")), syncretism="merge") == 2


def test_a_gap_does_not_merge_what_other_words_tell_apart():
    # B and C never meet, but A is apart from B alone: merging A with C, then C with B would be wrong
    text = "x\t1\tN;A\nx\t2\tN;B\ny\t1\tN;A\ny\t1\tN;C\n"
    assert mcc(lexicon(text), syncretism="merge") == 3


def slow_merge(rows):
    """The definition, cell by cell."""
    forms = {}
    for lemma, form, features in rows:
        part, *rest = features.split(";")
        forms.setdefault((part, frozenset(rest)), {}).setdefault(lemma, set()).add(form)
    part_of = {cell: cell[0].split(".")[0] for cell in forms}

    def common(a, b):
        return forms[a].keys() & forms[b].keys() if part_of[a] == part_of[b] else set()

    def apart(a, b):
        return any(forms[a][lemma] != forms[b][lemma] for lemma in common(a, b))

    others = {a: {b for b in forms if apart(a, b)} for a in forms}
    group = {cell: {cell} for cell in forms}
    for a, b in combinations(forms, 2):
        if common(a, b) and not apart(a, b) and others[a] == others[b]:
            union = group[a] | group[b]
            for cell in union:
                group[cell] = union
    return len({id(cells) for cells in group.values()})


ROWS = st.lists(
    st.tuples(
        st.sampled_from("klm"),
        st.sampled_from("123"),
        st.sampled_from(["N;A", "N;B", "N;C;D", "N;D;C", "V;A", "V.X;A"]),
    ),
    min_size=1,
    max_size=18,
)


@given(ROWS)
def test_merging_is_what_its_definition_says(rows):
    table = pd.DataFrame(rows, columns=["lemma", "form", "features"])
    merged = mcc(table, syncretism="merge")
    assert merged == slow_merge(rows)
    assert 1 <= merged <= mcc(table)


@given(ROWS, st.randoms())
def test_the_order_of_lines_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    for syncretism in ("count", "merge"):
        one, other = (pd.DataFrame(r, columns=["lemma", "form", "features"]) for r in (rows, shuffled))
        assert mcc(one, syncretism=syncretism) == mcc(other, syncretism=syncretism)


def test_reads_compressed_files_and_columns_of_segmentation(tmp_path):
    path = tmp_path / "deu.gz"
    path.write_bytes(gzip.compress(GERMAN_NOUNS.replace("SG\n", "SG\tTag|es\n").encode()))
    assert read_unimorph(path).equals(lexicon(GERMAN_NOUNS))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\tN\na\tb\n", r"line 2: expected lemma<TAB>form<TAB>features, got 'a\\tb'"),
        ("a\t\tN\n", "line 1: expected lemma"),
        ("\n\n", "holds no word"),
    ],
)
def test_lines_that_are_no_triples(tmp_path, text, message):
    path = tmp_path / "deu"
    path.write_text(text)
    refused(DataError, message, read_unimorph, path)


def test_bad_lexicons_and_options():
    refused(DataError, r"lacks column.s. 'features'", mcc, lexicon(ENGLISH).drop(columns="features"))
    refused(DataError, "the lexicon is empty", mcc, lexicon(""))
    refused(ConfigError, "syncretism must be 'count' or 'merge', got 'yes'", mcc, lexicon(ENGLISH), syncretism="yes")


def test_cells_that_are_missing():
    table = lexicon(ENGLISH)
    for column in table:
        holed = table.copy()
        holed.loc[1, column] = None
        refused(DataError, r"1 of .* rows of the lexicon lack a cell: 1\. Use read_unimorph", mcc, holed)
