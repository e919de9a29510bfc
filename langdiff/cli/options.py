"""Options that several commands share: files to be read, corpora and their division, tables of surprisals."""

import glob
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

import typer

from langdiff.base.addresses import address_of, refuse_address
from langdiff.base.remote import local_copies, local_copy
from langdiff.base.saving import ENDINGS
from langdiff.base.types import AnyFormat, OnError, Ranges
from langdiff.errors import ConfigError, DataError, listing, option

if TYPE_CHECKING:
    import pandas as pd

    from langdiff.base.types import Tokenization
    from langdiff.tables.multitext import Folds, Multitext, Parts

Given = TypeVar("Given", bound=str | Path | list[str] | list[Path] | None)


NO_VALUE = {"", "NA", "NaN", "nan"}
CODES = {"language", "iso639_3"}  # nan is Min Nan Chinese there
NOT_TESTED = ("language", "family", "genus", "glottocode", "iso639_3", "name", "macroarea", "matched_by")


def existing(given: Given) -> Given:
    """Refuse paths that do not exist; a pattern may match none, which is told where it is read."""
    if isinstance(given, Path):
        given = local_copy(given)
    elif isinstance(given, list) and isinstance(given[0] if given else None, Path):
        given = local_copies(given)
    for path in given if isinstance(given, list) else [given]:
        if path is None or address_of(path) or glob.has_magic(str(path)):
            continue
        try:
            Path(path).expanduser().lstat()
        except FileNotFoundError:
            raise DataError(f"{path}: no such file or directory.") from None
        except OSError:  # told where it is read
            continue
    return given


def existing_here(given: Path) -> Path:
    """Refuse a path that does not exist or is an address: that of a run, a cache or an experiment file."""
    refuse_address(given)
    return existing(given)


FILES = (*ENDINGS, ".svg", ".png", ".pdf", ".toml", ".conllu")


def new_folder(given: Path | None) -> Path | None:
    """Refuse the name of a file where a folder will be written.

    Examples
    --------
    >>> new_folder(Path("models/v1.2"))
    PosixPath('models/v1.2')
    >>> new_folder(Path("bits.csv"))
    Traceback (most recent call last):
    langdiff.errors.ConfigError: --out bits.csv: a folder is written, and this is the name of a file. Give bits.
    """
    if given is not None and not given.is_dir() and (given.suffix.lower() in FILES or given.is_file()):
        other = f"{given.with_suffix('')}" if given.suffix.lower() in FILES else "another name"
        raise ConfigError(f"--out {given}: a folder is written, and this is the name of a file. Give {other}.")
    return given


def refuse_own_folder(out: Path, sources: Iterable[Path]) -> None:
    """Refuse a folder to write whose files are read, which would be lost."""
    for source in sources:
        if out.resolve() == (source if source.is_dir() else source.parent).resolve():
            raise ConfigError(f"--out {out}: its files are read, and would be overwritten. Give another folder.")


def split_name(given: str) -> tuple[str, str]:
    """Return the name and the path of NAME=PATH; an empty name where there is none.

    The name ends at the first equals sign: paths may have more of them, names none. So a path with an equals sign
    needs a name before it.

    Examples
    --------
    >>> split_name("small=runs/lr=0.1/out.conllu"), split_name("out.conllu")
    (('small', 'runs/lr=0.1/out.conllu'), ('', 'out.conllu'))
    """
    name, equals, path = given.partition("=")
    found = (name, path) if name and equals else ("", given)
    if not found[1]:
        raise ConfigError(f"{given!r}: no file is named; write NAME=FILE.")
    return found


def named_paths(arguments: list[str], what: str = "documents", *, taken: str = "") -> list[tuple[str, Path]]:
    """Return names and paths of several sets of documents or trees, each given as PATH or NAME=PATH."""
    pairs = []
    for name, path in map(split_name, arguments):
        pairs.append((name or Path(path).name or path, Path(path)))
    names = [taken] * bool(taken) + [name for name, _ in pairs]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ConfigError(f"{twice[0]!r} is the name of two sets of {what}; give names: NAME={pairs[-1][1]}.")
    return pairs


