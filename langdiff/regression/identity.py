"""What results depend on, for their signatures: the table, and which difficulties are free."""

import re

from langdiff.base.signature import short_hash
from langdiff.regression.design import Design
from langdiff.tables.surprisals import Surprisals


def identify_table(table: Surprisals) -> dict[str, str | int | None]:
    """Return what a signature says of a table: its language models as far as known, and a hash of the bits.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> identify_table(Surprisals(bits=pd.DataFrame(np.ones((2, 2))), lm="mine"))
    {'lm': 'mine', 'bits': '...'}
    """
    known = {"lm": table.lm} if table.provenance is None else table.provenance.signature()
    return {**known, "bits": short_hash(table.bits)}


def hash_of_bits(signature: str) -> str:
    """Return the hash of the bits from a signature that `identify_table` is part of; empty if there is none.

    Examples
    --------
    >>> hash_of_bits("model:2|lm:mine|bits:0123abcd|cells:12")
    '0123abcd'
    """
    found = re.findall(r"(?:^|\|)bits:([0-9a-f]+)(?=\||$)", signature)
    return found[-1] if found else ""  # the name of a language model, which comes before, may hold anything


def identify_design(design: Design) -> dict[str, str]:
    """Return what a signature says of groups or of a formula; nothing if each edition has its own difficulty."""
    if design.terms is not None:
        return {"formula": f"#{short_hash(design.terms)}"}
    if design.basis is None:
        return {}
    labels = [[type(label).__name__, str(label)] for label in design.units]
    member = (design.basis != 0).argmax(axis=1)
    return {"groups": f"{design.units.name}#{short_hash(labels, member)}"}
