"""Bits of the same texts at steps of a training run: written by a callback of the training, read as tables."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.io import atomic_path
from langdiff.errors import DataError, listing, option, warn
from langdiff.lm.external.protocol import surprisals_of
from langdiff.tables.logs.kind import Source
from langdiff.tables.multitext import Multitext
from langdiff.tables.surprisals import Surprisals

SIZES = ("eos_bits", "characters", "bytes")
TOTAL = "total"  # intent of tables without items


class TrainingBits:
    """Callback of a training run that writes the bits of held-out texts in several languages.

    Parameters
    ----------
    multitext : Multitext
        Texts that the model is not trained on: the same ones in all languages.
    tokenizer : transformers.PreTrainedTokenizerBase, str or Path
        Tokenizer of the model.
    path : str or Path
        JSON lines with keys ``step``, ``language``, ``item``, ``bits``, …, as `read_training` reads them. Rows of a
        step that is there already, as of a run that was resumed, are replaced.
    **settings
        Further settings of `langdiff.HuggingFaceLM`, such as ``batch_size``.

    Examples
    --------
    In the loop of a training, or in ``on_evaluate`` of a callback of Transformers::

        held_out = TrainingBits(multitext, tokenizer, "bits.jsonl")
        held_out(model, step=1000)
    """

    def __init__(self, multitext: Multitext, tokenizer: Any, path: str | Path, **settings: Any) -> None:
        self.multitext, self.tokenizer, self.path, self.settings = multitext, tokenizer, Path(path), settings

    def __call__(self, model: Any, step: int) -> Surprisals:
        """Score the texts by a model in training, which stays in its mode, and write their bits.

        Parameters
        ----------
        model : transformers.PreTrainedModel
            The model.
        step : int
            Step of the training.

        Returns
        -------
        Surprisals
            The bits that were written.

        Raises
        ------
        ConfigError, DataError, TrainingError
            As of `langdiff.HuggingFaceLM`.
        OutputError
            If the file cannot be written.
        """
        from langdiff.lm.external.huggingface import HuggingFaceLM

        training = model.training
        try:
            found = surprisals_of(HuggingFaceLM(model, self.tokenizer, **self.settings), self.multitext, progress=False)
        finally:
            model.train(training)
        names = {"intent": "item", "edition": "language"}
        rows = found.to_frame().rename(columns=names).reindex(columns=["language", "item", "bits", *SIZES])
        rows = rows.dropna(axis=1, how="all")
        kept = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        kept = [line for line in kept if json.loads(line)["step"] != int(step)]
        lines = [json.dumps({"step": int(step)} | row, ensure_ascii=False) for row in rows.to_dict("records")]
        with atomic_path(self.path) as temporary:
            temporary.write_text("\n".join([*kept, *lines]) + "\n", encoding="utf-8")
        return found


def read_training(
    path: str | Path, *, step: str = "step", byte_premium: Mapping[str, float] | None = None
) -> dict[int, Surprisals]:
    """Read the bits of texts at steps of a training run.

    Parameters
    ----------
    path : str or Path
        JSON lines or a table (.csv, .tsv, .parquet) with a row per step, language and item: columns ``step``,
        ``language``, ``item`` and ``bits``, perhaps ``characters`` and ``bytes``. Without ``item``, a row is the total
        of a language, whose differences have no errors.
    step : str
        Column of the step, such as ``"tokens"``.
    byte_premium : mapping from str to float, optional
        Bytes that each language takes for the same content, relative to one of them, as `langdiff.measure_parity` has
        them: for totals over unlike texts, as ``bits_per_byte`` or as ``bits`` and ``bytes``. Bits for the same content
        are then those per byte times the premium, approximately.

    Returns
    -------
    dict from int to Surprisals
        Tables of the same items and languages by rising step, for ``langdiff.regression.fit_curve(…, axis="step")``.

    Raises
    ------
    DataError
        If a column is missing, a step is not a whole number from 1, a cell is given twice or is not a positive number
        of bits, steps have no item in common, or texts are unlike and there is no premium.

    Warns
    -----
    LangdiffWarning
        If some items or languages are not at all steps, and are left out; or if there are totals only.

    Examples
    --------
    >>> import tempfile
    >>> rows = [
    ...     {"step": n, "language": l, "item": i, "bits": 90 / n + len(l)} for n in (1, 2) for l in "ab" for i in "xy"
    ... ]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame(rows).to_csv(f"{folder}/bits.csv", index=False)
    ...     read_training(f"{folder}/bits.csv")[2]
    Surprisals by unknown: 2 intents × 2 editions, 0 of 4 cells missing
    """
    frame = Source(Path(path)).frame()
    whole = "item" in frame
    needed = [step, "language", *(["bits"] if whole or "bits_per_byte" not in frame else [])]
    if absent := [name for name in needed if name not in frame]:
        raise DataError(f"{path}: no column {listing(absent)}; there are {listing(frame.columns, 20)}.")
    steps = pd.to_numeric(frame[step], errors="coerce")
    bad = np.flatnonzero(~((steps >= 1) & (steps % 1 == 0)).to_numpy())
    if len(bad):
        value = frame[step].iloc[bad[0]]
        raise DataError(f"{path}, line {frame.index[bad[0]]}: {step} {value} is not a whole number from 1.")
    if not whole:
        if (again := frame.duplicated([step, "language"])).any():
            row = frame[again].iloc[0]
            raise DataError(
                f"{path}: {int(again.sum()):,} more row(s) of a step and language, the first of {row['language']} at "
                f"{step} {row[step]}, but no column item that tells them apart; there are {listing(frame.columns, 20)}."
            )
        frame = _totals(frame, byte_premium, str(path))
    elif byte_premium is not None:
        raise DataError(f"{path}: {option('byte_premium')} is for totals; these are bits of the same items.")
    found = {
        int(n): Surprisals.from_long(
            part.drop(columns=step), intent="item", edition="language", bits="bits", unit="bits"
        )
        for n, part in frame.groupby(steps)
    }
    return _common(found, str(path))


def _totals(frame: pd.DataFrame, premium: Mapping[str, float] | None, where: str) -> pd.DataFrame:
    """Return totals as the bits of one item, by byte times the premium where there is one."""
    frame = frame.assign(item=TOTAL)
    per_byte = frame.get("bits_per_byte")
    if premium is None and per_byte is not None:
        raise DataError(
            f"{where}: bits per byte are of unlike texts, and bytes of unlike content: give {option('byte_premium')}, "
            "bytes that each language takes for the same content, or a row per item."
        )
    if premium is None:
        warn(f"{where}: totals without items, taken to be over the same texts. Differences have no errors.")
        return frame
    if per_byte is None and "bytes" not in frame:
        raise DataError(f"{where}: {option('byte_premium')} needs a column bytes, or bits_per_byte.")
    per_byte = pd.to_numeric(frame["bits"]) / pd.to_numeric(frame["bytes"]) if per_byte is None else per_byte
    if unknown := sorted(set(frame["language"]) - set(premium)):
        raise DataError(f"{where}: no byte premium of {listing(unknown)}.")
    warn(f"{where}: bits of content are bits per byte times the premium, approximately, and have no errors.")
    bits = pd.to_numeric(per_byte) * frame["language"].map(dict(premium)).astype(float)
    return frame.assign(bits=bits).drop(columns=["bits_per_byte", *SIZES], errors="ignore")


def _common(found: dict[int, Surprisals], where: str) -> dict[int, Surprisals]:
    """Return tables of the items and languages that all steps have, cells that one lacks being missing in all."""
    bits = pd.concat({n: table.bits for n, table in found.items()}, names=["step"])
    there = bits.notna().groupby(level=1, sort=False).sum() == len(found)
    kept = there.loc[there.any(axis=1), there.any()]
    if kept.empty:
        raise DataError(f"{where}: steps have no item of a language in common.")
    lost = int(bits.notna().groupby(level=1).any().sum().sum() - kept.sum().sum())
    if lost:
        gone = there.columns[~there.any()]
        words = f" Nothing is left of {listing(gone)}, which some step lacks." if len(gone) else ""
        warn(f"{where}: {lost:,} cells are not at all steps; {int(kept.sum().sum()):,} are, and are compared.{words}")
    tables = {n: table.sel(intents=kept.index, editions=kept.columns) for n, table in sorted(found.items())}
    return tables if not lost else {n: Surprisals(bits=each.bits.where(kept), lm=each.lm) for n, each in tables.items()}
