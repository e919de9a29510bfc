"""What a file of logs tells of where its numbers come from."""

from collections.abc import Mapping
from typing import Any


def scoring_of(record: Mapping[str, Any]) -> str:
    """Return the kinds of logs, and how first tokens and ends were treated, as provenance has them.

    Examples
    --------
    >>> scoring_of({"sources": [{"kind": "vllm"}], "treatment": {"start": "as scored"}})
    'vllm,start:as scored'
    """
    kinds = "+".join(dict.fromkeys(str(source["kind"]) for source in record["sources"])) or "table"
    return ",".join([kinds, *(f"{name}:{value}" for name, value in record["treatment"].items())])
