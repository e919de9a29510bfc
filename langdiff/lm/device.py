"""Device of computations, its threads, and single precision without replacement by TF32."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import RLock

import torch

from langdiff.errors import ConfigError

_lock = RLock()
_users = 0  # guarded computations that are running, nested or in other threads
_undo = ExitStack()  # what the last of them to end restores


def find_device(name: str) -> torch.device:
    """Return the device of this name; ``"auto"`` is CUDA where available, else the CPU.

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
    """Limit torch to one thread, so that results do not depend on the machine and editions run in parallel."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def single_precision() -> Iterator[None]:
    """Compute matrix products, convolutions and recurrent layers of float32 with its full mantissa of 24 bits.

    PyTorch's switches (``torch.backends.….fp32_precision`` and `torch.set_float32_matmul_precision`) are the same
    for all threads. They are restored when the last of the computations that run at the same time ends.
    Computations in bfloat16 that a recipe asks for are not affected.

    Examples
    --------
    >>> torch.set_float32_matmul_precision("high")
    >>> with single_precision():
    ...     torch.backends.cuda.matmul.fp32_precision
    'ieee'
    >>> torch.backends.cuda.matmul.fp32_precision
    'tf32'
    >>> torch.set_float32_matmul_precision("highest")
    """
    global _users, _undo
    with _lock:
        if _users == 0:
            _undo = _set_switches()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _undo.close()


def _set_switches() -> ExitStack:
    """Set all switches to IEEE; return a function that restores them.

    A switch says what it has been set to or, if it is "none", what its parent says: ``all`` of its backend, then that
    of all backends. What was set is restored, not what was inherited, so that parents which the user sets later have
    their effect.
    """
    with ExitStack() as undo:
        for backend in ("generic", "cuda", "mkldnn"):  # parents first, as their children are to be read without them
            _set(undo, backend, "all", "none")
        for backend in ("cuda", "mkldnn"):
            _set(undo, backend, "matmul", "ieee")
        torch._C._set_fp32_precision_setter("generic", "all", "ieee")
        for backend in ("cuda", "mkldnn"):
            for operation in ("conv", "rnn"):
                # cuDNN's are TF32 by default unless a parent is set, a state to which no setter returns
                if torch._C._get_fp32_precision_getter(backend, operation) != "ieee":
                    _set(undo, backend, operation, "ieee")
        # the older switch, which some kernels still read; it can be read now that no other says TF32
        before = torch.get_float32_matmul_precision()
        if before != "highest":
            undo.callback(torch.set_float32_matmul_precision, before)
            torch.set_float32_matmul_precision("highest")
        return undo.pop_all()


def _set(undo: ExitStack, backend: str, operation: str, value: str) -> None:
    """Set a switch, and record how to restore it."""
    # not by `torch.backends`: mkldnn.fp32_precision of torch 2.13 would set that of all backends
    before = torch._C._get_fp32_precision_getter(backend, operation)
    undo.callback(partial(torch._C._set_fp32_precision_setter, backend, operation, before))
    torch._C._set_fp32_precision_setter(backend, operation, value)
