"""Changes to treebanks: random ones with the response of divergences, words in another order, lemmas for words."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd

import langdiff
from langdiff.base.grids import Shown
from langdiff.base.io import as_path
from langdiff.base.progress import followed
from langdiff.base.result import Drawn, Result, rounded
from langdiff.base.signature import full_signature, name_of_number, name_of_seed
from langdiff.base.suspicion import report
from langdiff.base.types import (
    Floats,
    Integers,
    Reordering,
    check_choice,
    check_choices,
    generator,
    keyed_random,
    seed_number,
)
from langdiff.errors import ConfigError, DataError, Fault, option
from langdiff.treebanks.conllu import Repeats, Tree, read_sentences, sentence_tree, warn_left_out, word_number
from langdiff.treebanks.pairwise import COLUMNS, Column, between, between_halves
from langdiff.treebanks.tables import AVERAGED, SimilaritySettings
from langdiff.treebanks.treebank import Codes, Treebank, file_name

if TYPE_CHECKING:
    from langdiff.tables.multitext import Multitext


SENT_ID = "# sent_id ="
LEMMA = 2  # column
Perturbation = Literal["relations", "heads", "order"]
KINDS: tuple[Perturbation, ...] = get_args(Perturbation)
RATES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)


def perturb(
    treebank: Treebank,
    rate: float,
    *,
    kind: Perturbation = "relations",
    seed: int | np.random.Generator = 0,
) -> Treebank:
    """Return a copy in which some words, each chosen with probability `rate`, are changed.

    Parameters
    ----------
    treebank : Treebank
        Treebank to copy; it is not changed.
    rate : float
        Probability with which each word is chosen, between 0 and 1.
    kind : {"relations", "heads", "order"}
        Kind of change. Give chosen words other than root words a relation at random, as frequent as in the treebank
        (so perhaps their own); or attach them to a random word of the sentence that is not below them; or let all
        chosen words of a sentence change places at random, each keeping its label and its head.
    seed : int or numpy.random.Generator
        Seed of the choice of words and of their changes.

    Returns
    -------
    Treebank
        The copy, with the same name and the same lengths of sentences.

    Raises
    ------
    ConfigError
        If `rate` is out of range or `kind` is unknown.

    Examples
    --------
    >>> from langdiff.treebanks.conllu import Tree
    >>> tree = Tree(("I", "run"), ("PRON", "VERB"), (2, 0), ("nsubj", "root"))
    >>> corpus = Treebank.from_trees([tree], name="eng")
    >>> perturb(corpus, 1.0, kind="order", seed=0).parents
    array([-1,  0], dtype=int32)
    """
    _check_change(kind, rate)
    rng = generator(seed, "words to change")
    chosen = rng.random(treebank.words) < rate
    if kind == "order":
        return _reordered(treebank, np.flatnonzero(chosen), rng)
    words = np.flatnonzero(chosen & (treebank.parents >= 0))
    if kind == "heads":
        return replace(treebank, parents=_reattached(treebank, words, rng))
    deprels = treebank.deprels.copy()
    deprels[words] = rng.choice(treebank.deprels[treebank.parents >= 0], len(words)) if len(words) else 0
    return replace(treebank, deprels=deprels)


def _reordered(treebank: Treebank, words: Integers, rng: np.random.Generator) -> Treebank:
    sentence = np.repeat(np.arange(treebank.sentences), treebank.lengths)
    shuffled = words[np.lexsort((rng.random(len(words)), sentence[words]))]  # within each sentence
    place = np.arange(treebank.words)  # of every word, after
    place[shuffled] = words
    parents = np.empty_like(treebank.parents)
    upos, deprels = np.empty_like(treebank.upos), np.empty_like(treebank.deprels)
    parents[place] = np.where(treebank.parents < 0, -1, place[treebank.parents])
    upos[place], deprels[place] = treebank.upos, treebank.deprels
    return replace(treebank, parents=parents, upos=upos, deprels=deprels)


def _reattached(treebank: Treebank, words: Integers, rng: np.random.Generator) -> Codes:
    parents = treebank.parents.copy()
    sentence = np.searchsorted(treebank.starts, words, side="right") - 1
    for word, start, end in zip(words, treebank.starts[sentence], treebank.starts[sentence + 1], strict=True):
        head = int(rng.integers(start, end))
        while _is_above(word, head, parents):
            head = int(rng.integers(start, end))
        parents[word] = head
    return parents


def _is_above(word: int, other: int, parents: Codes) -> bool:
    """Return whether `other` is `word` or below it."""
    while other >= 0:
        if other == word:
            return True
        other = int(parents[other])
    return False


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PerturbationCurve(Result):
    """Divergence of perturbed copies from their source.

    Attributes
    ----------
    treebank : str
        Name of the source.
    table : DataFrame
        One row per kind, rate, repeat and metric: ``divergence``, D(source ‖ copy).
    noise : Series, index: metric
        Divergence of random halves of the source.
    signature : str
        Settings and a hash of the treebank, to be quoted with the numbers.
    """

    treebank: str
    table: pd.DataFrame
    noise: pd.Series
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per kind, rate and metric: mean ``divergence`` and ``std`` over repeats."""
        cells = self.table.groupby(["kind", "rate", "metric"], sort=False)["divergence"]
        return cells.agg(divergence="mean", std="std").reset_index()

    def _lines(self) -> Iterator[str]:
        yield f"Divergence of copies of {self.treebank!r}"

    def _table(self) -> pd.DataFrame:
        wide = self.to_frame().pivot(index=["kind", "rate"], columns="metric", values="divergence")
        return rounded(wide[list(self.noise.index)], self.digits)

    def tables(self) -> list[Shown]:
        """Return the mean divergences, one row per kind and rate, and those of random halves."""
        halves = self.noise.round(4).to_frame("halves").T
        return [Shown(self._table(), "divergence"), Shown(halves, "noise", "Random halves of the treebank")]

    plot = Drawn("plot_perturbation")

    def __repr__(self) -> str:
        """Return a line with the treebank, the kinds and the number of rates."""
        kinds, rates = self.table["kind"].unique(), self.table["rate"].nunique()
        return f"PerturbationCurve of {self.treebank!r}: {', '.join(kinds)} at {rates} rates"


