"""Formulas as MathML, which browsers draw themselves, without a network.

Docstrings hold them as reStructuredText (:math: and .. math::), pages as $…$ and $$…$$ (pymdownx.arithmatex).
"""

import html
import re
import textwrap
from typing import Any

import griffe
from latex2mathml.converter import convert

BLOCK = re.compile(
    r"^(?P<indent> *)\.\. math::(?P<first>[^\n]*)\n(?P<rest>(?:(?P=indent) +[^\n]*\n|\s*\n)*)", re.MULTILINE
)
INLINE = re.compile(r":math:`([^`]+)`")
ON_PAGES = {
    "block": re.compile(r'<div class="arithmatex">\\\[(.+?)\\\]</div>', re.DOTALL),
    "inline": re.compile(r'<span class="arithmatex">\\\((.+?)\\\)</span>', re.DOTALL),
}
# What latex2mathml writes in another way than LaTeX draws it: a function without a space before its argument, and
# the tilde of distributions as a letter.
_FUNCTION = "<mi>(?:exp|ln|log)</mi>"
_ARGUMENT = "<mi>|<mfrac>|<msu|<mo>&#x0222[BC];"  # the last are integrals
CORRECTIONS = (
    (re.compile(rf"({_FUNCTION}|<msub>{_FUNCTION}<mn>2</mn></msub>)(?={_ARGUMENT})"), r'\1<mspace width="0.167em" />'),
    (re.compile("<mi>&#x0007E;</mi>"), "<mo>&#x0223C;</mo>"),
)


def mathml(latex: str, display: str = "inline") -> str:
    """Return a formula as MathML."""
    found = convert(latex, display=display)
    for pattern, correct in CORRECTIONS:
        found = pattern.sub(correct, found)
    return found


def on_page_content(content: str, **_: Any) -> str:
    """Draw the formulas of a page; MkDocs calls this for each."""
    for display, pattern in ON_PAGES.items():
        content = pattern.sub(lambda match, display=display: mathml(html.unescape(match[1]), display), content)
    return content


def _block(match: re.Match[str]) -> str:
    latex = f"{match['first'].strip()}\n{textwrap.dedent(match['rest']).strip()}"
    return f"{match['indent']}<p>{mathml(latex.strip(), 'block')}</p>\n\n"


class Formulas(griffe.Extension):
    """Rewrites every docstring before it is rendered."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Write the formulas of a docstring as MathML; griffe calls this for each object."""
        if obj.docstring:
            text = BLOCK.sub(_block, obj.docstring.value + "\n")
            obj.docstring.value = INLINE.sub(lambda match: mathml(match[1].replace("\n", " ")), text).rstrip("\n")
