"""`langdiff constructions`: recall of parsers by construction, candidates in treebanks, checks of gold files."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

import typer

from langdiff.base.types import OnError
from langdiff.cli.commands import Call, Command
from langdiff.cli.options import existing, existing_after_name, existing_named, named_files, new_folder, split_name
from langdiff.cli.output import (
    TABLE,
    Json,
    Out,
    Output,
    Plot,
    Saved,
    check_ending,
    check_picture_name,
    echo,
    print_frame,
    print_json,
    save_picture,
    shown_frame,
    write_frame,
)
from langdiff.errors import ConfigError, DataError

if TYPE_CHECKING:
    import pandas as pd

    from langdiff.constructions import GoldTargets, Parses, Rules

METRICS = ("uas", "las", "clas", "mlas")
constructions = typer.Typer(
    name="constructions",
    help="Evaluate parsers on chosen constructions.",
    no_args_is_help=True,
    rich_help_panel="Other data",
)


def _existing_rules(given: list[str] | None) -> list[str] | None:
    for option in given or []:
        _, file = split_name(option)
        try:
            existing(file)
        except DataError:
            from langdiff.constructions.rules import Scheme

            if file not in (shipped := get_args(Scheme)):
                raise ConfigError(
                    f"--rules {option}: no such file; rules of the package are {' and '.join(shipped)}."
                ) from None
    return given


Gold = Annotated[
    str,
    typer.Argument(help="File of targets, or 'constructed' or 'mined' for the sets of the package.", metavar="GOLD"),
]


Sentences = Annotated[
    list[Path] | None,
    typer.Option(
        "--sentences",
        help="File of sentences; for 'mined', CoNLL-U files of the treebanks (repeat).",
        callback=existing,
    ),
]


Parsers = Annotated[
    list[str] | None,
    typer.Option(
        "--parser",
        metavar="[NAME=]FILE",
        callback=existing_named,
    ),
]


RuleFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--rules",
        metavar="[NAME=]FILE",
        help="Rules of all parsers or of one (repeat); 'ud' (default), 'clearnlp'.",
        callback=_existing_rules,
    ),
]


Queries = Annotated[Path | None, typer.Option(callback=existing)]


Enhanced = Annotated[
    list[str] | None, typer.Option("--enhanced", metavar="NAME", help="Parser whose enhanced graph is read (repeat).")
]


Tokens = Annotated[
    list[str] | None,
    typer.Option(
        "--tokens",
        metavar="NAME=FILE",
        help="Words of a parser that divides sentences in another way.",
        callback=existing_after_name,
    ),
]


RATES = dict.fromkeys(["precision", "recall", "f1", "accuracy", "uas", "las"], "{:.4f}")
RATES |= dict.fromkeys(["estimate", "low", "high"], "{:+.4f}") | {"std_error": "{:.4f}", "df": "{:.1f}"}
RATES |= dict.fromkeys(["p", "p_adjusted"], "{:.3g}")
STUDY = dict.fromkeys(["matched", "las", "las_error", "parsed", "recall", "recall_error"], "{:.3f}")
STUDY |= dict.fromkeys(["ability", "std_error"], "{:.2f}")
CAPTIONS = {
    "parser": "Attachment scores",
    "relation": "Attachment of words by their relation in the treebank",
    "length": "Attachment scores by length of the sentence, in words",
    "construction": "Attachment of words in constructions",
    "sentence": "Words attached rightly in each sentence",
    "pair": "{} of one parser less that of the other, F1",
}
PERCENTS = dict.fromkeys(["recall", "low", "high", "mean", "pooled", "macro", "micro"], "{:.3f}")


@Command(constructions)
def evaluate(
    gold: Gold,
    parser: Parsers = None,
    sentences: Sentences = None,
    rules: RuleFiles = None,
    enhanced: Enhanced = None,
    tokens: Tokens = None,
    by: Literal["type", "phenomenon", "parser", "distance", "target", "coverage"] = "type",
    missing: Annotated[
        Literal["raise", "skip", "wrong"],
        typer.Option(
            "--unparsed",
            help="Treebanks of which a parser has parsed nothing: an error, left out for all parsers, or all wrong.",
        ),
    ] = "raise",
    plot: Plot = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write right and wrong, targets × parsers (.csv, .tsv, .parquet)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Recall of target dependencies with 95 % intervals by sentence.

    With --by coverage, each row is a parser and treebank, with the number of sentences that were not parsed.

    Example: langdiff constructions evaluate gold.tsv --sentences sentences.tsv --parser mine=mine.conllu
    """
    from langdiff.constructions import evaluate as judge

    files = _parser_files(parser)
    check_picture_name(plot)
    targets = _read_gold(gold, sentences)
    parses = _read_parsers(files, targets, enhanced or [], tokens or [])
    own_rules = _read_rules(rules or ["ud"], [system.name for system in parses])
    scores = judge(targets, parses, own_rules, missing=missing)
    if plot is not None:
        save_picture(scores.plot, plot)
    if out is not None:
        scores.outcomes().save(out)
    tables: dict[str, Callable[[], pd.DataFrame]] = {
        "type": scores.to_frame,
        "phenomenon": scores.by_phenomenon,
        "parser": scores.by_parser,
        "distance": scores.by_distance,
        "target": lambda: scores.judgements,
        "coverage": lambda: scores.coverage,
    }
    if by == "type" and not as_json:
        echo(scores.summary())
    else:
        print_frame(tables[by](), f"Recall of targets, {scores.name}", PERCENTS, as_json)


