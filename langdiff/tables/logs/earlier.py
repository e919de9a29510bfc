"""Earlier names of the reader of logs, which stay for one release."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from langdiff.base.renamed import renamed
from langdiff.errors import ConfigError, DataError, option, warn
from langdiff.tables.logs.reading import read_logs
from langdiff.tables.long_tables import LongTable, Unit, as_pandas, check_unit, read_table_file
from langdiff.tables.surprisals import Surprisals
from langdiff.tables.token_tables import TokenScores


@renamed(intents="intent_names")
def read_log_likelihoods(
    files: Mapping[str, str | Path],
    *,
    unit: Unit | None = None,
    intent: str | None = None,
    intent_names: Sequence[str] | None = None,
    intent_info: pd.DataFrame | str | Path | None = None,
    lm: str = "unknown",
) -> Surprisals:
    r"""Read the log-probability of each text, one file per edition: an earlier name of `langdiff.read_logs`.

    Parameters
    ----------
    files : mapping from edition to path
        One file per edition.
    unit : {"bits", "nats", "log10"}, optional
        Unit of the logarithms; needed unless files tell it.
    intent : str, optional
        Column or key that names the intents.
    intent_names : sequence of str, optional
        Names of the lines of files of numbers; by default their numbers, from ``"1"``.
    intent_info : DataFrame, str or Path, optional
        Properties of the intents; see `Surprisals.with_intent_info`.
    lm : str
        Name of the language model that gave the numbers.

    Returns
    -------
    Surprisals
        The table in bits.

    Raises
    ------
    DataError
        As `langdiff.read_logs`; or if `intent_names` are not as many as the lines.
    ConfigError
        If no file is given, or the unit is unknown.

    Warns
    -----
    LangdiffWarning
        Always: the function is called `langdiff.read_logs` now.

    Examples
    --------
    What is written now:

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     eng, deu = Path(folder, "eng.scores"), Path(folder, "deu.scores")
    ...     _ = eng.write_text("-3.0\n-4.5\n"), deu.write_text("-3.5\n\n")
    ...     read_logs({"eng": eng, "deu": deu}, unit="log10", system="mine").surprisals().bits.round(2)
    edition    eng    deu
    intent
    1         9.97  11.63
    2        14.95    NaN
    """
    warn("read_log_likelihoods is called read_logs now: ld.read_logs(files, unit=…, system=…).surprisals().")
    if not isinstance(files, Mapping):
        raise ConfigError(f"files are a mapping from edition to file, not {type(files).__name__}.")
    if not files:
        raise ConfigError("no file of log-likelihoods is given.")
    logs = read_logs(files, unit=unit, item=intent, system=lm)
    table = logs.surprisals()
    if intent_names is not None:
        kinds = set(logs.sources["kind"])
        if kinds != {"numbers"}:
            raise ConfigError(
                f"{option('intent_names')} name lines of numbers; name the key or column of these files: intent=…."
            )
        table = _renamed(table, list(intent_names))
    return table if intent_info is None else table.with_intent_info(intent_info)


def _renamed(table: Surprisals, names: list[str]) -> Surprisals:
    places = [int(name) for name in table.intents]
    if places and max(places) > len(names):
        raise DataError(f"files differ in length: 'intents: {len(names)} lines', and line {max(places)} has a number.")
    return Surprisals(bits=table.bits.set_axis([names[place - 1] for place in places], axis=0), lm=table.lm)


def read_token_scores(
    source: str | Path | LongTable, *, unit: Unit, bits: str = "bits", boundary: str | None = None
) -> TokenScores:
    r"""Read the surprisals of single tokens: an earlier name of `langdiff.read_logs`.

    Parameters
    ----------
    source : str, Path, DataFrame, mapping of lists, or table of Polars or PyArrow
        Table with columns ``intent``, ``edition`` and ``token``; see `langdiff.read_logs`.
    unit : {"bits", "nats", "log10"}
        Base of the logarithms.
    bits : str
        Column of the surprisals of tokens, or of their log-probabilities.
    boundary : str, optional
        Column of the log-probability that after this token a word begins or the text ends.

    Returns
    -------
    TokenScores
        The table in bits.

    Raises
    ------
    DataError
        As `langdiff.read_logs`; or if there is no such column.
    ConfigError
        If the unit is unknown, or two columns are one.

    Warns
    -----
    LangdiffWarning
        Always: the function is called `langdiff.read_logs` now.

    Examples
    --------
    What is written now:

    >>> table = {"intent": ["1", "1"], "edition": ["eng", "eng"], "token": ["un", "do"], "bits": [-3.0, -1.0]}
    >>> read_logs(table, unit="bits").tokens()
    TokenScores: 2 tokens of 1 texts in 1 editions, boundaries of words not scored
    """
    warn("read_token_scores is called read_logs now: ld.read_logs(table, unit=…).tokens().")
    check_unit(unit)
    if bits == boundary:
        raise ConfigError(f"bits and boundary are different columns; got {bits!r} for both.")
    frame = read_table_file(Path(source)) if isinstance(source, str | Path) else as_pandas(source)
    if frame is None:
        raise DataError(f"scores of tokens are a file or a table, not {type(source).__name__}.")
    names = {bits: "bits"} | ({} if boundary is None else {boundary: "boundary_bits"})
    taken = [name for name in names.values() if name in frame and name not in names]
    return read_logs(frame.drop(columns=taken).rename(columns=names), unit=unit).tokens()
