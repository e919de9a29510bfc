"""Long tables, with one row per text or token: reading, writing, units of information, and where bits come from."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd

from langdiff.base.archives import File, Member
from langdiff.base.cells import check_names, exact_numbers, guarded
from langdiff.base.checksums import hash_files
from langdiff.base.io import SEPARATOR, atomic_path, read_lines, read_table
from langdiff.base.saving import check_digest, digest_of_arrow, read_manifest, with_manifest, write_manifest
from langdiff.base.signature import short_hash
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables import edition_info
from langdiff.tables.crossing import PREFIX as LEVEL
from langdiff.tables.crossing import SIGN, columns_of_long
from langdiff.tables.edition_info import editions_of_long
from langdiff.tables.intent_info import PREFIX, USUAL, attributes_of_long

Unit = Literal["bits", "nats", "log10"]
BITS_PER_UNIT: dict[Unit, float] = {"bits": 1.0, "nats": 1 / np.log(2), "log10": np.log2(10)}
FORMAT = "langdiff.Provenance"
FORMAT_VERSION = 1
MOST_NAMES = 3  # written out where tables of several are joined


def check_unit(unit: object) -> None:
    """Check that a unit of information is known."""
    if unit not in BITS_PER_UNIT:
        raise ConfigError(f"unknown unit {unit!r}; use one of {', '.join(BITS_PER_UNIT)}.")


def as_bits(numbers: pd.DataFrame, unit: Unit | None, where: object) -> pd.DataFrame:
    """Return surprisals in bits from surprisals or log-probabilities in any unit.

    Examples
    --------
    >>> as_bits(pd.DataFrame({"eng": [-1.0, -2.0]}), "bits", "mine")["eng"].tolist()
    [1.0, 2.0]
    """
    values = numbers.to_numpy()
    below, above = int((values < 0).sum()), int((values > 0).sum())
    if below and above:
        raise DataError(
            f"{where}: {below:,} numbers are below 0, and {above:,} are above, so that they are neither surprisals nor "
            "log-probabilities. If some stand for missing translations, leave those cells empty (NaN)."
        )
    if below and unit is None:
        raise DataError(
            f"{where}: all {below:,} numbers are 0 or less; these look like log-probabilities: pass "
            f"{option('unit', 'nats')} (natural logarithms, which most libraries give), 'log10' or 'bits' (base 2)."
        )
    return numbers * (BITS_PER_UNIT[unit or "bits"] * (-1 if below else 1))


LANGUAGE, SYSTEM = f"{LEVEL}language", f"{LEVEL}system"  # columns of a long table of several systems
_INDEX = re.compile("__index_level_[0-9]+__")  # a column that pandas adds, of rows without names


KINDS = {".csv": ",", ".tsv": "\t", ".parquet": "parquet"}


def table_kind(path: Path) -> str:
    """Return the separator or ``"parquet"``, according to the suffix of a file name."""
    if path.suffix not in KINDS:
        raise ConfigError(f"{path}: unknown kind of table {path.suffix!r}; use .csv, .tsv or .parquet.")
    return KINDS[path.suffix]


def write_table_file(frame: pd.DataFrame, path: Path, record: Mapping[str, Any] | None = None) -> None:
    """Write a long table in the format given by its file name, with its manifest; see `langdiff.tables.long_tables`."""
    with atomic_path(path) as temporary:
        match table_kind(path):
            case "parquet":
                _write_parquet(frame, temporary, path, record)
                return
            case separator:
                guarded(frame).to_csv(temporary, index=False, sep=separator, quoting=_quoting(frame))
    write_manifest(path, record)


def read_table_file(path: File, *, verify: bool = True) -> pd.DataFrame:
    """Read a table; of CSV and TSV all cells are text, indexed by line. Manifests are not in archives."""
    if not isinstance(path, Member):
        refuse_folder(path)
        if table_kind(path) == "parquet":
            try:
                frame = _read_parquet(path, verify=verify)
            except DataError:
                raise
            except Exception as error:  # of a damaged file pyarrow and pandas raise errors of any class
                raise DataError(f"{path}: cannot be read as a table: {str(error) or type(error).__name__}") from error
            check_names(frame, "column", str(path))
            return frame
        if verify and (manifest := read_manifest(path)) is not None:
            check_digest(path, manifest, hash_files(path))
    elif path.suffix == ".parquet":
        raise DataError(f"{path}: Parquet is not read in archives: unpack it.")
    header, rows = read_table(path, separator_of(path, KINDS[path.suffix]))  # "nan" (Min Nan) is not a missing value
    lines = pd.Index([line for line, _ in rows], dtype=int)
    return pd.DataFrame([cells for _, cells in rows], index=lines, columns=header, dtype=object)


def refuse_folder(path: Path) -> None:
    """Refuse a folder where a table is asked for."""
    if path.is_dir():
        tables = [file for place in (path, path / "surprisals") for file in sorted(place.glob("*.*"))]
        tables = [file for file in tables if file.suffix in KINDS]
        inside = f"give one of its tables: {listing(map(str, tables))}" if tables else "there is no table in it"
        raise DataError(f"{path}: a folder, where a table is asked for; {inside}.")


def separator_of(path: File, kind: str) -> str:
    """Return the separator of a CSV file: a semicolon if its first line has semicolons and no comma."""
    try:
        header = next((line for _, line in read_lines(path, errors="replace")), "")
    except DataError:
        return kind  # an error where the file is read
    if named := SEPARATOR.fullmatch(header):
        return named[1]
    return ";" if kind == "," and ";" in header and "," not in header else kind


def numbers_of(column: pd.Series, path: Path) -> pd.Series:
    """Return the cells of a column as numbers; empty cells, NA and NaN are missing.

    Commas are taken as decimal commas if no cell has a point and some comma is not before exactly three digits.
    """
    missing = column.isna()
    if not pd.api.types.is_numeric_dtype(column):
        missing |= column.isin(["", "NA", "NaN", "nan"])
        text = column[~missing].astype(str)
        commas = text.str.contains(",", regex=False)
        if commas.any() and not text.str.contains(".", regex=False).any():
            if not text[commas].str.fullmatch(r"[+-]?\d{1,3}(,\d{3})+").all():
                column = column.astype(object).mask(~missing, column.astype(str).str.replace(",", ".", regex=False))
            else:
                first = text.index[int(commas.to_numpy().argmax())]
                raise DataError(
                    f"{path}, line {first}, column {column.name!r}: {text[first]!r} has either a decimal comma or a "
                    "comma between thousands. Write a decimal point, or no comma."
                )
    numbers = exact_numbers(column.mask(missing)).astype(float)
    bad = numbers.isna() & ~missing
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{path}, line {column.index[first]}, column {column.name!r}: {column.iloc[first]!r} is not a number. "
            "Leave the cell empty for a missing translation."
        )
    return numbers


def _quoting(frame: pd.DataFrame) -> Literal[0, 2]:
    """Return the CSV quoting: all text if a cell contains a carriage return, otherwise only where needed."""
    texts = (frame[name].unique() for name in frame if not pd.api.types.is_numeric_dtype(frame[name]))
    has_return = any("\r" in str(text) for column in texts for text in column)
    return csv.QUOTE_NONNUMERIC if has_return else csv.QUOTE_MINIMAL


def _read_parquet(path: Path, *, verify: bool) -> pd.DataFrame:
    """Read the columns that the Parquet file describes, ignoring the metadata written by pandas.

    A flipped bit in that metadata would rename a column, or raise an error deep within pandas.
    """
    from pyarrow import parquet  # slow to import

    table = parquet.read_table(path, page_checksum_verification=True)
    if verify and (manifest := read_manifest(path)) is not None:
        check_digest(path, manifest, digest_of_arrow(table))
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    return frame.drop(columns=[name for name in frame if _INDEX.fullmatch(str(name))])


def _write_parquet(frame: pd.DataFrame, temporary: Path, path: Path, record: Mapping[str, Any] | None) -> None:
    import pyarrow as pa  # slow to import
    from pyarrow import parquet

    for column in frame.columns[frame.columns.str.startswith(PREFIX)]:
        if pd.api.types.infer_dtype(frame[column]).startswith("mixed"):  # a column of Parquet has one type
            frame[column] = frame[column].map(str, na_action="ignore")
    table = with_manifest(pa.Table.from_pandas(frame, preserve_index=False), path, record)
    parquet.write_table(table, temporary, write_page_checksum=True)  # a flipped bit is an error, not another number


CELL = ("intent", "edition", "bits")
FEWEST_EDITIONS = 2  # editions, to tell properties of intents from those of texts
BESIDE = ("eos_bits", "characters", "bytes", "units", "replaced")  # columns that may be known beside the bits


class ArrowTable(Protocol):
    """Interface of tables from Polars, PyArrow, DuckDB and other libraries that use Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as an Arrow stream."""
        ...


LongTable = pd.DataFrame | Mapping[str, Sequence[Any]] | ArrowTable


def as_pandas(table: object) -> pd.DataFrame | None:
    """Return a table as a DataFrame; None if the object is not a table.

    Examples
    --------
    >>> as_pandas({"intent": ["1"], "bits": [3.0]})
      intent  bits
    0      1   3.0
    """
    if not isinstance(table, pd.DataFrame) and hasattr(table, "__arrow_c_stream__"):
        import pyarrow as pa  # slow to import

        try:
            table = pa.table(table).to_pandas()
        except pa.ArrowInvalid:  # one column, such as a Series
            return None
    if isinstance(table, pd.DataFrame):
        twice = table.columns[table.columns.duplicated()].unique()
        if len(twice):
            raise DataError(f"{len(twice)} column(s) of a table named twice: {listing(twice)}. Names must be unique.")
        check_names(table, "column", "the table")
        return table
    if isinstance(table, Mapping):
        without = [name for name, column in table.items() if not hasattr(column, "__len__")]
        if without:
            raise DataError(
                f"columns of a table are lists or arrays; {listing(without)} of this mapping is a "
                f"{type(table[without[0]]).__name__}."
            )
        lengths = {name: len(column) for name, column in table.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns of a table have one length: {listing(f'{k}: {n}' for k, n in lengths.items())}.")
        return pd.DataFrame(dict(table))
    return None


def is_long(frame: pd.DataFrame) -> bool:
    """Return whether a frame has the columns of a long table under their default names."""
    return set(CELL) <= set(frame.columns)


def with_usual_names(frame: pd.DataFrame, names: Mapping[str, str], where: object) -> pd.DataFrame:
    """Return a long table with default column names, without other columns of these names."""
    absent = [name for name in names.values() if name not in frame]
    if absent:
        raise DataError(
            f"{where}: no column {listing(absent)}; there are {listing(frame.columns, 20)}. Name the columns of "
            "intents, editions and numbers: intent=…, edition=…, bits=… (in commands, --intent-column …)."
        )
    if len(set(names.values())) < len(names):
        raise ConfigError(f"intents, editions and bits are in different columns; got {listing(names.values())}.")
    renamed = {theirs: ours for ours, theirs in names.items() if ours != theirs}
    taken = [ours for ours in renamed.values() if ours in frame and ours not in renamed]
    return frame.drop(columns=taken).rename(columns=renamed)


def parts_of_long(frame: pd.DataFrame, unit: Unit | None, where: object, lm: str) -> dict[str, Any]:
    """Return the arguments of `Surprisals` from a long table."""
    path = Path(str(where))
    models = list(frame["lm"].unique()) if "lm" in frame else [lm]
    for what in ("intent", "edition", *(["lm"] if len(models) > 1 else [])):
        without = frame[what].isna() | (frame[what].astype(object) == "")
        if without.any():
            raise DataError(f"{where}: {int(without.sum()):,} row(s) without a name of the {what}.")
    if len(models) > 1:
        frame = _crossed(frame, where, models)
    twice = frame.duplicated(["intent", "edition"])
    if twice.any():
        row = frame.loc[twice].iloc[0]
        raise DataError(
            f"{where}: {int(twice.sum()):,} cell(s) given twice, the first intent {row['intent']!r}, "
            f"edition {row['edition']!r}."
        )
    intents, editions = frame["intent"].unique(), frame["edition"].unique()
    frame = frame.rename(columns=_found_attributes(frame, len(intents), len(editions)))

    def wide(name: str) -> pd.DataFrame | None:
        if name not in frame:
            return None
        numbers = frame.assign(**{name: numbers_of(frame[name], path)})
        return numbers.pivot(index="intent", columns="edition", values=name).loc[intents, editions]

    in_units = {name: wide(name) for name in ("bits", "eos_bits")}
    return {
        **{name: None if part is None else as_bits(part, unit, where) for name, part in in_units.items()},
        **{name: wide(name) for name in BESIDE if name != "eos_bits"},
        "intent_info": attributes_of_long(frame, path),
        "edition_info": editions_of_long(frame, editions),
        "columns": columns_of_long(frame, "edition", editions),
        "lm": ("+".join(map(str, models)) if len(models) <= MOST_NAMES else "") or lm,
    }


def _found_attributes(frame: pd.DataFrame, n_intents: int, n_editions: int) -> dict[str, str]:
    """Return the names, with a prefix, of columns of a table made elsewhere that are about intents or editions.

    A column groups the intents if each has one value, in the rows of several editions, and fewer values than intents
    occur. Of editions only the columns that a multitext keeps are looked for, such as the family.
    """
    usual = {*CELL, *BESIDE, *USUAL, "lm"}
    found = {}
    for name in frame.columns:
        if not isinstance(name, str) or name in usual or name.startswith((PREFIX, LEVEL, edition_info.PREFIX)):
            continue
        try:
            values = pd.factorize(frame[name])[0]
        except TypeError:  # lists of tokens, for example
            continue
        if name in edition_info.KEPT:
            whole, prefix, most = "edition", edition_info.PREFIX, n_editions
        else:
            whole, prefix, most = "intent", PREFIX, n_intents - 1
        alone = n_editions < FEWEST_EDITIONS or not 1 < len(np.unique(values)) <= most
        if not alone and f"{prefix}{name}" not in frame:
            first = pd.Series(values).groupby(pd.factorize(frame[whole])[0]).transform("first").to_numpy()
            if (values == first).all():
                found[name] = f"{prefix}{name}"
    return found


def _crossed(frame: pd.DataFrame, where: object, models: list[Any]) -> pd.DataFrame:
    """Return a long table of several language models with an edition for each language and model."""
    if not {LANGUAGE, SYSTEM}.isdisjoint(frame):
        raise DataError(f"{where}: of several systems, but also of {len(models)} language models: {listing(models)}.")
    language, system = (frame[name].astype(object).map(str) for name in ("edition", "lm"))
    if system.groupby(language).nunique().max() < 2:
        raise DataError(
            f"{where}: surprisals of {len(models)} language models, {listing(models)}, and no edition has those of two "
            "of them, so that nothing can be compared; give one table per model."
        )
    return frame.assign(edition=language + SIGN + system, **{LANGUAGE: language, SYSTEM: system})


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Known origin of surprisals: model, scoring and texts; tables made elsewhere have none.

    Attributes
    ----------
    recipe : str
        Name of the recipe of the language models, and after ``#``, a hash of all settings of training:
        ``"char-small#3fa1c09b"``. Only a name where the settings are not known.
    scoring : str or None
        Way of scoring: ``"priced"`` if the bits of replaced characters were added, else
        ``"unpriced"``; with ``",carried"`` if the state of the network was carried from intent to intent.
    seed : int or None
        Seed of the training.
    texts : str or None
        Hash of the texts and names of intents that the models were trained, stopped and measured on, in
        all editions of the table as it was computed.
    preparation : str or None
        Preparation of the texts when they were read: ``"reversible"`` (`langdiff.corpora.tokenize`),
        ``"as-is"`` (nothing), or the name of the function given to `Multitext.map_text`.
    split : str or None
        Number of intents in each part: ``"train:4000,dev:500,test:500"``, or ``"scored:500"`` where models
        scored another text.
    compute : str or None
        Kind of device and precision of training and, if networks were trained together, how many:
        ``"cpu,float32"``, ``"cuda,bfloat16,group:8"``.
    versions : str or None
        Version of this package and of the libraries that compute: ``"langdiff:0.1.0,torch:2.13.0"``.

    Raises
    ------
    DataError
        If a value is of another type.

    Examples
    --------
    >>> Provenance(recipe="char-small#3fa1c09b", scoring="unpriced", seed=0).signature()
    {'lm': 'char-small#3fa1c09b', 'scoring': 'unpriced', 'lm-seed': 0, 'texts': None}
    """

    recipe: str
    scoring: str | None = None
    seed: int | None = None
    texts: str | None = None
    preparation: str | None = None
    split: str | None = None
    compute: str | None = None
    versions: str | None = None

    def __post_init__(self) -> None:
        """Check that JSON would return all values unchanged."""
        for field in fields(self):
            value = getattr(self, field.name)
            kind: type = int if field.name == "seed" else str
            optional = field.name != "recipe"
            if not (type(value) is kind or (optional and value is None)):
                raise DataError(f"provenance: {field.name} is {value!r}, not of type {kind.__name__}.")

    def signature(self) -> dict[str, str | int | None]:
        """Return the parts that enter the signature of a fit, by name.

        Returns
        -------
        dict
            ``lm``, ``scoring``, ``lm-seed`` and ``texts``; None where not known.

        Examples
        --------
        >>> Provenance(recipe="mine").signature()["lm"]
        'mine'
        """
        return {"lm": self.recipe, "scoring": self.scoring, "lm-seed": self.seed, "texts": self.texts}


