"""A format, a regression variant and an outcome likelihood that langdiff finds by entry points."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.special import expit

import langdiff as ld
from langdiff.corpora import Format, FormatText
from langdiff.regression import CellTerms, Laplace, Likelihood


@dataclass(frozen=True)
class ArrowText(FormatText):
    """Lines such as ``1 -> a dog``."""

    file: Path

    def texts(self, faults):
        for number, line in enumerate(self.file.read_text(encoding="utf-8").splitlines(), 1):
            intent, arrow, text = line.partition(" -> ")
            if arrow:
                yield intent, text
            else:
                faults.add(self.file, number, "no arrow.")


def catalogue(reading):
    files, known = reading.ordered(reading.files((".arrows",)))
    sources = {edition: ArrowText(Path(file), **reading.how) for edition, file in files.items()}
    texts = {edition: dict(source.texts(reading.faults)) for edition, source in sources.items()}
    presence = pd.DataFrame({edition: dict.fromkeys(own, True) for edition, own in texts.items()}).notna()
    presence = presence.rename_axis(index="intent", columns="edition")
    info = reading.describe(files, known, {})
    return ld.Multitext(
        presence=presence, edition_info=info, intent_info=pd.DataFrame(index=presence.index), sources=sources
    )


ARROWS = Format(name="arrows", suffixes=(".arrows",), catalogue=catalogue)


@dataclass(frozen=True, kw_only=True)
class Sharp(Laplace):
    """Model 2L with a corner that is hardly rounded."""

    name: ClassVar[str] = "2S"
    rounded: ClassVar[str] = "2S"
    rounding: float = 1e-3


@dataclass(frozen=True)
class Guessing(Likelihood):
    """One chance level for all items."""

    level: float = 0.25
    name = "guessing"

    def terms(self, eta, s, t, d=None, constant=None):
        q = expit(eta)
        p = self.level + (1 - self.level) * q
        first = (1 - self.level) * q * (1 - q)
        pull = s / p - (t - s) / (1 - p)
        value = s * np.log(p) + (t - s) * np.log1p(-p)
        second = first**2 * (s / p**2 + (t - s) / (1 - p) ** 2) - first * (1 - 2 * q) * pull
        return CellTerms(value.sum(axis=-1), first * pull, second)

    def mean(self, eta, constant=None):
        return self.level + (1 - self.level) * expit(eta)
