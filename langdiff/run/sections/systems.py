"""``[systems]``: several language models that were not trained here, over the same languages."""

from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from pydantic import Field

import langdiff as ld
from langdiff.run.analysis import Analysis
from langdiff.run.html import tables_of
from langdiff.run.settings import Basis, Section, section

if TYPE_CHECKING:
    from langdiff.run.settings import Core, RunResult

CAPTIONS = {"systems": "Language models, the best first", "languages": "Languages, the best served first"}
FLAGS = "Cells that differ from the sum of language and language model"
SHOWN = ["percent", "low", "high", "ranks"]


@section(
    "systems",
    title="Systems",
    heading="Are the language models equally good, and in all languages?",
    explains="One size per intent for all language models and languages. Language models are compared by the means of "
    "their difficulties over languages, languages by means over language models, both in percent of bits above the "
    "average; intervals and sets of ranks hold together. Flagged are cells where a language is harder or easier "
    "under one language model than the two effects add up to, at a rate of false discoveries of q.",
)
class SystemsSettings(Section):
    """``[systems]``: languages and language models together; see `langdiff.stack`.

    Made by default where ``hf`` of ``[lm]`` names several folders.
    """

    q: float = Field(0.05, gt=0, lt=1)

    @classmethod
    def asked_by(cls, experiment: "Core") -> Self | None:
        """Return the section if the file has it or several given language models are compared."""
        given: Self | None = getattr(experiment, cls.about.name, None)
        return cls() if given is None and len(experiment.lm.folders) > 1 else given

    def agrees(self, experiment: "Core") -> None:
        """Check that there are several language models."""
        if len(experiment.lm.names) < 2:
            raise ValueError("[systems] compares language models: name two or more in [lm], or leave [systems] out")

    def make(self, basis: Basis) -> Analysis:
        """Fit all tables together."""
        fit = ld.fit(dict(basis.surprisals), clusters=basis.experiment.fit.one_clustering)
        two_way = fit.two_way
        boards = {of: two_way.leaderboard(of).rename_axis("name").reset_index() for of in CAPTIONS}
        flags = two_way.flags(self.q).reset_index()
        found = flags[flags["flag"] != ""]
        found = found.assign(name=found["language"] + " under " + found["system"], ranks=found["flag"])
        table = pd.concat([*(board.assign(of=of) for of, board in boards.items()), found.assign(of="flags")])
        table[["low", "high"]] = 100 * np.expm1(table[["low", "high"]])
        tests = two_way.test()
        notes = [fit.audit.words] if fit.audit is not None else []
        notes += [f"{name}: p = {row['p_largest']:.2g} of the largest effect." for name, row in tests.iterrows()]
        return Analysis(name=self.about.name, table=table[["of", "name", *SHOWN]], notes=(*notes, f"[{fit.signature}]"))

    @classmethod
    def tables(cls, run: "RunResult") -> list[dict[str, str]]:
        """Return the leaderboards of language models and of languages, and the cells that are flagged."""
        table = run.analyses[cls.about.name].table
        shown = []
        for of, caption in (CAPTIONS | {"flags": FLAGS}).items():
            part = table[table["of"] == of].drop(columns="of")
            part = part.rename(columns={"ranks": "flag"} if of == "flags" else {})
            shown += tables_of(part, caption) if len(part) else []
        return shown
