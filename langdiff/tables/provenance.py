"""Provenance of surprisals, in files and signatures."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from langdiff.base.signature import short_hash
from langdiff.errors import DataError

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


def scoring_of(record: Mapping[str, Any]) -> str:
    """Return the kinds of logs, and how first tokens and ends were treated, as provenance has them.

    Examples
    --------
    >>> scoring_of({"sources": [{"kind": "vllm"}], "treatment": {"start": "as scored"}})
    'vllm,start:as scored'
    """
    kinds = "+".join(dict.fromkeys(str(source["kind"]) for source in record["sources"])) or "table"
    return ",".join([kinds, *(f"{name}:{value}" for name, value in record["treatment"].items())])
