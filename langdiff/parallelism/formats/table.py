"""Exchange table of pyrallelism: one token per line, then identifiers of parallelism and branch for every stratum."""

import re
from pathlib import Path

from langdiff.base.io import read_lines
from langdiff.parallelism.documents import Document
from langdiff.parallelism.formats.branches import MAX_STRATA, NONE, TokenList, identifiers

_WHOLE = re.compile(r"-1|[0-9]{1,9}")


def read_token_table(path: Path, name: str, *, predicted: bool) -> Document:
    """Return the document of a file; the table has no sections.

    Raises
    ------
    FaultsError
        If the file cannot be used; the message names file and line.
    """
    found = TokenList(str(path))
    columns = 0
    for line, row in read_lines(path):
        token, *cells = row.split("\t")
        if line == 1:
            columns = len(cells)
            if columns % 2 or columns > 2 * MAX_STRATA:
                what = (
                    f"{columns} columns besides the token; there are two per stratum, of at most {MAX_STRATA} strata."
                )
                raise found.fault(line, what)
            continue
        if len(cells) != columns:
            what = f"{len(cells)} identifiers, but line 1 names {columns} (two per stratum)."
            raise found.fault(line, what)
        if odd := [cell for cell in cells if not _WHOLE.fullmatch(cell)]:
            raise found.fault(line, f"identifiers are whole numbers, or {NONE} for none; got {odd[0]!r}.")
        numbers = [int(cell) for cell in cells]
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        found.add(token, dict(enumerate(pairs, 1)), line)
    return found.document(name, predicted=predicted)


def write_token_table(document: Document) -> str:
    """Return the table of a document.

    Raises
    ------
    DataError
        If branches of one stratum share a token.
    """
    n_strata, by_token = identifiers(document)
    names = [f"{unit}_id_{k}" for k in range(1, n_strata + 1) for unit in ("parallelism", "branch")]
    lines = ["\t".join(["token", *names])]
    for token, own in zip(document.tokens, by_token, strict=True):
        cells = [str(one) for k in range(n_strata) for one in own.get(k, (NONE, NONE))]
        lines.append("\t".join([token, *cells]))
    return "\n".join([*lines, ""])
