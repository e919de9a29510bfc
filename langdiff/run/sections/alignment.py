"""Alignment: whether the texts of the corpus are in step, for experiments whose corpus is read from files."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from langdiff.run.analysis import Analysis, draw
from langdiff.run.html import tables_of
from langdiff.run.settings import Basis, Section, section

if TYPE_CHECKING:
    from langdiff.run.settings import Core, RunResult

_DRAWN = 60  # editions at most
_SHOWN = ["edition", "kind", "says", "gain"]
_NOT_CHECKED = "Not checked: there are fewer than 100 intents or two editions."


@section(
    "alignment",
    title="Alignment",
    heading="Are the texts aligned?",
    explains="Whether the texts of an intent say the same is judged by their lengths beside those of other editions, "
    "before editions and intents are selected. A passage that does not fit where it stands makes an edition look "
    "harder or easier for its content. The picture has the fit of every document in nats per text; below 0 it is not "
    "in step.",
    in_file=False,
)
class AlignmentChecked(Section):
    """Check of alignment, for experiments with ``alignment`` of ``[corpus]`` other than ``"off"``."""

    @classmethod
    def asked_by(cls, experiment: "Core") -> Self | None:
        """Return the section if texts are read from files and are to be checked."""
        return cls() if getattr(experiment.corpus, "alignment", "off") != "off" else None

    def depends(self, basis: Basis) -> list[Any]:
        """Return the check."""
        return [None if basis.alignment is None else basis.alignment.to_json()]

    def make(self, basis: Basis) -> Analysis:
        """Describe what was found, without a table if nothing was or too few texts could be checked."""
        name, found = self.about.name, basis.alignment
        if found is None:
            return Analysis(name=name, table=pd.DataFrame(columns=_SHOWN), notes=(_NOT_CHECKED,))
        title = found.headline().removeprefix("Alignment: ")
        caption = "Fit of the texts of each document to those of other editions; passages out of step are outlined."
        rows = min(len(found.fit), _DRAWN)
        figure = draw(
            name, caption, name, lambda ax: found.plot(ax), rows=rows, title=title, wide=True, kind="heat map"
        )
        notes = [found.headline(), *(f"{edition}: {line}" for edition, line in found.warnings())]
        return Analysis(name=name, table=found.passages, notes=tuple(notes), figures=(figure,))

    def find(self, basis: Basis, new: Path) -> Analysis:
        """Return the stored or new result; having no passages is not a failure."""
        return replace(super().find(basis, new), failure="")

    @classmethod
    def read(cls, directory: Path) -> Analysis | None:
        """Return the result of a finished run."""
        found = super().read(directory)
        return None if found is None else replace(found, failure="")

    @classmethod
    def tables(cls, run: "RunResult") -> list[dict[str, str]]:
        """Return the passages in words."""
        table = run.analyses[cls.about.name].table
        return tables_of(table[_SHOWN]) if len(table) else []
