"""A study of parsers from a folder of their outputs: recall by construction, LAS, ability and shapes of trees."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from langdiff.base.archives import COMPRESSED
from langdiff.base.io import as_path
from langdiff.base.types import OnError, check_on_error
from langdiff.constructions.attachment import Reference, warn_of_other_texts
from langdiff.constructions.evaluation import evaluate, positions_of
from langdiff.constructions.gold import GoldTargets
from langdiff.constructions.parses import Parses, read_parses
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.tables.outcomes import Outcomes
from langdiff.treebanks.pairwise import Column, compare_treebanks
from langdiff.treebanks.treebank import Treebank, read_treebank

ENDING = ".conllu"  # before it stands the name of a system, after it the ending of a compression
DISTANCES: tuple[Column, ...] = ("width", "length", "matrix", "mean")
GOLD = "gold trees"
FEWEST_PARSERS = 2  # parsers, for a model of items and parsers


class Output(NamedTuple):
    """The output of a parser as a study uses it."""

    las: float
    left_out: tuple[str, ...]  # sentences of the treebank that it has with other characters, or not at all
    bank: Treebank
    parses: Parses | None  # of the sentences with targets, if there are any


def study_outputs(
    treebank: str | Path,
    outputs: str | Path | Mapping[str, str | Path],
    *,
    targets: GoldTargets | None = None,
    fit: Callable[..., Any] | None = None,
    on_error: OnError = "raise",
) -> pd.DataFrame:
    r"""Compare parsers by their outputs for the text of a treebank, one row per parser, the highest LAS first.

    Parameters
    ----------
    treebank : str or Path
        Gold trees as CoNLL-U, plain or compressed.
    outputs : str, Path or mapping
        Folder of files ``NAME.conllu``, plain or compressed, or a mapping from names to files: each the output of a
        parser for the same text in the same order.
    targets : GoldTargets, optional
        Targets in sentences of the treebank, such as ``mined_gold(treebank)``; they are judged by the rules for
        Universal Dependencies. Without them there are no columns of recall and ability.
    fit : callable, optional
        `langdiff.fit_outcomes`, with which abilities are estimated: items at random, errors by sentence. Without it
        there are none.
    on_error : {"raise", "skip"}
        Whether outputs that cannot be used, because a file is malformed or of another text, are an error that names all
        of them, or left out with a warning.

    Returns
    -------
    DataFrame
        ``parser``; ``matched``, the share of the treebank's sentences whose text its output has; ``las``, an F1 from
        0 to 1. With targets ``parsed``, the share of the sentences with targets that it has parsed, ``recall`` of all
        targets that trees can express, and ``recall_CODE`` of each construction (NaN where trees can express none);
        with `fit` ``ability`` and ``std_error`` (NaN of a parser that has all targets right, or none, and where
        fewer than two others are left). ``width``,
        ``length``, ``matrix`` and ``mean`` (over size, depth, width and length) are divergences of its trees from the
        gold trees.

    Raises
    ------
    ConfigError
        If `fit` is given without targets, or `on_error` is unknown.
    DataError
        If the treebank is malformed, the folder has no such files, outputs cannot be used and `on_error` is ``"raise"``
        or none is left, or no sentence with targets was parsed.

    Warns
    -----
    LangdiffWarning
        If outputs were left out; if sentences were left out, because characters differ, or have targets and were not
        parsed; if there are fewer than 50 sentences; if a parser has no ability.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = "1 Dogs _ NOUN _ _ 2 nsubj _ _\n2 bark _ VERB _ _ 0 root _ _\n3 loudly _ ADV _ _ 2 advmod _ _\n\n"
    >>> with TemporaryDirectory() as folder:
    ...     gold, mine = Path(folder) / "gold.conllu", Path(folder) / "mine.conllu"
    ...     _ = gold.write_text(50 * rows.replace(" ", "\t"))
    ...     _ = mine.write_text(50 * rows.replace("2 advmod", "1 advmod").replace(" ", "\t"))
    ...     study = study_outputs(gold, {"mine": mine})
    >>> study.round(3)[["parser", "matched", "las"]]
      parser  matched    las
    0   mine      1.0  0.667
    """
    if fit is not None and targets is None:
        raise ConfigError("abilities are estimated from targets; give targets, too, or leave fit out.")
    check_on_error(on_error)
    path = as_path(treebank)
    files = {name: as_path(file) for name, file in outputs.items()} if isinstance(outputs, Mapping) else _files(outputs)
    reference, gold = Reference(path), read_treebank(path, name=GOLD)
    outputs_read = _usable(files, reference, targets, on_error)
    warn_of_other_texts(path, {name: output.left_out for name, output in outputs_read.items()})
    table = pd.DataFrame(
        {
            "matched": {name: 1 - len(output.left_out) / gold.sentences for name, output in outputs_read.items()},
            "las": {name: output.las for name, output in outputs_read.items()},
        }
    )
    if targets is not None:
        table = table.join(_recall(outputs_read, targets, fit))
    divergence = compare_treebanks([gold, *(output.bank for output in outputs_read.values())], noise=False).divergence
    table = table.join(pd.DataFrame({metric: divergence[metric].loc[GOLD, list(outputs_read)] for metric in DISTANCES}))
    return table.sort_values("las", ascending=False, kind="stable").rename_axis("parser").reset_index()


def _files(folder: str | Path) -> dict[str, Path]:
    """Return the outputs in a folder by the names of their parsers."""
    path = as_path(folder)
    files: dict[str, Path] = {}
    for file in sorted(path.glob(f"*{ENDING}*")) if path.is_dir() else ():
        name, _, rest = file.name.partition(ENDING)
        if rest not in ("", *COMPRESSED):
            continue
        if name in files:
            raise DataError(f"{file}: a second output of {name!r}, beside {files[name].name}. Keep one of them.")
        files[name] = file
    if not files:
        raise DataError(f"{path}: there are no files NAME{ENDING}; give a folder with the output of each parser.")
    return files


def _usable(
    files: Mapping[str, Path], reference: Reference, targets: GoldTargets | None, on_error: OnError
) -> dict[str, Output]:
    """Return the outputs that can be used."""
    usable, faults = {}, []
    for name, file in files.items():
        try:
            usable[name] = _read(name, file, reference, targets)
        except DataError as error:
            faults.append(str(error))
    if faults:
        number, said = f"{len(faults):,} of {len(files):,} outputs cannot be used", "\n  ".join(["", *faults])
        if not usable:
            raise DataError(f"{number}:{said}" if len(faults) > 1 else faults[0])
        if on_error == "raise":
            raise DataError(f"{number}:{said}\nMend them, or leave them out: {option('on_error', 'skip')}.")
        warn(f"{number} and are left out:{said}")
    return usable


def _read(name: str, file: Path, reference: Reference, targets: GoldTargets | None) -> Output:
    """Read an output."""
    attachment = reference.score({name: file})
    parses = None
    if targets is not None:
        parses = read_parses(file, "conllu", name=name, items=targets.sentences)
        positions_of(targets, parses)
    las = attachment.to_frame().query("metric == 'las'")["f1"].sum()  # of the only parser
    return Output(las, attachment.left_out[name], read_treebank(file, name=name), parses)


def _recall(outputs: Mapping[str, Output], targets: GoldTargets, fit: Callable[..., Any] | None) -> pd.DataFrame:
    """Return recall, by construction too, and abilities."""
    scores = evaluate(targets, [output.parses for output in outputs.values() if output.parses is not None])
    whole = scores.by_parser().set_index("parser")
    table = pd.DataFrame({"parsed": 1 - whole["no_parse"] / whole["items"], "recall": whole["micro"]})
    if fit is not None:
        table = table.join(_abilities(scores.outcomes(), fit))
    codes = scores.by_phenomenon().pivot(index="parser", columns="phenomenon", values="pooled")
    return table.join(codes.add_prefix("recall_"))


def _abilities(outcomes: Outcomes, fit: Callable[..., Any]) -> pd.DataFrame:
    """Return abilities with standard errors, without those of parsers that have all targets right, or none."""
    share = outcomes.successes.mean()
    kept = share.index[(share > 0) & (share < 1)].tolist()
    if without := [name for name in share.index if name not in kept]:
        warn(f"no ability is estimated of parsers that have all targets right or none: {listing(without)}.")
    if len(kept) < FEWEST_PARSERS:
        return pd.DataFrame({"ability": [], "std_error": []})
    table: pd.DataFrame = fit(outcomes.sel(systems=kept), clusters="sentence").abilities.to_frame()
    return table[["ability", "std_error"]]
