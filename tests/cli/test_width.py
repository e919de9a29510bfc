"""What commands print on a terminal of 80 columns fits; only a single word, such as a path or an address, is longer."""

import shlex
import unicodedata

import pandas as pd
import pytest

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.parallelism import Parallelism, make_document, write_parallelisms
from tests.constructions import trees, worked

WIDTH = 80
EDITIONS = ["deu-x-bible-1984", "eng-x-bible-standard", "fra-x-bible-courant", "spa-x-bible-latin"]
EDITIONS += ["汉语圣经和合本", "العربية"]
BARK = "1\tdogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
SLEEP = BARK.rstrip("\n") + "\n3\there\t_\tADV\t_\t_\t2\tadvmod\t_\t_\n4\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n"
SPANS = "1 1 S attribution\n2 4 N span\n2 2 N List\n3 3 N List\n4 4 N List\n5 5 S evidence\n"
WORDS = ["he", "came", ",", "she", "saw", ";", "they", "went", "and", "he", "left", "and", "she", "slept", "."]


def width_of(line):
    """Return the columns of a line on a terminal, by Unicode's own tables."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in line)
    none = sum(unicodedata.category(letter) in ("Mn", "Me", "Cf") for letter in line)
    return len(line) + wide - none


def too_long(text):
    """Return the lines that are longer than allowed: those of one word, such as a path, may be."""
    return [line for line in text.splitlines() if width_of(line) > WIDTH and len(line.split()) > 1]


def sentences(edition, count=100):
    return "".join(f"{edition} says sentence {k} of {'many ' * (k % 7)}words\n" for k in range(count))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of every kind, small and made up."""
    folder = tmp_path_factory.mktemp("files")
    for name, seed in (("bits", 0), ("other", 1)):
        table = ld.simulate(60, 12, seed=seed).surprisals
        names = [*EDITIONS, *table.editions[6:]]
        bits = table.bits.set_axis(names, axis=1)
        info = pd.DataFrame(
            {"document": [f"d{k // 4}" for k in range(60)], "fold": [k % 3 for k in range(60)]}, bits.index
        )
        info["original_language"] = ["deu" if k % 2 else "eng" for k in range(60)]
        ld.Surprisals(bits=bits, intent_info=info, lm=f"a-model-of-a-long-name-{name}").save(folder / f"{name}.csv")
        info.to_csv(folder / "intents.csv")
    ld.fit(ld.read_surprisals(folder / "bits.csv")).save(folder / "fit.json")
    languages = [f"l{k % 9}" for k in range(12)]
    pd.DataFrame({"edition": names, "language": languages, "family": [f"family {k % 4}" for k in range(12)]}).to_csv(
        folder / "editions.csv", index=False
    )
    figures = mielke2019()
    figures.difficulties("bibles").to_csv(folder / "difficulties.csv")
    figures.predictors("bibles").to_csv(folder / "predictors.tsv", sep="\t")
    figures.edition_info("bibles").to_csv(folder / "languages.csv")
    ld.simulate_outcomes(60, 3, groups={"plain": 0.0, "nested": 1.0}, documents=20, seed=1).outcomes.save(
        folder / "cells.csv"
    )
    ld.fit_outcomes(ld.read_outcomes(folder / "cells.csv")).save(folder / "abilities.json")
    (folder / "texts").mkdir()
    for edition in EDITIONS:
        (folder / "texts" / f"{edition}.txt").write_text(sentences(edition), encoding="utf-8")
    (folder / "a-treebank-of-news.conllu").write_text(BARK * 50 + SLEEP * 10)
    (folder / "a-treebank-of-letters.conllu").write_text(BARK * 10 + SLEEP * 50)
    (folder / "gold.tsv").write_text(worked.GOLD)
    (folder / "sentences.tsv").write_text(
        "".join(f"{item}\t{' '.join(words)}\n" for item, words in worked.WORDS.items())
    )
    (folder / "cc.rules").write_text(worked.RULES)
    (folder / "cc.gr").write_text(worked.GR)
    (folder / "bank.conllu").write_text(trees.ALL)
    for name in ("gold", "parser"):
        (folder / name).mkdir()
        (folder / name / "one.spans").write_text(SPANS)
        (folder / name / "two.spans").write_text("1 1 N span\n2 2 S evidence\n")
    one = make_document("1", WORDS, [Parallelism(((0, 2), (3, 5), (6, 8))), Parallelism(((9, 11), (12, 14)))])
    other = make_document("1", WORDS, [Parallelism(((0, 2), (3, 5))), Parallelism(((9, 11), (12, 14)))])
    write_parallelisms({"1": one, "2": make_document("2", WORDS, [Parallelism(((0, 1), (3, 4)))])}, folder / "one")
    write_parallelisms({"1": other, "2": make_document("2", WORDS, [Parallelism(((0, 1), (6, 7)))])}, folder / "two")
    return folder


