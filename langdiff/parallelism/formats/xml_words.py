"""XML of words: tokenised sermons (ASP), essays (PSE-I), and the exchange format of pyrallelism.

Words carry ``parallelism_id_k`` and ``branch_id_k`` for stratum k, from 1; -1 stands for none. A word is the attribute
``cont`` or, where that is missing, the text of the element. Sections are ``section`` and ``para``.
"""

import re

from langdiff._archives import File
from langdiff._xml import XmlEvents, read_xml
from langdiff.parallelism.documents import Document
from langdiff.parallelism.formats.branches import MAX_STRATA, NONE, TokenList

_IDENTIFIER = re.compile(r"(parallelism|branch)_id_(.*)", re.DOTALL)
_WHOLE = re.compile(r"-1|[0-9]{1,9}")
SECTIONS = ("section", "para")


def read_xml_words(file: File, name: str, *, predicted: bool) -> Document:
    """Return the document of a file.

    Raises
    ------
    FaultsError
        If the file cannot be used; the message names file and line.
    """
    events = _Words(file)
    read_xml(file, events, errors=None)
    return events.found.document(name, predicted=predicted)


class _Words(XmlEvents):
    """Collects words."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self.found = TokenList(str(file))
        self._section = ""
        self._text: list[str] | None = None  # of the open word
        self._attributes: dict[str, str] = {}

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        if self._text is not None:
            raise self.unusable(f"<{tag}> inside of a <word>.")
        if tag in SECTIONS:
            self.found.end_section("")  # of words before the first section
            self._section = attributes.get("id", "")
        elif tag == "word":
            self._text, self._attributes = [], attributes
        elif tag == "parallelism":
            raise self.unusable("<parallelism> in a file of words; branches are attributes of the words there.")

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def finish(self, tag: str) -> None:
        if tag in SECTIONS:
            self.found.end_section(self._section)
        elif tag == "word":
            token = self._attributes.get("cont", "".join(self._text or ()).strip())
            self.found.add(token, self._identifiers(), self.line)
            self._text = None

    def _identifiers(self) -> dict[int, tuple[int, int]]:
        """Return the identifiers of parallelism and branch by stratum."""
        found: dict[int, dict[str, int]] = {}
        for key, value in self._attributes.items():
            if not (match := _IDENTIFIER.fullmatch(key)):
                continue
            unit, stratum = match.groups()
            if not _WHOLE.fullmatch(stratum) or not 1 <= int(stratum) <= MAX_STRATA:
                raise self.unusable(f"the attribute {key!r} does not name a stratum from 1 to {MAX_STRATA}.")
            if not _WHOLE.fullmatch(value):
                raise self.unusable(f"{key} is a whole number, or -1 for none; got {value!r}.")
            found.setdefault(int(stratum), {})[unit] = int(value)
        return {
            stratum: (units.get("parallelism", NONE), units.get("branch", NONE)) for stratum, units in found.items()
        }
