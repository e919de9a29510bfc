"""Reading of surprisals from files of log-likelihoods, one file per edition."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.io import read_lines
from langdiff.base.renamed import renamed
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.evaluation_logs import parse_sample
from langdiff.tables.long_tables import BITS_PER_UNIT, Unit, as_bits, check_unit, numbers_of, read_table_file
from langdiff.tables.surprisals import Surprisals

TEXTS = ("text", "sentence", "stimulus")  # columns that hold the text, by preference
SCORES = ("surprisal", "logprob", "log_prob", "log_likelihood", "loglikelihood", "score")
INTENTS = ("intent", "doc_id")  # columns that name the intents, by preference
DOCUMENT = "doc_id"  # key that names the intents in a sample
SAMPLES = (".jsonl", ".jsonl.gz")


class ScoredTexts(NamedTuple):
    """Scores of the texts of one edition, read from one file.

    Attributes
    ----------
    numbers : Series
        Surprisals or log-probabilities, indexed by intent.
    texts : Series or None
        The texts scored, if they are in the file.
    named : bool
        Whether the file names its intents; otherwise they are its rows.
    """

    numbers: pd.Series
    texts: pd.Series | None
    named: bool = True


def holds_samples(path: Path) -> bool:
    """Return whether a file is a log of samples, judged by its name."""
    return path.name.endswith(SAMPLES)


def holds_table(path: Path) -> bool:
    """Return whether a file is a table whose header has a column of scores."""
    if path.suffix not in (".csv", ".tsv", ".parquet"):
        return False
    if path.suffix == ".parquet":
        return True
    first = next((line for _, line in read_lines(path)), "")
    cells = first.strip().replace(";", ",").replace("\t", ",").split(",")
    return any(name.strip('\ufeff"') in SCORES for name in cells)


def read_samples(path: Path, intent: str | None) -> ScoredTexts:
    """Read log-likelihoods from samples of lm-evaluation-harness.

    Parameters
    ----------
    path : Path
        File ``samples_TASK_DATE.jsonl``, one sample per line, each with one log-likelihood: tasks of type
        ``loglikelihood_rolling``, or ``loglikelihood`` with one continuation.
    intent : str or None
        Key of a sample, or of its document, that names the intent; by default ``doc_id``.

    Raises
    ------
    DataError
        If a line is not such a sample, a log-likelihood is NaN, or two samples name one intent.
    """
    key = DOCUMENT if intent is None else intent
    numbers: dict[Any, float] = {}
    texts: dict[Any, str | None] = {}
    for line, content in read_lines(path):
        if not content.strip():
            continue
        where = f"{path}, line {line}"
        sample = parse_sample(content, where)
        name = _intent(sample, key, where)
        if name in numbers:
            raise DataError(
                f"{where}: a second sample of {key} {name!r}. Give one file per edition, of one filter, or name "
                "another key (intent=…)."
            )
        numbers[name] = _log_likelihood(sample, where)
        texts[name] = _text(sample)
    if not numbers:
        raise DataError(f"{path}: no sample.")
    known = pd.Series(texts, dtype=object)
    return ScoredTexts(pd.Series(numbers, dtype=float), known if known.notna().all() else None)


def _intent(sample: Mapping[str, Any], key: str, where: str) -> str:
    document = sample.get("doc")
    inner = document if isinstance(document, dict) else {}
    found = sample.get(key, inner.get(key))
    if found is None:
        raise DataError(f"{where}: no {key!r}; a sample has {listing(sample, 20)}, its document {listing(inner, 20)}.")
    return str(found)


def _log_likelihood(sample: Mapping[str, Any], where: str) -> float:
    found = sample.get("filtered_resps", sample.get("resps"))
    while isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    if isinstance(found, list) and len(found) > 1 and isinstance(found[0], list):
        raise DataError(
            f"{where}: {len(found)} log-likelihoods, of the choices of a question: such a sample is right or wrong "
            "(`read_outcomes`), and has no bits of a text."
        )
    if isinstance(found, list) and found:
        found = found[0]  # with a continuation: the log-likelihood, and whether it is the likeliest
    try:
        number = np.nan if isinstance(found, bool) else float(found)  # newer versions write text
    except (TypeError, ValueError):
        number = np.nan
    if np.isnan(number):  # a failure of the model too, and not a missing translation
        raise DataError(
            f"{where}: the response is {found!r:.40}, not a log-likelihood. Samples of generated text have none."
        )
    return number


def _text(sample: Mapping[str, Any]) -> str | None:
    """Return the scored text: the last argument of the only request."""
    found = sample.get("arguments")
    while isinstance(found, dict | list) and found:
        found = list(found.values())[-1] if isinstance(found, dict) else found[-1]
    return found if isinstance(found, str) else None


def read_scored_table(path: Path, intent: str | None) -> ScoredTexts:
    """Read a table of texts with their scores, one row per intent.

    Parameters
    ----------
    path : Path
        CSV, TSV or Parquet with a column ``surprisal``, ``logprob`` or ``score``.
    intent : str or None
        Column of the intents; by default ``intent`` or ``doc_id``, and where there is neither, rows are counted from
        ``"1"``.

    Raises
    ------
    DataError
        If there is no such column, there are several columns of scores or none, a cell is not a number, or the scores
        are those of single tokens.
    """
    frame = read_table_file(path)
    if "token" in frame:
        raise DataError(f"{path}: has a column 'token'. Scores of single tokens are read by `read_token_scores`.")
    columns = [name for name in SCORES if name in frame]
    if len(columns) != 1:
        raise DataError(
            f"{path}: {len(columns)} columns of scores; there are {listing(frame.columns, 20)}. One is needed, called "
            f"{listing(SCORES, 9)}."
        )
    named = next((name for name in INTENTS if name in frame), None) if intent is None else intent
    if named is not None and named not in frame:
        raise DataError(f"{path}: no column {named!r} of intents; there are {listing(frame.columns, 20)}.")
    rows = pd.Series(range(1, len(frame) + 1)) if named is None else frame[named]
    names = pd.Index(rows.map(str, na_action="ignore"), name="intent")
    if names.isin([""]).any() or names.hasnans:
        raise DataError(f"{path}, column {named!r}: not every row names its intent.")
    numbers = numbers_of(frame[columns[0]], path).set_axis(names, axis=0)
    if numbers.isna().all():
        raise DataError(f"{path}: no score in {len(numbers):,} row(s). Leave this edition out.")
    twice = names[names.duplicated()]
    if len(twice):
        raise DataError(f"{path}: {len(twice):,} intent(s) named twice: {listing(twice.unique())}.")
    text = next((name for name in TEXTS if name in frame), None)
    texts = None if text is None else frame[text].map(str, na_action="ignore").set_axis(names, axis=0)
    return ScoredTexts(numbers, texts, named is not None)


_MISSING = {"", "NA", "NaN", "nan"}


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
    r"""Read the log-probability of each sentence, as toolkits write it.

    Files are told by their names and first lines:

    * numbers, one per line. Line i of every file is intent i; an empty line is a missing translation;
    * samples of lm-evaluation-harness (``samples_TASK_DATE.jsonl``) with one log-likelihood each, in nats. Characters
      and bytes are those of the text that was scored;
    * tables (CSV, TSV, Parquet) with a header and a column ``surprisal``, ``logprob`` or ``score``, such as those made
      with minicons; a column ``text`` or ``sentence`` gives characters and bytes. Tables that do not name their
      intents have the same number of rows.

    Parameters
    ----------
    files : mapping from edition to path
        One file per edition. Numbers are log-probabilities (0 or less) in all files, or their negatives in all files.
    unit : {"bits", "nats", "log10"}, optional
        Unit of the logarithms: base 2, e or 10. Toolkits differ, so it must be given; only samples of
        lm-evaluation-harness are known to be in nats.
    intent : str, optional
        Column of a table, or key of a sample or of its document, that names the intents. Translations have different
        texts, so that neither these nor their hashes can. By default the ``doc_id`` of a sample, and the column
        ``intent`` or ``doc_id`` of a table; rows of tables that have neither are counted from ``"1"``.
    intent_names : sequence of str, optional
        Names of the lines of files of numbers; by default their numbers, from ``"1"``.
    intent_info : DataFrame, str or Path, optional
        Properties of the intents, such as their documents; see `Surprisals.with_intent_info`.
    lm : str
        Name of the language model that gave the numbers.

    Returns
    -------
    Surprisals
        The table in bits.

    Raises
    ------
    DataError
        If a file cannot be read or has no number, a line is something else (``-nan`` too, which is a failure
        and not a missing translation), signs are mixed, files that do not name their intents differ in length, only
        some name them, or `intent_info` lacks an intent.
    ConfigError
        If no file is given, the unit is unknown, or `intent_names` are given for files that are not lines of numbers.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     eng, deu = Path(folder, "eng.scores"), Path(folder, "deu.scores")
    ...     _ = eng.write_text("-3.0\n-4.5\n"), deu.write_text("-3.5\n\n")
    ...     read_log_likelihoods({"eng": eng, "deu": deu}, unit="log10").bits.round(2)
    edition    eng    deu
    intent
    1         9.97  11.63
    2        14.95    NaN
    """
    if not isinstance(files, Mapping):
        raise ConfigError(f"files are a mapping from edition to file, not {type(files).__name__}.")
    if not files:
        raise ConfigError("no file of log-likelihoods is given.")
    paths = {edition: Path(path) for edition, path in files.items()}
    samples = all(map(holds_samples, paths.values()))
    if unit is None and not samples:
        raise ConfigError(
            f"give the unit of the logarithms: {option('unit', 'nats')}, 'log10' or 'bits'; toolkits differ."
        )
    check_unit(unit or "nats")
    if samples or all(map(holds_table, paths.values())):
        if intent_names is not None:
            raise ConfigError(
                f"{option('intent_names')} name lines of numbers; name the key or column of these files: intent=…."
            )
        read = read_samples if samples else read_scored_table
        table = _of_scored({edition: read(path, intent) for edition, path in paths.items()}, unit or "nats", lm)
    else:
        table = _of_lines(paths, unit or "nats", intent_names, lm)
    return table if intent_info is None else table.with_intent_info(intent_info)


def _of_lines(paths: Mapping[str, Path], unit: Unit, intents: Sequence[str] | None, lm: str) -> Surprisals:
    """Return surprisals from files with one number per line."""
    columns = {edition: _read(path) for edition, path in paths.items()}
    lengths = {edition: len(column) for edition, column in columns.items()}
    if intents is not None:
        lengths = {"intents": len(intents), **lengths}
    if len(set(lengths.values())) > 1:
        raise DataError(f"files differ in length: {listing(f'{name}: {n:,} lines' for name, n in lengths.items())}.")
    _check_signs(columns, paths)
    n = next(iter(lengths.values()))
    names = [str(line) for line in range(1, n + 1)] if intents is None else list(intents)
    bits = pd.DataFrame(columns).abs().set_axis(names, axis=0) * BITS_PER_UNIT[unit]
    return Surprisals(bits=bits, lm=lm)


def _of_scored(scored: Mapping[str, ScoredTexts], unit: Unit, lm: str) -> Surprisals:
    """Return surprisals from scored samples or tables."""
    _check_rows(scored)
    intents = pd.Index(pd.unique(np.concatenate([one.numbers.index.to_numpy() for one in scored.values()])))
    numbers = pd.DataFrame({edition: one.numbers.reindex(intents) for edition, one in scored.items()})
    known = {edition: one.texts for edition, one in scored.items() if one.texts is not None}
    bits = as_bits(numbers, unit, "the files")
    if len(known) < len(scored):
        return Surprisals(bits=bits, lm=lm)
    texts = pd.DataFrame({edition: column.reindex(intents) for edition, column in known.items()})
    return Surprisals(
        bits=bits,
        characters=texts.map(len, na_action="ignore").astype(float),
        bytes=texts.map(lambda text: len(text.encode("utf-8", "surrogatepass")), na_action="ignore").astype(float),
        lm=lm,
    )


def _check_rows(scored: Mapping[str, ScoredTexts]) -> None:
    """Check that the rows of several tables correspond."""
    counted = {edition: len(one.numbers) for edition, one in scored.items() if not one.named}
    if 0 < len(counted) < len(scored):
        raise DataError(
            f"tables of {listing(counted)} do not name their intents, as others do. Add a column 'intent' to each, or "
            "name it: intent=…"
        )
    if len(set(counted.values())) > 1:
        raise DataError(
            f"tables differ in length: {listing(f'{name}: {n:,} rows' for name, n in counted.items())}. Add a column "
            "'intent' that says which rows belong together."
        )


def _read(path: Path) -> pd.Series:
    """Read the numbers of a file, indexed by line."""
    numbers = []
    for number, line in read_lines(path):
        try:
            numbers.append(np.nan if line.strip() in _MISSING else _number(line))
        except ValueError:
            raise DataError(
                f"{path}, line {number}: {line[:40]!r} is not a number. Give one log-likelihood per line, and an empty "
                "line for a missing translation."
            ) from None
    if np.isnan(numbers).all():
        raise DataError(f"{path}: no log-likelihood in {len(numbers):,} line(s). Leave this edition out.")
    return pd.Series(numbers, index=range(1, len(numbers) + 1), dtype=float)


def _number(line: str) -> float:
    """Return a number from text, without accepting Python's digit groups (``1_000``) or other spellings of NaN."""
    number = float(line)
    if np.isnan(number) or "_" in line:
        raise ValueError(line)
    return number


def _check_signs(columns: Mapping[str, pd.Series], files: Mapping[str, str | Path]) -> None:
    """Check that log-probabilities and their negatives are not mixed."""
    first: dict[bool, str] = {}
    for edition, column in columns.items():
        for positive in (False, True):
            found = column[column > 0] if positive else column[column < 0]
            if len(found):
                first.setdefault(positive, f"{found.iloc[0]:g} ({files[edition]}, line {found.index[0]})")
    if len(first) > 1:
        raise DataError(
            f"log-probabilities are never above 0, but there are both {first[False]} and {first[True]}: give "
            "log-probabilities in all files, or their negatives in all."
        )