@Command(constructions, only={"by pair": ("clusters",), "by construction": ("queries",)})
def attachment(
    gold: Annotated[Path, typer.Argument(help="Treebank (.conllu, .gz).", metavar="GOLD.conllu", callback=existing)],
    parser: Parsers = None,
    by: Literal["parser", "relation", "length", "construction", "sentence", "pair"] = "parser",
    metric: Literal["uas", "las", "clas", "mlas"] | None = None,
    clusters: Literal["auto", "document", "sentence"] = "auto",
    queries: Queries = None,
    out: Saved = None,
    as_json: Json = False,
) -> None:
    """UAS, LAS, CLAS and MLAS of parsers, words aligned as in the CoNLL 2018 shared task.

    With --metric, only that one is shown. With --by pair, two parsers are compared by it, by default LAS, by documents
    if there are several, else by sentences; with --by construction, words that mined candidates name are counted.

    Example: langdiff constructions attachment en_pud.conllu --parser one=one.conllu --parser two=two.conllu --by pair
    """
    from langdiff.base.result import Printed
    from langdiff.constructions import evaluate_attachment, mine_candidates

    output = Output(out=out, as_json=as_json)
    output.check({"save"})
    files = _parser_files(parser)
    targets = mine_candidates(gold, queries=queries).gold() if by == "construction" else None
    scores = evaluate_attachment(gold, files, targets=targets)
    tables: dict[str, Callable[[], pd.DataFrame]] = {
        "parser": scores.to_frame,
        "relation": scores.by_relation,
        "length": scores.by_length,
        "construction": scores.by_construction,
        "sentence": scores.by_sentence,
        "pair": lambda: scores.compare(metric or "las", clusters=clusters).to_frame().reset_index(),
    }
    table = tables[by]()
    if metric is not None and by != "pair":
        table = _of_metric(table, metric)
    looks = RATES if by != "sentence" else dict.fromkeys(METRICS, "{:.0f}")  # which are counts
    if by == "parser" and metric is None:
        output.show(scores)
    else:
        shown = [shown_frame(table, f"{CAPTIONS[by].format((metric or 'las').upper())}, {scores.name}", looks)]
        output.show(scores, shown=Printed(of=scores, frame=table, shown=shown, lines=()))