def join_provenance(records: Iterable[Provenance | None], name: str) -> Provenance | None:
    """Return the provenance of a table that combines several tables.

    Examples
    --------
    >>> one, other = Provenance(recipe="a#1", seed=0, compute="cpu"), Provenance(recipe="b#2", seed=0, compute="cuda")
    >>> joined = join_provenance([one, other], "best")
    >>> joined.recipe.split("#")[0], joined.seed, joined.compute
    ('best', 0, 'cpu+cuda')
    """
    found = list(records)
    if not found or any(record is None for record in found):
        return None
    rows = [asdict(record) for record in found if record is not None]
    joined: dict[str, Any] = {}
    for field in fields(Provenance):
        values = list(dict.fromkeys(row[field.name] for row in rows))
        joined[field.name] = values[0] if len(values) == 1 else _joined(values, field.name)
    joined["recipe"] = f"{name}#{short_hash(rows)}"
    return Provenance(**joined)


def _joined(values: list[Any], name: str) -> str | None:
    if name == "seed":
        return None
    known = [str(value) for value in values if value is not None]
    return "+".join(known) if len(known) <= MOST_NAMES else f"{len(known)} of them#{short_hash(known)}"


def scoring_of(record: Mapping[str, Any]) -> str:
    """Return the kinds of logs, and how first tokens and ends were treated, as provenance has them.

    Examples
    --------
    >>> scoring_of({"sources": [{"kind": "vllm"}], "treatment": {"start": "as scored"}})
    'vllm,start:as scored'
    """
    kinds = "+".join(dict.fromkeys(str(source["kind"]) for source in record["sources"])) or "table"
    return ",".join([kinds, *(f"{name}:{value}" for name, value in record["treatment"].items())])