TREEBANKS = "a-treebank-of-news.conllu a-treebank-of-letters.conllu"
COMMANDS = f"""
fit bits.csv
fit bits.csv --details
fit bits.csv --clusters document --by family --edition-info editions.csv
fit bits.csv --model 2L --details
fit bits.csv other.csv
table bits.csv other.csv
table bits.csv other.csv --pairs --by family --edition-info editions.csv
table fit.json --contrast "deu-x-bible-1984 - mean(e7, e8)"
compare-models bits.csv
compare-models bits.csv --n-folds 2 --model 1 --model 2
goodness bits.csv --n-subsets 2 --model 1 --model 2 --out good
reliability bits.csv other.csv
shares bits.csv other.csv --edition-info editions.csv
plan 5 --noise .17
plan 5 --pilot fit.json
correlate difficulties.csv predictors.tsv --edition-info languages.csv
translationese bits.csv intents.csv --min-native 1
parity bits.csv --reference eng-x-bible-standard
parity texts --format moses --reference eng-x-bible-standard
reproduce --paper belebele2024
corpora fetch
corpora describe texts --format moses
corpora describe texts --format moses
corpora check texts --format moses
select texts --format moses
predictors texts --format moses --out predicted.csv
import bits.csv --out logs.csv
outcomes check cells.csv --by group
outcomes fit cells.csv --by group --clusters document
outcomes fit cells.csv --model conditional
outcomes plan 0.02 --sd 0.45
compare-runs cells.csv cells.csv
treebanks measures {TREEBANKS}
treebanks compare {TREEBANKS}
constructions evaluate gold.tsv --sentences sentences.tsv --parser a-parser=cc.gr --rules cc.rules
constructions evaluate gold.tsv --sentences sentences.tsv --parser a-parser=cc.gr --rules cc.rules --by target
constructions check gold.tsv --sentences sentences.tsv
constructions attachment bank.conllu --parser one=bank.conllu --parser two=bank.conllu
constructions attachment bank.conllu --parser one=bank.conllu --parser two=bank.conllu --by pair
constructions mine bank.conllu
discourse evaluate gold a-parser=parser
discourse evaluate gold a-parser=parser --table details
discourse evaluate gold a-parser=parser b=parser --table differences
parallelism stats one
parallelism stats one --table pairs
parallelism split one --share training=.5 --share test=.5 --table documents
parallelism ranks
parallelism ranks --table pairs
parallelism score one two
parallelism score one two --table parallelisms
parallelism score one two --table cases
doctor
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", COMMANDS)
def test_tables_fit_80_columns(langdiff, folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    done = langdiff(*shlex.split(command), columns=80).good
    assert len(done.out.splitlines()) > 0 or "--out" in command
    assert too_long(done.out) == []


def test_the_measure_sees_a_line_that_is_too_long():
    assert too_long("a " * 41) == ["a " * 41]
    assert too_long("汉" * 39 + " 汉") != []
    assert too_long("https://example.org/" + "a" * 80) == []
