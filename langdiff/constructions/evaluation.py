"""Evaluation of parsers' analyses by gold targets, and coverage of the gold set."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import pandas as pd

from langdiff.base.signature import full_signature, short_hash
from langdiff.base.types import check_choice
from langdiff.constructions.gold import GoldTargets
from langdiff.constructions.parses import Parses
from langdiff.constructions.rules import Rules, default_rules, is_found, lexical_words
from langdiff.constructions.scores import ConstructionScores
from langdiff.errors import ConfigError, DataError, listing, option, warn, words

Missing = Literal["raise", "skip", "wrong"]
SUSPICIOUS = 5  # targets; rules that find none of so many may be for another scheme
TOLERATED = 0.1  # share of the items without a parse; above it, the warning says more


def coverage_of(gold: GoldTargets, systems: Sequence[Parses]) -> pd.DataFrame:
    """Return the coverage of the gold set, one row per parser and treebank.

    Columns are ``parser``, ``treebank``, ``items`` (sentences of the gold set), ``no_parse`` (those without a block),
    ``empty`` (blocks without lines) and ``by_text`` (sentences found by their text, not by ``sent_id``).
    """
    rows = [
        (
            system.name,
            gold.treebank_of(item),
            1,
            item not in system.blocks,
            system.blocks.get(item) == (),
            item in system.by_text,
        )
        for system in systems
        for item in gold.sentences
    ]
    frame = pd.DataFrame(rows, columns=["parser", "treebank", "items", "no_parse", "empty", "by_text"])
    return frame.groupby(["parser", "treebank"], sort=False).sum().astype(int).reset_index()


def without_missing_treebanks(gold: GoldTargets, systems: Sequence[Parses], missing: Missing) -> GoldTargets:
    """Return the gold set, optionally without treebanks of which a parser has parsed nothing.

    Warns
    -----
    LangdiffWarning
        If treebanks are left out.
    """
    check_choice("missing", missing, get_args(Missing))
    coverage = coverage_of(gold, systems)
    for parser, own in coverage.groupby("parser", sort=False):
        if (own["no_parse"] == own["items"]).all():
            raise DataError(
                f"parser {parser!r} has no block for any item of {gold.name!r}; do their names (sent_id of CoNLL-U) "
                "or the words of their sentences agree?"
            )
    lost = coverage[coverage["no_parse"] == coverage["items"]]
    if lost.empty or missing == "wrong":
        return gold
    said = "; ".join(_said(str(parser), own, coverage) for parser, own in lost.groupby("parser", sort=False))
    names = set(lost["treebank"])
    kept = [item for item in gold.sentences if gold.treebank_of(item) not in names]
    if missing == "raise" or not kept:
        skip = f"leave these treebanks out for all parsers ({option('missing', 'skip')}), or " if kept else ""
        raise DataError(
            f"{said}. Give its output for them, too, {skip}count their targets as wrong ({option('missing', 'wrong')})."
        )
    warn(
        f"{said}. These treebanks are left out for all parsers: the scores are of {len(kept):,} of "
        f"{len(gold.sentences):,} sentences."
    )
    return gold.sel(items=kept)


def _said(parser: str, lost: pd.DataFrame, coverage: pd.DataFrame) -> str:
    number = coverage["treebank"].nunique()
    named = ", ".join(f"{row.treebank} ({row.items:,} sentences)" for row in lost.itertuples())
    return f"parser {parser!r} has no parse of any sentence of {len(lost)} of {number} treebanks: {named}"


def warn_of_missing_parses(gold: GoldTargets, system: Parses) -> None:
    """Warn of sentences without a parse, whose targets count as wrong, by treebank."""
    banks: dict[str, list[str]] = {}
    for item in gold.sentences:
        banks.setdefault(gold.treebank_of(item), []).append(item)
    lacking = {bank: [item for item in items if item not in system.blocks] for bank, items in banks.items()}
    if total := sum(map(len, lacking.values())):
        each = "; ".join(
            f"{bank}: {len(own):,} of {len(banks[bank]):,} ({listing(own)})" for bank, own in lacking.items() if own
        )
        warn(
            f"parser {system.name!r} has no parse of {total:,} of {len(gold.sentences):,} sentences, whose targets "
            f"count as wrong. {each}."
            + (
                " That is more than a tenth: recall says little about this parser. Is its output complete, and of the "
                "same text?"
                if total > TOLERATED * len(gold.sentences)
                else ""
            )
        )


def evaluate(
    gold: GoldTargets,
    parses: Parses | Iterable[Parses],
    rules: Rules | Mapping[str, Rules] | None = None,
    *,
    missing: Missing = "raise",
) -> ConstructionScores:
    """Score parsers on constructions by the targets that rules find in their analyses.

    A positive target is correct if a rule finds it, a negative one if none does. Targets of items without a block are
    wrong, negative ones too, and a warning counts and names these items, and says so where they are more than a tenth;
    a block without lines is an analysis without dependencies. If a parser has no block for any item of a treebank, its
    output for that treebank has probably not been given, and `missing` decides how these targets count. A positive
    target for whose type a parser has no rule is wrong, and is reported as not mapped. Targets that a basic tree cannot
    express, as the rules say, are not scored for a parser whose basic trees are read: they have no recall, and macro
    recall is the mean without them.

    Parameters
    ----------
    gold : GoldTargets
        Sentences and targets.
    parses : Parses or iterable of Parses
        Output of one or several parsers.
    rules : Rules or mapping from str to Rules, optional
        Rules for all parsers, or those of each by name; by default rules for Universal Dependencies.
    missing : {"raise", "skip", "wrong"}
        Treatment of treebanks (see `GoldTargets`) of which a parser has parsed no sentence: an error, or they are
        left out for all parsers, so that all are scored on the same sentences, or their targets count as wrong.

    Returns
    -------
    ConstructionScores
        Judgements and tables of recall.

    Raises
    ------
    ConfigError
        If there are no parsers, two have one name, one has no rules, or `missing` is unknown.
    DataError
        If the type of a negative target has no rule (it would always be correct), the parser's words cannot be aligned
        with those of the sentence, no item of the gold set was parsed, or, with `missing` ``"raise"``, none of one of
        its treebanks.

    Warns
    -----
    LangdiffWarning
        If a parser has no block for some items, or blocks for unknown ones; if all its blocks are empty, or name words
        that sentences do not have; if treebanks are left out; if rules (other than those of the package) name words of
        the sentences, or find nothing at all.

    References
    ----------
    Bender, Flickinger, Oepen & Zhang (2011), "Parser Evaluation over Local and Non-Local Deep Dependencies in a Large
    Corpus", EMNLP.

    Examples
    --------
    >>> from langdiff.constructions.target import Target
    >>> words = ("He", "carried", "out", "the", "plan")
    >>> target = Target("v1", "vpart", True, ((1, 2),), "ARG2", ((4,),))
    >>> gold = GoldTargets(name="one", origin="constructed", sentences={"v1": words}, targets=(target,))
    >>> mine = Parses(name="mine", shape="triples", blocks={"v1": ("-1 root 1", "1 obj 4", "1 compound:prt 2")})
    >>> scores = evaluate(gold, mine)
    >>> scores.to_frame()[["phenomenon", "type", "parser", "correct", "targets"]]
      phenomenon  type parser  correct  targets
    0      vpart  ARG2   mine        1        1
    """
    systems = [parses] if isinstance(parses, Parses) else list(parses)
    names = [system.name for system in systems]
    if not systems or len(set(names)) < len(names):
        raise ConfigError(
            f"parsers need different names; got {listing(names)}."
            if names
            else "no parser is given; give the output of at least one."
        )
    shared = default_rules() if rules is None else rules
    known = dict.fromkeys(names, shared) if isinstance(shared, Rules) else shared
    if lacking := [name for name in names if name not in known]:
        raise ConfigError(f"parser {lacking[0]!r} has no rules; there are rules for {listing(known)}.")
    of_each = {name: known[name] for name in names}
    for system in systems:
        warn_about(gold, system, of_each[system.name])
    asked, gold = gold, without_missing_treebanks(gold, systems, missing)
    rows = []
    for system in systems:
        own = of_each[system.name]
        judged = [{"parser": system.name, **row} for row in _judge(gold, system, own)]
        warn_of_missing_parses(gold, system)
        _warn_of_nothing_found(judged, system, own)
        rows += judged
    signature = {
        "gold": f"{gold.name}#{gold.digest}",
        "parses": "+".join(f"{system.name}#{system.digest}" for system in systems),
        "rules": short_hash({name: own.digest for name, own in of_each.items()}),
    }
    return ConstructionScores(
        name=gold.name,
        origin=gold.origin,
        judgements=pd.DataFrame(rows).astype({"distance": float}),
        coverage=coverage_of(gold, systems),
        left_out=tuple(dict.fromkeys(map(asked.treebank_of, (i for i in asked.sentences if i not in gold.sentences)))),
        signature=full_signature(signature),
    )


def _judge(gold: GoldTargets, system: Parses, rules: Rules) -> Iterable[dict[str, object]]:
    """Yield the judgement of each target."""
    positions = positions_of(gold, system)
    for number, target in enumerate(gold.targets):
        serving = rules.of(target)
        if not serving and not target.positive:
            raise DataError(
                f"rules {rules.name!r} ({rules.source}): no rule for {target.phenomenon} {target.type}, of which gold "
                f"line {target.line} has a negative target; it would be correct by default. Add a rule that says how "
                "the parser would express it."
            )
        if system.are_trees and rules.needs_graph(target):
            outcome = "not expressible"
        elif target.item not in positions:
            outcome = "no parse"
        elif not serving:
            outcome = "not mapped"
        else:
            found = is_found(
                target,
                serving,
                system.blocks[target.item],
                shape=system.shape,
                words=gold.sentences[target.item],
                positions=positions[target.item],
            )
            outcome = "found" if found else "not found"
        yield {
            "target": number,
            "item": target.item,
            "phenomenon": target.phenomenon,
            "type": target.column,
            "polarity": int(target.positive),
            "distance": target.distance,
            "outcome": outcome,
            "correct": outcome == ("found" if target.positive else "not found"),
        }


def positions_of(gold: GoldTargets, system: Parses) -> dict[str, list[tuple[int, ...]]]:
    """Return the positions of the parser's words for the words of each sentence that it has parsed."""
    positions: dict[str, list[tuple[int, ...]]] = {}
    faults: dict[str, str] = {}
    for item, tokens in gold.sentences.items():
        if item in system.blocks:
            try:
                positions[item] = system.positions(item, tokens)
            except DataError as error:
                faults[item] = str(error)
    if faults:
        first, *others = faults
        more = f" The same is true of {len(others):,} other sentences: {listing(others)}." if others else ""
        raise DataError(f"parser {system.name!r}, {faults[first]}{more}")
    return positions


