"""Names of Universal Dependencies (version 2), against which names in queries and rules are held."""

import re
from collections.abc import Iterator
from difflib import get_close_matches

RELATIONS = [
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop",
    "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark",
    "nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "ref", "reparandum", "root", "vocative",
    "xcomp",
]  # fmt: skip
PARTS_OF_SPEECH = [
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "SYM", "VERB", "X",
]  # fmt: skip
FEATURES = [
    "Abbr", "Animacy", "Aspect", "Case", "Clusivity", "Definite", "Degree", "DeixisRef", "Deixis", "Evident",
    "ExtPos", "Foreign", "Gender", "Mood", "NounClass", "NumType", "Number", "Person", "Polarity", "Polite", "Poss",
    "PronType", "Reflex", "Tense", "Typo", "VerbForm", "Voice",
]  # fmt: skip
# in use in treebanks, and close to universal ones
OF_LANGUAGES = {"ConjType", "NameType", "NounType", "PartType", "PronClass", "SubGender"}
CLOSE = 0.75  # of difflib's ratio, from which on a language's own feature is held to be a slip

_EDGE = re.compile(r"[-=]\[(.+)\][-=]>")
_TEST = re.compile(r"(\w+)!?=([^,\]]+)")


def doubtful_names(condition: str) -> Iterator[str]:
    """Yield what is doubtful about the names in a condition of a query.

    Relations and parts of speech are universal, but for subtypes; features may be a language's own, so that only
    those which are nearly universal ones are doubted.

    Examples
    --------
    >>> list(doubtful_names("V -[nsubjj]-> S"))
    ["no relation of Universal Dependencies matches 'nsubjj'; did you mean 'nsubj'?"]
    >>> list(doubtful_names("V[upos=VERB, Tens=Past]"))
    ["'Tens' is not a universal feature; did you mean 'Tense'?"]
    """
    if edge := _EDGE.search(condition):
        yield from _unmatched("relation", edge[1], RELATIONS)
        return
    for name, expression in _TEST.findall(condition):
        if name in ("deprel", "upos"):
            what, names = ("relation", RELATIONS) if name == "deprel" else ("part of speech", PARTS_OF_SPEECH)
            yield from _unmatched(what, expression, names)
        elif name[0].islower() or name in OF_LANGUAGES or name in FEATURES:
            continue
        elif near := get_close_matches(name, FEATURES, 1, CLOSE):
            yield f"{name!r} is not a universal feature; did you mean {near[0]!r}?"


def _unmatched(what: str, expression: str, names: list[str]) -> Iterator[str]:
    """Yield the alternatives of a regular expression that match none of the names, subtypes left aside."""
    if re.search(r"[()\[\]\\]", expression):  # alternatives may be inside
        return
    for alternative in expression.split("|"):
        base = alternative.partition(":")[0]
        if not any(re.fullmatch(base, name) for name in names):
            near = get_close_matches(base, names, 1, 0.5)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            yield f"no {what} of Universal Dependencies matches {alternative!r}{hint}" + ("" if hint else ".")
