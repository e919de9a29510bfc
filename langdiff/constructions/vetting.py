"""What people decided on candidates: the targets that were accepted, and how many were vetted."""

import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from langdiff.base.io import as_path, read_lines
from langdiff.constructions.gold import CELLS, TREEBANK, GoldTargets, read_target, warn_of_words
from langdiff.constructions.target import Target
from langdiff.errors import DataError, Fault, FaultsError

DECISIONS = ("yes", "no", "edit")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Vetted:
    """Candidates after vetting.

    Attributes
    ----------
    gold : GoldTargets
        Targets that were accepted.
    counts : DataFrame
        Numbers of candidates that were ``vetted`` and ``accepted`` by phenomenon.
    """

    gold: GoldTargets
    counts: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return `counts`."""
        return self.counts

    def __repr__(self) -> str:
        """Give the numbers of candidates."""
        return f"Vetted: {self.counts['accepted'].sum()} of {self.counts['vetted'].sum()} candidates accepted"


def read_vetted(path: str | Path, *, name: str | None = None) -> Vetted:
    """Read candidates after vetting.

    Parameters
    ----------
    path : str or Path
        File that `Candidates.save` wrote, with decisions in the first column of targets. Targets of one sentence
        and phenomenon are one candidate; it is accepted if any of its targets is, and vetted if all have a decision.
    name : str, optional
        Name of the gold set; by default that of the file.

    Returns
    -------
    Vetted
        Targets that were accepted, and the counts.

    Raises
    ------
    FaultsError
        If a decision is none of yes, no and edit, or a target does not fit its sentence.
    DataError
        If nothing was accepted.

    Warns
    -----
    LangdiffWarning
        If words of accepted targets differ from those of the sentence, case and punctuation aside.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "vetted.tsv"
    ...     text = "# sentence;s1;She looked up words;yes;s1;vpart;1;looked-1+up-2;ARG2;words-3"
    ...     _ = path.write_text(text.replace(";", chr(9)).replace(f"words{chr(9)}yes", f"words{chr(10)}yes"))
    ...     read_vetted(path)
    Vetted: 1 of 1 candidates accepted
    """
    path = as_path(path)
    sentences, treebanks = _read_candidates(path)
    targets: dict[object, Target] = {}
    decisions: dict[tuple[str, str], list[str]] = {}
    faults = []
    different: list[str] = []
    for number, line in read_lines(path):
        cells = line.rstrip().split("\t")  # spreadsheets fill rows up with empty cells
        if line.strip() and not line.startswith("#"):
            try:
                decision = cells[0].strip()
                if len(cells) != CELLS + 1 or decision not in ("", *DECISIONS):
                    raise ValueError("not a decision (yes, no, edit or empty) and the six cells of a target.")
                decisions.setdefault((cells[2], cells[1]), []).append(decision)
                if decision in ("yes", "edit"):
                    target, unlike = read_target(cells[1:], number, sentences)
                    targets[target.key] = target
                    different += [f"line {number}: {what}" for what in unlike]
            except ValueError as error:
                faults.append(Fault(str(path), number, str(error)))
    if faults:
        raise FaultsError(faults)
    if not targets:
        raise DataError(f"{path}: no candidate was accepted; write yes in the first column of targets.")
    if different:
        warn_of_words(str(path), different, stacklevel=3)
    rows = [
        (code, "" not in own, any(own_one in ("yes", "edit") for own_one in own))
        for (code, _), own in decisions.items()
    ]
    counts = pd.DataFrame(rows, columns=["phenomenon", "vetted", "accepted"]).groupby("phenomenon", sort=False).sum()
    used = {target.item for target in targets.values()}
    gold = GoldTargets(
        name=name or re.sub(r"\.\w+$", "", path.name),
        origin="vetted",
        sentences={item: words for item, words in sentences.items() if item in used},
        targets=tuple(targets.values()),
        treebanks={item: own for item, own in treebanks.items() if item in used},
    )
    return Vetted(gold=gold, counts=counts.reset_index())


def _read_candidates(path: Path) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the words of each sentence, and its treebank as far as the file says it."""
    sentences: dict[str, tuple[str, ...]] = {}
    treebanks: dict[str, str] = {}
    treebank = ""
    for _, line in read_lines(path):
        cells = line.rstrip().split("\t")
        if line.startswith(TREEBANK):
            treebank = cells[0].removeprefix(TREEBANK).strip()
        elif cells[0] == "# sentence" and len(cells) == 3:
            sentences[cells[1]] = tuple(cells[2].split())
            treebanks |= {cells[1]: treebank} if treebank else {}
    return sentences, treebanks
