"""Files of results, whose kind is the ending of their name, and manifests: hashes of what was written and read.

The manifest of a file lies beside it, as ``NAME.csv.json``; that of a Parquet file is metadata in it; in a JSON file
it is one of the members.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langdiff import __version__
from langdiff.base.cells import guarded
from langdiff.base.checksums import hash_files, is_whole, seal
from langdiff.base.io import atomic_path, parse_json, read_bytes, write_text
from langdiff.errors import ConfigError, DataError, en, words

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MANIFEST_FORMAT = "langdiff.Manifest"
MANIFEST_VERSION = 1
METADATA = b"langdiff.manifest"  # of a Parquet file
FRAMES = (".csv", ".tsv", ".parquet")
TEXTS = (".md", ".tex", ".html", ".txt")
ENDINGS = (".json", *FRAMES, *TEXTS)


class EndingError(ConfigError):
    """A name of a file has an ending that stands for no kind of file."""


def check_ending(path: str | Path | None, endings: Iterable[str] = ENDINGS, what: str = "file") -> None:
    """Refuse, before any work is done, a name whose ending is none of those offered; nothing if no name is given.

    Examples
    --------
    >>> check_ending("x.cvs")
    Traceback (most recent call last):
    langdiff.base.saving.EndingError: x.cvs: unknown kind of file '.cvs'; use .json, .csv, .tsv, .parquet, .md, ...
    """
    endings = list(endings)
    if path is not None and Path(path).suffix not in [ending.split()[0] for ending in endings]:
        raise EndingError(f"{path}: unknown kind of {what} {Path(path).suffix!r}; use {en(endings, 'or')}.")


def flat(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame whose index, if it has one of names, is its first column."""
    import pandas as pd  # slow to import

    return frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()


