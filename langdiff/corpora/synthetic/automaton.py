"""Probabilistic automata: sources of strings whose entropy is known, also for predictors that see a short window."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import regex

from langdiff.base.types import ROUNDING_OF_SUMS, Floats, generator
from langdiff.errors import ConfigError, DataError, listing

MOST_CONTEXTS = 10**6

Transitions = Sequence[Mapping[str, tuple[float, int]]]


@dataclass(frozen=True)
class Automaton:
    r"""A deterministic probabilistic automaton, which emits a symbol with each transition and ends some time.

    With :math:`M_a` the matrix of probabilities of symbol a, :math:`P = \sum_a M_a` and the start s, states are visited
    :math:`V = s (I - P)^{-1}` times in the mean. The length is :math:`V \cdot 1`, the entropy V times the entropy of
    each state. A predictor that sees the m − 1 symbols before needs at least

    .. math:: \sum_{|c| < m-1} f(s M_c) + \sum_{|c| = m-1} f(V M_c)

    bits, in which f(u) is the sum of the weights u times the entropy of the next symbol under them.

    Attributes
    ----------
    transitions : sequence of mappings
        For each state, symbol to probability and next state; what is missing to 1 is the probability of the end.
        Symbols are single characters (extended grapheme clusters).
    start : int
        State in which strings begin; none ends there, so that no string is empty.

    Raises
    ------
    ConfigError
        If probabilities are out of range, the start can end, a symbol is not a single character, or a state is not
        known, cannot be reached or cannot end.

    Examples
    --------
    >>> golden = Automaton([{"a": (0.5, 1), "b": (0.5, 2)}, {"a": (0.45, 1), "b": (0.45, 2)}, {"a": (1, 1)}])
    >>> round(golden.length(), 6), round(golden.entropy(), 6), round(golden.local_entropy(1), 6)
    (16.0, 14.689956, 19.171079)
    """

    transitions: Transitions
    start: int = 0

    def __post_init__(self) -> None:
        """Check that the automaton describes a distribution over strings that are not empty."""
        count = len(self.transitions)
        if not 0 <= self.start < count:
            raise ConfigError(f"start: there is no state {self.start!r}; states are 0 to {count - 1}.")
        self._check_transitions()
        if self._ends[self.start] > 0:
            raise ConfigError(
                f"state {self.start} is the start and can end: strings would be empty. Raise the rest to 1."
            )
        follows = (self._total > 0).astype(float)
        reached = np.linalg.matrix_power(np.eye(count) + follows, count) > 0
        for what, states in (
            ("cannot be reached", ~reached[self.start]),
            ("cannot end", ~reached[:, self._ends > 0].any(axis=1)),
        ):
            if states.any():
                raise ConfigError(f"{states.sum()} state(s) {what}: {listing(np.flatnonzero(states).tolist())}.")

    def _check_transitions(self) -> None:
        count = len(self.transitions)
        for number, state in enumerate(self.transitions):
            for symbol, (probability, then) in state.items():
                where = f"state {number}, symbol {symbol!r}"
                if not regex.fullmatch(r"\X", symbol):
                    raise ConfigError(f"{where}: a symbol must be a single character.")
                if not 0 < probability <= 1:
                    raise ConfigError(f"{where}: a probability above 0 and up to 1 is needed, got {probability!r}.")
                if not 0 <= then < count:
                    raise ConfigError(f"{where}: there is no state {then!r}; states are 0 to {count - 1}.")
            total = sum(probability for probability, _ in state.values())
            if total > 1 + ROUNDING_OF_SUMS:
                raise ConfigError(f"state {number}: probabilities sum to {total:g}, more than 1.")

    @classmethod
    def random(
        cls, n_states: int, n_symbols: int, *, end: float = 0.05, seed: int | np.random.Generator = 0
    ) -> "Automaton":
        """Draw an automaton in which every state has a transition with every symbol.

        Parameters
        ----------
        n_states : int
            Number of states that follow the start.
        n_symbols : int
            Number of symbols, at most 26.
        end : float
            Probability of the end in each state but the start.
        seed : int or numpy.random.Generator
            Seed of probabilities, uniform over distributions, and of next states.

        Returns
        -------
        Automaton
            An automaton in which every state can be reached; it is drawn until this is so.

        Raises
        ------
        ConfigError
            If a number is out of range.

        Examples
        --------
        >>> Automaton.random(4, 3, seed=1).length()  # one symbol, then ends at 1 in 20: 1 + 1 + 19
        21.0
        """
        if n_states < 1 or not 1 <= n_symbols <= 26 or not 0 < end < 1:
            raise ConfigError(
                f"n_states must be at least 1, n_symbols 1 to 26 and end between 0 and 1; got {n_states!r}, "
                f"{n_symbols!r} and {end!r}."
            )
        rng = generator(seed)
        symbols = [chr(ord("a") + number) for number in range(n_symbols)]
        for _ in range(1000):
            shares = rng.dirichlet(np.ones(n_symbols), n_states + 1)
            shares[1:] *= 1 - end
            then = rng.integers(1, n_states + 1, size=shares.shape)
            rows = [
                {symbol: (float(p), int(q)) for symbol, p, q in zip(symbols, *each, strict=True)}
                for each in zip(shares, then, strict=True)
            ]
            seen = {0}
            for _ in range(n_states):
                seen |= {int(state) for each in seen for state in then[each]}
            if len(seen) == n_states + 1:
                return cls(rows)
        raise ConfigError(f"no automaton of {n_states} states was found in which every state can be reached; lower it.")

    def length(self) -> float:
        """Return the expected number of symbols of a string, its end included."""
        return round(float(self._visits.sum()), 12)

    def entropy(self) -> float:
        """Return the entropy of a string in bits."""
        return float(
            sum(visits * self._next_entropy(np.eye(len(self._ends))[q]) for q, visits in enumerate(self._visits))
        )

    def local_entropy(self, m: int) -> float:
        """Return the expected bits of a string by the best predictor that sees the last m − 1 symbols.

        It also knows whether the string began within them, as an n-gram of order m does.

        Parameters
        ----------
        m : int
            Order of the predictor, at least 1.

        Returns
        -------
        float
            At least the entropy; equal if m − 1 symbols tell the state.

        Raises
        ------
        ConfigError
            If m is less than 1, or there are more than a million contexts.

        Examples
        --------
        >>> even = Automaton([{"a": (0.5, 1), "b": (0.5, 2)}, {"a": (0.45, 1), "b": (0.45, 2)}, {"b": (1, 1)}])
        >>> [round(even.local_entropy(m), 3) for m in (1, 3, 6)]
        [19.171, 16.668, 15.403]
        """
        begun, anywhere = self._contexts(m)
        return float(sum(self._next_entropy(weights) for weights in [*begun.values(), *anywhere.values()]))

    def information(self, texts: Iterable[str]) -> Floats:
        """Return the bits of each of some strings, infinite if the automaton cannot emit it.

        Parameters
        ----------
        texts : iterable of str
            Strings of its symbols.

        Returns
        -------
        ndarray of float
            Minus log2 of the probability of each string.
        """
        return np.array([self._bits(text) for text in texts])

    def local_information(self, texts: Iterable[str], m: int) -> Floats:
        """Return the bits of each of some strings by the best predictor that sees the last m − 1 symbols.

        Parameters
        ----------
        texts : iterable of str
            Strings of its symbols.
        m : int
            Order of the predictor, as in `local_entropy`.

        Returns
        -------
        ndarray of float
            Bits of each string, infinite if the automaton cannot emit it.

        Raises
        ------
        ConfigError
            If m is less than 1, or there are more than a million contexts.
        """
        begun, anywhere = self._contexts(m)
        known = {(True, context): weights for context, weights in begun.items()}
        known |= {(False, context): weights for context, weights in anywhere.items()}
        costs = {key: self._costs(weights) for key, weights in known.items()}
        return np.array([_priced(regex.findall(r"\X", text), costs, m) for text in texts])

    def texts(self, n_texts: int, *, seed: int | np.random.Generator = 0) -> pd.Series:
        """Draw strings independently.

        Parameters
        ----------
        n_texts : int
            Number of strings.
        seed : int or numpy.random.Generator
            Seed of the choices.

        Returns
        -------
        Series of str
            Strings, none of them empty, named 1, 2, ….

        Raises
        ------
        DataError
            If the number is less than 1.
        """
        if n_texts < 1:
            raise DataError(f"n_texts must be at least 1, got {n_texts!r}.")
        rng = generator(seed)
        states = [
            ([*state], np.cumsum([p for p, _ in state.values()]), [then for _, then in state.values()])
            for state in self.transitions
        ]
        drawn = [_drawn(states, self.start, self._ends, rng) for _ in range(n_texts)]
        return pd.Series(drawn, index=[str(number + 1) for number in range(n_texts)], dtype=object)

    def _bits(self, text: str) -> float:
        bits, state = 0.0, self.start
        for symbol in regex.findall(r"\X", text):
            if symbol not in self.transitions[state]:
                return np.inf
            probability, state = self.transitions[state][symbol]
            bits -= np.log2(probability)
        return float(bits - np.log2(self._ends[state])) if self._ends[state] > 0 else np.inf

    def _contexts(self, m: int) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return weights of states by context: at the beginning, shorter than m − 1, and after m − 1 symbols."""
        if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or m < 1:
            raise ConfigError(f"m must be a whole number from 1 up, got {m!r}.")
        start = np.eye(len(self._ends))[self.start]
        begun: dict[str, Floats] = {}
        first, later = {"": start}, {"": self._visits}
        for _ in range(m - 1):
            begun |= first
            first, later = self._extended(first, m), self._extended(later, m)
        return begun, later

    def _extended(self, contexts: dict[str, Floats], m: int) -> dict[str, Floats]:
        """Return contexts that are one symbol longer, with their weights of states."""
        found = {}
        for context, weights in contexts.items():
            for symbol, matrix in self._matrices.items():
                if (after := weights @ matrix).any():
                    found[context + symbol] = after
            if len(found) > MOST_CONTEXTS:
                raise ConfigError(f"m = {m}: there are more than {MOST_CONTEXTS:,} contexts; lower m.")
        return found

    def _costs(self, weights: Floats) -> dict[str, float]:
        """Return the bits of each next symbol, and of the end as the empty text, under weights of states."""
        masses = {symbol: float((weights @ matrix).sum()) for symbol, matrix in self._matrices.items()}
        masses[""] = float(weights @ self._ends)
        total = float(weights.sum())
        return {symbol: float(-np.log2(mass / total)) for symbol, mass in masses.items() if mass > 0}

    def _next_entropy(self, weights: Floats) -> float:
        """Return the sum of the weights times the entropy of the next symbol in bits."""
        return float(weights.sum() * sum(2.0**-bits * bits for bits in self._costs(weights).values()))

    @cached_property
    def _matrices(self) -> dict[str, Floats]:
        count = len(self.transitions)
        symbols = sorted({symbol for state in self.transitions for symbol in state})
        found = {symbol: np.zeros((count, count)) for symbol in symbols}
        for number, state in enumerate(self.transitions):
            for symbol, (probability, then) in state.items():
                found[symbol][number, then] = probability
        return found

    @cached_property
    def _total(self) -> Floats:
        count = len(self.transitions)
        return sum(self._matrices.values(), np.zeros((count, count)))

    @cached_property
    def _ends(self) -> Floats:
        missing = 1 - self._total.sum(axis=1)
        return np.where(missing > ROUNDING_OF_SUMS, missing, 0.0)

    @cached_property
    def _visits(self) -> Floats:
        start = np.eye(len(self._ends))[self.start]
        visits: Floats = np.linalg.solve((np.eye(len(start)) - self._total).T, start)
        return visits


def _drawn(
    states: list[tuple[list[str], Floats, list[int]]], start: int, ends: Floats, rng: np.random.Generator
) -> str:
    """Draw a string, given each state's symbols, their cumulative probabilities and next states."""
    found: list[str] = []
    state = start
    while True:
        symbols, cumulative, then = states[state]
        place = int(np.searchsorted(cumulative, rng.random(), side="right"))
        if place == len(symbols):
            if ends[state] > 0:
                return "".join(found)
            place -= 1  # rounding: the state does not end
        found.append(symbols[place])
        state = then[place]


def _priced(symbols: list[str], costs: dict[tuple[bool, str], dict[str, float]], m: int) -> float:
    bits = 0.0
    for place, symbol in enumerate([*symbols, ""]):
        context = "".join(symbols[max(place - m + 1, 0) : place])
        bits += costs.get((place < m - 1, context), {}).get(symbol, np.inf)
    return bits