def named_files(given: list[str] | None, option: str, what: str, example: str = "") -> dict[str, str]:
    """Return files by name, each given to an option as NAME=FILE; `what` and `example` are for messages."""
    found: dict[str, str] = {}
    for each in given or []:
        name, file = split_name(each)
        if not name:
            raise ConfigError(f"{option} {each}: write NAME=FILE{f', such as {example}' if example else ''}.")
        if name in found:
            raise ConfigError(f"{option} {each}: a second {what} for {name!r}; give one.")
        found[name] = file
    return found


def existing_named(given: list[str] | None) -> list[str] | None:
    """Refuse NAME=PATH or PATH if the path does not exist."""
    for each in given or []:
        name, path = split_name(each)
        try:
            existing(path)
        except DataError as error:
            if name and Path(each).exists():
                raise DataError(
                    f"{each}: read as the name {name!r} and the path {path}, which does not exist. Give a name before "
                    f"a path that contains '=': NAME={each}."
                ) from error
            raise
    return given


def existing_after_name(given: list[str] | None) -> list[str] | None:
    """Refuse NAME=FILE if the file does not exist; other forms are refused where they are read."""
    for each in given or []:
        name, path = split_name(each)
        if name and not path.startswith("tiktoken:"):
            existing(path)
    return given


def key_or_names(given: list[str] | None, option: str) -> "str | dict[str, str] | None":
    """Return names given as THEIRS=OURS as a mapping, or the one key or name."""
    if not given:
        return None
    pairs = [each.rpartition("=") for each in given]
    if all(theirs and ours for theirs, _, ours in pairs):
        return {theirs: ours for theirs, _, ours in pairs}
    if len(given) > 1:
        raise ConfigError(f"--{option}: give one key or name, or THEIRS=OURS several times.")
    return given[0]


def is_given(context: typer.Context, name: str) -> bool:
    """Return whether an option was written, whatever its value."""
    return getattr(context.get_parameter_source(name), "name", None) == "COMMANDLINE"


def refuse_unused(context: typer.Context, given: Mapping[str, Any], only: Mapping[str, Iterable[str]]) -> None:
    """Refuse options that were written, and that are of no use with the values of the others; see `Command`."""
    for condition, names in only.items():
        others = condition.split(" or ")
        written = [name for name in names if is_given(context, name)]
        if written and not any(_holds(given, each) for each in others):
            name = _called(written[0])
            if condition.startswith("without "):
                told = f"is of no use with {_called(condition.split()[1])}: leave one of them out"
            else:
                values = " or ".join(_called(*each.split()) for each in others)
                told = f"is for {values}: give that, too, or leave {name} out"
            raise typer.BadParameter(f"{name} {told}.")


def _holds(given: Mapping[str, Any], condition: str) -> bool:
    name, _, values = condition.partition(" ")
    if name == "without":
        return not _holds(given, values)
    chosen = given[name] if isinstance(given[name], list | tuple) else [given[name]]
    wanted = values.split("|")
    return any(str(one) in wanted if values else not (one is None or one is False) for one in chosen)


def _called(name: str, values: str = "") -> str:
    """Name an option, or an argument, with values that it may have."""
    found = option(name)
    found = found if found.startswith("--") else name.upper()
    return f"{found} {values.replace('|', ' or ')}".strip()