def _of_metric(table: "pd.DataFrame", metric: str) -> "pd.DataFrame":
    """Return the rows of one metric, or the table without the columns of the others."""
    if "metric" in table:
        return table[table["metric"] == metric].reset_index(drop=True)
    if metric not in table:
        raise ConfigError(f"--metric {metric}: this table has no such figure; leave it out, or choose another --by.")
    return table.drop(columns=[name for name in METRICS if name in table and name != metric])


@Command(constructions, only={"targets candidates": ("queries",)})
def study(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder of outputs NAME.conllu (.gz) for one text.", metavar="FOLDER", callback=existing),
    ],
    gold: Annotated[Path, typer.Option(help="Treebank of the same text (.conllu, .gz).", callback=existing)],
    targets: Annotated[
        Literal["mined", "candidates", "none"],
        typer.Option(
            help="Targets of recall and ability: the mined set of the package, which was read; all candidates of the "
            "queries, which nobody has read; or none, for other languages."
        ),
    ] = "mined",
    queries: Queries = None,
    pairs: Annotated[bool, typer.Option("--pairs")] = False,
    on_error: OnError = "raise",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Parsers of a folder: matched text, LAS and recall by construction with errors, ability; tests of pairs.

    Example: langdiff constructions study outputs/ --gold en_pud.conllu.gz --out study.csv
    """
    from langdiff.constructions import mine_candidates, mined_gold, study_outputs
    from langdiff.regression.outcomes.fitting import fit_outcomes

    check_ending(out, TABLE)
    asked = None
    if targets == "mined":
        try:
            asked = mined_gold(gold)
        except DataError as error:
            raise DataError(f"{gold}: {error} Of other treebanks use --targets candidates or none.") from error
    elif targets == "candidates":
        asked = mine_candidates(gold, queries=queries).gold()
    fit = None if asked is None or pairs else fit_outcomes
    table = study_outputs(gold, folder, targets=asked, fit=fit, pairs=pairs, on_error=on_error)
    if out is not None:
        write_frame(table, out)
    if as_json or pairs:
        print_frame(table, f"Recall of pairs of parsers, {gold.name}", RATES, as_json)
    else:
        shown = table[[name for name in table.columns if not name.startswith("recall_") or name == "recall_error"]]
        of = "" if asked is None else f"; recall of {table['targets'].max():,} targets ({asked.origin})"
        shown = shown.drop(columns="targets", errors="ignore")
        print_frame(shown, f"Study of {len(table)} parsers, {gold.name}{of}", STUDY)


@Command(
    constructions,
    "langdiff.constructions.mine_candidates",
    name="mine",
    kinds={"path": list[Path]},
    renamed={"path": "file", "phenomena": "phenomenon"},
    only={"out": ("per_phenomenon", "seed")},
)
def mine(
    call: Call,
    per_phenomenon: Annotated[int, typer.Option(help="Sentences to draw for each phenomenon.", min=1)] = 20,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write candidates here, for vetting (.tsv).")] = None,
    as_json: Json = False,
) -> None:
    """Candidates of phenomena in treebanks: how frequent they are, and a random sample for vetting.

    Example: langdiff constructions mine en_ewt.conllu.gz --phenomenon control --seed 1 --out control.tsv
    """
    check_ending(out, (".tsv",))
    candidates = call()
    if out is not None:
        candidates.sample(per_phenomenon, seed=seed).save(out)
        typer.echo(f"Write yes, no or edit into the first column of {out}; then: check {out} --vetted", err=True)
    title = f"Sentences with candidates, of {candidates.n_sentences:,}"
    print_frame(candidates.frequencies(), title, {"sentences": "{:,}", "percent": "{:.2f}"}, as_json)


@Command(
    constructions,
    name="check",
    only={"vetted": ("out",), "without vetted": ("sentences",)},
)
def check_gold(
    gold: Gold,
    sentences: Sentences = None,
    vetted: Annotated[bool, typer.Option("--vetted", help="The file is one of candidates with decisions.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", callback=new_folder, help="Folder for targets.tsv and sentences.tsv of what was accepted."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check files of targets and sentences, or count what was vetted; evaluate checks rules and parsers.

    Example: langdiff constructions check gold.tsv --sentences sentences.tsv
    """
    from langdiff.constructions import read_vetted

    if vetted:
        decided = read_vetted(gold)
        if out is not None:
            decided.gold.save(out / "targets.tsv", out / "sentences.tsv")
        print_frame(decided.to_frame(), repr(decided), {}, as_json)
        return
    targets = _read_gold(gold, sentences)
    if as_json:
        print_json(targets.distances())
    else:
        echo(targets.summary())


