"""Wrong names of commands, recipes and public names are answered with those that may be meant."""

import itertools

import pytest
from typer.main import get_command

import langdiff as ld
from langdiff.base.public import edit_distance, nearest
from langdiff.cli.app import OTHERWISE, app
from langdiff.errors import ConfigError
from langdiff.lm.language_model import find_lm
from tests.cli.conftest import langdiff as langdiff


def edited(word, letters="ab"):
    """Yield all words that are one edit away."""
    for k in range(len(word) + 1):
        yield from (word[:k] + letter + word[k:] for letter in letters)
        if k < len(word):
            yield word[:k] + word[k + 1 :]
            yield from (word[:k] + letter + word[k + 1 :] for letter in letters)
        if k + 1 < len(word):
            yield word[:k] + word[k + 1] + word[k] + word[k + 2 :]


def test_edit_distance_one_is_all_words_one_edit_away():
    words = ["".join(each) for length in range(5) for each in itertools.product("ab", repeat=length)]
    for word in words:
        near = set(edited(word))
        for other in words:
            expected = 0 if word == other else 1 if other in near else 2
            found = edit_distance(word, other)
            assert found == expected if expected < 2 else found >= 2


@pytest.mark.parametrize(("word", "expected"), [("ab", "ab"), ("tabel", "table"), ("zz", None), ("fti", "fit")])
def test_nearest(word, expected):
    assert nearest(word, ["ab", "table", "fit"]) == expected


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("tabel", "did you mean `langdiff table`?"),
        ("etable", "see `langdiff table`."),
        ("ppl", "see `langdiff score`."),
        ("power", "see `langdiff plan` or `langdiff reliability`."),
    ],
)
def test_command_that_may_be_meant(langdiff, wrong, meant):
    done = langdiff(wrong)
    assert (done.code, done.out) == (2, "")
    assert f"No such command '{wrong}'; {meant}" in done.err


def test_words_of_others_lead_to_commands():
    there = get_command(app).commands
    assert [name for names in OTHERWISE.values() for name in names if name not in there] == []
    assert [name for name in OTHERWISE if name in there] == []


def test_nothing_is_suggested_for_another_word(langdiff):
    assert "mean" not in langdiff("xyzzy").err


def test_option_that_may_be_meant(langdiff):
    assert "--clusters" in langdiff("fit", "--clutsers", "book", "s.csv").err


def test_no_recipe_of_ten_times_the_cost_is_suggested():
    costs = {name: find_lm(name).effort for name in ("char-ptb", "char-small")}
    assert costs["char-ptb"] > 10 * costs["char-small"]
    with pytest.raises(ConfigError) as error:
        find_lm("char-pt-small")
    assert "char-ptb" not in str(error.value).partition("Did you mean")[2]


@pytest.mark.parametrize(
    ("package", "wrong", "meant"),
    [
        (ld, "propagate_errors", "ld.typology.propagate_errors"),
        (ld, "comptue_surprisals", "ld.compute_surprisals"),
        (ld.typology, "fit", "ld.fit"),
        (ld.lm, "measure_baseline", "ld.lm.measure_baselines"),
    ],
)
def test_public_name_that_may_be_meant(package, wrong, meant):
    with pytest.raises(AttributeError, match=rf"did you mean {meant}\?"):
        getattr(package, wrong)
    assert not hasattr(package, "_xyzzy")
