"""Surprisal of a string under a model of subwords, marginalized over segmentations."""

from collections.abc import Sequence
from math import log

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
import torch.nn.functional as F
from scipy.special import logsumexp
from torch import Tensor

from langdiff.base.types import generator
from langdiff.errors import ConfigError
from langdiff.lm.device import one_thread, single_precision
from langdiff.lm.lstm.model import LanguageModel
from langdiff.lm.lstm.network import AWDLSTM
from langdiff.lm.scoring import Scoring
from langdiff.lm.texts import check_texts
from langdiff.lm.units.alphabet import SPACE
from langdiff.lm.units.bpe import BPEUnits
from langdiff.lm.units.characters import Ids

Floats = npt.NDArray[np.float64]


def marginal_surprisal(
    model: LanguageModel,
    texts: Sequence[str] | pd.Series,
    *,
    samples: int = 100,
    seed: int | np.random.Generator,
    price_replaced: bool = True,
) -> pd.DataFrame:
    r"""Estimate the bits of strings, summed over all their segmentations into subwords.

    A model of subwords gives a string :math:`x` the probability of all unit sequences :math:`s` that
    decode to it. `LanguageModel.surprisal` counts only the canonical one, :math:`c`, which is what can
    be had exactly and never too few bits. The others are estimated by importance sampling,

    .. math:: \hat p(x) = p(c) + \frac1K \sum_{k=1}^K \frac{p(s_k)}{q(s_k)} \, [s_k \ne c], \quad s_k \sim q,

    where q draws most words canonically and a few as the model does, unit by unit among those that
    continue the string. The estimate of the probability is unbiased, so that of the surprisal,
    :math:`-\log_2 \hat p(x)`, is in expectation not below the marginal; it is never above the canonical.

    References
    ----------
    Cao & Rimell (2021), You should evaluate your language model on marginal likelihood over
    tokenizations: the same question for other models, with a proposal from the tokenizer.

    Examples
    --------
    >>> from langdiff.lm import train_language_model
    >>> texts = ["low lower lowest", "slow slower slowest"] * 60
    >>> model = train_language_model(texts, texts[:9], recipe="bpe-tiny", seed=0, progress=False)
    >>> frame = marginal_surprisal(model, ["low slow lowest"], samples=20, seed=0)
    >>> bool((frame["bits"] <= frame["canonical_bits"]).all())
    True
    """
    rng = generator(seed)
    if not isinstance(model.units, BPEUnits):
        raise ConfigError(
            f"{model.recipe.name} does not predict subwords of SentencePiece, the only units whose segmentations can "
            "be summed."
        )
    if not isinstance(model.network, AWDLSTM) or model.ngrams is not None:
        raise ConfigError(
            f"{model.recipe.name} is not a plain LSTM, the only network that can follow other segmentations."
        )
    if samples < 2:
        raise ConfigError(f"samples must be at least 2, got {samples}.")
    network = model.network
    series = check_texts(texts, "texts")
    canonical = model.surprisal(series, scoring=Scoring(price_replaced=price_replaced))["bits"]
    # which characters were replaced costs the same under all segmentations
    prices = [model.alphabet.replaced_bits(text) if price_replaced else 0.0 for text in series]
    pieces = _pieces(model.units)
    rows = []
    with one_thread():
        for text, bits, own in zip(series, canonical - prices, rng.spawn(len(series)), strict=True):
            seen = model.alphabet.apply(text)
            lattice = _Lattice(seen, pieces, model.units.encode(seen), end=model.units.size)
            log_weights, others = _sample(network, lattice, samples, own)
            rows.append(_gap(log_weights[others] + bits * log(2), samples))
    gap = pd.DataFrame(rows, columns=["gap", "std_error"], index=series.index, dtype=float)
    return pd.DataFrame(
        {
            "bits": canonical - gap["gap"],
            "std_error": gap["std_error"],
            "canonical_bits": canonical,
            "gap": gap["gap"],
        }
    )


def _gap(log_ratios: Floats, samples: int) -> tuple[float, float]:
    """Return log2(1 + mean ratio) and its standard error.

    Shapes: log_ratios (N,).
    """
    if not len(log_ratios):
        return 0.0, 0.0
    total = float(np.logaddexp(0.0, logsumexp(log_ratios) - log(samples)))  # ln(1 + mean)
    shares = np.zeros(samples)
    shares[: len(log_ratios)] = np.exp(log_ratios - total)
    return total / log(2), float(shares.std(ddof=1) / np.sqrt(samples) / log(2))


