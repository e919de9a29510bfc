"""A study of parsers from a folder of their outputs: LAS, recall by construction, ability, and tests of pairs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
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
from langdiff.constructions.scores import ConstructionScores, is_scored
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.tables.outcomes import Outcomes

ENDING = ".conllu"  # before it stands the name of a system, after it the ending of a compression
FEWEST_PARSERS = 2  # parsers, for a model of items and parsers
ENOUGH_TARGETS = 30  # targets, and sentences with targets, from which on parsers are ranked by them


class Output(NamedTuple):
    """The output of a parser as a study uses it."""

    las: float
    las_error: float
    left_out: tuple[str, ...]  # sentences of the treebank that it has with other characters, or not at all
    parses: Parses | None  # of the sentences with targets, if there are any


def study_outputs(
    treebank: str | Path,
    outputs: str | Path | Mapping[str, str | Path],
    *,
    targets: GoldTargets | None = None,
    fit: Callable[..., Any] | None = None,
    pairs: bool = False,
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
    pairs : bool
        Whether pairs of parsers are tested by recall instead: of all targets and of each construction that has 30
        targets in 30 sentences.
    on_error : {"raise", "skip"}
        Whether outputs that cannot be used, because a file is malformed or of another text, are an error that names all
        of them, or left out with a warning.

    Returns
    -------
    DataFrame
        ``parser``; ``matched``, the share of the treebank's sentences whose text its output has; ``las``, an F1 from
        0 to 1, and ``las_error`` (standard error by document, or by sentence where there is one document). With targets
        ``parsed``, the share of the sentences with targets that it has parsed; ``recall`` of the ``targets`` that trees
        can express, with ``recall_error``, by sentence; ``recall_CODE`` of each construction (NaN where trees can
        express none); with `fit` ``ability`` and ``std_error`` (NaN of a parser that has all targets right, or none;
        where fewer than two others are left; and of fewer than 30 targets or 30 sentences). With `pairs`
        ``construction``, ``targets`` and the columns of `langdiff.Pairs`, whose adjusted p and simultaneous intervals
        are for the pairs of one construction.

    Raises
    ------
    ConfigError
        If `fit` or `pairs` is given without targets, or `on_error` is unknown.
    DataError
        If the treebank is malformed, the folder has no such files, outputs cannot be used and `on_error` is ``"raise"``
        or none is left, or no sentence with targets was parsed.

    Warns
    -----
    LangdiffWarning
        If outputs were left out; if sentences were left out, because characters differ, or have targets and were not
        parsed; if a parser has no ability.

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
    if targets is None and (fit is not None or pairs):
        raise ConfigError("abilities and pairs are of targets; give targets, too, or leave fit and pairs out.")
    check_on_error(on_error)
    path = as_path(treebank)
    files = {name: as_path(file) for name, file in outputs.items()} if isinstance(outputs, Mapping) else _files(outputs)
    reference = Reference(path)
    outputs_read = _usable(files, reference, targets, on_error)
    warn_of_other_texts(path, {name: output.left_out for name, output in outputs_read.items()})
    scores = None
    if targets is not None:
        scores = evaluate(targets, [output.parses for output in outputs_read.values() if output.parses is not None])
        if pairs:
            return _pairs(scores)
    table = pd.DataFrame(
        {
            "matched": {name: 1 - len(own.left_out) / len(reference.items) for name, own in outputs_read.items()},
            "las": {name: own.las for name, own in outputs_read.items()},
            "las_error": {name: own.las_error for name, own in outputs_read.items()},
        }
    )
    if scores is not None:
        table = table.join(_recall(scores, fit))
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
    las = attachment.effects().to_frame().iloc[0]  # of the only parser
    return Output(las["las"], las["std_error"], attachment.left_out[name], parses)


def _recall(scores: ConstructionScores, fit: Callable[..., Any] | None) -> pd.DataFrame:
    """Return recall, by construction too, and abilities."""
    whole, effects = scores.by_parser().set_index("parser"), scores.effects().std_error
    table = pd.DataFrame({"parsed": 1 - whole["no_parse"] / whole["items"], "targets": whole["targets"]})
    table = table.assign(recall=whole["micro"], recall_error=effects)
    if fit is not None:
        table = table.join(_abilities(scores.outcomes(), fit))
    codes = scores.by_phenomenon().pivot(index="parser", columns="phenomenon", values="pooled")
    return table.join(codes.add_prefix("recall_"))


def _abilities(outcomes: Outcomes, fit: Callable[..., Any]) -> pd.DataFrame:
    """Return abilities with standard errors, without those of parsers that have all targets right, or none."""
    share = outcomes.values.mean()
    kept = share.index[(share > 0) & (share < 1)].tolist()
    few = min(len(outcomes.items), outcomes.items["sentence"].nunique()) < ENOUGH_TARGETS
    if few:
        warn(f"no ability is estimated of fewer than {ENOUGH_TARGETS} targets, or as few sentences with targets.")
    elif without := [name for name in share.index if name not in kept]:
        warn(f"no ability is estimated of parsers that have all targets right or none: {listing(without)}.")
    if few or len(kept) < FEWEST_PARSERS:
        return pd.DataFrame({"ability": [], "std_error": []})
    table: pd.DataFrame = fit(outcomes.sel(systems=kept), clusters="sentence").abilities.to_frame()
    return table[["ability", "std_error"]]


def _pairs(scores: ConstructionScores) -> pd.DataFrame:
    """Return the tests of all pairs of parsers, for all targets and for constructions that have enough of them."""
    if len(scores.parsers) < FEWEST_PARSERS:
        raise DataError(f"pairs need the output of {FEWEST_PARSERS} parsers; there is one, {scores.parsers[0]!r}.")
    scored = scores.judgements[is_scored(scores.judgements)]
    sizes = scored.groupby("phenomenon", sort=False)[["target", "item"]].nunique().min(axis=1)
    parts = {code: scored[scored["phenomenon"] == code] for code in sizes.index[sizes >= ENOUGH_TARGETS]}
    found = []
    for code, own in {"all": scored, **parts}.items():
        table = replace(scores, judgements=own).effects().pairs().to_frame().reset_index()
        table.insert(0, "targets", own["target"].nunique())
        table.insert(0, "construction", code)
        found.append(table)
    return pd.concat(found, ignore_index=True)
