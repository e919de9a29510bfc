"""All kinds of logs, and which of them a file is of."""

from langdiff.errors import DataError
from langdiff.tables.logs import flat, inspect, lm_eval, openai
from langdiff.tables.logs.kind import HEAD, Kind, Source

KINDS: tuple[Kind, ...] = (  # the first that a file's beginning tells is taken
    lm_eval.KIND,
    openai.VLLM,
    openai.KIND,
    openai.LLAMA,
    inspect.KIND,
    flat.NESTED,
    flat.OUTCOMES,
    flat.MINICONS,
    flat.FLAT,
    flat.NUMBERS,
)


def kind_of(source: Source) -> Kind | None:
    """Return the kind of a file, told by its beginning; None if it is of no kind."""
    return next((kind for kind in KINDS if kind.tells(source)), None)


def unknown(source: Source) -> DataError:
    """Return the error for a file that is of no kind, with its beginning and the kinds that there are."""
    begins = f"columns {', '.join(source.header)}" if source.is_table else source.head
    kinds = "; ".join(f"{kind.name} ({kind.told})" for kind in KINDS)
    return DataError(f"{source}: not a log of a known kind; it begins with {begins[:HEAD]!r}. Kinds: {kinds}.")