def write_frame(frame: "pd.DataFrame", path: Path, record: Mapping[str, Any] | None = None) -> None:
    """Write a frame without its index as CSV, TSV or Parquet, by the ending of the name; all digits are kept."""
    check_ending(path, FRAMES, "table")
    with atomic_path(path) as temporary:
        if path.suffix == ".parquet":
            import pyarrow as pa  # slow to import
            from pyarrow import parquet

            table = with_manifest(pa.Table.from_pandas(frame, preserve_index=False), path, record)
            parquet.write_table(table, temporary, write_page_checksum=True)
        else:
            guarded(frame).to_csv(temporary, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    write_manifest(path, record)


def write_lines(text: str, path: Path, record: Mapping[str, Any] | None = None) -> None:
    """Write a text that ends with a line end."""
    write_text(path, text.rstrip("\n") + "\n")
    write_manifest(path, record)


def manifest_beside(path: Path) -> Path:
    """Return the manifest of a CSV or TSV file."""
    return path.with_name(f"{path.name}.json")


def manifest_text(name: str, digest: str, more: Mapping[str, Any]) -> str:
    """Return the manifest of a table in JSON: versions, outputs with their hashes, and what else is known."""
    document = {"format": MANIFEST_FORMAT, "format_version": MANIFEST_VERSION, "versions": {"langdiff": __version__}}
    return json.dumps(seal({**document, "outputs": {name: digest}, **more}), ensure_ascii=False, indent=1) + "\n"


_CALL: ContextVar[tuple[Mapping[str, str], tuple[Path, ...]]] = ContextVar("call", default=({}, ()))


@contextmanager
def called(settings: Mapping[str, str], inputs: Iterable[Path]) -> Iterator[None]:
    """Note the command, with the files that it reads, in the manifests of all that is saved meanwhile."""
    token = _CALL.set((settings, tuple(inputs)))
    try:
        yield
    finally:
        _CALL.reset(token)


def origin_of(path: Path) -> dict[str, Any]:
    """Return settings and inputs, relative to the folder of the output, of the command that saves a file."""
    settings, inputs = _CALL.get()
    folder = path.absolute().parent
    read = [one for one in inputs if one.exists() and one.absolute() != path.absolute()]
    named = {_relative(one.absolute(), folder): hash_files(one) for one in read}
    return ({"settings": dict(settings)} if settings else {}) | ({"inputs": named} if named else {})


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive of Windows
        return path.as_posix()


def write_manifest(path: Path, record: Mapping[str, Any] | None = None) -> None:
    """Write the manifest of a file next to it, unless it is inside, as in Parquet and JSON."""
    if path.suffix not in (".parquet", ".json"):
        more = {**(record or {}), **origin_of(path)}
        write_text(manifest_beside(path), manifest_text(path.name, hash_files(path), more))


def with_manifest(table: "pa.Table", path: Path, record: Mapping[str, Any] | None = None) -> "pa.Table":
    """Return a table of Arrow with its manifest among its metadata."""
    more = {**(record or {}), **origin_of(path)}
    manifest = manifest_text(path.name, digest_of_arrow(table), more).encode()
    return table.replace_schema_metadata({**(table.schema.metadata or {}), METADATA: manifest})


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Return the manifest of a table; None if there is none, as of tables made elsewhere."""
    where, text = path, None
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet  # slow to import

            text = (parquet.read_schema(path).metadata or {}).get(METADATA)
            if text is None and METADATA in _footer(path):
                raise ValueError("its footer is damaged")
        elif (where := manifest_beside(path)).exists():
            text = read_bytes(where)
        if text is None:
            return None
        document = parse_json(text)
        version = document["format_version"]
        if document["format"] != MANIFEST_FORMAT or version != MANIFEST_VERSION:
            raise ValueError(f"format {document['format']!r:.40}, version {version!r:.40}")
        if not is_whole(document):
            raise ValueError("not what was written")
        _digest_in(document)
    except Exception as error:  # of a damaged Parquet file pyarrow raises errors of any class
        reason = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        raise DataError(f"{where}: not the manifest of {path.name}, or damaged ({reason}). {_remedy(path)}") from error
    return dict(document)


def _footer(path: Path) -> bytes:
    """Return the bytes of the footer of a Parquet file."""
    with path.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        size = int.from_bytes(file.read(4), "little")
        file.seek(-8 - size, os.SEEK_END)
        return file.read(size)


def _digest_in(document: Mapping[str, Any]) -> str:
    (digest,) = document["outputs"].values()
    return str(digest)


def check_digest(path: Path, manifest: Mapping[str, Any] | None, digest: str) -> None:
    """Check that a table has the hash that its manifest has."""
    if manifest is not None and _digest_in(manifest) != digest:
        raise DataError(f"{path}: not what was saved: its SHA-256 is another than in its manifest. {_remedy(path)}")


def _remedy(path: Path) -> str:
    beside = "" if path.suffix == ".parquet" else f", or remove {manifest_beside(path).name}"
    off = words(python="verify=False", command="--no-verify")
    return f"Restore the file{beside}; {off}, where it is offered, reads what is there without its provenance."


def check_file(path: Path) -> dict[str, Any] | None:
    """Return the manifest of a table, text or picture that is as it was saved; None if there is none."""
    manifest = read_manifest(path)
    if manifest is not None and path.suffix == ".parquet":
        from pyarrow import parquet  # slow to import

        try:
            table = parquet.read_table(path, page_checksum_verification=True)
        except Exception as error:  # as above
            raise DataError(f"{path}: damaged ({type(error).__name__}: {error}). {_remedy(path)}") from error
        check_digest(path, manifest, digest_of_arrow(table))
    elif manifest is not None:
        check_digest(path, manifest, hash_files(path))
    return manifest


def digest_of_arrow(table: "pa.Table") -> str:
    """Return a hash of the names and cells of a table, which does not depend on how Parquet stores them.

    Numbers count as float64, so that integers and floats of one value are the same; other columns count as text.
    """
    import numpy as np
    import pyarrow as pa

    digest = hashlib.sha256(json.dumps([str(name) for name in table.column_names]).encode())
    for column in table.columns:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            numbers = column.cast(kind).cast(pa.float64(), safe=False).to_numpy()
            digest.update(np.where(np.isnan(numbers), np.nan, numbers).astype("<f8").tobytes())
            continue
        text = column.cast(pa.large_string()) if _is_text(kind) else pa.chunked_array([_shown(column)])
        coded = text.combine_chunks().dictionary_encode()
        coded = coded if isinstance(coded, pa.DictionaryArray) else coded.combine_chunks()
        digest.update(json.dumps(coded.dictionary.to_pylist()).encode())
        digest.update(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype("<i8").tobytes())
    return digest.hexdigest()


def _is_text(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _shown(column: "pa.ChunkedArray") -> "pa.Array":
    import pyarrow as pa

    return pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.large_string())
