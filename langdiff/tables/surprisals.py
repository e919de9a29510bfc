"""Surprisals: bits of every intent in every edition, the input of the regression."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.cells import exact_numbers
from langdiff.base.types import Booleans
from langdiff.errors import DataError
from langdiff.tables.crossing import check_axes, check_columns, chosen_names, first_cells, long_columns
from langdiff.tables.edition_info import check_edition_info, long_editions
from langdiff.tables.intent_info import PREFIX, check_intent_info, join_info
from langdiff.tables.long_tables import (
    BESIDE,
    LongTable,
    Provenance,
    Unit,
    as_pandas,
    check_unit,
    parts_of_long,
    with_usual_names,
    write_table_file,
)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Surprisals:
    r"""Surprisals of intents (rows) in editions (columns).

    The surprisal of a text is :math:`-\log_2 p(\text{text}, \text{end})`, in bits, summed over all
    the model has to predict, the end-of-intent symbol included.

    Attributes
    ----------
    bits : DataFrame of float64, shape (I, J)
        Surprisal in bits; NaN where an edition lacks an intent.
    eos_bits : DataFrame, shape (I, J), or None
        The part of `bits` spent on the end-of-intent symbol.
    characters : DataFrame, shape (I, J), or None
        Characters of the scored text, the end-of-intent symbol not counted.
    bytes : DataFrame, shape (I, J), or None
        Bytes of the scored text in UTF-8, as it was before rare characters were replaced.
    units : DataFrame, shape (I, J), or None
        Units in which the language model read the text (tokens, BPE units, characters), the end-of-intent symbol not
        counted.
    replaced : DataFrame, shape (I, J), or None
        Characters of the scored text that the model saw as one symbol, since they were too rare in training.
    intent_info : DataFrame, I rows, or None
        Properties of each intent, such as the ``document``, or ``book`` and ``chapter``, that it belongs to; None if
        nothing is known.
    edition_info : DataFrame, J rows, or None
        Properties of each edition in words, such as the ``family`` of its language; None if nothing is known.
    columns : DataFrame, J rows, or None
        ``language`` and ``system`` of each edition of a crossed table, whose editions are called ``language@system``;
        see `langdiff.stack`. None for a table of one language model.
    lm : str
        Name of the language model that gave the surprisals.
    provenance : Provenance or None
        What the surprisals depend on; None for a table made elsewhere.

    Raises
    ------
    DataError
        If a value is not a positive finite number, a name occurs twice, names have levels or control characters, or
        a frame has other intents or editions than `bits`, or in another order.

    Examples
    --------
    >>> frame = pd.DataFrame({"eng": [10.0, 20.0], "deu": [12.0, float("nan")]}, index=["1", "2"])
    >>> Surprisals(bits=frame, lm="mine")
    Surprisals by mine: 2 intents × 2 editions, 1 of 4 cells missing
    """

    bits: pd.DataFrame
    eos_bits: pd.DataFrame | None = None
    characters: pd.DataFrame | None = None
    bytes: pd.DataFrame | None = None
    units: pd.DataFrame | None = None
    replaced: pd.DataFrame | None = None
    intent_info: pd.DataFrame | None = None
    edition_info: pd.DataFrame | None = None
    columns: pd.DataFrame | None = None
    lm: str = "unknown"
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        """Check that all values are surprisals; an error names the first that are not."""
        if not isinstance(self.bits, pd.DataFrame):
            raise DataError(f"bits must be a DataFrame, intents × editions, not {type(self.bits).__name__}.")
        check_axes(self.bits, "intent", "edition")
        for name, part in self.beside().items():
            if list(part.index) != list(self.bits.index) or list(part.columns) != list(self.bits.columns):
                raise DataError(
                    f"{name} must have the intents and editions of bits, in the same order; use "
                    f"{name}.reindex(index=bits.index, columns=bits.columns)."
                )
        object.__setattr__(self, "intent_info", check_intent_info(self.intent_info, self.bits.index))
        object.__setattr__(self, "edition_info", check_edition_info(self.edition_info, self.bits.columns))
        object.__setattr__(self, "columns", check_columns(self.columns, self.bits.columns))
        bits = _as_numbers(self.bits)
        object.__setattr__(self, "bits", bits.rename_axis(index="intent", columns="edition"))
        values = bits.to_numpy()
        if not (np.nanmin(values, initial=1.0) > 0 and np.nanmax(values, initial=1.0) < np.inf):
            wrong = ~(np.isnan(values) | ((values > 0) & np.isfinite(values)))
            first = first_cells(bits, wrong, lambda i, j: f"{values[i, j]:g}")
            observed = int((~np.isnan(values)).sum())
            raise DataError(
                f"{wrong.sum():,} of {observed:,} surprisals are not positive finite bits: {first}. The models "
                "take ln(bits); if such a value stands for a missing translation, replace it with NaN."
            )

    def beside(self) -> dict[str, pd.DataFrame]:
        """Return the tables known in addition to the bits, by name."""
        return {name: frame for name in BESIDE if (frame := getattr(self, name)) is not None}

    @classmethod
    def from_long(
        cls,
        table: LongTable,
        *,
        intent: str = "intent",
        edition: str = "edition",
        bits: str = "bits",
        unit: Unit | None = None,
        lm: str = "unknown",
    ) -> "Surprisals":
        """Return a table of surprisals from a long table with one row per cell.

        Parameters
        ----------
        table : DataFrame, mapping of lists, or table of Polars, PyArrow or the like
            Long table. Its other columns are understood as `read_surprisals` understands those of a file.
        intent, edition, bits : str
            Columns of the names of intents and editions, and of the numbers.
        unit : {"bits", "nats", "log10"}, optional
            Unit of the table, by default bits; needed if it has log-probabilities. The base of the logarithms is 2, e
            or 10. Numbers are surprisals, or log-probabilities, of which none is above 0; for these the unit must be
            given. By default surprisals in bits.
        lm : str
            Name of the language model, unless the table has a column ``lm``.

        Returns
        -------
        Surprisals
            Intents and editions in the order of their first rows.

        Raises
        ------
        DataError
            If there is no such column, a cell is given twice, or a number is not a surprisal in the unit given.
        ConfigError
            If the unit is unknown, or two columns are one.

        Examples
        --------
        >>> scores = {"sentence": [1, 1, 2], "language": ["eng", "deu", "eng"], "score": [-7.0, -8.0, -9.0]}
        >>> Surprisals.from_long(scores, intent="sentence", edition="language", bits="score", unit="nats").bits.round(1)
        edition   eng   deu
        intent
        1        10.1  11.5
        2        13.0   NaN
        """
        if unit is not None:
            check_unit(unit)
        frame = as_pandas(table)
        if frame is None:
            raise DataError(
                f"a long table is a DataFrame, a mapping from column to list, or a table of Polars or PyArrow, not "
                f"{type(table).__name__}."
            )
        frame = with_usual_names(frame, {"intent": intent, "edition": edition, "bits": bits}, "the table")
        return cls(**parts_of_long(frame, unit, "the table", lm))

    @property
    def intents(self) -> pd.Index:
        """Ids of the intents, in order."""
        return self.bits.index

    @property
    def editions(self) -> pd.Index:
        """Names of the editions, in order."""
        return self.bits.columns

    @property
    def tokens(self) -> pd.DataFrame | None:
        """Number of units of each text, if known and different from its characters."""
        if self.units is None or (self.characters is not None and self.units.equals(self.characters)):
            return None
        return self.units

    def to_frame(self) -> pd.DataFrame:
        """Return the long table, one row per observed cell.

        Returns
        -------
        DataFrame
            Columns ``intent``, ``edition`` and ``bits``; those of ``eos_bits``, ``characters``, ``bytes``, ``units``
            and ``replaced`` that are known; of a crossed table ``column_language`` and ``column_system``; the columns
            of `edition_info`, as ``edition_family``, …; and those of `intent_info`, as ``intent_document``, ….

        Examples
        --------
        >>> frame = pd.DataFrame({"eng": [10.0, 20.0], "deu": [12.0, float("nan")]}, index=["1", "2"])
        >>> Surprisals(bits=frame).to_frame()
          intent edition  bits
        0      1     eng  10.0
        1      1     deu  12.0
        2      2     eng  20.0
        """
        return self._long(self.bits.notna().to_numpy())

    def _long(self, cells: Booleans) -> pd.DataFrame:
        rows, columns = np.nonzero(cells)
        long = pd.DataFrame({"intent": self.intents[rows], "edition": self.editions[columns]})
        for name, part in {"bits": self.bits, **self.beside()}.items():
            long[name] = part.to_numpy()[rows, columns]
        for name, level in [*long_columns(self.columns).items(), *long_editions(self.edition_info).items()]:
            long[name] = level.to_numpy()[columns]
        if self.intent_info is not None:
            for attribute, values in self.intent_info.items():
                long[f"{PREFIX}{attribute}"] = values.array.take(rows)
        return long

    def bits_per_character(self) -> pd.DataFrame:
        """Compute the bits per intent, character, byte and unit of every edition.

        All rates count all bits, those of the end-of-intent symbols included. They are divided by the
        characters of the text without these symbols (``bits_per_character``), by the characters and one such
        symbol per intent (``bits_per_symbol``), by the bytes of the text (``bits_per_byte``), or by the units in
        which the model read it (``bits_per_unit``).

        Returns
        -------
        DataFrame
            One row per edition: ``intents``, ``bits``, ``characters``, ``bytes`` and ``units`` in total;
            ``bits_per_intent``, ``bits_per_character``, ``bits_per_symbol``, ``bits_per_byte`` and
            ``bits_per_unit``; ``units_per_character`` and ``units_per_byte``, the fertility of the tokenizer;
            ``replaced_percent``, the share of characters, in percent, that the language model saw as one
            symbol. NaN where the count of one of the edition's intents is not known.

        Examples
        --------
        >>> bits = pd.DataFrame({"eng": [10.0, 20.0]}, index=["1", "2"])
        >>> Surprisals(bits=bits, characters=bits / 2).bits_per_character()["bits_per_character"].to_dict()
        {'eng': 2.0}
        """
        observed = self.bits.notna()

        def count(frame: pd.DataFrame | None) -> pd.Series | float:
            return np.nan if frame is None else frame.where(observed, 0).sum(skipna=False)

        total = pd.DataFrame({"intents": observed.sum(), "bits": self.bits.sum()})
        for name, frame in (("characters", self.characters), ("bytes", self.bytes), ("units", self.units)):
            total[name] = count(frame)
        total["bits_per_intent"] = total["bits"] / total["intents"]
        total["bits_per_character"] = total["bits"] / total["characters"]
        total["bits_per_symbol"] = total["bits"] / (total["characters"] + total["intents"])
        total["bits_per_byte"] = total["bits"] / total["bytes"]
        total["bits_per_unit"] = total["bits"] / total["units"]
        total["units_per_character"] = total["units"] / total["characters"]
        total["units_per_byte"] = total["units"] / total["bytes"]
        total["replaced_percent"] = 100 * count(self.replaced) / total["characters"]
        return total.rename_axis("edition")

    def sel(self, *, intents: Iterable[object] | None = None, editions: Iterable[str] | None = None) -> "Surprisals":
        """Return the surprisals of some intents and editions, in the order given.

        Parameters
        ----------
        intents : iterable, optional
            Names of the intents to keep; all by default.
        editions : iterable of str, optional
            Names of the editions to keep; all by default.

        Returns
        -------
        Surprisals
            The smaller table, with the same language model and provenance.

        Raises
        ------
        DataError
            If a name is unknown or given twice.

        Examples
        --------
        >>> frame = pd.DataFrame({"eng": [10.0, 20.0], "deu": [12.0, 25.0]}, index=["1", "2"])
        >>> Surprisals(bits=frame).sel(intents=["2"], editions=["deu", "eng"]).bits.to_numpy()
        array([[25., 20.]])
        """
        rows = chosen_names("intent", intents, self.intents)
        columns = chosen_names("edition", editions, self.editions)
        beside: dict[str, Any] = {name: frame.loc[rows, columns] for name, frame in self.beside().items()}
        info = None if self.intent_info is None else self.intent_info.loc[rows]
        crossed, about = (None if each is None else each.loc[columns] for each in (self.columns, self.edition_info))
        bits = self.bits.loc[rows, columns]
        return replace(self, bits=bits, intent_info=info, edition_info=about, columns=crossed, **beside)

    def with_intent_info(self, intent_info: pd.DataFrame | str | Path) -> "Surprisals":
        """Return the surprisals with attributes of the intents added.

        Parameters
        ----------
        intent_info : DataFrame, str or Path
            A frame indexed by intent, or a CSV or TSV file with the intents in its first column. Its columns replace
            those of the same name; other intents are ignored.

        Returns
        -------
        Surprisals
            The same bits, with the columns added to `intent_info`.

        Raises
        ------
        DataError
            If the file cannot be read, or an intent has no row or several.

        Examples
        --------
        >>> frame = pd.DataFrame({"eng": [10.0, 20.0], "deu": [12.0, 25.0]}, index=["1", "2"])
        >>> documents = pd.DataFrame({"document": ["x", "y", "y"]}, index=["1", "2", "3"])
        >>> Surprisals(bits=frame).with_intent_info(documents).intent_info["document"].to_dict()
        {'1': 'x', '2': 'y'}
        """
        known = pd.DataFrame(index=self.intents) if self.intent_info is None else self.intent_info
        return replace(self, intent_info=join_info(known, intent_info))

    def save(self, path: str | Path) -> None:
        """Write the long table (`to_frame`) as CSV, TSV or Parquet, by the name's ending.

        A manifest, with a hash by which `read_surprisals` sees damage, and with `provenance` if there is one, is
        written into the metadata of a Parquet file, and beside a CSV or TSV file as NAME.csv.json, which belongs to it:
        move both together. Attributes of intents come back from Parquet as they were, from CSV and TSV
        as text; there, names that a spreadsheet would take for formulas have an apostrophe, which the reader removes.

        Parameters
        ----------
        path : str or Path
            The file to write, ending in ``.csv``, ``.tsv`` or ``.parquet``.

        Raises
        ------
        ConfigError
            If the name has another ending.
        OutputError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Surprisals(bits=pd.DataFrame({"eng": [10.0]}, index=["1"])).save(f"{folder}/bits.csv")
        ...     print(Path(folder, "bits.csv").read_text())
        intent,edition,bits,lm
        1,eng,10.0,unknown
        """
        path = Path(path)
        cells = self.bits.notna().to_numpy(copy=True)
        cells[:1], cells[:, :1] = True, True  # missing or not, so that all names come back in their order
        frame = self._long(cells).assign(lm=self.lm)
        write_table_file(frame, path, None if self.provenance is None else {"provenance": asdict(self.provenance)})

    def __repr__(self) -> str:
        """Return the numbers of intents and editions and of missing cells in one line."""
        missing = int(self.bits.isna().to_numpy().sum())
        return (
            f"Surprisals by {self.lm}: {len(self.intents):,} intents × {len(self.editions):,} editions, "
            f"{missing:,} of {self.bits.size:,} cells missing"
        )


def _as_numbers(bits: pd.DataFrame) -> pd.DataFrame:
    """Return columns of objects as numbers; an error names the cells that are not numeric."""
    if (bits.dtypes == np.float64).all():
        return bits.copy(deep=False)  # pandas copies what is written to
    others = [edition for edition in bits.columns if not pd.api.types.is_numeric_dtype(bits[edition])]
    for edition in bits.columns[[kind.kind == "c" for kind in bits.dtypes]]:
        exact_numbers(bits[edition])  # refuses them
    cells = bits[others].astype(object)
    known = cells.notna() & ~cells.map(lambda cell: isinstance(cell, bool))
    numbers = cells.where(known).apply(exact_numbers).astype(float)
    wrong = (cells.notna() & numbers.isna()).to_numpy()
    if wrong.any():
        first = first_cells(cells, wrong, lambda i, j: repr(cells.iat[i, j]))
        raise DataError(
            f"{wrong.sum():,} of {int(bits.notna().to_numpy().sum()):,} surprisals are not numbers: {first}. Give "
            "bits, and NaN for a missing translation."
        )
    if others:
        bits = bits.astype(object)
        bits[others] = numbers
    return bits.astype(float)