def _read_gold(gold: str, sentences: list[Path] | None) -> "GoldTargets":
    from langdiff.constructions import constructed_gold, mined_gold, read_gold
    from langdiff.constructions.gold import refuse_treebank

    if gold == "constructed":
        if sentences:
            raise ConfigError("the constructed set has its own sentences; leave --sentences out.")
        return constructed_gold()
    refuse_treebank(gold)
    if not sentences:
        what = "the CoNLL-U files of the treebanks" if gold == "mined" else "the file of sentences"
        raise ConfigError(f"targets of {gold} need {what}: --sentences FILE.")
    if gold == "mined":
        return mined_gold(sentences)
    if len(sentences) > 1:
        raise ConfigError("give one file of sentences; only 'mined' takes several.")
    return read_gold(gold, sentences[0])


def _parser_files(options: list[str] | None) -> dict[str, list[str | Path]]:
    """Return the files of each parser; a parser without a name has that of its file."""
    if not options:
        raise ConfigError("give the output of a parser: --parser FILE, or NAME=FILE.")
    files: dict[str, list[str | Path]] = {}
    unnamed = set()
    for option in options:
        name, file = split_name(option)
        own = name or Path(file).name.partition(".")[0]
        if own in files and (not name or own in unnamed):
            raise ConfigError(f"--parser {option}: a second parser {own!r}. Give each file a name: --parser NAME=FILE.")
        unnamed |= set() if name else {own}
        files.setdefault(own, []).append(file)
    return files


def _read_parsers(
    files: "dict[str, list[str | Path]]", gold: "GoldTargets", enhanced: list[str], tokens: list[str]
) -> "list[Parses]":
    from langdiff.constructions import read_parses

    words = named_files(tokens, "--tokens", "file")
    if unknown := [name for name in (*enhanced, *words) if name not in files]:
        raise ConfigError(f"{unknown[0]!r} is not a parser; parsers are {', '.join(files)}.")
    return [
        read_parses(
            own,
            name=name,
            graph="enhanced" if name in enhanced else "basic",
            tokens=words.get(name),
            items=gold.sentences if ".conllu" in Path(own[0]).suffixes else None,  # a treebank has many more
        )
        for name, own in files.items()
    ]


def _read_rules(options: list[str], names: list[str]) -> "dict[str, Rules]":
    from langdiff.constructions import default_rules, read_rules
    from langdiff.constructions.rules import Scheme

    found: dict[str, Rules] = {}
    seen = set()
    for option in sorted(options, key=lambda text: "=" in text):  # rules of one parser override those of all
        name, file = split_name(option)
        if name and name not in names:
            raise ConfigError(f"--rules {option}: {name!r} is not a parser; parsers are {', '.join(names)}.")
        if name in seen:
            raise ConfigError(f"--rules {option}: second rules for {repr(name) if name else 'all parsers'}; give one.")
        seen.add(name)
        shipped = get_args(Scheme)
        own = default_rules(cast(Any, file)) if file in shipped else read_rules(file)
        found |= dict.fromkeys([name] if name else names, own)
    for name in names:
        found.setdefault(name, default_rules())
    return found
