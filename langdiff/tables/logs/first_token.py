"""First tokens without a log-probability, ends that only some texts have, and start tokens that were charged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.tables.influences import Influence, Units, sums
from langdiff.tables.logs.flat import END
from langdiff.tables.logs.kind import Tokens
from langdiff.tables.rule import t_interval

Start = Literal["auto", "drop", "subtract"]
End = Literal["auto", "drop"]
KAPPA = 13.0  # bits of a start token that was scored after another, in a small Llama
SPECIAL = ("<", "[", "▁<")  # with which the names of start tokens begin


@dataclass(frozen=True)
class Dropped:
    """What was left out of the texts of one system.

    Attributes
    ----------
    system : str
        The system.
    what : str
        The token, or how tokens were dropped.
    texts : int
        Number of texts.
    content : bool
        Whether it was part of the texts.
    """

    system: str
    what: str
    texts: int
    content: bool

    def __str__(self) -> str:
        """Return a line of a summary."""
        if self.what == "end":
            return f"{self.system}: the end of {self.texts:,} texts is left out"
        part = "" if self.content else ", which is not part of them"
        token = "first token" if self.content else f"first token {self.what}"
        return f"{self.system}: the {token} of {self.texts:,} texts is left out{part}"


def without_ends(rows: pd.DataFrame, end: End) -> tuple[pd.DataFrame, list[Dropped]]:
    """Return texts of which all or none have an end."""
    ended = rows["ended"]
    if not (ended == True).any():  # noqa: E712 may be None
        return rows, []
    if end == "auto":
        if (ended == False).any():  # noqa: E712 may be None
            without = pd.unique(rows.loc[ended == False, "system"])  # noqa: E712
            raise DataError(
                f"{int((ended == False).sum()):,} of {len(rows):,} texts have no end that was scored (systems "  # noqa: E712
                f"{listing(without)}), and the bits of the others are of more. Score the end of all texts, or leave it "
                f"out of all: {option('end', 'drop')}."
            )
        return rows, []
    rows = rows.copy()
    dropped = []
    for system, part in rows[ended == True].groupby("system", sort=False):  # noqa: E712
        dropped.append(Dropped(str(system), "end", len(part), content=False))
    rows["tokens"] = pd.Series([_endless(tokens) for tokens in rows["tokens"]], rows.index, dtype=object)
    rows["bits"] = rows["bits"] - rows["eos_bits"].fillna(0.0)
    rows["eos_bits"] = np.nan
    return _with_content(rows.assign(ended=False)), dropped


def _with_content(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the texts that have more than an end and what was left out of them."""
    left = np.array([tokens is None or any(name != END for name in tokens.names) for tokens in rows["tokens"]])
    if not left.any():
        raise DataError("all texts have one token only, which is left out, so that nothing is scored.")
    if not left.all():
        warn(f"{int((~left).sum()):,} text(s) have one token only, which is left out: these cells are missing.")
    return rows[left]


def _endless(tokens: Tokens | None) -> Tokens | None:
    if tokens is None or not tokens.names or tokens.names[-1] != END:
        return tokens
    return tokens.without(slice(0, -1))


def without_unscored(rows: pd.DataFrame, start: Start) -> tuple[pd.DataFrame, list[Dropped]]:
    """Return texts whose tokens all have bits."""
    rows = rows.copy()
    dropped: list[Dropped] = []
    lacking = []
    for system, part in rows[rows["tokens"].notna()].groupby("system", sort=False):
        unscored = np.array([bool(np.isnan(tokens.bits[0])) for tokens in part["tokens"]])
        if not unscored.any():
            continue
        same = _same_first(part["tokens"])
        if unscored.all() and same is not None:
            cut = [_cut(tokens, text) for tokens, text in zip(part["tokens"], part["text"], strict=True)]
            for name, values in zip(("tokens", "text"), zip(*cut, strict=True), strict=True):
                rows.loc[part.index, name] = pd.Series(list(values), part.index, dtype=object)
            dropped.append(Dropped(str(system), same, len(part), content=False))
            rows = _with_content(rows)
            after = rows.loc[rows.index.isin(part.index), "tokens"]
            if (
                len(after)
                and all(tokens.names and tokens.names[0] not in (None, END) for tokens in after)
                and _same_first(after) == same
            ):
                rows.loc[after.index, "tokens"] = pd.Series(
                    [tokens.without(slice(1, None)) for tokens in after], after.index, dtype=object
                )
                rows = _with_content(rows)
                dropped.append(Dropped(str(system), f"{same}, scored after another,", len(after), content=False))
        else:
            lacking.append((str(system), int(unscored.sum()), len(part)))
    if lacking and start != "drop":
        system, count, texts = lacking[0]
        raise DataError(
            f"the first token of {count:,} of {texts:,} texts by {system} has no log-probability and is part of the "
            "text: score again with a start token or a common prefix (a newline before every text), or leave the first "
            f"token out of all texts: {option('start', 'drop')}."
        )
    if lacking:
        rows, more = _without_first(rows)
        dropped += more
    return rows, dropped


def _same_first(column: pd.Series) -> str | None:
    """Return the first token if it is the same in all texts, and so no part of what they say."""
    firsts = {(None if tokens.ids is None else tokens.ids[0], tokens.names[0]) for tokens in column}
    if len(firsts) > 1:
        return None
    number, name = next(iter(firsts))
    if number is None and name is None:
        return None  # not known
    if len(column) == 1 and not (name is None or name.startswith(SPECIAL)):
        return None  # the only text cannot tell
    return f"id {number}" if name is None else repr(name)