def _pieces(units: BPEUnits) -> dict[str, int]:
    """Return the string of every unit, including an initial space, which decoding drops from the first."""
    pieces = {}
    for number in range(units.size):
        twice = units.decode([number, number])  # one symbol short if the unit begins with a space
        pieces[twice[-((len(twice) + 1) // 2) :]] = number
    return pieces


class _Lattice:
    """Units that may follow at each position of a string, and the canonical one where there is one.

    The places are those of the string after one space, as the first unit's space is not decoded; the
    last place is where only the end symbol may come.

    Attributes
    ----------
    units, places : ndarray of int64, shape (N + 1, C)
        Units that may come at a place, and where they lead.
    allowed : ndarray of bool, shape (N + 1, C)
        False at padding.
    canonical : ndarray of int64, shape (N + 1,)
        Column of the canonical unit; -1 where the canonical segmentation has no boundary.
    starts : ndarray of bool, shape (N + 2,)
        Where words begin, which is with their space, and after the end: all segmentations pass here, as
        no unit has a space but at its beginning.
    """

    def __init__(self, text: str, pieces: dict[str, int], canonical: Ids, end: int) -> None:
        spaced = SPACE + text
        longest = max(map(len, pieces))
        steps = []
        for place in range(len(spaced)):
            stops = range(place + 1, min(place + longest, len(spaced)) + 1)
            steps.append([(pieces[spaced[place:stop]], stop) for stop in stops if spaced[place:stop] in pieces])
        if not text.startswith(SPACE):
            steps[0] += steps[1]  # without its space the first unit gives the same string
        steps.append([(end, len(spaced) + 1)])
        shape = (len(steps), max(map(len, steps)))
        self.units, self.places = np.full(shape, end), np.zeros(shape, dtype=np.int64)
        self.allowed = np.zeros(shape, dtype=bool)
        for place, step in enumerate(steps):
            self.units[place, : len(step)], self.places[place, : len(step)] = np.array(step).T
            self.allowed[place, : len(step)] = True
        self.canonical = np.full(len(steps), -1)
        place = 0
        for unit in (*canonical, end):
            self.canonical[place] = int(np.flatnonzero(self.units[place] == unit)[0])
            place = self.places[place, self.canonical[place]]
        self.starts = np.array([symbol == SPACE for symbol in spaced] + [True, True])


@torch.no_grad()
@single_precision()
def _sample(
    network: AWDLSTM, lattice: _Lattice, samples: int, rng: np.random.Generator
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Draw segmentations; return ln p/q of each, and whether it differs from the canonical one."""
    draws = _Draws(lattice, samples, rng)
    symbols = np.array([len(network.embedding) - 1])
    state = [(network.embedding.new_zeros(1, lstm.size),) * 2 for lstm in network._layers()]
    while len(draws.alive):
        log_p, state = _step(network, symbols, state)  # (M, V)
        parent, symbols = draws.advance(log_p)
        rows = torch.from_numpy(parent).to(network.embedding.device)
        state = [(hidden[rows], cell[rows]) for hidden, cell in state]
    return draws.log_weights, draws.others


class _Draws:
    """Partial draws of K segmentations through a lattice.

    Each word is drawn in one of two ways: with probability `free` unit by unit from the model, among
    the units that continue the string, else canonically. As `free` is one over the words, most
    draws differ from the canonical segmentation in a word or two, which is where the mass is; the model
    alone would go astray in many words at once, and no such draw is likely.

    Draws that have the same units so far share a node, so that the network reads them once.
    """

    def __init__(self, lattice: _Lattice, samples: int, rng: np.random.Generator) -> None:
        self.lattice, self.rng = lattice, rng
        self.free = min(0.5, 1 / int(lattice.starts[:-2].sum()))
        self.log_weights, self.others = np.zeros(samples), np.zeros(samples, dtype=bool)
        self.alive, self.node = np.arange(samples), np.zeros(samples, dtype=np.int64)  # (K,)
        self.place = np.zeros(1, dtype=np.int64)  # (M,)
        self.is_free = rng.random(samples) < self.free
        # of the word that is being drawn: ln q if it was drawn freely, and whether it is canonical
        self.log_q, self.same = np.zeros(samples), np.ones(samples, dtype=bool)

    def advance(self, log_p: Floats) -> tuple[Ids, Ids]:
        """Draw the next unit of all segmentations; return the parent and the last unit of each node after it.

        Shapes: log_p (M, V).
        """
        lattice, alive, node = self.lattice, self.alive, self.node
        log_p = np.take_along_axis(log_p, lattice.units[self.place], axis=1)  # (M, C)
        log_p[~lattice.allowed[self.place]] = -np.inf
        log_q = log_p - logsumexp(log_p, axis=1, keepdims=True)
        place = self.place[node]
        freely = (log_q[node] + self.rng.gumbel(size=(len(node), log_p.shape[1]))).argmax(axis=1)
        choice = np.where(self.is_free[alive], freely, lattice.canonical[place])
        self.log_weights[alive] += log_p[node, choice]
        self.log_q[alive] += log_q[node, choice]
        self.same[alive] &= choice == lattice.canonical[place]
        after = lattice.places[place, choice]
        self._end_words(alive[lattice.starts[after]])
        going = after < len(lattice.units)
        self.alive = alive[going]
        width = log_p.shape[1]
        children, self.node = np.unique((node * width + choice)[going], return_inverse=True)
        parent, choice = np.divmod(children, width)
        before, self.place = self.place[parent], lattice.places[self.place[parent], choice]
        return parent, lattice.units[before, choice]

    def _end_words(self, draws: Ids) -> None:
        """Divide by q of the finished word, under a mixture of two proposals; draw the proposal of the next word."""
        canonically = np.where(self.same[draws], np.log1p(-self.free), -np.inf)
        self.log_weights[draws] -= np.logaddexp(canonically, log(self.free) + self.log_q[draws])
        self.others[draws] |= ~self.same[draws]
        self.is_free[draws] = self.rng.random(len(draws)) < self.free
        self.log_q[draws], self.same[draws] = 0.0, True


def _step(
    network: AWDLSTM, symbols: Ids, state: list[tuple[Tensor, Tensor]]
) -> tuple[Floats, list[tuple[Tensor, Tensor]]]:
    """Process a symbol in each of K states; return ln p of the next, (K, V), and the new states."""
    x = F.embedding(torch.from_numpy(symbols).to(network.embedding.device), network.embedding)  # (K, E)
    after = []
    for lstm, before in zip(network._layers(), state, strict=True):
        weights = (lstm.input, lstm.recurrent, lstm.input_bias, lstm.recurrent_bias)
        x, cell = torch.lstm_cell(x, before, *weights)  # (K, H)
        after.append((x, cell))
    log_p: Floats = F.log_softmax(network.logits(x), dim=-1).cpu().double().numpy()
    return log_p, after
