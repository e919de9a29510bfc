"""Attachment scores of parsers: words aligned as in the CoNLL 2018 shared task, counts of right heads and relations."""

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.io import as_path, as_paths
from langdiff.base.signature import join_signature, short_hash
from langdiff.constructions.attachment_scores import AttachmentScores
from langdiff.constructions.gold import GoldTargets
from langdiff.constructions.graphs import CONTENT, FEATURES, FUNCTION, Graph, Word, plain, read_graphs
from langdiff.errors import ConfigError, DataError, listing, warn
from langdiff.treebanks.conllu import read_sentences, tree_fault

ANCHOR = 15  # characters by which the next sentence is found after one whose text differs
AHEAD = 2000  # characters further than the sentences between are long, in which it is searched for
LEAST_SHARE = 0.5  # share of the sentences; if fewer are found, the texts are not the same
Written = Callable[[str], str]
OUTSIDE = -2  # place of a head without a counterpart


class Place(NamedTuple):
    """A word in the text: its characters, those of the whole token if it is part of one, and its form."""

    begin: int
    end: int
    is_part: bool
    form: str


class Text:
    """Sentences as one text without spaces, and the trees of their words.

    Parameters
    ----------
    graphs : sequence of Graph
        Sentences in the order of the text.
    written : callable
        Function that returns a token as it is compared.
    """

    def __init__(self, graphs: Sequence[Graph], written: Written) -> None:
        self.words: list[Word] = [word for graph in graphs for word in graph.words]
        self.heads: list[int] = []  # places in `words`, -1 for the root
        self.places: list[Place] = []
        self.sentences: list[int] = []  # of each word
        self.texts: list[str] = []
        self.begins: list[int] = []  # of each sentence
        at = first = 0
        for number, graph in enumerate(graphs):
            self.begins.append(at)
            own = []
            for token, positions in graph.surface:
                form = written(token)
                is_part = len(positions) > 1 or token != graph.words[positions[0]].form
                for position in positions:
                    self.places.append(Place(at, at + len(form), is_part, graph.words[position].form.lower()))
                own.append(form)
                at += len(form)
            self.texts.append("".join(own))
            self.heads += [first + word.head if word.head >= 0 else -1 for word in graph.words]
            self.sentences += [number] * len(graph.words)
            first += len(graph.words)
        self.relations = [word.deprel.split(":")[0] for word in self.words]
        self.functions: dict[int, list[int]] = {}
        for place, (head, relation) in enumerate(zip(self.heads, self.relations, strict=True)):
            if relation in FUNCTION and head >= 0:
                self.functions.setdefault(head, []).append(place)

    def features(self, place: int) -> frozenset[tuple[str, str]]:
        """Return the universal features of a word."""
        return frozenset(item for item in self.words[place].features.items() if item[0] in FEATURES)


class Run(NamedTuple):
    """Sentences of the gold text that the parser's text has one after the other."""

    first: int
    last: int  # + 1
    shift: int  # from places in the gold text to those in the parser's


def exact(token: str) -> str:
    """Return a token without spaces of any kind, as the shared task compares texts.

    Examples
    --------
    >>> exact("10\u00a0000")
    '10000'
    """
    return (
        token if token.isascii() and " " not in token else "".join(c for c in token if unicodedata.category(c) != "Zs")
    )


def align_words(gold: Sequence[Place], system: Sequence[Place]) -> Iterator[tuple[int, int]]:
    """Yield pairs of words, as the shared task aligns them.

    Words that are tokens are aligned if they have the same characters. Around tokens of several words, the words of
    both sides that lie in the smallest stretch of text which such tokens do not leave are aligned by the longest
    common subsequence of their forms.

    Examples
    --------
    >>> gold = [Place(0, 3, False, "can"), Place(3, 5, True, "de"), Place(3, 5, True, "le")]
    >>> list(align_words(gold, [Place(0, 3, False, "can"), Place(3, 5, False, "du")]))
    [(0, 0)]
    >>> list(align_words(gold, [Place(0, 3, False, "can"), Place(3, 4, False, "d"), Place(4, 5, False, "le")]))
    [(0, 0), (2, 2)]
    """
    g = s = 0
    while g < len(gold) and s < len(system):
        one, other = gold[g], system[s]
        if one.is_part or other.is_part:
            if one.is_part and not other.is_part and other.begin < one.begin:
                s += 1
            elif other.is_part and not one.is_part and one.begin < other.begin:
                g += 1
            start = g, s
            g, s = _end_of_tokens(gold, system, g, s, one.end if one.is_part else other.end)
            forms = [place.form for place in gold[start[0] : g]], [place.form for place in system[start[1] : s]]
            yield from ((start[0] + i, start[1] + j) for i, j in _common(*forms))
        elif (one.begin, one.end) == (other.begin, other.end):
            yield g, s
            g, s = g + 1, s + 1
        elif one.begin <= other.begin:
            g += 1
        else:
            s += 1


