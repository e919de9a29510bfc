"""A study of parsers from a folder of their outputs: recall by construction, LAS, ability and shapes of trees."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from langdiff.base.io import as_path
from langdiff.constructions.attachment import evaluate_attachment
from langdiff.constructions.evaluation import evaluate
from langdiff.constructions.gold import GoldTargets
from langdiff.constructions.parses import read_parses
from langdiff.errors import ConfigError, DataError, listing, warn
from langdiff.tables.outcomes import Outcomes
from langdiff.treebanks.pairwise import Column, compare_treebanks
from langdiff.treebanks.treebank import read_treebank

ENDING = ".conllu"  # before it stands the name of a system, after it the ending of a compression
DISTANCES: tuple[Column, ...] = ("width", "length", "matrix", "mean")
GOLD = "gold trees"
FEWEST = 2  # parsers, for a model of items and parsers


def study_outputs(
    treebank: str | Path,
    outputs: str | Path | Mapping[str, str | Path],
    *,
    targets: GoldTargets | None = None,
    fit: Callable[..., Any] | None = None,
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
        Targets in sentences of the treebank, such as ``mine_candidates(treebank).gold()``; they are judged by the rules
        for Universal Dependencies. Without them there are no columns of recall and ability.
    fit : callable, optional
        `langdiff.fit_outcomes`, with which abilities are estimated: items at random, errors by sentence. Without it
        there are none.

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
        If `fit` is given without targets.
    DataError
        If the folder has no such files, a file is malformed or of another text, or no sentence with targets was parsed.

    Warns
    -----
    LangdiffWarning
        If sentences were left out, because characters differ, or have targets and were not parsed; if there are fewer
        than 50 sentences; if a parser has no ability.

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
    path = as_path(treebank)
    files = {name: as_path(file) for name, file in outputs.items()} if isinstance(outputs, Mapping) else _files(outputs)
    attachment = evaluate_attachment(path, files)
    las = attachment.to_frame().query("metric == 'las'").set_index("parser")["f1"]
    gold = read_treebank(path, name=GOLD)
    left_out = pd.Series({name: len(attachment.left_out.get(name, ())) for name in files})
    banks = [gold, *(read_treebank(file, name=name) for name, file in files.items())]
    divergence = compare_treebanks(banks, noise=False).divergence
    table = pd.DataFrame({"matched": 1 - left_out / gold.sentences, "las": las})
    if targets is not None:
        table = table.join(_recall(files, targets, fit))
    table = table.join(pd.DataFrame({metric: divergence[metric].loc[GOLD, list(files)] for metric in DISTANCES}))
    return table.sort_values("las", ascending=False, kind="stable").rename_axis("parser").reset_index()


def _files(folder: str | Path) -> dict[str, Path]:
    """Return the outputs in a folder by the names of their parsers."""
    path = as_path(folder)
    files = {file.name.partition(ENDING)[0]: file for file in sorted(path.glob(f"*{ENDING}*"))} if path.is_dir() else {}
    if not files:
        raise DataError(f"{path}: there are no files NAME{ENDING}; give a folder with the output of each parser.")
    return files


def _recall(files: Mapping[str, Path], targets: GoldTargets, fit: Callable[..., Any] | None) -> pd.DataFrame:
    """Return recall, by construction too, and abilities."""
    parses = [read_parses(file, "conllu", name=name, items=targets.sentences) for name, file in files.items()]
    scores = evaluate(targets, parses)
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
    if len(kept) < FEWEST:
        return pd.DataFrame({"ability": [], "std_error": []})
    table: pd.DataFrame = fit(outcomes.sel(systems=kept), clusters="sentence").abilities.to_frame()
    return table[["ability", "std_error"]]
