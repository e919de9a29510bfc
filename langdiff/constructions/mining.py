"""Candidates of phenomena in treebanks: counts, random samples, and files for vetting."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.io import as_path, read_lines, write_text
from langdiff.base.types import generator
from langdiff.constructions.gold import CELLS, TREEBANK, GoldTargets, collect_targets, refuse_treebank
from langdiff.constructions.graphs import Graph, read_graphs
from langdiff.constructions.queries import Query, read_queries
from langdiff.constructions.target import PHENOMENA, Target, write_nodes
from langdiff.errors import ConfigError, DataError, Fault, listing, option, warn

SEVERAL = 5  # sentences with a pattern in the tree, of which the enhanced graph may have none by chance
DECISIONS = ("yes", "no", "edit")


class Candidate(NamedTuple):
    """A place where a query is found: phenomenon, sentence, treebank and the targets proposed."""

    phenomenon: str
    item: str
    treebank: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Candidates:
    """Candidates that queries found in treebanks, or a sample of them.

    Attributes
    ----------
    found : tuple of Candidate
        Places where a query is found, in the order of the treebanks.
    sentences : mapping from str to tuple of str
        Words of the sentences in which something is found.
    n_sentences : int
        Number of sentences that were searched.
    phenomena : tuple of str
        Codes of the phenomena that were searched for.
    """

    found: tuple[Candidate, ...]
    sentences: Mapping[str, tuple[str, ...]]
    n_sentences: int
    phenomena: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate: phenomenon, item, treebank, targets as text, sentence."""
        rows = []
        for candidate in self.found:
            words = self.sentences[candidate.item]
            targets = "; ".join(" ".join(_cells(target, words)[3:]) for target in candidate.targets)
            rows.append((candidate.phenomenon, candidate.item, candidate.treebank, targets, " ".join(words)))
        return pd.DataFrame(rows, columns=["phenomenon", "item", "treebank", "targets", "sentence"])

    def frequencies(self) -> pd.DataFrame:
        """Return the number of sentences with candidates, and its percentage of all, by phenomenon."""
        frame = pd.DataFrame(self.found, columns=Candidate._fields)
        counts = frame.drop_duplicates(["phenomenon", "item"])["phenomenon"].value_counts()
        counts = counts.reindex(list(self.phenomena), fill_value=0)
        table = pd.DataFrame({"sentences": counts, "percent": 100 * counts / self.n_sentences})
        return table.rename_axis("phenomenon").reset_index()

    def sample(self, per_phenomenon: int, *, seed: int | np.random.Generator = 0) -> "Candidates":
        """Draw sentences at random, and in each one candidate of the phenomenon.

        Parameters
        ----------
        per_phenomenon : int
            Number of sentences for each phenomenon; all, where there are fewer.
        seed : int or numpy.random.Generator
            Seed of the random choice.

        Returns
        -------
        Candidates
            At most one candidate per sentence and phenomenon.

        Raises
        ------
        ConfigError
            If the number is not positive or the seed is not one.
        """
        if per_phenomenon < 1:
            raise ConfigError(f"{option('per_phenomenon')} must be at least 1, got {per_phenomenon}.")
        rng = generator(seed, "candidates")
        drawn: list[Candidate] = []
        for phenomenon in self.phenomena:
            by_item: dict[str, list[Candidate]] = {}
            for candidate in self.found:
                if candidate.phenomenon == phenomenon:
                    by_item.setdefault(candidate.item, []).append(candidate)
            groups = list(by_item.values())
            for place in rng.permutation(len(groups))[:per_phenomenon]:
                drawn.append(groups[place][rng.integers(len(groups[place]))])
        used = {candidate.item for candidate in drawn}
        kept = {item: words for item, words in self.sentences.items() if item in used}
        return replace(self, found=tuple(drawn), sentences=kept)

    def save(self, path: str | Path) -> None:
        """Write a file for vetting: targets in the layout of gold files after an empty column for the decision."""
        lines = ["# decision (yes, no, edit)\titem\tphenomenon\tpolarity\thead\ttype\tdependent"]
        treebank = ""
        for candidate in self.found:
            words = self.sentences[candidate.item]
            if candidate.treebank != treebank:
                treebank = candidate.treebank
                lines.append(f"{TREEBANK} {treebank}")
            lines.append(f"# sentence\t{candidate.item}\t{' '.join(words)}")
            lines += ["\t".join(["", *_cells(target, words)]) for target in candidate.targets]
        write_text(Path(path), "\n".join([*lines, ""]))

    def gold(self) -> GoldTargets:
        """Return the proposed targets as a gold set that nobody has read; it must be called derived, not vetted."""
        targets = {target.key: target for candidate in self.found for target in candidate.targets}
        return GoldTargets(
            name="candidates",
            origin="derived, not vetted",
            sentences=self.sentences,
            targets=tuple(targets.values()),
            treebanks={candidate.item: candidate.treebank for candidate in self.found},
        )

    def __repr__(self) -> str:
        """Return a line with the numbers of candidates, phenomena and sentences."""
        return f"Candidates: {len(self.found):,} for {len(self.phenomena)} phenomena in {self.n_sentences:,} sentences"


