"""``[predictors]``: properties of texts and languages that may explain difficulties."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

import langdiff as ld
from langdiff.run.analysis import Analysis
from langdiff.run.settings import Basis, Section, section
from langdiff.typology import read_wals


@section(
    "predictors",
    title="Predictors",
    heading="What are the texts like?",
    explains="Measured on the texts to learn from, or looked up.",
)
class PredictorSettings(Section):
    """``[predictors]``: predictors of difficulty, from the training text and other sources.

    Keys are those of `langdiff.predictors`; ``treebanks``, ``lexicons`` and ``wals`` are paths of folders. ``same_as``
    has codes that WALS is to look up under others, such as ``{ zho = "cmn" }``; see `langdiff.typology.read_wals`.
    """

    paths: ClassVar[tuple[str, ...]] = ("treebanks", "lexicons", "wals")

    entropy: Literal["plug-in", "miller-madow", "chao-shen"] = "plug-in"
    compressor: Literal["lzma", "zlib"] = "lzma"
    treebanks: str | None = None
    lexicons: str | None = None
    syncretism: Literal["count", "merge"] = "count"
    wals: str | None = None
    features: list[str] | None = None
    same_as: dict[str, str] | None = None
    lang2vec: list[str] = Field([])

    @model_validator(mode="after")
    def _sources_are_given(self) -> Self:
        for key in ("features", "same_as"):
            if getattr(self, key) is not None and self.wals is None:
                raise ValueError(f"{key} is for WALS: give its folder as wals, too")
        if self.features == []:
            raise ValueError("features is empty: name features of WALS, or leave wals out")
        if self.syncretism != "count" and self.lexicons is None:
            raise ValueError("syncretism is for lexicons: give their folder as lexicons, too")
        return self

    def depends(self, basis: Basis) -> list[Any]:
        """Return format, languages and texts of the editions."""
        texts = basis.learned
        info = texts.edition_info.drop(columns="path", errors="ignore")
        return [basis.experiment.corpus.format, info, basis.hashes(texts)]

    def make(self, basis: Basis) -> Analysis:
        """Measure the texts and look up properties of languages."""
        given: dict[str, Any] = self.model_dump(exclude_none=True)
        if same_as := given.pop("same_as", None):
            given["wals"] = read_wals(given["wals"], same_as=same_as)
        result = ld.predictors(basis.learned, **given, progress=basis.progress)
        notes = [
            f"{predictor} is missing in {len(rows)} edition(s): {', '.join(rows['edition'])} ({reason})"
            for (predictor, reason), rows in result.missing.groupby(["predictor", "reason"], sort=False)
        ]
        return Analysis(name=self.about.name, table=result.to_frame().reset_index(), notes=tuple(notes))
