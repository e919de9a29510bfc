"""The ten phenomena of Bender et al. (2011), and how types of dependency are written."""

import re

PHENOMENA = {
    "barerel": "bare relative clause",
    "tough": "tough adjective",
    "rnr": "right-node raising",
    "itexpl": "expletive it",
    "vpart": "verb with particle",
    "ned": "noun with -ed",
    "absol": "absolutive",
    "vger": "verbal gerund",
    "argadj": "argument and adjunct interleaved",
    "control": "control",
}
# An instance of expletive *it* is the subject or the object of its verb, never both: one column of scores
POOLED = {"itexpl": "!ARG"}

_TYPE = re.compile(r"(!?)((?:ARG[123]?|MOD)(?:/(?:ARG[123]?|MOD))*)(:[a-z]+)?")


def is_type(text: str) -> bool:
    """Return whether a text is a type of dependency: ``ARG2``, ``ARG2/MOD``, ``!ARG2``, ``ARG2:second``.

    Examples
    --------
    >>> is_type("!ARG1/ARG2"), is_type("ARG2:gap"), is_type("ARG4")
    (True, True, False)
    """
    return _TYPE.fullmatch(text) is not None


def types_of_rules(target_type: str) -> tuple[str, ...]:
    """Return the types of rules that serve a target's type: itself and, of several joined by ``/``, each alone.

    Examples
    --------
    >>> types_of_rules("ARG2/MOD")
    ('ARG2/MOD', 'ARG2', 'MOD')
    >>> types_of_rules("!ARG2"), types_of_rules("ARG2:gap")
    (('!ARG2',), ('ARG2:gap',))
    """
    match = _TYPE.fullmatch(target_type)
    if match is None:  # refused when it was read
        return (target_type,)
    negation, alternatives, label = match.group(1), match.group(2).split("/"), match.group(3) or ""
    alone = [f"{negation}{part}{label}" for part in alternatives]
    return (target_type, *alone) if len(alone) > 1 else (target_type,)
