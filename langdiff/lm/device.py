"""Device of computations, its threads and generators, and whether TF32 replaces single precision."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import Any

import numpy as np
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


# PyTorch's switches by where they are set, parents first: of all backends, of one, and of what a backend computes
_BACKENDS: Any = torch.backends
_PARENTS = (_BACKENDS, _BACKENDS.cudnn, _BACKENDS.mkldnn)
_MATMUL = (_BACKENDS.cuda.matmul, _BACKENDS.mkldnn.matmul)
_CUDNN, _MKLDNN = ((backend.conv, backend.rnn) for backend in (_BACKENDS.cudnn, _BACKENDS.mkldnn))


def _set_switches(*, tf32: bool) -> ExitStack:
    """Set all switches to IEEE, or those of CUDA to TF32; return a function that restores them.

    A switch says what it has been set to or, if it is "none", what its parent says: that of its backend, then that
    of all backends. What was set is restored, not what was inherited, so that parents which the user sets later have
    their effect.
    """
    with ExitStack() as undo:
        for parent in _PARENTS:  # first, as their children are to be read without them
            _set(undo, parent, "none")
        for switch in _MATMUL:
            _set(undo, switch, "ieee")
        _write(_BACKENDS, "ieee")
        for switch in (*_CUDNN, *_MKLDNN):
            # cuDNN's are TF32 by default unless a parent is set, a state to which no setter returns
            if switch.fp32_precision != "ieee":
                _set(undo, switch, "ieee")
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
    _write(_BACKENDS, "none")  # so that its children are read without it
    for switch in _MKLDNN:
        _set(undo, switch, "ieee")
    undo.callback(torch.set_float32_matmul_precision, "highest")
    torch.set_float32_matmul_precision("high")  # with the older switch, which has to agree
    _write(_BACKENDS.mkldnn.matmul, "ieee")
    _write(_BACKENDS, "tf32")  # which cuDNN inherits
    for switch in _CUDNN:
        if switch.fp32_precision != "tf32":
            _set(undo, switch, "tf32")


def _set(undo: ExitStack, switch: Any, value: str) -> None:
    """Set a switch, and record how to restore it."""
    undo.callback(_write, switch, switch.fp32_precision)
    _write(switch, value)


def _write(switch: Any, value: str) -> None:
    """Set a switch alone."""
    if switch is _BACKENDS.mkldnn:  # whose property would set that of all backends (torch 2.13)
        switch.set_flags(_fp32_precision=value)
    else:
        switch.fp32_precision = value


def torch_generator(rng: np.random.Generator, device: torch.device | str = "cpu") -> torch.Generator:
    """Return a PyTorch generator seeded from a NumPy generator fresh from a seed or from ``spawn``.

    Examples
    --------
    >>> from langdiff.base.types import generator
    >>> first, second = (torch_generator(child).initial_seed() for child in generator(7).spawn(2))
    >>> first == second, first == torch_generator(generator(7).spawn(2)[0]).initial_seed()
    (False, True)
    """
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
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield
