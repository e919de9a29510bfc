"""Provenance of surprisals, in files and signatures; manifests of saved tables, with a hash by which damage is seen.

The manifest of a CSV or TSV file lies beside it, as ``NAME.csv.json``; that of a Parquet file is metadata in it.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from langdiff import __version__
from langdiff.base.checksums import is_whole, seal
from langdiff.base.io import parse_json, read_bytes
from langdiff.base.signature import short_hash
from langdiff.errors import DataError, words

if TYPE_CHECKING:
    import pyarrow as pa


MANIFEST_FORMAT = "langdiff.Manifest"
MANIFEST_VERSION = 1
METADATA = b"langdiff.manifest"  # of a Parquet file
FORMAT = "langdiff.Provenance"
FORMAT_VERSION = 1
MOST_NAMES = 3  # written out where tables of several are joined


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


def manifest_beside(path: Path) -> Path:
    """Return the manifest of a CSV or TSV file."""
    return path.with_name(f"{path.name}.json")


def manifest_text(name: str, digest: str, more: Mapping[str, Any]) -> str:
    """Return the manifest of a table in JSON: versions, outputs with their hashes, and what else is known."""
    document = {"format": MANIFEST_FORMAT, "format_version": MANIFEST_VERSION, "versions": {"langdiff": __version__}}
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
        if document["format"] != MANIFEST_FORMAT or version != MANIFEST_VERSION:
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


def scoring_of(record: Mapping[str, Any]) -> str:
    """Return the kinds of logs, and how first tokens and ends were treated, as provenance has them.

    Examples
    --------
    >>> scoring_of({"sources": [{"kind": "vllm"}], "treatment": {"start": "as scored"}})
    'vllm,start:as scored'
    """
    kinds = "+".join(dict.fromkeys(str(source["kind"]) for source in record["sources"])) or "table"
    return ",".join([kinds, *(f"{name}:{value}" for name, value in record["treatment"].items())])
