"""Manifests of saved tables: what they hold, where it is from, and a hash by which damage is seen.

The manifest of a CSV or TSV file lies beside it, as ``NAME.csv.json``; that of a Parquet file is metadata in it.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from langdiff import __version__
from langdiff.base.checksums import is_whole, seal
from langdiff.base.io import parse_json, read_bytes
from langdiff.errors import DataError, words

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "langdiff.Manifest"
FORMAT_VERSION = 1
METADATA = b"langdiff.manifest"  # of a Parquet file


def manifest_beside(path: Path) -> Path:
    """Return the manifest of a CSV or TSV file."""
    return path.with_name(f"{path.name}.json")


def manifest_text(name: str, digest: str, more: Mapping[str, Any]) -> str:
    """Return the manifest of a table in JSON: versions, outputs with their hashes, and what else is known."""
    document = {"format": FORMAT, "format_version": FORMAT_VERSION, "versions": {"langdiff": __version__}}
    return json.dumps(seal({**document, "outputs": {name: digest}, **more}), ensure_ascii=False, indent=1) + "\n"


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Return the manifest of a table; None if there is none, as of tables made elsewhere."""
    where, text = path, None
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet  # slow to import

            text = (parquet.read_schema(path).metadata or {}).get(METADATA)
        elif (where := manifest_beside(path)).exists():
            text = read_bytes(where)
        if text is None:
            return None
        document = parse_json(text)
        version = document["format_version"]
        if document["format"] != FORMAT or version != FORMAT_VERSION:
            raise ValueError(f"format {document['format']!r:.40}, version {version!r:.40}")
        if not is_whole(document):
            raise ValueError("not what was written")
        _digest_in(document)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        raise DataError(f"{where}: not the manifest of {path.name}, or damaged ({reason}). {_remedy(path)}") from error
    return dict(document)


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


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_of_arrow(table: "pa.Table") -> str:
    """Return a hash of the names and cells of a table, which does not depend on how Parquet stores them.

    Numbers count as float64, so that integers and floats of one value are the same; other columns count as text.
    """
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
