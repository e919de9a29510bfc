"""Device of computations, its threads, and whether TF32 replaces single precision."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import RLock
from typing import Any

import numpy.typing as npt
import torch

from langdiff.errors import ConfigError

_KINDS = ("cpu", "cuda")  # of devices for which the networks of this package are written

_lock = RLock()
_users: Counter[bool] = Counter()  # guarded computations that are running, nested or in other threads, by `tf32`
_set_to: bool | None = None  # what the switches are set to for them
_undo = ExitStack()  # what restores them


def find_device(name: str, *, any_kind: bool = False) -> torch.device:
    """Return the device of this name; ``"auto"`` is CUDA where available, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"device {name!r} cannot be used here ({reason}). Use 'auto' or 'cpu'.") from error
    if device.type not in _KINDS and not any_kind:
        raise ConfigError(
            f"device {str(device)!r}: networks are trained and scored on CPUs and on CUDA devices only; on "
            f"{device.type!r} sums in double precision are missing, or results were never checked. Use 'auto' or 'cpu'."
        )
    return device


def to_device(device: torch.device, array: npt.NDArray[Any]) -> torch.Tensor:
    """Copy to a device, asynchronously for a GPU."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def empty_cache(device: torch.device) -> None:
    """Release unused memory of a GPU, after it has run out."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


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
def single_precision(*, tf32: bool = False) -> Iterator[None]:
    """Compute matrix products, convolutions and recurrent layers of float32 with its full mantissa of 24 bits.

    Notes
    -----
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
    _count(tf32, 1)
    try:
        yield
    finally:
        _count(tf32, -1)


def _count(tf32: bool, change: int) -> None:
    """Change the number of running computations, and set the switches as these need them."""
    global _set_to, _undo
    with _lock:
        _users[tf32] += change
        needed = next((kind for kind in (False, True) if _users[kind]), None)
        if needed != _set_to:
            _undo.close()
            _undo = ExitStack() if needed is None else _set_switches(tf32=needed)
            _set_to = needed


def _set_switches(*, tf32: bool) -> ExitStack:
    """Set all switches to IEEE, or those of CUDA to TF32; return a function that restores them.

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
        if tf32:
            _allow_tf32(undo)
        return undo.pop_all()


def _allow_tf32(undo: ExitStack) -> None:
    """Set the switches of CUDA to TF32, after all have been set to IEEE."""
    torch._C._set_fp32_precision_setter("generic", "all", "none")  # so that its children are read without it
    for operation in ("conv", "rnn"):
        _set(undo, "mkldnn", operation, "ieee")
    undo.callback(torch.set_float32_matmul_precision, "highest")
    torch.set_float32_matmul_precision("high")  # with the older switch, which has to agree
    torch._C._set_fp32_precision_setter("mkldnn", "matmul", "ieee")
    torch._C._set_fp32_precision_setter("generic", "all", "tf32")  # which cuDNN inherits
    for operation in ("conv", "rnn"):
        if torch._C._get_fp32_precision_getter("cuda", operation) != "tf32":
            _set(undo, "cuda", operation, "tf32")


def _set(undo: ExitStack, backend: str, operation: str, value: str) -> None:
    """Set a switch, and record how to restore it."""
    # not by `torch.backends`: mkldnn.fp32_precision of torch 2.13 would set that of all backends
    before = torch._C._get_fp32_precision_getter(backend, operation)
    undo.callback(partial(torch._C._set_fp32_precision_setter, backend, operation, before))
    torch._C._set_fp32_precision_setter(backend, operation, value)
