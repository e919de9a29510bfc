"""Sentences of a treebank with their words in another order, or with lemmas for words."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pandas as pd

import langdiff
from langdiff.base.archives import COMPRESSED
from langdiff.base.io import as_path
from langdiff.base.seeds import keyed_random, seed_number
from langdiff.base.suspicion import report
from langdiff.base.types import Reordering
from langdiff.errors import ConfigError, DataError, Fault, listing
from langdiff.treebanks.conllu import Repeats, Tree, read_sentences, sentence_tree, warn_left_out, word_number

if TYPE_CHECKING:
    from langdiff.tables.multitext import Multitext

SENT_ID = "# sent_id ="
LEMMA = 2  # column


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
    known = get_args(Reordering)
    if unknown := [kind for kind in chosen if kind not in known]:
        raise ConfigError(f"kinds: {listing(unknown)} is not known; there are {listing(known, most=len(known))}.")
    if not chosen or len(set(chosen)) < len(chosen):
        raise ConfigError(f"kinds: name at least one kind, and each once; got {chosen!r}.")
    trees, lemmas, intents = _read(path)
    base = name if name is not None else _stem(path)
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


def _stem(path: Path) -> str:
    plain = Path(path.name).with_suffix("") if path.suffix in COMPRESSED else Path(path.name)
    return plain.stem


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
