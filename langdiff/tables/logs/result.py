"""What was read from logs: texts, tokens and answers as long tables, and where they come from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from langdiff.base.result import Result
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.intent_info import PREFIX
from langdiff.tables.logs.pairing import Pairing
from langdiff.tables.long_tables import Provenance, scoring_of, write_table_file
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.surprisals import Surprisals
from langdiff.tables.token_tables import TokenScores

Per = Literal["bits", "outcomes", "tokens"]
SIZES = ("eos_bits", "characters", "bytes", "units")


def _none() -> pd.DataFrame:
    return pd.DataFrame()


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Logs(Result):
    """Logs of language models as long tables.

    Attributes
    ----------
    texts : DataFrame
        One row per text: ``item``, ``language``, ``system``, ``bits``; ``eos_bits``, ``characters``, ``bytes`` and
        ``units`` where known; and attributes of items, as ``intent_NAME``.
    token_table : DataFrame
        One row per token of these texts: ``item``, ``language``, ``system``, ``token``, ``text_start`` (its first
        character) and ``bits``, and what else the logs tell; an empty token is the end of a text.
    answers : DataFrame
        One row per answer: ``item``, ``language``, ``system``, ``successes`` (of a metric with other values than right
        and wrong, such as F1 or chrF, ``score``), ``trials``, ``chance`` (of a right
        guess), ``answer`` and ``target`` where logs have them, ``task``, and attributes of items.
    sources : DataFrame
        One row per file: ``file``, ``sha256``, ``kind``, ``version``, ``unit``, ``start``, ``shots``, ``rows``.
    treatment : mapping from str to str
        How first tokens and ends were treated.
    pairing : Pairing or None
        How answers in several languages were paired; of texts, where there are no answers.
    notes : tuple of str
        What to know of the logs.
    faults : mapping from str to str
        Why there are no ``texts`` or no ``answers``, though the logs have some.
    left_out : DataFrame
        What was left out, read in another way, or is doubtful: ``edition`` (the file, system or languages), ``level``
        (``"text"``: missing; ``"repaired"``, ``"doubted"``: still there), ``what`` and ``why``.
    trust : tuple of str
        Kinds of doubts that were not raised.
    """

    texts: pd.DataFrame = field(default_factory=_none)
    token_table: pd.DataFrame = field(default_factory=_none)
    answers: pd.DataFrame = field(default_factory=_none)
    sources: pd.DataFrame = field(default_factory=_none)
    treatment: Mapping[str, str] = field(default_factory=dict)
    pairing: Pairing | None = None
    notes: tuple[str, ...] = ()
    faults: Mapping[str, str] = field(default_factory=dict)
    left_out: pd.DataFrame = field(default_factory=_none)
    trust: tuple[str, ...] = ()

    @property
    def systems(self) -> list[str]:
        """Names of the systems, of texts and of answers, in order of appearance."""
        tables = (self.texts, self.answers)
        return list(dict.fromkeys(name for table in tables if "system" in table for name in table["system"]))

    def to_frame(self) -> pd.DataFrame:
        """Return the long table of texts; of logs without texts, that of answers."""
        return (self.texts if len(self.texts) else self.answers).copy()

    def surprisals(self, system: str | None = None) -> Surprisals:
        """Return the bits of texts by one system.

        Parameters
        ----------
        system : str, optional
            Name of the system; needed if the logs have texts by several.

        Returns
        -------
        Surprisals
            Items are intents, languages editions; a cell that no log has is missing.

        Raises
        ------
        DataError
            If the logs have no texts.
        ConfigError
            If the system is unknown, or has to be named.
        """
        texts = self._of_texts()
        rows = texts[texts["system"] == self._system(system, texts)]
        name = str(rows["system"].iloc[0])
        items, languages = list(pd.unique(rows["item"])), list(pd.unique(rows["language"]))

        def wide(column: str) -> pd.DataFrame | None:
            if column not in rows or rows[column].isna().all():
                return None
            table: pd.DataFrame = rows.pivot(index="item", columns="language", values=column)
            return table.reindex(index=items, columns=languages)

        attributes = [column for column in rows if str(column).startswith(PREFIX)]
        info = rows.drop_duplicates("item").set_index("item")[attributes].loc[items]
        bits = wide("bits")
        assert bits is not None  # noqa: S101 every text has bits
        return Surprisals(
            bits=bits,
            **{part: wide(part) for part in SIZES},
            intent_info=info.rename(columns=lambda each: str(each).removeprefix(PREFIX)) if attributes else None,
            lm=name,
            provenance=self._provenance(name),
        )

    def stack(self) -> Surprisals:
        """Return the bits of texts by all systems as one table, with a column per language and system.

        Returns
        -------
        Surprisals
            See `langdiff.stack`; of one system, its table.

        Raises
        ------
        DataError
            If the logs have no texts.
        """
        from langdiff.tables.stack import stack

        names = list(pd.unique(self._of_texts()["system"]))
        return self.surprisals() if len(names) == 1 else stack({name: self.surprisals(name) for name in names})

    def tokens(self, system: str | None = None) -> TokenScores:
        """Return the bits of single tokens by one system.

        Parameters
        ----------
        system : str, optional
            Name of the system; needed if the logs have tokens of several.

        Returns
        -------
        TokenScores
            Items are intents, languages editions.

        Raises
        ------
        DataError
            If the logs have no tokens.
        ConfigError
            If the system is unknown, or has to be named.
        """
        self._refuse_fault("texts")
        if self.token_table.empty:
            raise DataError("the logs have no tokens, only texts or answers.")
        rows = self.token_table[self.token_table["system"] == self._system(system, self.token_table)]
        table = rows.drop(columns=["system", "text_start"]).rename(columns={"item": "intent", "language": "edition"})
        return TokenScores(tokens=table.reset_index(drop=True))

    def outcomes(
        self,
        *,
        chance: float | str | Mapping[str, float] | None = "auto",
        repeats: Literal["error", "sum"] = "error",
        name: str = "",
    ) -> Outcomes:
        """Return right and wrong answers, with a column per language and system where there are several languages.

        Parameters
        ----------
        chance : "auto", float, mapping or None
            Probability of a right guess: one over the number of choices that logs tell, a number, an attribute of
            items, or numbers by language or task; None for 0. It becomes the attribute ``chance`` of items.
        repeats : {"error", "sum"}
            What becomes of several answers of one system to one item: an error, or trials that are added up.
        name : str
            Name of the table, by default what names of tasks have in common.

        Returns
        -------
        Outcomes
            Items and columns in order of appearance, with the pairing of items where there are several languages.

        Raises
        ------
        DataError
            If the logs have no answers, a system has two for one item, or chance differs within an item.
        """
        from langdiff.tables.logs.answers import benchmark_of, outcomes_of

        self._refuse_fault("answers")
        if self.answers.empty:
            raise DataError("the logs have no answers, only texts: `surprisals` has their bits.")
        name = name or benchmark_of(self.answers["task"].dropna().unique())
        return outcomes_of(self.answers, chance=chance, repeats=repeats, name=name, pairing=self.pairing)

    def write(self, path: str | Path, per: Per | None = None) -> None:
        """Write one of the long tables with a record of its sources; `langdiff.read_logs` reads it.

        Parameters
        ----------
        path : str or Path
            File to write, ending in ``.parquet``, ``.csv`` or ``.tsv``; beside the last two, the record is a file of
            its own, NAME.csv.json.
        per : {"bits", "outcomes", "tokens"}, optional
            What the rows are; by default texts, or answers where there are none.

        Raises
        ------
        DataError
            If the logs have no such rows.
        ConfigError
            If the name has another ending.
        OutputError
            If the file cannot be written.
        """
        chosen = per or ("bits" if len(self.texts) else "outcomes")
        self._refuse_fault("answers" if chosen == "outcomes" else "texts")
        table = {"bits": self.texts, "outcomes": self.answers, "tokens": self.token_table}[chosen]
        if table.empty:
            what = {"bits": "texts", "outcomes": "answers", "tokens": "tokens"}[chosen]
            raise DataError(
                f"the logs have no {what}. Choose another table: {option('per', 'bits')}, outcomes or tokens."
            )
        kept = table.drop(columns=["where", "kind", "epoch"], errors="ignore").dropna(axis=1, how="all")
        if chosen == "outcomes":
            kept = kept.rename(columns=lambda name: str(name).removeprefix(PREFIX))
        write_table_file(kept, Path(path), {"logs": self.record()})

    def record(self) -> dict[str, Any]:
        """Return what a file tells of where its numbers come from, as JSON can hold it.

        Returns
        -------
        dict
            ``sources`` (one mapping per file), ``treatment``, ``pairing`` (keys), ``notes``, ``left_out`` (one mapping
            per row) and ``trust``.
        """
        return {
            "sources": self.sources.astype(object).where(self.sources.notna(), None).to_dict("records"),
            "treatment": dict(self.treatment),
            "pairing": [] if self.pairing is None else list(self.pairing.key),
            "notes": list(self.notes),
            "left_out": self.left_out.to_dict("records"),
            "trust": list(self.trust),
        }

    def _refuse_fault(self, what: str) -> None:
        if what in self.faults:
            raise DataError(self.faults[what])

    def _of_texts(self) -> pd.DataFrame:
        self._refuse_fault("texts")
        if self.texts.empty:
            raise DataError(
                "the logs have no texts with bits, only answers to questions, which are right or wrong: `outcomes`."
            )
        return self.texts

    def _system(self, system: str | None, table: pd.DataFrame) -> str:
        there = list(pd.unique(table["system"]))
        if system is None and len(there) > 1:
            raise ConfigError(f"the logs are of {len(there)} systems, {listing(there)}: name one, or use `stack`.")
        if system is not None and system not in there:
            raise ConfigError(f"no system {system!r}; there are {listing(there)}.")
        return there[0] if system is None else system

    def _provenance(self, system: str) -> Provenance:
        versions = "+".join(dict.fromkeys(version for version in self.sources.get("version", ()) if version))
        return Provenance(recipe=system, scoring=scoring_of(self.record()), versions=versions or None)

    def _table(self) -> pd.DataFrame:
        from langdiff.tables.logs.doubts import commonest_answer

        counts: dict[tuple[str, str], dict[str, Any]] = {}
        for what, table in (("texts", self.texts), ("answers", self.answers)):
            if table.empty:
                continue
            for key, part in table.groupby(["system", "language"], sort=False, dropna=False):
                row = counts.setdefault((str(key[0]), "–" if key[1] != key[1] else str(key[1])), {})
                row[what] = len(part)
                if what == "texts":
                    row["bits per text"] = round(float(part["bits"].mean()), 2)
                else:
                    own, name = ("score", "score") if "score" in part else ("successes", "right")
                    row[name] = round(float(part[own].sum() / part.loc[part[own].notna(), "trials"].sum()), 4)
                    if (part["chance"] > 0).any() and part["answer"].notna().any():
                        _, n, seen = commonest_answer(part)
                        row["commonest answer"] = round(n / seen, 3) if seen else float("nan")
        index = pd.MultiIndex.from_tuples(counts, names=["system", "language"])
        return pd.DataFrame(list(counts.values()), index=index)

    def _notes(self) -> Iterable[str]:
        for name, value in self.treatment.items():
            yield f"{name}: {value}"
        if self.pairing is not None:
            yield from self.pairing.lines()
        for what, fault in self.faults.items():
            yield f"{what} cannot be used as they are: {fault}"
        for row in self.left_out.itertuples():
            yield f"{row.level}: {row.edition}: {row.what}: {row.why}"
        if self.trust:
            yield f"not doubted: {', '.join(self.trust)}"
        yield from self.notes

    def __repr__(self) -> str:
        """Return the numbers of texts, answers and systems in one line."""
        parts = [
            f"{len(table):,} {what}" for what, table in (("texts", self.texts), ("answers", self.answers)) if len(table)
        ]
        tables = [table for table in (self.texts, self.answers) if len(table)]
        languages = len({name for table in tables for name in table["language"].dropna()})
        kinds = ", ".join(dict.fromkeys(self.sources["kind"])) if len(self.sources) else "nothing"
        return f"Logs of {kinds}: {' and '.join(parts)}, {languages} languages × {len(self.systems)} systems"
