"""What readers doubt: kinds of faults that show in what was parsed, counted where it is held and judged at the end.

Each kind is a record of ``suspicions.toml``: what is counted, from how many and from which share on it is doubted, and
what follows. A reader counts with `Doubts.see`; at the end of a file or an edition `Doubts.judged` compares the counts
with the records, and `report` says what was found: as an error, in one warning per kind, and as rows of `left_out`.
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from langdiff.base.types import OnError
from langdiff.errors import ConfigError, Fault, FaultsError, listing, option, warn

if TYPE_CHECKING:
    import pandas as pd

Action = Literal["refuse", "repair", "name"]
LEFT_OUT_COLUMNS = ("edition", "level", "what", "why")  # of the tables `left_out`
KEPT: dict[str, str] = {"repair": "repaired", "name": "doubted"}  # levels of these tables for what is still there
UNKNOWN = {"?", "-", "NA", "N/A"}  # codes of no value
_NAMED = 5  # places that a row names
_EXAMPLES = 3  # kept of a kind in a place


@dataclass(frozen=True)
class Suspicion:
    """A kind of fault that shows in what was parsed.

    Attributes
    ----------
    name : str
        Its name, for `trust`.
    of : str
        What is counted: a ``token``, ``text``, ``join``, ``item``, ``task``, ``sentence``, ``cell`` or ``member``.
    least : int
        The least number that is doubted.
    share : float
        The share of what was seen, at least 0 and less than 1, above which it is doubted.
    action : {"refuse", "repair", "name"}
        What follows: the unit cannot be used, the right reading is taken, or it is only said.
    sentence, remedy : str
        What is said, and what to do, with ``{n}``, ``{seen}``, ``{where}`` and ``{example}``; in the remedy ``{trust}``
        is the option that switches the kind off, ``{skip}`` the one that leaves it out, ``{item}`` the key of items.
    source : str
        A public report of the kind.
    case : str
        Its folder in ``tests/real_faults``.
    refuse_from : float, optional
        Share from which on a unit is refused although others are only named.
    missing : {"text", "file"}, optional
        What is missing where it is refused and faults are skipped; by default a text where one is named.

    Raises
    ------
    ConfigError
        If the action or the share is none, or there is no case.
    """

    name: str
    of: str
    least: int
    share: float
    action: Action
    sentence: str
    remedy: str
    source: str
    case: str
    refuse_from: float | None = None
    missing: Literal["text", "file"] | None = None

    def __post_init__(self) -> None:
        """Check the record."""
        if self.action not in get_args(Action):
            raise ConfigError(f"{self.name}: unknown action {self.action!r}; use one of {listing(get_args(Action))}.")
        if not 0 <= self.share < 1 or self.least < 1 or not self.case:
            raise ConfigError(f"{self.name}: share must be in [0, 1), least at least 1, and case the name of a folder.")

    def doubts(self, n: int, seen: int) -> bool:
        """Return whether `n` of `seen` are doubted."""
        return n >= self.least and n > self.share * seen


class Judged(NamedTuple):
    """Doubt in one place: how many of how many, with an example, its file and line, and the intents."""

    suspicion: Suspicion
    where: str
    n: int
    seen: int
    example: str
    file: str
    line: int | None
    intents: tuple[str, ...]

    def __str__(self) -> str:
        """Return the sentence about the doubt, without the place."""
        shown = {"n": f"{self.n:,}", "seen": f"{self.seen:,}", "where": self.where, "example": self.example}
        return self.suspicion.sentence.format(**shown)

    @property
    def action(self) -> Action:
        """What follows."""
        most = self.suspicion.refuse_from
        return "refuse" if most is not None and self.n >= most * self.seen else self.suspicion.action

    @property
    def remedy(self) -> str:
        """What to do."""
        options = {"trust": option("trust", [self.suspicion.name]), "skip": option("on_error", "skip")}
        return self.suspicion.remedy.format(where=self.where, item=option("item"), **options)

    @property
    def level(self) -> str:
        """Level of its row; a refusal has the level of the missing unit."""
        return KEPT.get(self.action, self.suspicion.missing or ("text" if self.intents else "file"))

    def fault(self) -> Fault:
        """Return the fault of what cannot be used."""
        what = f"{self} {self.remedy}".strip()
        return Fault(self.file, self.line, what, next(iter(self.intents), None), self.where, self.level)

    def row(self) -> tuple[str, str, str, str]:
        """Return the row of a table `left_out`."""
        if self.level == "file":
            return self.where, "file", self.file, f"{self} {self.remedy}".strip()
        names = ", ".join(self.intents[:_NAMED]) + (", …" if len(self.intents) > _NAMED else "")
        what = f"{self.n:,} {self.suspicion.of}{'' if self.n == 1 else 's'}{f' ({names})' if names else ''}"
        return self.where, self.level, what, f"{self.suspicion.name}: {self}"


@dataclass
class _Seen:
    """Counts of one kind in one place."""

    file: str
    n: int = 0
    seen: int = 0
    line: int | None = None
    examples: list[str] = field(default_factory=list)
    intents: dict[str, None] = field(default_factory=dict)


class Doubts:
    """Counts of doubtful units, for one call of a public reader.

    Parameters
    ----------
    trust : iterable of str
        Names of kinds that are not doubted.

    Raises
    ------
    ConfigError
        If a kind is unknown.

    Examples
    --------
    >>> doubts = Doubts()
    >>> doubts.see("markup", "eng", 2, 100, example="one <i>two", intent="7")
    >>> [(one.where, one.level, one.n) for one in doubts.judged()], doubts.judged()
    ([('eng', 'doubted', 2)], [])
    """

    def __init__(self, trust: Iterable[str] = ()) -> None:
        self.trust = (trust,) if isinstance(trust, str) else tuple(trust)
        if unknown := [name for name in self.trust if name not in SUSPICIONS]:
            known = listing(SUSPICIONS, most=len(SUSPICIONS))
            raise ConfigError(f"{option('trust')}: unknown {listing(unknown)}; the kinds of doubts are {known}.")
        self._seen: dict[tuple[str, str], _Seen] = {}

    def applies(self, name: str) -> bool:
        """Return whether a kind is doubted, because there is such a kind and it is not trusted."""
        return name in SUSPICIONS and name not in self.trust

    def see(
        self,
        name: str,
        where: str,
        n: int = 1,
        seen: int = 0,
        example: str = "",
        line: int | None = None,
        intent: str | Iterable[str] | None = None,
        file: object = None,
    ) -> None:
        """Add to the counts of a kind in a place; a kind that is trusted is not counted."""
        if not self.applies(name):
            return
        found = self._seen.setdefault((name, where), _Seen(str(where if file is None else file)))
        found.n += n
        found.seen += seen
        if n:
            found.line = line if found.line is None else found.line
            if example and len(found.examples) < _EXAMPLES:
                found.examples.append(example)
            if intent is not None:
                found.intents |= dict.fromkeys([intent] if isinstance(intent, str) else intent)

    def judged(self) -> list[Judged]:
        """Return all doubts, and begin to count anew."""
        seen, self._seen = self._seen, {}
        judged = []
        for (name, where), one in seen.items():
            kind = SUSPICIONS[name]
            if kind.doubts(one.n, one.seen):
                example = one.examples[0] if one.examples else ""
                judged.append(Judged(kind, where, one.n, one.seen, example, one.file, one.line, tuple(one.intents)))
        return judged


def report(judged: Sequence[Judged], on_error: OnError = "raise") -> "pd.DataFrame":
    """Report doubts, and return them as rows of a table `left_out`.

    Warns
    -----
    LangdiffWarning
        Once per kind.
    """
    import pandas as pd  # slow to import

    refused = [one for one in judged if one.action == "refuse"]
    if refused and on_error == "raise":
        raise FaultsError([one.fault() for one in refused])
    warn_of(judged)
    rows: list[Any] = [one.row() for one in judged]
    return pd.DataFrame(rows, columns=list(LEFT_OUT_COLUMNS), dtype=object)


def warn_of(judged: Iterable[Judged]) -> None:
    """Warn once of each kind, with the first places."""
    kinds: dict[str, list[Judged]] = {}
    for one in judged:
        kinds.setdefault(one.suspicion.name, []).append(one)
    for name, own in kinds.items():
        said = [f"{one.where}: {one}" for one in own[:_NAMED]]
        if len(own) > _NAMED:
            said.append(f"and {len(own) - _NAMED:,} more; left_out lists all.")
        warn("\n  ".join([f"{name}: {said[0]}", *said[1:], *filter(None, [own[0].remedy])]))


def known_values(doubts: Doubts, where: str, column: "pd.Series") -> "pd.Series":
    """Return a column of codes in which codes of unknown values are missing, if it has other codes, too.

    ``-`` beside ``+`` is a value.
    """
    cells = column.astype(object).map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    codes = set(cells.dropna())
    unknown = UNKNOWN & codes - ({"-"} if "+" in codes else set())
    if not unknown or unknown == codes or not doubts.applies("unknown_value"):
        return column
    rows = cells.isin(unknown)
    names = [str(name) for name in column.index[rows]]
    shown = listing(sorted(unknown))
    doubts.see("unknown_value", where, len(names), int(cells.notna().sum()), shown, intent=names)
    known = column.where(~rows)
    return known.cat.remove_unused_categories() if hasattr(known, "cat") else known


def _read_records() -> dict[str, Suspicion]:
    """Return the records by name."""
    stored = tomllib.loads(Path(__file__).with_name("suspicions.toml").read_text(encoding="utf-8"))
    return {name: Suspicion(name=name, **record) for name, record in stored.items()}


SUSPICIONS = _read_records()
