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


def on_page_content(content: str, **_: Any) -> str:
    """Draw the formulas of a page; MkDocs calls this for each."""
    for display, pattern in ON_PAGES.items():
        content = pattern.sub(lambda match, display=display: convert(html.unescape(match[1]), display=display), content)
    return content


def _block(match: re.Match[str]) -> str:
    latex = f"{match['first'].strip()}\n{textwrap.dedent(match['rest']).strip()}"
    return f"{match['indent']}<p>{convert(latex.strip(), display='block')}</p>\n\n"


class Formulas(griffe.Extension):
    """Rewrites every docstring before it is rendered."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Write the formulas of a docstring as MathML; griffe calls this for each object."""
        if obj.docstring:
            text = BLOCK.sub(_block, obj.docstring.value + "\n")
            obj.docstring.value = INLINE.sub(lambda match: convert(match[1].replace("\n", " ")), text).rstrip("\n")