def perturbation_curve(
    treebank: Treebank,
    *,
    rates: Sequence[float] = RATES,
    kinds: Perturbation | Sequence[Perturbation] = KINDS,
    settings: SimilaritySettings | None = None,
    n_repeats: int = 3,
    seed: int | np.random.Generator = 0,
    progress: bool | None = None,
) -> PerturbationCurve:
    """Measure how divergence from a treebank grows with the share of its words that are changed.

    Parameters
    ----------
    treebank : Treebank
        Treebank from which all copies are made.
    rates : sequence of float
        Shares of words to change, between 0 and 1; at least one.
    kinds : str or sequence of str
        Kinds of change: ``"relations"``, ``"heads"`` or ``"order"`` (see `perturb`); at least one.
    settings : SimilaritySettings, optional
        Settings of the comparison of copies with the source; ``rescale`` must be off, since only one treebank
        is compared.
    n_repeats : int
        Number of copies of each kind and rate, and of divisions of the source into halves.
    seed : int or numpy.random.Generator
        Seed of the copies and of the halves of the source.
    progress : bool, optional
        Draw a bar on stderr; by default only on a terminal.

    Returns
    -------
    PerturbationCurve
        Divergence of every copy from the source, and of random halves of the source.

    Raises
    ------
    ConfigError
        If a rate or kind is invalid or none is given, `n_repeats` is below 1, or settings ask for ``rescale``.
    DataError
        If the treebank has one sentence, so that it cannot be divided into halves.

    Notes
    -----
    The experiment that Zykova (section 3) makes with parsers, whose output is a treebank with errors.

    Examples
    --------
    >>> from langdiff.treebanks.conllu import Tree
    >>> bark = Tree(("dogs", "bark"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
    >>> eat = Tree(("dogs", "eat", "them"), ("NOUN", "VERB", "PRON"), (2, 0, 2), ("nsubj", "root", "obj"))
    >>> corpus = Treebank.from_trees([bark, eat] * 20, name="dogs")
    >>> curve = perturbation_curve(corpus, rates=[0, 0.5], kinds=["relations"], seed=0, progress=False)
    >>> curve.to_frame().query("metric == 'mean'")["divergence"].round(2).tolist()
    [0.0, 1.28]
    """
    settings = settings or SimilaritySettings()
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    _check_curve(treebank, rates, kinds, settings, n_repeats)
    rng = generator(seed)
    named = name_of_seed(seed, rng)
    rows = []
    copies = list(itertools.product(kinds, rates, range(n_repeats)))
    for kind, rate, repeat in followed(copies, "copies", progress=progress, note=lambda copy: str(copy[0])):
        copy = perturb(treebank, rate, kind=kind, seed=rng)
        apart = _with_mean(between([treebank, copy], settings)[:, 0, 1])
        rows += [(kind, float(rate), repeat, metric, value) for metric, value in apart.items()]
    halves = [between_halves(treebank, settings, rng) for _ in range(n_repeats)]
    parts = {
        "kinds": ",".join(kinds),
        "rates": ",".join(name_of_number(rate) for rate in rates),
        "repeats": n_repeats,
        "seed": named,
        "treebank": f"#{treebank.digest}",
    }
    return PerturbationCurve(
        treebank=treebank.name,
        table=pd.DataFrame(rows, columns=["kind", "rate", "repeat", "metric", "divergence"]),
        noise=pd.Series(_with_mean(np.mean(halves, axis=0)), name="noise"),
        signature=f"{settings.signature}|{full_signature(parts)}",
    )


