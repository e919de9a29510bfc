"""A corpus format of one's own: declared here, read, written, saved and read again through the public API."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

import langdiff as ld
from langdiff.corpora import Format, FormatText, Reading
from langdiff.errors import ConfigError, DataError, LangdiffWarning


@dataclass(frozen=True)
class ArrowText(FormatText):
    """Lines such as ``1 -> a dog``."""

    file: Path

    def texts(self, faults) -> Iterator[tuple[str, str]]:
        """Yield (intent, text); lines without an arrow are faults."""
        for number, line in enumerate(self.file.read_text(encoding="utf-8").splitlines(), 1):
            intent, arrow, text = line.partition(" -> ")
            if arrow:
                yield intent, text
            else:
                faults.add(self.file, number, "no arrow.")


def catalogue(reading: Reading) -> ld.Multitext:
    """Catalogue one file per edition."""
    files, known = reading.ordered(reading.files((".arrows",)))
    sources = {edition: ArrowText(Path(file), **reading.how) for edition, file in files.items()}
    texts = {}
    for edition, source in sources.items():
        with reading.faults.of(edition, source.file):
            texts[edition] = dict(source.texts(reading.faults))
    presence = pd.DataFrame({edition: dict.fromkeys(of_edition, True) for edition, of_edition in texts.items()})
    presence = presence.notna().rename_axis(index="intent", columns="edition")
    return ld.Multitext(
        presence=presence,
        edition_info=reading.describe(files, known, {}),
        intent_info=pd.DataFrame(index=presence.index),
        sources=sources,
    )


def write(multitext: ld.Multitext, directory: Path) -> list[Path]:
    """Write one file per edition."""
    directory.mkdir(parents=True, exist_ok=True)
    files = [directory / f"{edition}.arrows" for edition in multitext.editions]
    for file, edition in zip(files, multitext.editions, strict=True):
        lines = [f"{intent} -> {text}\n" for intent, text in multitext.text(edition).items()]
        file.write_text("".join(lines), encoding="utf-8")
    return files


ARROWS = Format(name="arrows", suffixes=(".arrows",), catalogue=catalogue, write=write)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deu.arrows").write_text("1 -> ein Hund\n", encoding="utf-8")
    (tmp_path / "eng.arrows").write_text("1 -> a dog\n2 -> a cat\n", encoding="utf-8")
    return tmp_path


def test_it_is_read_and_written(folder, tmp_path):
    multitext = ld.read_multitext(folder, format=ARROWS)
    assert repr(multitext) == "Multitext: 2 intents × 2 editions (2 languages), 1 of 4 cells missing"
    assert multitext.text("eng").to_dict() == {"1": "a dog", "2": "a cat"}
    assert multitext.edition_info["language"].to_dict() == {"deu": "deu", "eng": "eng"}
    written = ld.write_multitext(multitext, tmp_path / "again", format=ARROWS)
    assert [file.read_text(encoding="utf-8") for file in written] == ["1 -> ein Hund\n", "1 -> a dog\n2 -> a cat\n"]
    assert ld.select(ld.read_multitext(tmp_path / "again", format=ARROWS)).value == 2


def test_its_options_and_faults_are_handled_as_those_of_other_formats(folder):
    with pytest.raises(ConfigError, match="format 'arrows' does not have the option vref"):
        ld.read_multitext(folder, format=ARROWS, vref="vref.txt")
    (folder / "eng.arrows").write_text("1 -> a dog\nno line\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"eng\.arrows, line 2: no arrow"):
        ld.read_multitext(folder, format=ARROWS)
    with pytest.warns(LangdiffWarning, match="Left out: eng"):
        skipping = ld.read_multitext(folder, format=ARROWS, on_error="skip")
    assert skipping.skipped["fault"].tolist() == ["no arrow."]
