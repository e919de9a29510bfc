"""How evenly a tokenizer uses its tokens, and how freely they combine."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from langdiff.errors import ConfigError, DataError

USUAL_ALPHA = 2.5  # the order with which Zouhar et al. (2023) found the highest correlation with BLEU


def renyi_entropy(counts: Mapping[Hashable, int], alpha: float) -> float:
    r"""Return the Rényi entropy of a distribution of tokens, in bits; Shannon's for α = 1.

    .. math:: H_\alpha = \frac{1}{1 - \alpha} \log_2 \sum_t p_t^\alpha, \quad H_1 = -\sum_t p_t \log_2 p_t

    Parameters
    ----------
    counts : mapping from token to int
        Tokens by type, all positive.
    alpha : float
        Order of the entropy, positive.

    Examples
    --------
    >>> renyi_entropy({"a": 2, "b": 2}, 2.5), renyi_entropy({"a": 2, "b": 2}, 1)
    (1.0, 1.0)
    """
    share = np.array(list(counts.values()), dtype=float)
    share /= share.sum()
    if alpha == 1:
        return float(-(share * np.log2(share)).sum()) + 0.0
    most = np.log(share.max())  # taken out, so that nothing cancels for α near 1, nor underflows for a great one
    rest = np.log1p((share * np.expm1((alpha - 1) * (np.log(share) - most))).sum()) / (alpha - 1)
    return float(-(most + rest) / np.log(2)) + 0.0


def efficiencies(counts: Mapping[Hashable, int], bigrams: int, alpha: float) -> dict[str, float]:
    """Return entropies, efficiencies and accessor variety by name; an efficiency of one type of token is NaN."""
    most = np.log2(len(counts))
    entropy = {"renyi": renyi_entropy(counts, alpha), "shannon": renyi_entropy(counts, 1)}
    found = {f"{name}_entropy": bits for name, bits in entropy.items()}
    found |= {f"{name}_efficiency": bits / most if most else np.nan for name, bits in entropy.items()}
    return found | {"accessor_variety": bigrams / len(counts)}


def check_alpha(alpha: float) -> None:
    """Refuse an order that is not positive and finite."""
    if not (np.isfinite(alpha) and alpha > 0):
        raise ConfigError(f"alpha={alpha!r}: the order of the entropy is positive and finite, such as 2.5.")


def diagnose_tokens(tokens: Iterable[Sequence[Hashable]], *, alpha: float = USUAL_ALPHA) -> pd.Series:
    r"""Measure how evenly tokens are used, and how many neighbours they have.

    The efficiency of an entropy is its quotient by the greatest that is possible with the types of token that occur,
    :math:`\log_2 V`. The accessor variety of a token is the number of different tokens beside it; its mean over
    types, which is the same to the left and to the right, is the number of different pairs of neighbours divided by V.
    All three depend on how much text there is: compare editions of the same content.

    Parameters
    ----------
    tokens : iterable of sequences
        Tokens of each text; neighbours are counted inside a text.
    alpha : float
        Order α of the Rényi entropy.

    Returns
    -------
    Series of float
        ``tokens``, ``types``, ``renyi_entropy`` and ``shannon_entropy`` (bits per token), ``renyi_efficiency``,
        ``shannon_efficiency``, ``accessor_variety``. Efficiencies are NaN if there is one type only.

    Raises
    ------
    ConfigError
        If `alpha` is not positive.
    DataError
        If there is no token.

    References
    ----------
    Zouhar, Meister, Gastaldi, Du, Sachan and Cotterell (2023), "Tokenization and the Noiseless Channel"; Feng, Chen,
    Deng and Zheng (2004), "Accessor variety criteria for Chinese word extraction"; Poelman, Bauwens and de Lhoneux
    (2025), "Confounding factors in relating model performance to morphology".

    Examples
    --------
    >>> diagnose_tokens(["pick @@ed pick @@l @@ed pick @@les".split()]).round(4)
    tokens                7.0000
    types                 4.0000
    renyi_entropy         1.6530
    shannon_entropy       1.8424
    renyi_efficiency      0.8265
    shannon_efficiency    0.9212
    accessor_variety      1.2500
    dtype: float64
    """
    check_alpha(alpha)
    counts: Counter[Hashable] = Counter()
    pairs: set[tuple[Hashable, Hashable]] = set()
    for text in tokens:
        if isinstance(text, str) or not isinstance(text, Iterable):
            raise DataError(f"{text!r:.20} is not a sequence of tokens; give one list of tokens per text.")
        counts.update(text)
        pairs.update(pairwise(text))
    if not counts:
        raise DataError("there is no token.")
    found = {"tokens": float(counts.total()), "types": float(len(counts))}
    return pd.Series(found | efficiencies(counts, len(pairs), alpha))