def _check_curve(
    treebank: Treebank, rates: Sequence[float], kinds: Sequence[str], settings: SimilaritySettings, n_repeats: int
) -> None:
    """Check all arguments before any copy is made."""
    if not (len(rates) and kinds):
        raise ConfigError("a curve needs at least one rate and one kind.")
    if n_repeats < 1:
        raise ConfigError(f"{option('n_repeats')} must be at least 1; got {n_repeats}.")
    if settings.rescale:
        raise ConfigError(
            "rescale divides by the largest of all treebanks, but a curve has one treebank; leave rescale out."
        )
    for kind, rate in itertools.product(kinds, rates):
        _check_change(kind, rate)
    if treebank.sentences < 2:
        raise DataError(f"Treebank {treebank.name!r} needs at least two sentences to estimate the noise floor.")


def _check_change(kind: str, rate: float) -> None:
    check_choice("kind", kind, KINDS)
    if not 0 <= rate <= 1:
        raise ConfigError(f"{option('rate')} must be between 0 and 1; got {rate!r}.")


def _with_mean(values: Floats) -> dict[Column, float]:
    return dict(zip(COLUMNS, map(float, [*values, values[: len(AVERAGED)].mean()]), strict=True))


def reorder(
    treebank: str | Path,
    kinds: Reordering | Iterable[Reordering],
    *,
    name: str | None = None,
    seed: int = 0,
) -> "Multitext":
    r"""Return the sentences of a treebank as texts, with words in a chosen order or replaced by lemmas.

    Parameters
    ----------
    treebank : str or Path
        CoNLL-U file, plain or compressed. Sentences that are not trees are left out with a warning.
    kinds : str or iterable of str
        ``"forms"``: words as they are, joined by spaces. ``"head-final"``: all dependents before their head, in their
        order. ``"head-initial"``: all after it. ``"random-grammar"``: one weight from −1 to 1 is drawn for each
        relation (without subtype); dependents stand in the order of weights, those below 0 before the head.
        ``"lemmas"``: lemmas for words, where there are any.
    name : str, optional
        Name of the treebank; by default that of the file, without its endings.
    seed : int
        Seed of the weights, which depend on it and on the relation alone, so that all treebanks have one grammar.

    Returns
    -------
    Multitext
        Edition ``NAME`` of the forms, and ``NAME|KIND`` of every other kind, so that
        `langdiff.experiments.perturbation_contrasts` compares their bits. Intents are the ``sent_id`` of sentences, or
        their numbers where some have none.

    Raises
    ------
    ConfigError
        If a kind is unknown or given twice.
    DataError
        If the file cannot be read or has no tree.

    Notes
    -----
    All but ``lemmas`` keep the words of each sentence. They are no bijections: an order that was a choice is lost, so
    that a perfect model may need fewer bits. Ranges such as contractions are not used, but the words in them.

    References
    ----------
    Clark, Meister, Pimentel, Hahn, Cotterell, Futrell and Levy (2023), "A cross-linguistic pressure for uniform
    information density in word order", on grammars with weights.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = ["1 Dogs dog NOUN _ _ 2 nsubj _ _", "2 chase chase VERB _ _ 0 root _ _"]
    >>> rows += ["3 cats cat NOUN _ _ 2 obj _ _"]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "eng.conllu"
    ...     _ = path.write_text("\n".join(rows).replace(" ", "\t"))
    ...     reorder(path, ["head-final", "head-initial", "lemmas"]).to_frame().iloc[0].to_list()
    ['Dogs cats chase', 'chase Dogs cats', 'dog chase cat']
    """
    path, number = as_path(treebank), seed_number(seed)
    chosen: list[Reordering] = [kinds] if isinstance(kinds, str) else list(kinds)
    check_choices("kinds", chosen, get_args(Reordering))
    trees, lemmas, intents = _read(path)
    base = file_name(path) if name is None else name
    weights: dict[str, float] = {}
    for relation in {_universal(deprel) for tree in trees for deprel in tree.deprels}:
        weights[relation] = keyed_random(number, "random-grammar", relation).uniform(-1, 1)
    texts = {}
    for kind in chosen:
        words = (
            own if kind == "lemmas" else tuple(tree.forms[place - 1] for place in _order(tree, kind, weights))
            for tree, own in zip(trees, lemmas, strict=True)
        )
        edition = base if kind == "forms" else f"{base}|{kind}"
        texts[edition] = pd.Series([" ".join(each) for each in words], index=intents, dtype=object)
    kept = pd.Index(list(texts), name="edition")
    about = {"language": base, "base": base, "perturbation": [None if kind == "forms" else kind for kind in chosen]}
    made: Multitext = langdiff.read_frame(pd.DataFrame(texts), edition_info=pd.DataFrame(about, index=kept))
    return made


