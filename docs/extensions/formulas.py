"""Formulas of docstrings (reStructuredText's :math: and .. math::) as MathML, which browsers draw themselves."""

import re
import textwrap
from typing import Any

import griffe
from latex2mathml.converter import convert

BLOCK = re.compile(r"^(?P<indent> *)\.\. math::(?P<first>[^\n]*)\n(?P<rest>(?:(?P=indent) +[^\n]*\n|\s*\n)*)", re.MULTILINE)
INLINE = re.compile(r":math:`([^`]+)`")


def _block(match: re.Match[str]) -> str:
    latex = f"{match['first'].strip()}\n{textwrap.dedent(match['rest']).strip()}"
    return f"{match['indent']}<p>{convert(latex.strip(), display='block')}</p>\n\n"


class Formulas(griffe.Extension):
    """Rewrites every docstring before it is rendered."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            text = BLOCK.sub(_block, obj.docstring.value + "\n")
            obj.docstring.value = INLINE.sub(lambda match: convert(match[1].replace("\n", " ")), text).rstrip("\n")