def refuse_given(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Refuse options that were written, whatever their value, and that would not be used."""
    for name in names:
        if is_given(context, name):
            option = next(param.opts[0] for param in context.command.params if param.name == name)
            raise ConfigError(f"{option} {reason}")


@dataclass(frozen=True)
class Corpus:
    """A corpus as the argument and options of a command name it."""

    corpus: Annotated[
        list[str],
        typer.Argument(
            help="Files, directories or patterns such as 'bible/*.txt.gz'.", metavar="CORPUS...", callback=existing
        ),
    ]
    format: Annotated[
        str,
        typer.Option("--format", help=f"Format of the files: {', '.join(get_args(AnyFormat))}, or that of a plug-in."),
    ] = "auto"
    edition_info: Annotated[Path | None, typer.Option("--edition-info", callback=existing)] = None
    edition_columns: Annotated[
        list[str] | None,
        typer.Option("--rename", metavar="THEIRS=OURS", help="A column of that file and our name of it (repeat)."),
    ] = None
    editions: Annotated[
        list[str] | None,
        typer.Option("--edition", "-e", help="Keep this edition (repeat for more); all by default."),
    ] = None
    on_error: OnError = "raise"
    trust: list[str] | None = None
    decode_errors: Annotated[
        Literal["strict", "replace"],
        typer.Option("--decode-errors", help="Bytes that are not UTF-8: a fault, or U+FFFD in their place."),
    ] = "strict"
    ranges: Annotated[
        Ranges | None,
        typer.Option("--ranges", help="Verses translated together: missing, or merged into the first."),
    ] = None
    marker: Annotated[
        list[str] | None,
        typer.Option(
            "--marker", metavar="MARKER=KIND", help="A marker of USFM of one's own: char, note, para or skip (repeat)."
        ),
    ] = None
    vref: Annotated[
        Path | None, typer.Option("--vref", help="List of verses of the eBible corpus.", callback=existing)
    ] = None
    original_language: Annotated[
        Path | None,
        typer.Option(
            "--original-language",
            help="For moses: file with the language each line was first said in.",
            callback=existing,
        ),
    ] = None
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="OURS=THEIRS",
            help="For jsonl and parquet: the column of text, edition, intent or document (repeat).",
        ),
    ] = None
    split: Annotated[str | None, typer.Option("--split", help="For jsonl and parquet: the split to read.")] = None

    def options(self) -> list[str]:
        """Return the names of the options that were given."""
        names = [each.name for each in fields(self)[1:] if getattr(self, each.name) not in (each.default, [])]
        called = {"editions": "edition", "edition_columns": "rename"}
        return [f"--{called.get(name, name).replace('_', '-')}" for name in names]

    def open(self, *, nfc: bool = True) -> "Multitext":
        """Read the multitext, normalized to Unicode NFC or as it is."""
        from langdiff.corpora import read_multitext

        how = {each.name: getattr(self, each.name) for each in fields(Corpus)} | {"trust": self.trust or (), "nfc": nfc}
        how["edition_columns"] = _pairs(self.edition_columns or [], "--rename", "THEIRS=OURS, such as Filename=file")
        columns = _pairs(how.pop("column") or [], "--column", "OURS=THEIRS, such as text=sentence")
        markers = _pairs(how.pop("marker") or [], "--marker", "MARKER=KIND, such as untr=char", sides=(0,))
        return read_multitext(how.pop("corpus"), columns=columns or None, markers=markers or None, **how)


def _pairs(options: list[str], name: str, shape: str, sides: tuple[int, ...] = (0, 2)) -> dict[str, Any]:
    """Return pairs written as ``LEFT=RIGHT``; on the `sides`, 0 and 2, nothing may be there twice."""
    pairs = [option.rpartition("=") for option in options]  # their names of columns may have equals signs, ours none
    if bad := [option for option, (left, _, right) in zip(options, pairs, strict=True) if not (left and right)]:
        raise ConfigError(f"{name} {bad[0]}: write {shape}.")
    for side in sides:
        names = [pair[side] for pair in pairs]
        if twice := [option for option, one in zip(options, names, strict=True) if names.count(one) > 1]:
            raise ConfigError(f"{name} {twice[0]} and {twice[1]} name the same twice; give one of them.")
    return {left: right for left, _, right in pairs}


@dataclass(frozen=True)
class Texts(Corpus):
    """A corpus as language models are to read it."""

    tokenize: Annotated[
        bool,
        typer.Option("--tokenize/--as-is"),
    ] = True

    def prepared(self) -> "tuple[Multitext, Tokenization]":
        """Read the corpus and tokenize it, or not; return how, too."""
        from langdiff.corpora.tokenizer import prepare_text

        tokenization: Tokenization = "reversible" if self.tokenize else "as-is"
        return prepare_text(self.open(), tokenization), tokenization


@dataclass(frozen=True)
class DividedTexts(Texts):
    """Texts that are divided into parts to train on and to measure, or into folds."""

    groups: str | None = None
    folds: Annotated[
        int | None,
        typer.Option(
            min=2,
        ),
    ] = None

    def divide(self) -> "tuple[Parts | Folds, Tokenization]":
        """Divide the intents that all editions share; with folds, measure the others, too."""
        import langdiff as ld

        multitext, tokenization = self.prepared()
        parts: Parts | Folds
        if self.folds is None:
            parts = ld.split(multitext.dropna(), groups=self.groups)
        else:
            parts = ld.split_into_folds(multitext, self.folds, groups=self.groups, incomplete="test")
        shared = "shared by all: " if self.folds is None else ""
        typer.echo(f"{multitext!r}; {shared}{parts.summary()}", err=True)
        return parts, tokenization

    def folders(self, models: Path) -> list[Path]:
        """Return the folders whose models `langdiff score` can take: the folder of models, or that of each fold."""
        from langdiff.lm.jobs.folder import fold_cache

        return [models] if self.folds is None else [fold_cache(models, fold) for fold in range(1, self.folds + 1)]


def read_attributes(path: Path, *, numbers: bool = True, distinct: bool = False) -> "pd.DataFrame":
    """Read a table by its first column; columns of numbers become such, or, on request, only if none is written twice.

    Parameters
    ----------
    path : Path
        Table (.csv, .tsv), with names in its first column.
    numbers : bool
        Whether columns of numbers become such, or stay text.
    distinct : bool
        Whether a column stays text if it has a number in two forms, such as 1 and 1.0.
    """
    import pandas as pd

    from langdiff.base.cells import exact_numbers
    from langdiff.base.io import read_table

    header, rows = read_table(path, "\t" if path.suffix == ".tsv" else ",")
    frame = pd.DataFrame([row for _, row in rows], columns=header, dtype=object).replace("", None)
    frame = frame.set_index(header[0])
    for name in frame if numbers else ():
        found = exact_numbers(frame[name])
        if found.notna().equals(frame[name].notna()) and not (distinct and found.nunique() < frame[name].nunique()):
            frame[name] = found
    return frame


def _drop_unknown(frame: "pd.DataFrame", of_predictors: bool) -> None:
    """Set cells without a value to None, and in predictors codes of unknown values, too."""
    from langdiff.base.suspicion import Doubts, known_values, report

    doubts = Doubts()
    for name in frame:
        if of_predictors and name not in (*CODES, *NOT_TESTED):
            frame[name] = known_values(doubts, str(name), frame[name].where(frame[name] != "", None))
        frame[name] = frame[name].where(~frame[name].isin({""} if name in CODES else NO_VALUE), None)
    report(doubts.judged())


def read_frame(path: Path, categorical: Sequence[str] = (), *, of_predictors: bool = False) -> "pd.DataFrame":
    """Read a table by its first column; columns of numbers become floats, others stay text.

    A column of predictors that has both numbers and words is refused: as categories its numbers would be lost.
    """
    import pandas as pd

    from langdiff.base.cells import exact_numbers
    from langdiff.base.io import read_table

    if path.is_dir() and of_predictors:
        made = f"`langdiff predictors --codes DIFFICULTIES --wals {path} --feature 26A --out predictors.tsv`"
        raise DataError(f"{path}: a folder, where a table of predictors is asked for. From WALS it is made by {made}.")
    header, rows = read_table(path, "\t" if path.suffix in (".tsv", ".tab") else ",")
    if len(header) < 2:
        raise DataError(f"{path}: one column only; is the delimiter a comma (.csv) or a tab (.tsv)?")
    if unnamed := [place for place, name in enumerate(header[1:], start=2) if not name.strip()]:
        raise DataError(f"{path}, line 1: column {unnamed[0]} has no name; name it, or delete it.")
    if nameless := [line for line, row in rows if not row[0].strip()]:
        raise DataError(f"{path}, line {nameless[0]}: the first cell, which names the row, is empty.")
    frame = pd.DataFrame([row for _, row in rows], columns=header, dtype=object).set_index(header[0])
    _drop_unknown(frame, of_predictors)
    unknown = [name for name in categorical if name not in header[1:] and name not in ("language", "family")]
    if unknown:
        raise ConfigError(f"{path}: no column {listing(unknown)}; there are {listing(header[1:])}.")
    for name in frame:
        if name in categorical:
            continue
        numbers = exact_numbers(frame[name])
        words = (frame[name].notna() & numbers.isna()).to_numpy()
        if not words.any():
            frame[name] = numbers.astype(float)
        elif of_predictors and numbers.notna().any() and name not in NOT_TESTED:
            place = int(words.argmax())
            raise DataError(
                f"{path}, line {rows[place][0]}: {frame[name].iloc[place]!r} is not a number, and column {name!r} has "
                f"{int(numbers.notna().sum())}. Write a number (12345.6), leave the cell empty if there is none, or "
                f"say that all are names of categories: --categorical {name}."
            )
    return frame