def _read(path: Path) -> tuple[list[Tree], list[tuple[str, ...]], list[str]]:
    """Return trees, lemmas of their words (forms where there is none), and intents."""
    trees, lemmas, ids, faults = [], [], [], []
    repeats = Repeats(str(path))
    for sentence in read_sentences(path):
        tree = sentence_tree(path, sentence.rows)
        if isinstance(tree, Fault):
            faults.append(tree)
            continue
        repeats.see(path, sentence.comments, tree)
        own = [cells[LEMMA] for _, cells in sentence.rows if word_number(cells[0]) is not None]
        trees.append(tree)
        lemmas.append(tuple(form if lemma == "_" else lemma for form, lemma in zip(tree.forms, own, strict=True)))
        ids += [line.partition("=")[2].strip() for line in sentence.comments if line.startswith(SENT_ID)][:1] or [""]
    warn_left_out(path, faults, len(trees))
    report(repeats.doubts.judged())
    if not trees:
        raise DataError(f"{path}: no sentence is a tree.")
    usable = "" not in ids and len(set(ids)) == len(ids)
    return trees, lemmas, ids if usable else [str(place) for place in range(1, len(trees) + 1)]


def _universal(deprel: str) -> str:
    return deprel.partition(":")[0]


def _order(tree: Tree, kind: str, weights: dict[str, float]) -> Sequence[int]:
    """Return the positions of words, from 1, in their new order."""
    if kind == "forms":
        return range(1, len(tree) + 1)
    before: list[list[int]] = [[] for _ in range(len(tree) + 1)]
    after: list[list[int]] = [[] for _ in range(len(tree) + 1)]
    for word, (head, deprel) in enumerate(zip(tree.heads, tree.deprels, strict=True), start=1):
        first = kind == "head-final" or (kind == "random-grammar" and weights[_universal(deprel)] < 0)
        (before if first else after)[head].append(word)
    if kind == "random-grammar":
        for some in (*before, *after):
            some.sort(key=lambda word: weights[_universal(tree.deprels[word - 1])])  # ties stay in their order
    found: list[int] = []
    waiting = [(word, False) for word in (*before[0], *after[0])]
    while waiting:  # not recursive: trees can be deep
        word, done = waiting.pop()
        if done:
            found.append(word)
        else:
            waiting += [(child, False) for child in reversed(after[word])]
            waiting.append((word, True))
            waiting += [(child, False) for child in reversed(before[word])]
    return found