def mine_candidates(
    path: str | Path | Iterable[str | Path],
    *,
    phenomena: Sequence[str] | None = None,
    queries: str | Path | None = None,
) -> Candidates:
    r"""Search treebanks for candidates of phenomena.

    Parameters
    ----------
    path : str, Path or iterable of them
        CoNLL-U files. The query for control uses enhanced graphs (DEPS), so that nothing is found where there are none.
    phenomena : sequence of str, optional
        Codes of phenomena; by default all ten.
    queries : str or Path, optional
        TOML file: for each code of a phenomenon one or several tables with ``pattern``, ``without`` and ``targets``;
        by default that for English Universal Dependencies which is shipped with the package. Conditions are
        ``V[upos=VERB, lemma!=be|have]`` (columns or features, regular expressions; case does not matter in forms and
        lemmas), ``V -[obj]-> O`` (basic tree), ``V =[nsubj.*]=> S`` (enhanced graph), ``V >> X`` (V is above X in the
        tree), ``A < B`` (before) and ``A << B`` (just before). In targets ``V{aux|cop}`` is V or any child of these
        relations; ``V+P``, ``V|A`` and ``*`` are written as in gold files.

    Returns
    -------
    Candidates
        Every place where a query is found.

    Raises
    ------
    DataError
        If a file is malformed, a ``sent_id`` comes twice, or there are no sentences.
    ConfigError
        If a phenomenon is unknown, or has no query.

    Warns
    -----
    LangdiffWarning
        If a file has no enhanced graphs, which some of the queries need; or not the edges of them that a query needs,
        although the tree has the rest of its pattern in five sentences or more.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = [
    ...     "1 She she PRON _ _ 2 nsubj _ _",
    ...     "2 looked look VERB _ _ 0 root _ _",
    ...     "3 up up ADP _ _ 2 compound:prt _ _",
    ...     "4 words word NOUN _ _ 2 obj _ _",
    ... ]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "one.conllu"
    ...     _ = path.write_text("\n".join(["# sent_id = s1", *(row.replace(" ", "\t") for row in rows)]))
    ...     candidates = mine_candidates(path, phenomena=["vpart"])
    >>> candidates.to_frame()["targets"].item()
    'up-2 !ARG2 words-3; looked-1+up-2 ARG2 words-3'
    """
    asked = read_queries(queries)
    if phenomena is not None:
        if unknown := [code for code in phenomena if code not in PHENOMENA]:
            raise ConfigError(f"unknown phenomena {listing(unknown)}; known are {', '.join(PHENOMENA)}.")
        if lacking := [code for code in phenomena if code not in {query.phenomenon for query in asked}]:
            raise ConfigError(f"{queries} has no queries for {listing(lacking)}.")
        asked = tuple(query for query in asked if query.phenomenon in phenomena)
    found: list[Candidate] = []
    sentences: dict[str, tuple[str, ...]] = {}
    seen: set[str] = set()
    for file in [path] if isinstance(path, (str, Path)) else path:
        treebank = Path(file).name.split(".")[0]
        edges = _Edges(asked)
        for graph in read_graphs(file):
            if graph.item in seen:
                raise DataError(f"{file}, line {graph.line}: sent_id {graph.item!r} comes twice.")
            seen.add(graph.item)
            own = [Candidate(query.phenomenon, graph.item, treebank, made) for query, made in _search(asked, graph)]
            if own:
                found += own
                sentences[graph.item] = graph.forms
            edges.count(graph, {candidate.phenomenon for candidate in own})
        for what in edges.lacking():
            warn(f"{file}: {what}")
    if not seen:
        raise DataError("the files have no sentences; are they CoNLL-U?")
    order = list(dict.fromkeys(query.phenomenon for query in asked))
    found.sort(key=lambda candidate: order.index(candidate.phenomenon))
    return Candidates(found=tuple(found), sentences=sentences, n_sentences=len(seen), phenomena=tuple(order))


class _Edges:
    """Counts, in one file, of matches in the tree and in the enhanced graph, for patterns that need the latter."""

    def __init__(self, queries: Iterable[Query]) -> None:
        self._queries = [query for query in queries if query.in_tree is not None]
        self._phenomena = list(dict.fromkeys(query.phenomenon for query in self._queries))
        self._in_tree: Counter[str] = Counter()
        self._found: set[str] = set()
        self._sentences = self._graphs = 0

    def count(self, graph: Graph, found: set[str]) -> None:
        """Count a sentence, in which these phenomena were found."""
        self._sentences += 1
        self._graphs += any(word.enhanced for word in graph.words)
        self._found |= found
        there = {query.phenomenon for query in self._queries if query.in_tree and query.in_tree.matches(graph)}
        self._in_tree.update(there)

    def lacking(self) -> Iterator[str]:
        """Yield the annotations that the file lacks, without which phenomena cannot be found."""
        if self._phenomena and self._sentences and not self._graphs:
            yield f"no enhanced graphs (DEPS), without which {', '.join(self._phenomena)} cannot be found."
            return
        for code in self._phenomena:
            if self._in_tree[code] >= SEVERAL and code not in self._found:
                yield (
                    f"{self._in_tree[code]:,} sentences have the pattern of {code} in the tree, but none the edges of "
                    "the enhanced graph (DEPS) that the query asks for. The treebank seems to lack these edges, so "
                    f"that {code} cannot be found in it."
                )