def _cut(tokens: Tokens, text: str | None) -> tuple[Tokens, str | None]:
    """Return tokens and text without the first token; the text is None where it cannot be told."""
    rest = tokens.without(slice(1, None))
    if text is None:
        return rest, None
    if tokens.starts is not None and len(tokens.starts) > 1 and tokens.starts[0] is not None:
        return rest, text[(tokens.starts[1] or 0) - tokens.starts[0] :]
    names = [name for name in rest.names if name is not None]
    joined = "".join(names)
    if len(names) == len(rest.names) and text.endswith(joined):
        return rest, joined
    first = tokens.names[0]
    if first is not None and text.startswith(first):
        return rest, text[len(first) :]
    return rest, text


def _without_first(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[Dropped]]:
    """Return texts of all systems without their first token."""
    sums = rows[rows["tokens"].isna()]
    if len(sums):
        raise DataError(
            f"{option('start', 'drop')} leaves the first token out of all systems, and of {len(sums):,} texts by "
            f"{listing(pd.unique(sums['system']))} only the sums of tokens are known. Score the other systems again "
            "with a start token, or read these apart."
        )
    rows = rows.copy()
    cut = [_cut(tokens, text) for tokens, text in zip(rows["tokens"], rows["text"], strict=True)]
    rows["tokens"], rows["text"] = pd.Series([t for t, _ in cut], rows.index), [text for _, text in cut]
    dropped = [
        Dropped(str(name), "first", len(part), content=True) for name, part in rows.groupby("system", sort=False)
    ]
    return _with_content(rows), dropped


def is_charged(tokenizer: Any) -> bool:
    """Return whether a tokenizer begins a text with its start token by itself."""
    bos = getattr(tokenizer, "bos_token_id", None)
    if not callable(getattr(tokenizer, "encode", None)):
        raise ConfigError(f"a tokenizer has a method encode; {type(tokenizer).__name__} has none.")
    ids = tokenizer.encode("a")
    ids = getattr(ids, "ids", ids)
    return bos is not None and len(ids) > 0 and int(ids[0]) == int(bos)


def charges_of(tokenizer: Any, systems: pd.Index) -> dict[str, tuple[bool, float | None]]:
    """Return by system whether a start token was charged, and its bits where a model was given."""
    given = dict(tokenizer) if isinstance(tokenizer, Mapping) else dict.fromkeys(systems, tokenizer)
    unknown = [name for name in given if name not in systems]
    if unknown:
        raise ConfigError(f"{option('tokenizer')}: no system {listing(unknown)}; there are {listing(systems)}.")
    found: dict[str, tuple[bool, float | None]] = {}
    for name, one in given.items():
        if hasattr(one, "start_charge"):
            bits = float(one.start_charge())
            found[str(name)] = (bits > 0, bits)
        else:
            found[str(name)] = (is_charged(_loaded(one)), None)
    return found


def _loaded(one: Any) -> Any:
    from pathlib import Path

    from langdiff.base.pretrained import load_local

    return load_local("AutoTokenizer", Path(one)) if isinstance(one, str | Path) else one


def intercept(bits: Floats, sizes: Floats, language: Any, item: Any) -> tuple[float, float, float]:
    r"""Return the intercept of bits on sizes, with its 95 % interval.

    The regression has one intercept and a slope for each language, weights 1/size, and errors clustered by item.

    Shapes: bits, sizes (N,); language, item (N,).
    """
    kept = np.isfinite(bits) & np.isfinite(sizes) & (sizes > 0)
    clusters, languages = pd.factorize(np.asarray(item)[kept])[0], pd.factorize(np.asarray(language)[kept])[0]
    n = int(clusters.max(initial=-1)) + 1
    if n < 20:
        return float("nan"), float("nan"), float("nan")
    y, x, w = bits[kept], sizes[kept], 1 / sizes[kept]
    design = np.column_stack([np.ones_like(y), np.eye(languages.max() + 1)[languages] * x[:, None]])
    bread = np.linalg.pinv(design.T @ (w[:, None] * design))
    coefficients = bread @ (design.T @ (w * y))
    scores = (w * (y - design @ coefficients))[:, None] * design
    share = sums(w, clusters, n) / w.sum()
    units = Units("item", pd.RangeIndex(n).map(str))
    found = Influence(sums(scores, clusters, n) @ bread[:, :1], share, units)
    error, estimate = float(np.sqrt(found.covariance[0, 0])), float(coefficients[0])
    low, high = t_interval(estimate, error, found.freedom_of_pairs[0, 0])
    return estimate, float(low), float(high)


def sensitivity(bits: pd.DataFrame, charge: float = KAPPA) -> float:
    """Return the largest change of a difficulty (nats) if each text had been charged some bits too many.

    Shapes: bits (I, J).

    Examples
    --------
    >>> bits = pd.DataFrame({"eng": [100.0, 200.0], "deu": [110.0, 210.0]})
    >>> round(sensitivity(bits, 13.0), 4)
    0.0042
    """
    complete = bits.dropna()
    complete = complete[(complete > charge).all(axis=1)]
    if complete.empty or complete.shape[1] < 2:
        return float("nan")

    def difficulties(table: pd.DataFrame) -> pd.Series:
        means: pd.Series = np.log(table).mean()
        return means - means.mean()

    return float((difficulties(complete - charge) - difficulties(complete)).abs().max())
