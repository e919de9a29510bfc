"""The tokenizer against a reading of its rules character by character."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from langdiff.corpora import detokenize, tokenize

MERGE = "\u21b9"
ESCAPES = {"\u241b": "\u241b\u241b", MERGE: "\u241b\u21e5"}

any_text = st.text(st.characters(codec=None, exclude_categories=[]))  # lone surrogates, too
tricky_text = st.text(alphabet=f"ab1 \n\u00a0.,-_'{MERGE}\u241b\u21e5\u0301\u200d\U0001f600\U00010428\U0001d165")


def is_weird(character):
    return unicodedata.category(character)[0] not in "LMN" and not character.isspace()


def tokenize_slowly(text):
    text = "".join(ESCAPES.get(character, character) for character in text)
    tokens = ""
    for position, character in enumerate(text):
        before, after = text[:position][-1:], text[position + 1 :][:1]
        if is_weird(character):
            if before and not before.isspace():
                tokens += " " + MERGE
            tokens += character
            if after and not after.isspace() and not is_weird(after):
                tokens += MERGE + " "
        else:
            tokens += character
    return tokens


def detokenize_slowly(tokens):
    text, position = "", 0
    while position < len(tokens):
        two = tokens[position : position + 2]
        if two in (" " + MERGE, MERGE + " "):
            position += 2
        else:
            text += tokens[position]
            position += 1
    plain, position = "", 0
    while position < len(text):
        for character, escaped in ESCAPES.items():
            if text.startswith(escaped, position):
                plain, position = plain + character, position + 2
                break
        else:
            plain, position = plain + text[position], position + 1
    return plain


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ""),
        ("ab c", "ab c"),
        ("ab, c.", f"ab {MERGE}, c {MERGE}."),
        ("a-b", f"a {MERGE}-{MERGE} b"),
        ("a...b", f"a {MERGE}. {MERGE}. {MERGE}.{MERGE} b"),
        ("(a", f"({MERGE} a"),
        (" ( a", " ( a"),
        ("a_1", f"a {MERGE}_{MERGE} 1"),
        ("e\u0301", "e\u0301"),  # a combining mark stays where it is
        ("3\u00bd\u2167", "3\u00bd\u2167"),  # numbers of all kinds
        ("a\u200db", f"a {MERGE}\u200d{MERGE} b"),  # format characters are weird
        ("\U00010428\U0001f600", f"\U00010428 {MERGE}\U0001f600"),
    ],
)
def test_rules(text, tokens):
    assert tokenize(text) == tokens
    assert detokenize(tokens) == text


@given(any_text | tricky_text)
@example(f"a{MERGE}b {MERGE} \u241b\u21e5 \u241b{MERGE}")
def test_agrees_with_the_rules_read_slowly_and_comes_back(text):
    tokens = tokenize(text)
    assert tokens == tokenize_slowly(text)
    assert detokenize(tokens) == detokenize_slowly(tokens) == text


@given(st.lists(any_text | tricky_text, min_size=1, max_size=8))
@example([f"{MERGE}. a,b  -"])
@example(["."])
@example([" "])
def test_long_texts_are_treated_as_short_ones(texts):
    text = "".join(texts) * 60  # more pieces than `tokenize` joins one by one
    tokens = tokenize(text)
    assert tokens == tokenize_slowly(text)
    assert detokenize(tokens) == text


def test_every_character_is_classed_as_unicode_says():
    text = "x" + "x".join(map(chr, range(0x110000)))
    pieces = tokenize(text.replace(MERGE, "x").replace("\u241b", "x"))
    weird = [character for character in map(chr, range(0x110000)) if is_weird(character)]
    split_off = pieces.count(f" {MERGE}")
    assert split_off == len(weird) - 2  # those two replaced


@pytest.mark.real_data
def test_real_text_comes_back(real_data):
    from langdiff.corpora import read_multitext

    bibles = read_multitext(real_data / "bible", editions=["hin-irv", "cmn-cuvsimp", "eng-kjv"])
    for edition in bibles.editions:
        for text in bibles.text(edition).iloc[:1000]:
            assert detokenize(tokenize(text)) == text