def _search(queries: Iterable[Query], graph: Graph) -> Iterable[tuple[Query, tuple[Target, ...]]]:
    """Yield each query with the targets of each place where it is found, the same targets once."""
    seen = set()
    for query in queries:
        for binding in query.matches(graph):
            targets = query.targets_of(graph, binding)
            key = tuple(target.key for target in targets)
            if key not in seen:
                seen.add(key)
                yield query, targets


def _cells(target: Target, words: Sequence[str]) -> list[str]:
    head, dependent = write_nodes(target.heads, words), write_nodes(target.dependents, words)
    return [target.item, target.phenomenon, str(int(target.positive)), head, target.type, dependent]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Vetted:
    """Candidates after vetting.

    Attributes
    ----------
    gold : GoldTargets
        Targets that were accepted.
    counts : DataFrame
        Numbers of candidates that were ``vetted`` and ``accepted`` by phenomenon.
    """

    gold: GoldTargets
    counts: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return `counts`."""
        return self.counts

    def __repr__(self) -> str:
        """Return a line with the numbers of candidates."""
        return f"Vetted: {self.counts['accepted'].sum()} of {self.counts['vetted'].sum()} candidates accepted"


def read_vetted(path: str | Path, *, name: str | None = None) -> Vetted:
    """Read candidates after vetting.

    Parameters
    ----------
    path : str or Path
        File that `Candidates.save` wrote, with decisions in the first column of targets. Targets of one sentence
        and phenomenon are one candidate; it is accepted if any of its targets is, and vetted if all have a decision.
    name : str, optional
        Name of the gold set; by default that of the file.

    Returns
    -------
    Vetted
        Targets that were accepted, and the counts.

    Raises
    ------
    FaultsError
        If a decision is none of yes, no and edit, or a target does not fit its sentence.
    DataError
        If nothing was accepted, or the file is a treebank.

    Warns
    -----
    LangdiffWarning
        If words of accepted targets differ from those of the sentence, case and punctuation aside.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "vetted.tsv"
    ...     text = "# sentence;s1;She looked up words;yes;s1;vpart;1;looked-1+up-2;ARG2;words-3"
    ...     _ = path.write_text(text.replace(";", chr(9)).replace(f"words{chr(9)}yes", f"words{chr(10)}yes"))
    ...     read_vetted(path)
    Vetted: 1 of 1 candidates accepted
    """
    path = as_path(path)
    refuse_treebank(path)
    sentences: dict[str, tuple[str, ...]] = {}
    treebanks: dict[str, str] = {}
    treebank = ""
    accepted: dict[tuple[str, ...], int] = {}  # the line of each target, which several candidates may have
    decisions: dict[tuple[str, str], list[str]] = {}
    faults = []
    for number, line in read_lines(path):
        cells = line.rstrip().split("\t")  # spreadsheets fill rows up with empty cells
        if line.startswith(TREEBANK):
            treebank = cells[0].removeprefix(TREEBANK).strip()
        elif cells[0] == "# sentence" and len(cells) == 3:
            sentences[cells[1]] = tuple(cells[2].split())
            treebanks |= {cells[1]: treebank} if treebank else {}
        elif line.strip() and not line.startswith("#"):
            decision, *own = [cell.strip() for cell in cells]
            if len(own) != CELLS or decision not in ("", *DECISIONS):
                what = "a line needs a decision (yes, no, edit or empty) and the six cells of a target."
                faults.append(Fault(str(path), number, what))
                continue
            decisions.setdefault((own[1], own[0]), []).append(decision)
            if decision in ("yes", "edit"):
                accepted.setdefault(tuple(own), number)
    if not accepted and not faults:
        raise DataError(f"{path}: no candidate was accepted; write yes in the first column of targets.")
    name = name or re.sub(r"\.\w+$", "", path.name)
    targets = [(number, list(own)) for own, number in accepted.items()]
    gold = collect_targets(targets, str(path), sentences, faults, treebanks=treebanks, name=name, origin="vetted")
    rows = [
        (code, "" not in own, any(own_one in ("yes", "edit") for own_one in own))
        for (code, _), own in decisions.items()
    ]
    counts = pd.DataFrame(rows, columns=["phenomenon", "vetted", "accepted"]).groupby("phenomenon", sort=False).sum()
    return Vetted(gold=gold, counts=counts.reset_index())
