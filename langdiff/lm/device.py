"""The device that computes, and how many threads it uses."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from langdiff.errors import ConfigError


def find_device(name: str) -> torch.device:
    """Return the device of this name; ``"auto"`` is CUDA where there is one, else the CPU.

    Raises
    ------
    ConfigError
        If there is no such device on this machine.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"device {name!r} cannot be used here ({reason}). Use 'auto' or 'cpu'.") from error
    return device


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread: results do not depend on the machine, and editions run side by side."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
