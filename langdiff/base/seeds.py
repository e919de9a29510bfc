"""Random generators from seeds, for NumPy and PyTorch."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from numbers import Integral
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from langdiff.errors import ConfigError

if TYPE_CHECKING:
    import torch

NUMBERS = 2**32  # of seeds that can be drawn from a generator


def generator(seed: object, drawn: str = "") -> np.random.Generator:
    """Return a random generator made from a seed, or the generator given.

    Examples
    --------
    >>> int(generator(7).integers(100))
    94
    >>> generator(None, "bootstrap samples")
    Traceback (most recent call last):
    langdiff.errors.ConfigError: seed must be a whole number from 0 up or a numpy Generator, so that the result can be \
repeated (bootstrap samples are drawn at random); got None.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, Integral) or int(seed) < 0:
        why = f" ({drawn} are drawn at random)" if drawn else ""
        raise ConfigError(
            "seed must be a whole number from 0 up or a numpy Generator, so that the result can be repeated"
            f"{why}; got {seed!r}."
        )
    return np.random.default_rng(int(seed))


def seed_number(seed: object, drawn: str = "") -> int:
    """Return a seed as a number, for results stored under it; drawn from the generator if one is given.

    Examples
    --------
    >>> seed_number(7), seed_number(generator(7))
    (7, 4058335883)
    """
    rng = generator(seed, drawn)
    return int(rng.integers(NUMBERS)) if rng is seed else int(seed)  # type: ignore[call-overload]


def seed_numbers(seed: object, count: int) -> list[int]:
    """Return several seeds derived from one; the first do not depend on their number.

    Examples
    --------
    >>> seed_numbers(7, 3)[:2] == seed_numbers(7, 2)
    True
    """
    numbers: list[int] = np.random.SeedSequence(seed_number(seed)).generate_state(count).tolist()
    return numbers


def keyed_random(seed: int, kind: str, *key: str) -> Random:
    """Return a generator that depends only on a seed, a kind and a key, by a hash of the three.

    Examples
    --------
    >>> keyed_random(0, "shuffle", "eng").random() == keyed_random(0, "shuffle", "eng").random()
    True
    """
    digest = blake2b(repr((seed, kind, *key)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return Random(int.from_bytes(digest, "big"))  # noqa: S311  # NumPy's take three times as long to seed


def torch_generator(rng: np.random.Generator, device: "torch.device | str" = "cpu") -> "torch.Generator":
    """Return a PyTorch generator seeded from a NumPy generator fresh from a seed or from ``spawn``.

    Examples
    --------
    >>> first, second = (torch_generator(child).initial_seed() for child in generator(7).spawn(2))
    >>> first == second, first == torch_generator(generator(7).spawn(2)[0]).initial_seed()
    (False, True)
    """
    import torch  # langdiff is imported without it

    state = rng.bit_generator.seed_seq.generate_state(1)
    return torch.Generator(device).manual_seed(int(state[0]))


@contextmanager
def seeded_torch(seed: int) -> Iterator[None]:
    """Seed PyTorch's global generators on all devices within a block, and restore their states afterwards.

    Examples
    --------
    >>> import torch
    >>> before = torch.get_rng_state()
    >>> with seeded_torch(7):
    ...     round(float(torch.rand(1)), 4)
    0.5349
    >>> torch.equal(torch.get_rng_state(), before)
    True
    """
    import torch  # langdiff is imported without it

    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield
