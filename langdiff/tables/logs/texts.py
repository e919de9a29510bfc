"""Texts in logs: items paired across languages, tokens, sizes, and attributes of items."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.suspicion import Doubts
from langdiff.errors import DataError, listing, option
from langdiff.tables.intent_info import PREFIX
from langdiff.tables.logs.doubts import clamped_sums
from langdiff.tables.logs.first_token import Dropped, End, Start, without_ends, without_unscored
from langdiff.tables.logs.flat import END, ROW, shared
from langdiff.tables.logs.kind import Tokens
from langdiff.tables.logs.pairing import (
    ROWS,
    Found,
    Pairing,
    Strictness,
    check_documents,
    check_pairing,
    find_key,
    names_by,
)
from langdiff.tables.logs.rows import ended, with_languages


def read_texts(
    rows: pd.DataFrame,
    *,
    language: str | Mapping[str, str] | None,
    item: tuple[str, ...],
    start: Start,
    end: End,
    pairing: Strictness,
    counted: Mapping[str, int],
    doubts: Doubts,
) -> tuple[pd.DataFrame, pd.DataFrame, Pairing | None, list[Dropped]]:
    """Return the long tables of texts and of tokens, how items were paired, and what was left out."""
    facts = {str(name): f"{n:,} texts each" for name, n in rows["task"].fillna(rows["stem"]).value_counts().items()}
    rows = with_languages(rows, language, alone=True, facts=facts)
    _check_lengths(rows, counted)
    rows["rate"], rows["target"] = np.nan, None
    rows["item"], found = paired(rows, item, pairing, doubts)
    check_documents(rows, doubts)
    rows = rows[~rows["lost"].astype(bool)].copy()
    if counted:
        rows = rows.sort_values("item", key=lambda names: names.astype(int), kind="stable")
    _once(rows)
    rows["ended"] = pd.Series(ended(rows), index=rows.index, dtype=object)
    rows, of_ends = without_ends(rows, end)
    rows, of_starts = without_unscored(rows, start)
    rows = _summed(rows)
    rows = rows[~clamped_sums(rows, doubts)]
    sizes = [name for name in ("eos_bits", "characters", "bytes", "units") if rows[name].notna().any()]
    texts = pd.concat([rows[["item", "language", "system", "bits", *sizes]], attributes(rows)], axis=1)
    return texts.reset_index(drop=True), _token_table(rows), found, [*of_ends, *of_starts]


def _check_lengths(rows: pd.DataFrame, counted: Mapping[str, int]) -> None:
    """Check that files whose items are told by their rows have as many, and that all files are so, or none."""
    if not counted:
        return
    named = rows["item"].notna() | np.array([ROW not in document for document in rows["document"]])
    if named.any():
        raise DataError(
            f"files {listing(counted)} do not name their items, as others do. Add a column 'item' to each, or name it: "
            f"{option('item')}."
        )
    if len(set(counted.values())) > 1:
        lengths = listing(f"{name}: {n:,} rows" for name, n in counted.items())
        raise DataError(f"files differ in length: {lengths}. Add a column 'item' that says which rows belong together.")


def paired(
    rows: pd.DataFrame, item: tuple[str, ...], strictness: Strictness, doubts: Doubts
) -> tuple[list[str], Pairing | None]:
    """Return the name of the item of each row, and how languages were paired; None of one language."""
    found = Found(item)
    if not item and rows["item"].notna().all():
        names = rows["item"].astype(str).tolist()
        found = Found(("item",))
    else:
        if not item:
            unnamed = rows[rows["item"].isna()]
            files = unnamed.groupby(["source", "language", "epoch"], sort=False, dropna=False).ngroup()
            found = find_key(unnamed["document"], files, unnamed["language"])
        if not found.keys:
            _refuse_twice(unnamed, files)
            there = list(dict.fromkeys(name for document in rows["document"] for name in document))
            keys = f"; keys are {listing(there, 20)}" if there else "; the documents have no keys"
            tried = f": not {', '.join(found.tried[:8])}" if found.tried else keys
            raise DataError(
                f"{rows['where'].iloc[0]}: no key, and no two keys, of the documents are unique in each file and the "
                f"same in all languages{tried}. Name the key of items: {option('item')}."
            )
        names = _named_by(rows, found.keys, keep=not item)
    if rows["language"].nunique() < 2:
        return names, None
    named = rows.assign(item=names)
    return names, check_pairing(found.keys, named, strictness=strictness, doubts=doubts, by_row=found.by_row)


def _refuse_twice(rows: pd.DataFrame, files: pd.Series) -> None:
    """Refuse files that have a row twice."""
    numbers = pd.Series([str(document.get("doc_id", document.get("id"))) for document in rows["document"]], rows.index)
    twice = pd.DataFrame({"file": files, "number": numbers}).duplicated()
    if twice.any():
        row = rows[twice].iloc[0]
        raise DataError(
            f"{row['where']}: a second sample of {numbers[twice].iloc[0]!r}. Give one file per language and system, of "
            f"one filter, or name the key of items ({option('item')})."
        )


def _named_by(rows: pd.DataFrame, keys: tuple[str, ...], *, keep: bool) -> list[str]:
    """Return names of items by keys of documents; if `keep` is true, names in the rows stay."""
    if keep and rows["item"].notna().any():
        unnamed = rows["item"].isna()
        names = rows["item"].copy()
        names[unnamed] = _named_by(rows[unnamed], keys, keep=False)
        return [str(name) for name in names]
    columns: dict[str, Any] = {}
    for key in keys:
        values = [document.get(key) for document in rows["document"]]
        if len(keys) == 1:
            values = [own if value is None else value for value, own in zip(values, rows["item"], strict=True)]
        absent = [n for n, value in enumerate(values) if value is None]
        if absent:
            said = no_key(key, rows["document"].iloc[absent[0]])
            raise DataError(f"{rows['where'].iloc[absent[0]]}: {said}")
        columns[key] = np.array([str(value) for value in values], dtype=object)
    return list(names_by(columns, keys))


def no_key(key: str, there: Iterable[str]) -> str:
    """Return what an error says of a key of items that a document lacks."""
    return f"no key {key!r} of items; keys of the document: {listing(there, 20)}."


def _once(rows: pd.DataFrame) -> None:
    twice = rows.duplicated(["item", "language", "system"])
    if twice.any():
        row = rows[twice].iloc[0]
        same = (rows["item"] == row["item"]) & (rows["language"] == row["language"]) & (rows["system"] == row["system"])
        raise DataError(
            f"{row['where']}: a second text of item {row['item']!r} in {row['language']} by {row['system']}; the first "
            f"is {rows[same]['where'].iloc[0]}. Give each once, or name another key of items ({option('item')}) or the "
            f"systems ({option('system')})."
        )


def _summed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the bits of texts summed over tokens, and the sizes of the texts."""
    rows = rows.copy()
    for label, tokens in rows.loc[rows["tokens"].notna(), "tokens"].items():
        has_end = tokens.names[-1] == END
        rows.at[label, "bits"] = float(tokens.bits.sum())
        rows.at[label, "units"] = len(tokens.names) - has_end
        if has_end:
            rows.at[label, "eos_bits"] = float(tokens.bits[-1])
        if rows.at[label, "text"] is None and tokens.more is not None and "text" in tokens.more:
            rows.at[label, "text"] = "".join(tokens.more["text"])
    known = rows["text"].notna()
    texts = rows.loc[known, "text"]
    of_text = {
        "characters": texts.map(len),
        "bytes": texts.map(lambda each: len(each.encode("utf-8", "surrogatepass"))),
    }
    for name, sizes in of_text.items():
        rows[name] = rows[name].astype(float).where(rows[name].notna(), sizes.astype(float).reindex(rows.index))
    if not known.all() and known.any():
        rows[["characters", "bytes"]] = rows[["characters", "bytes"]].astype(float)
    return rows


def _token_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per token of the texts whose tokens are known."""
    kept = rows[rows["tokens"].notna()]
    if kept.empty:
        return pd.DataFrame()
    counts = [len(tokens.names) for tokens in kept["tokens"]]
    table = kept[["item", "language", "system"]].loc[kept.index.repeat(counts)].reset_index(drop=True)
    parts: list[Tokens] = list(kept["tokens"])
    table["token"] = [_name(tokens, place) for tokens in parts for place in range(len(tokens.names))]
    starts = [[None] * len(tokens.names) if tokens.starts is None else tokens.starts for tokens in parts]
    table["text_start"] = pd.array([start for each in starts for start in each], dtype="Int64")
    table["bits"] = np.concatenate([tokens.bits for tokens in parts])
    more = parts[0].more or {}
    for name in more:
        if all(tokens.more is not None and name in tokens.more for tokens in parts):
            table[name] = [value for tokens in parts for value in tokens.more[name]]  # type: ignore[index]
    return table


def _name(tokens: Tokens, place: int) -> str:
    name = tokens.names[place]
    if name is not None:
        return name
    return f"<id {tokens.ids[place]}>" if tokens.ids is not None else "<token>"


def attributes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what items belong to, as columns ``intent_NAME``, where all rows of an item say the same."""
    names = list(dict.fromkeys(key for document in rows["document"] for key in document))
    of_programs = bool(rows["kind"].isin(["lm-eval", "inspect", "openai", "vllm"]).any())  # documents tell more
    wanted = [name for name in names if shared(name) or not (name in ROWS or of_programs)]
    found = {}
    for name in wanted:
        values = pd.Series([document.get(name) for document in rows["document"]], index=rows.index, dtype=object)
        if not values.map(lambda value: isinstance(value, str | int | float)).all():
            continue
        texts = values.map(str)
        if (texts.groupby(rows["item"]).transform("nunique") == 1).all():
            found[f"{PREFIX}{name}"] = values
    return pd.DataFrame(found, index=rows.index)
