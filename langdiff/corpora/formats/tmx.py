"""TMX, in which translation memories are exchanged: a unit has a segment in each language.

A unit ``<tu>`` is an intent, called by its ``tuid`` or else by its number; a ``<tuv xml:lang="de">`` is its text in the
edition of this language, whose code is compared without case and written in the usual way (``EN_gb`` is ``en-GB``). In
a segment, what ``hi`` and ``sub`` hold is text, codes of the layout (``bpt``, ``ept``, ``ph``, ``it``, ``ut``) are left
out. White space becomes single. The file may be UTF-16 with a byte order mark.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.archives import File
from langdiff.base.iso639 import spelled
from langdiff.corpora.faults import LANGUAGE, Events, Faults, Place, read_corpus_xml
from langdiff.corpora.files import edition_of, files_in, keep, suffixes_of
from langdiff.corpora.formats.bible import one_spaced
from langdiff.corpora.formats.format import Format, FormatText, Reading, begins_as_xml
from langdiff.errors import ConfigError, DataError
from langdiff.tables.multitext import Multitext

SUFFIXES = suffixes_of(".tmx", ".xml")
_CODES = frozenset({"bpt", "ept", "ph", "it", "ut"})


class Units(NamedTuple):
    """Texts by edition and intent, None where missing or faulty; intents in order; languages as spelled first."""

    texts: dict[str, dict[str, str | None]]
    intents: dict[str, None]
    spellings: dict[str, str]


class _TmxEvents(Events):
    """Handler of the elements of TMX."""

    def __init__(self, file: File, faults: Faults, units: Units, prefix: str) -> None:
        super().__init__(file, faults)
        self.texts, self.intents, self.spellings = units
        self._prefix = prefix
        self._number = 0
        self._unit = ""
        self._language = ""
        self._own: dict[str, tuple[str | None, int]] = {}  # text and line of the languages of the unit
        self._pieces: list[str] | None = None  # of the segment that is open
        self._where = Place(file, 0)
        self._codes = 0  # open codes, counted anew in each sub
        self._around: list[int] = []  # the codes around each open sub

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "tu":
            self._number += 1
            self._unit, self._own = attributes.get("tuid", "").strip() or f"{self._prefix}{self._number}", {}
            self._where = self.where()
        elif tag == "tuv":
            language = (attributes.get(LANGUAGE) or attributes.get("lang") or "").strip()
            self._language = self.spellings.setdefault(language.lower().replace("_", "-"), spelled(language))
        elif tag == "seg" and "tuv" in self.open:
            self._pieces, self._where = [], self.where()
        elif tag in _CODES:
            self._codes += 1
        elif tag == "sub":
            self._codes, self._around = 0, [*self._around, self._codes]

    def data(self, text: str) -> None:
        if self._pieces is not None and not self._codes:
            self._pieces.append(text)

    def finish(self, tag: str) -> None:
        if tag in _CODES:
            self._codes -= 1
        elif tag == "sub":
            self._codes = self._around.pop()
        elif tag == "seg" and self._pieces is not None:
            text = one_spaced("".join(self._pieces))
            damaged = self.damage.is_in(text, self._where, self._unit)
            self._pieces = None
            self._add(None if damaged else text or None)
        elif tag == "tu":
            self._end_unit()

    def _add(self, text: str | None) -> None:
        if not self._language:
            self.fault("this segment has no language; give xml:lang in its tuv.", self._unit)
        elif self._language in self._own:
            what = f"unit {self._unit!r} has two segments in {self._language!r}, the first in line "
            self.fault(f"{what}{self._own[self._language][1]}; neither is used.", self._unit)
            self._own[self._language] = None, self._own[self._language][1]
        else:
            self._own[self._language] = text, self._where.line

    def _end_unit(self) -> None:
        twice = self._unit in self.intents
        if twice:
            self.fault(f"the unit {self._unit!r} is there twice; neither is used.", self._unit)
        self.intents[self._unit] = None
        for language in {**self._own, **(self.texts if twice else {})}:
            text = None if twice else self._own[language][0]
            self.texts.setdefault(language, {})[self._unit] = text


@dataclass(frozen=True)
class TmxText(FormatText):
    """Source of the segments of one language.

    Attributes
    ----------
    files : tuple of Path or Member
        The files.
    language : str
        The language, as the files call it.
    """

    files: tuple[File, ...]
    language: str

    def texts(self, faults: Faults) -> Iterator[tuple[str, str]]:
        """Yield (intent, text) of the segments that are present."""
        texts = read_units(self.files, faults, self.decode_errors).texts
        yield from ((intent, text) for intent, text in texts.get(self.language, {}).items() if text)


def read_units(files: tuple[File, ...], faults: Faults, errors: str) -> Units:
    """Return the units of some files, of which those with faults are left out."""
    units = Units({}, {}, {})
    for file in files:
        prefix = "" if len(files) == 1 else f"{edition_of(file, SUFFIXES)}/"
        with faults.of_part(file, "file"):
            read_corpus_xml(file, _TmxEvents(file, faults, units, prefix), errors=errors, utf16=True)
    return units


def catalogue(reading: Reading) -> Multitext:
    """Catalogue the languages of translation memories."""
    if isinstance(reading.path, dict):
        raise ConfigError("path: a file of TMX has all editions; give files, not one per edition.")
    files = tuple(files_in(reading.path, SUFFIXES))  # type: ignore[arg-type]  # mappings are refused above
    units = read_units(files, reading.faults, reading.decode_errors)
    if not any(any(own.values()) for own in units.texts.values()):
        reading.faults.check()
        raise DataError(f"{files[0]}: has no segment with text.")
    have = {language: files[0] for language, own in sorted(units.texts.items()) if any(own.values())}
    return reading.multitext(
        {
            language: (TmxText(files, language, **reading.how), file, units.texts[language])
            for language, file in keep(have, reading.editions).items()
        },
        pd.DataFrame(index=np.array(list(units.intents), dtype=object)),
    )


FORMAT = Format(name="tmx", suffixes=SUFFIXES, catalogue=catalogue, beginning=begins_as_xml(r"tmx\b"))