def _warn_of_nothing_found(judged: list[dict[str, object]], system: Parses, rules: Rules) -> None:
    missed = sum(row["outcome"] == "not found" and row["polarity"] == 1 for row in judged)
    if missed < SUSPICIOUS or any(row["outcome"] == "found" for row in judged) or not any(system.blocks.values()):
        return
    warn(
        f"rules {rules.name!r} ({rules.source}) find no target in the output of parser {system.name!r}; are "
        "they written for lines of this shape, with these labels?"
    )


def warn_about(gold: GoldTargets, system: Parses, rules: Rules) -> None:
    """Warn of blocks for unknown items, of positions outside of sentences, and of rules that name words of them."""
    unknown = [item for item in system.blocks if item not in gold.sentences]
    if unknown:
        first = unknown[0]
        where = f", the first in line {system.lines[first]}" if first in system.lines else ""
        warn(
            f"parser {system.name!r}: {len(unknown):,} blocks are not for items of {gold.name!r} and are not used: "
            f"{listing(unknown)}{where}."
        )
    own = {item: tokens for item, tokens in gold.sentences.items() if item in system.blocks}
    if len(own) > 1 and not any(system.blocks[item] for item in own):
        warn(
            f"parser {system.name!r}: all blocks are without dependencies, so that negative targets are right and all "
            "others wrong. Is this the output of a parser?"
        )
    if outside := {item: last for item, tokens in own.items() if (last := system.last_position(item)) >= len(tokens)}:
        first, last = next(iter(outside.items()))
        warn(
            f"parser {system.name!r}: dependencies of {len(outside):,} sentences name words that these do not have, "
            f"the first {first!r}: word {last} (from 0) of {len(own[first])}. If the parser divides sentences in "
            f"another way, give its words: {words(python='tokens', command='--tokens NAME=FILE')}."
        )
    if not rules.shipped and (lexical := lexical_words(rules, gold, system)):
        lines = "; ".join(f"line {line}: {', '.join(named)}" for line, named in list(lexical.items())[:5])
        warn(
            f"rules {rules.name!r} ({rules.source}) name words of the sentences, which are not labels of parser "
            f"{system.name!r}: {lines}. Rules are about labels only."
        )