def _end_of_tokens(gold: Sequence[Place], system: Sequence[Place], g: int, s: int, end: int) -> tuple[int, int]:
    """Return the places after the stretch that ends where no token of several words leads on."""

    def inside(words: Sequence[Place], place: int) -> bool:
        if place >= len(words):
            return False
        return words[place].begin < end if words[place].is_part else words[place].end <= end

    while inside(gold, g) or inside(system, s):
        in_gold = g < len(gold) and (s >= len(system) or gold[g].begin <= system[s].begin)
        word = gold[g] if in_gold else system[s]
        if word.is_part:
            end = max(end, word.end)
        g, s = (g + 1, s) if in_gold else (g, s + 1)
    return g, s


def _common(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a longest common subsequence; of several, that which leaves out words of the first first."""
    longest = np.zeros((len(one) + 1, len(other) + 1), int)
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            both = longest[i + 1, j + 1] + 1 if one[i] == other[j] else 0
            longest[i, j] = max(both, longest[i + 1, j], longest[i, j + 1])
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif longest[i, j] == longest[i + 1, j]:
            i += 1
        else:
            j += 1


def find_runs(gold: Text, system: Text) -> list[Run]:
    """Return the sentences of the gold text that the parser's text has, in stretches without a gap.

    A sentence whose characters differ is left out, and the text is taken up again at the next sentence that is found.
    """
    text = "".join(system.texts)
    runs: list[Run] = []
    at = number = 0
    while number < len(gold.texts):
        first, start = number, at
        while number < len(gold.texts) and text.startswith(gold.texts[number], at):
            at += len(gold.texts[number])
            number += 1
        if number > first:
            runs.append(Run(first, number, start - gold.begins[first]))
        between = 0
        while number < len(gold.texts):
            between += len(gold.texts[number])
            number += 1
            if number < len(gold.texts) and len(gold.texts[number]) >= ANCHOR:
                found = text.find(gold.texts[number], at, at + 2 * between + AHEAD + len(gold.texts[number]))
                if found >= 0:
                    at = found
                    break
    return runs


def _counts(gold: Text, system: Text, runs: Sequence[Run]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row per gold word of the runs, and one per word of the parser in them."""
    partner = [OUTSIDE] * len(system.words)  # gold words, by word of the parser
    sentence_of = [-1] * len(system.words)  # gold sentences, likewise
    begins = [place.begin for place in system.places]
    gold_begins = [place.begin for place in gold.places]
    pairs: list[tuple[int, int]] = []
    for run in runs:
        last = gold.begins[run.last - 1] + len(gold.texts[run.last - 1])
        g0, g1 = (_first(gold_begins, place) for place in (gold.begins[run.first], last))
        s0, s1 = (_first(begins, place + run.shift) for place in (gold.begins[run.first], last))
        moved = [own._replace(begin=own.begin - run.shift, end=own.end - run.shift) for own in system.places[s0:s1]]
        for g, s in align_words(gold.places[g0:g1], moved):
            pairs.append((g0 + g, s0 + s))
            partner[s0 + s] = g0 + g
        for place in range(s0, s1):
            sentence_of[place] = bisect_right(gold.begins, begins[place] - run.shift) - 1
    partner.append(-1)  # of the head of a root, -1
    there = {number for run in runs for number in range(run.first, run.last)}
    words = pd.DataFrame({"sentence": gold.sentences, "relation": gold.relations})
    marks = np.zeros((len(gold.words), 5), bool)
    for g, s in pairs:
        head = partner[system.heads[s]] == gold.heads[g]
        relation = head and system.relations[s] == gold.relations[g]
        content = gold.relations[g] in CONTENT
        full = relation and content and _described(gold, g, None) == _described(system, s, partner)
        marks[g] = True, head, relation, relation and content, full
    words[["aligned", "uas", "las", "clas", "mlas"]] = marks
    words["content"] = words["relation"].isin(CONTENT)
    theirs = pd.DataFrame({"sentence": sentence_of, "relation": system.relations})
    theirs["content"] = theirs["relation"].isin(CONTENT)
    return words[words["sentence"].isin(there)], theirs[theirs["sentence"] >= 0]


def _first(begins: Sequence[int], place: int) -> int:
    return bisect_right(begins, place - 1)


def _described(text: Text, place: int, partner: Sequence[int] | None) -> tuple[object, ...]:
    """Return part of speech and features of a word and of its function words, these named as in the gold text."""
    own = text.words[place].upos, text.features(place)
    functions = [
        (
            child if partner is None else partner[child],
            text.relations[child],
            text.words[child].upos,
            text.features(child),
        )
        for child in text.functions.get(place, ())
    ]
    return *own, functions


def evaluate_attachment(
    gold: str | Path,
    parsers: Mapping[str, str | Path | Iterable[str | Path]],
    *,
    targets: GoldTargets | None = None,
) -> AttachmentScores:
    r"""Score parsers by the heads and relations of all words: UAS, LAS, CLAS and MLAS.

    Words are aligned by their characters, and scores are defined, as in the evaluation of the CoNLL 2018 shared task:
    relations without subtypes; CLAS of words with content relations; MLAS of these with their part of speech,
    universal features and function words. Each is an F1 of the words on both sides. Sentences may be divided in another
    way. Where the two texts differ, the sentences with other characters are left out on both sides.

    Parameters
    ----------
    gold : str or Path
        Treebank as CoNLL-U, plain or compressed.
    parsers : mapping from str to str, Path or several
        CoNLL-U output of each parser for the same text, in the same order.
    targets : GoldTargets, optional
        Targets in sentences of the treebank, such as candidates that were mined; words that the targets of a
        construction name are then scored by construction, too.

    Returns
    -------
    AttachmentScores
        Counts by sentence, by relation and by construction, and the tables of scores made of them.

    Raises
    ------
    ConfigError
        If no parser is given.
    DataError
        If a file is malformed, the text of a parser is another one (fewer than half of the sentences are found), or no
        target is in a sentence of the treebank.

    Warns
    -----
    LangdiffWarning
        If sentences were left out, because characters differ.

    References
    ----------
    Zeman et al. (2018), "CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to Universal Dependencies",
    section 4.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = "1 Dogs _ NOUN _ _ 2 nsubj _ _\n2 bark _ VERB _ _ 0 root _ _\n3 loudly _ ADV _ _ 2 advmod _ _\n\n"
    >>> with TemporaryDirectory() as folder:
    ...     one, other = Path(folder) / "gold.conllu", Path(folder) / "mine.conllu"
    ...     _ = one.write_text(rows.replace(" ", "\t"))
    ...     _ = other.write_text(rows.replace("2 advmod", "1 advmod").replace(" ", "\t"))
    ...     scores = evaluate_attachment(one, {"mine": other})
    >>> scores.to_frame().set_index("metric")["f1"].round(3).to_dict()
    {'uas': 0.667, 'las': 0.667, 'clas': 0.667, 'mlas': 0.667}
    """
    if not isinstance(parsers, Mapping) or not parsers:
        raise ConfigError("give the output of at least one parser, as a mapping from names to files.")
    scores = Reference(as_path(gold), targets).score(parsers)
    warn_of_other_texts(gold, scores.left_out)
    return scores


def warn_of_other_texts(gold: str | Path, left_out: Mapping[str, Sequence[str]]) -> None:
    """Warn of the sentences of a treebank that the outputs of parsers do not have, by parser."""
    if lacking := {name: own for name, own in left_out.items() if own}:
        said = "; ".join(f"{name!r}: {len(own):,} ({listing(own)})" for name, own in lacking.items())
        warn(f"sentences whose characters differ from those of {gold} are left out on both sides: {said}.")


class Reference:
    """The gold text, read once for the outputs of several parsers.

    Parameters
    ----------
    path : Path
        Treebank as CoNLL-U.
    targets : GoldTargets, optional
        Targets whose words are also scored by construction.

    Raises
    ------
    DataError
        If the file is malformed or empty, or no target is in a sentence of it.
    """

    def __init__(self, path: Path, targets: GoldTargets | None = None) -> None:
        self.path = path
        self.graphs = _read_trees(path)
        if not self.graphs:
            raise DataError(f"{path}: there are no sentences; is it CoNLL-U?")
        self.items = [graph.item or f"line {graph.line}" for graph in self.graphs]
        if twice := [item for item, count in Counter(self.items).items() if count > 1]:
            raise DataError(f"{path}: {len(twice)} sent_id(s) come twice: {listing(twice)}; give every sentence once.")
        ways: list[Written] = [exact, plain]
        self.texts = {written: Text(self.graphs, written) for written in ways}
        self.digest = _digest(self.graphs)
        self.sentences = pd.DataFrame(
            {
                "sentence": self.items,
                # of a file without documents, all sentences are in the first
                "document": list(accumulate(int(sentence.opens) for sentence in read_sentences(path))),
                "length": [len(graph.words) for graph in self.graphs],
            }
        )
        self.named = _named_words(targets, self.items, self.texts[exact], path)

    def score(self, parsers: Mapping[str, str | Path | Iterable[str | Path]]) -> AttachmentScores:
        """Score the outputs of parsers, without a warning where sentences are left out; see `evaluate_attachment`."""
        sums, relations, constructions = [], [], []
        digests, left_out = {}, {}
        for name, files in parsers.items():
            own = [graph for file in as_paths(files) for graph in _read_trees(file)]
            used, system, runs = self._match(name, own)
            words, theirs = _counts(used, system, runs)
            digests[name] = _digest(own)
            lacking = sorted(set(range(len(self.items))) - set(words["sentence"]))
            left_out[name] = tuple(self.items[number] for number in lacking)
            sums.append(_by_sentence(words, theirs).assign(parser=name))
            relations.append(_by_relation(words, theirs).assign(parser=name))
            constructions += [
                (name, code, len(part := words.loc[words.index.intersection(places)]), *part[["uas", "las"]].sum())
                for code, places in self.named.items()
            ]
        signature = {
            "gold": f"{self.path.name}#{self.digest}",
            "parsers": "+".join(f"{name}#{digest}" for name, digest in digests.items()),
        }
        return AttachmentScores(
            name=self.path.name.split(".")[0],
            counts=self._named_sentences(pd.concat(sums)),
            relations=pd.concat(relations).reset_index()[["parser", "relation", "gold", "predicted", "uas", "las"]],
            constructions=pd.DataFrame(constructions, columns=["parser", "construction", "gold", "uas", "las"]),
            left_out=left_out,
            signature=join_signature(signature),
        )

    def _match(self, name: str, graphs: Sequence[Graph]) -> tuple[Text, Text, list[Run]]:
        """Return both texts and the sentences that they share, by characters as they are if these are all the same."""
        for written, gold in self.texts.items():
            system = Text(graphs, written)
            runs = find_runs(gold, system)
            if len(runs) == 1 and "".join(gold.texts) == "".join(system.texts):
                break
        found = sum(run.last - run.first for run in runs)
        if found < LEAST_SHARE * len(self.items):
            raise DataError(
                f"parser {name!r}: {found:,} of {len(self.items):,} sentences of {self.path} have the same characters "
                "in its output. Is it of the same text, in the same order?"
            )
        return gold, system, runs

    def _named_sentences(self, counts: pd.DataFrame) -> pd.DataFrame:
        """Return counts with the name, document and length of each sentence in place of its number."""
        table = self.sentences.loc[counts.index].reset_index(drop=True).join(counts.reset_index(drop=True))
        table.insert(0, "parser", table.pop("parser"))
        return table


def _read_trees(path: Path) -> list[Graph]:
    """Read the sentences of a file, all of which must be trees, as the shared task asks."""
    graphs = list(read_graphs(path, named=False))
    for graph in graphs:
        if fault := tree_fault([word.head + 1 for word in graph.words]):
            raise DataError(f"{path}, line {graph.line}: the sentence is not a tree: {fault}.")
    return graphs


def _digest(graphs: Iterable[Graph]) -> str:
    return short_hash([[*graph.forms, *graph.triples("basic")] for graph in graphs])


def _by_sentence(words: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    ours = words.groupby("sentence").agg(
        gold=("content", "size"),
        gold_content=("content", "sum"),
        **{name: (name, "sum") for name in ("aligned", "uas", "las", "clas", "mlas")},
    )
    other = theirs.groupby("sentence").agg(predicted=("content", "size"), predicted_content=("content", "sum"))
    return ours.join(other).fillna(0).astype(int)


def _by_relation(words: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    ours = words.groupby("relation").agg(gold=("uas", "size"), uas=("uas", "sum"), las=("las", "sum"))
    other = theirs.groupby("relation").agg(predicted=("content", "size"))
    return ours.join(other, how="outer").fillna(0).astype(int)


def _named_words(targets: GoldTargets | None, items: Sequence[str], text: Text, path: Path) -> dict[str, list[int]]:
    """Return the words that targets of each construction name."""
    if targets is None:
        return {}
    sizes = Counter(text.sentences)
    firsts = dict(zip(items, accumulate((sizes[number] for number in range(len(items))), initial=0), strict=False))
    length = {item: sizes[number] for number, item in enumerate(items)}
    found: dict[str, set[int]] = {}
    for target in targets.targets:
        if target.item in firsts and len(targets.sentences[target.item]) == length[target.item]:
            nodes = (place for node in (*target.heads, *target.dependents) for place in node)
            found.setdefault(target.phenomenon, set()).update(firsts[target.item] + place for place in nodes)
    if not found:
        raise DataError(f"no target of {targets.name!r} is in a sentence of {path}; do their sent_ids agree?")
    return {code: sorted(places) for code, places in found.items()}
