"""What results depend on, for their signatures: the table, and which difficulties are free."""

from langdiff._signature import short_hash
from langdiff.regression.design import Design
from langdiff.surprisals import Surprisals


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


def identify_design(design: Design) -> dict[str, str]:
    """Return what a signature says of groups or of a formula; nothing if each edition has its own difficulty."""
    if design.terms is not None:
        return {"formula": f"#{short_hash(design.terms)}"}
    if design.basis is None:
        return {}
    labels = [[type(label).__name__, str(label)] for label in design.units]
    member = (design.basis != 0).argmax(axis=1)
    return {"groups": f"{design.units.name}#{short_hash(labels, member)}"}
