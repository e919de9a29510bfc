"""Reading of logs of language models, of any kind and of several at once."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from langdiff.base.io import as_path, as_paths
from langdiff.base.remote import local_copies
from langdiff.base.suspicion import LEFT_OUT_COLUMNS, Doubts, report
from langdiff.base.types import OnError, check_choice, check_on_error
from langdiff.errors import ConfigError, DataError, Fault, list_faults, listing, option, warn
from langdiff.tables.logs import rows as of_files
from langdiff.tables.logs.answers import read_answers
from langdiff.tables.logs.first_token import KAPPA, Dropped, End, Start, charges_of, intercept, sensitivity
from langdiff.tables.logs.kind import Asked
from langdiff.tables.logs.pairing import Strictness
from langdiff.tables.logs.result import Logs
from langdiff.tables.logs.texts import read_texts
from langdiff.tables.long_tables import LongTable, Unit, as_pandas, check_unit

LogPaths = str | Path | Sequence[str | Path] | Mapping[str, str | Path] | LongTable
Names = str | Mapping[str, str]
POSSIBLE = (
    "a start token may have been scored before each text: the program puts one there, and some tokenizers add their "
    "own. Give the tokenizer or the model (tokenizer=…) to be certain"
)


def read_logs(
    paths: LogPaths,
    *,
    language: Names | None = None,
    system: Names | None = None,
    item: str | Sequence[str] | None = None,
    unit: Unit | None = None,
    start: Start = "auto",
    end: End = "auto",
    tokenizer: Any = None,
    metric: str | None = None,
    filter: str | None = None,
    pairing: Strictness = "checked",
    on_error: OnError = "raise",
    trust: Sequence[str] = (),
) -> Logs:
    r"""Read logs of language models: bits of texts and of tokens, and answers that are right or wrong.

    The kind of a file is told by its content, and a folder may mix kinds: samples of lm-evaluation-harness; completions
    with log-probabilities of the prompt by OpenAI's interface, llama-cpp-python and vLLM, one record per line; tables
    of minicons; logs of Inspect (``.json``, ``.eval``); flat records and tables (JSON lines, CSV, TSV, Parquet) under
    usual names; and files of one number per line.

    Parameters
    ----------
    paths : str, Path, sequence of these, mapping from language to path, or table in memory
        Files, folders with all below them, zip archives, or patterns.
    language : str or mapping, optional
        Key of the documents that has the language; or the language of each task or file. By default a field
        ``language``, ``edition`` or ``lang``, or what differs between the names of tasks (or of files):
        ``belebele_deu_Latn`` is of ``deu_Latn``.
    system : str or mapping, optional
        Key of the documents that has the system, or its name; or names by those that the logs have, or by folders. By
        default a field ``system``, ``model`` or ``lm``, or what the logs say.
    item : str or sequence of str, optional
        Key of the documents that names the item, or several. By default the fewest keys that are unique in each file
        and name the same items in all languages, of which some may be missing; the number of the row only if nothing
        else does and all files are equally long.
    unit : {"bits", "nats", "log10"}, optional
        Unit of logarithms in files that do not tell it.
    start : {"auto", "drop", "subtract"}
        What becomes of first tokens without a log-probability. ``"auto"`` leaves them out if they are the same in all
        texts of a system, and so no part of what these say; else it is an error. ``"drop"`` leaves the first token out
        of all texts, of all systems; characters and bytes are then without it. ``"subtract"`` takes a charged start
        token (see `langdiff.HuggingFaceLM.start_charge`) from the bits of each text, for which `tokenizer` is a model.
    end : {"auto", "drop"}
        What becomes of ends that were scored of some texts only: an error, or they are left out of all.
    tokenizer : str, Path, tokenizer, model, or mapping from system to these, optional
        Tells whether a start token was charged to texts by lm-evaluation-harness.
    metric : str, optional
        Metric, or scorer of Inspect, that tells right from wrong; needed where there are several.
    filter : str, optional
        Filter of lm-evaluation-harness whose answers count; needed where there are several.
    pairing : {"checked", "unchecked"}
        Whether items of languages that certainly do not go together are an error or a warning.
    on_error : {"raise", "skip"}
        What becomes of records that cannot be read, texts with a mark for −∞ in place of a log-probability, and answers
        whose score is NaN: one error that lists them, or they are missing, and `Logs.left_out` lists them.
    trust : sequence of str
        Kinds of doubts that are not raised, such as ``"clamped"``; a wrong name lists all.

    Returns
    -------
    Logs
        Long tables of texts, tokens and answers, with a record of their sources.

    Raises
    ------
    DataError
        If a file is of no known kind or faulty (the message names file and line), a score is none, languages or items
        cannot be told, or first tokens or ends are missing.
    ConfigError
        If an option has an unknown value, or the unit is needed.

    Warns
    -----
    LangdiffWarning
        If a start token may have been charged, files of a folder are not read, or once per kind of doubt.

    Examples
    --------
    >>> import tempfile
    >>> records = '''{"item": 7, "language": "deu", "prompt": "Ein Haus", "prompt_token_ids": [1, 5, 8],
    ...  "prompt_logprobs": [null, {"5": {"logprob": -4.0}}, {"8": {"logprob": -3.5}}]}
    ... {"item": 7, "language": "fin", "prompt": "Talo", "prompt_token_ids": [1, 9],
    ...  "prompt_logprobs": [null, {"9": {"logprob": -6.0}}]}'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.jsonl")
    ...     _ = path.write_text(records.replace(",\n", ","))
    ...     read_logs(path, system="m").surprisals().bits.round(3)
    edition    deu    fin
    intent
    7        10.82  8.656
    """
    for name, value, known in (
        ("start", start, get_args(Start)),
        ("end", end, get_args(End)),
        ("pairing", pairing, get_args(Strictness)),
    ):
        check_choice(name, value, known)
    if unit is not None:
        check_unit(unit)
    check_on_error(on_error)
    keys = (item,) if isinstance(item, str) else tuple(item or ())
    doubts, bad = Doubts(trust), list[Fault]()
    asked = Asked(
        doubts,
        bad,
        unit,
        keys,
        language if isinstance(language, str) else None,
        system if isinstance(system, str) else None,
        on_error,
    )
    files, tables = _given(paths)
    found = of_files.read_files(files, tables, asked)
    for note in found.notes if any("status" in note for note in found.notes) else ():
        warn(f"{note}.")
    left_out = [_records(bad), report(doubts.judged(), on_error)]
    rows = of_files.with_systems(of_files.with_places(found.rows, found.sources), system)
    is_text = rows["bits"].notna() | rows["tokens"].notna()
    is_answer = rows["values"].notna()
    told: dict[str, Any] = {"sources": found.sources.drop(columns=["counted", "below"])}
    notes = list(dict.fromkeys(found.notes))
    if shots := {value for value in found.sources["shots"] if value not in ("", "0")}:
        notes.append(f"examples before each question: {', '.join(sorted(shots))}")
    treatment: dict[str, str] = {}
    if not (is_answer.any() or is_text.any()):
        raise DataError(
            f"{listing(found.sources['file'])}: no text with log-probabilities and no answer with a metric that tells "
            "right from wrong."
        )
    faults: dict[str, str] = {}
    if is_answer.any():
        with _kept(faults, "answers", needed=not is_text.any()):
            told["answers"], told["pairing"] = read_answers(
                rows[is_answer],
                language=language,
                item=keys,
                metric=metric,
                filter=filter,
                pairing=pairing,
                doubts=doubts,
            )
    if is_text.any():
        counted = found.sources.dropna(subset=["counted"])
        with _kept(faults, "texts", needed="answers" not in told):
            texts, told["token_table"], of_texts, dropped = read_texts(
                rows[is_text],
                language=language,
                item=keys,
                start=start,
                end=end,
                pairing=pairing,
                counted={Path(file).name: int(n) for file, n in zip(counted["file"], counted["counted"], strict=True)},
                doubts=doubts,
            )
            told["pairing"] = told.get("pairing") or of_texts
            treatment = _treatment(dropped, start)
            charged = rows[is_text & (rows["kind"] == "lm-eval")]
            told["texts"], more = _charge(texts, charged, found.sources, tokenizer, start)
            notes += [str(each) for each in dropped] + more
    left_out.append(report(doubts.judged(), on_error))
    told["left_out"] = pd.concat([part for part in left_out if len(part)] or left_out[:1], ignore_index=True)
    return Logs(**told, faults=faults, treatment=treatment, notes=tuple(notes), trust=doubts.trust)


def _records(faults: Sequence[Fault]) -> pd.DataFrame:
    """Return the rows of `left_out` of records that cannot be used, after a warning."""
    if faults:
        warn("\n  ".join([f"{len(faults):,} record(s) are left out:", *list_faults(faults, "left_out has all")]))
    rows = [(fault.file, "text", "" if fault.line is None else f"line {fault.line}", fault.fault) for fault in faults]
    return pd.DataFrame(rows, columns=list(LEFT_OUT_COLUMNS), dtype=object)


@contextmanager
def _kept(faults: dict[str, str], what: str, *, needed: bool) -> Iterator[None]:
    """Keep an error of texts or answers for those who ask for them, unless nothing else is there."""
    try:
        yield
    except DataError as error:
        if needed:
            raise
        faults[what] = str(error)


def _given(paths: LogPaths) -> tuple[Any, list[pd.DataFrame]]:
    """Return files and tables in memory."""
    paths = local_copies(paths)
    if isinstance(paths, Mapping) and paths and all(isinstance(path, str | Path) for path in paths.values()):
        return {str(language): as_path(path) for language, path in paths.items()}, []
    empty = isinstance(paths, Mapping | list | tuple) and not len(paths)
    table = None if isinstance(paths, str | Path) or empty else as_pandas(paths)
    if table is not None:
        return [], [table]
    found = as_paths(paths)
    if not found:
        raise ConfigError("no log was given: the list of paths is empty.")
    return found, []


def _treatment(dropped: Sequence[Dropped], start: Start) -> dict[str, str]:
    """Return how first tokens and ends were treated, in a few words."""
    content = [each for each in dropped if each.content]
    tokens = [each for each in dropped if not each.content and each.what != "end"]
    found = {"start": "first token of each text dropped" if content else "as scored"}
    if tokens and not content:
        found["start"] = f"start token left out ({', '.join(dict.fromkeys(each.what for each in tokens))})"
    if start == "subtract":
        found["start"] = "charge subtracted"
    found["end"] = "dropped" if any(each.what == "end" for each in dropped) else "as scored"
    return found


def _charge(
    texts: pd.DataFrame,
    rows: pd.DataFrame,
    sources: pd.DataFrame,
    tokenizer: Any,
    start: Start,
) -> tuple[pd.DataFrame, list[str]]:
    """Return texts, without a charged start token if asked to, and notes on such a charge."""
    systems = pd.Index(pd.unique(rows["system"]))
    notes: list[str] = []
    charges = {} if tokenizer is None or not len(systems) else charges_of(tokenizer, systems)
    for system, (charged, bits) in charges.items():
        size = "" if bits is None or not charged else f" of {bits:.2f} bits"
        notes.append(f"{system}: start token {f'charged{size}' if charged else 'not charged'}, as its tokenizer tells")
    if start == "subtract":
        known = {system: bits for system, (_, bits) in charges.items() if bits is not None}
        without = [name for name in systems if name not in known]
        if without or not len(systems):
            raise ConfigError(
                f"{option('start', 'subtract')} is for texts by lm-evaluation-harness, and needs the model of each "
                f"system (tokenizer=HuggingFaceLM(…)); none is given for "
                f"{listing(without or pd.unique(texts['system']))}."
            )
        texts = texts.assign(bits=texts["bits"] - texts["system"].map(known).fillna(0.0))
        if (texts["bits"] <= 0).any():
            raise DataError("a text has fewer bits than the start charge, so that it cannot have been charged.")
        if any(known.values()):
            notes.append(
                "the charge is the same for all texts, and what it changed within them is not: scoring again is better"
            )
    open_ones = [name for name in systems if name not in charges]
    states = sources.loc[sources["kind"] == "lm-eval", "start"]
    if open_ones and (states == "possible").any():
        warn(f"{POSSIBLE}.")
    if open_ones and states.isin(["possible", "unknown"]).any():
        notes += [
            f"start token {'possibly charged' if (states == 'possible').any() else 'unknown'}",
            *_evidence(texts, open_ones),
        ]
    if start != "subtract" and (open_ones or any(charged for charged, _ in charges.values())):
        notes += _sensitivities(texts, systems)
    return texts, notes


def _evidence(texts: pd.DataFrame, systems: Sequence[str]) -> list[str]:
    """Return the intercept of bits on the size of texts by system, which alone proves nothing."""
    found = []
    for system in systems:
        part = texts[texts["system"] == system]
        size = next((name for name in ("units", "characters") if name in part and part[name].notna().all()), None)
        if size is None:
            continue
        estimate, low, high = intercept(part["bits"].to_numpy(), part[size].to_numpy(), part["language"], part["item"])
        if not math.isnan(estimate):
            what = "tokens" if size == "units" else "characters"
            found.append(f"{system}: bits on {what}, intercept {estimate:.1f} ({low:.1f} to {high:.1f})")
    return found


def _sensitivities(texts: pd.DataFrame, systems: pd.Index) -> list[str]:
    """Return the largest change of a difficulty if each text had been charged."""
    found = []
    for system in systems:
        part = texts[texts["system"] == system]
        change = sensitivity(part.pivot(index="item", columns="language", values="bits"))
        if not math.isnan(change):
            found.append(f"{system}: a charge of {KAPPA:g} bits would change difficulties by up to {change:.4f}")
    return found
