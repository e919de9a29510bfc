"""Connections to Dask clusters: one that runs already, or workers of this machine."""

import logging
import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

import torch

from langdiff.errors import ConfigError, MissingExtraError
from langdiff.lm.device import find_device

LOCAL = "local"
_HOST = "127.0.0.1"  # other machines cannot connect
_QUIET = logging.WARNING  # of what Dask says of workers of this machine
MEMORY_PER_WORKER = 5 << 29  # bytes; 2.5 GiB is the peak of `char-residual` on a whole Bible (docs/language-models.md)


@contextmanager
def dask_executor(address: str, *, device: str = "auto", workers: int | None = None) -> Iterator[Executor]:
    """Connect to a Dask cluster inside the block, for the `executor` of `langdiff.compute_surprisals`.

    Parameters
    ----------
    address : str
        ``"local"`` for workers of this machine, which are started and ended with the block, the address of a scheduler
        (``"tcp://host:8786"``), or the path of its file (``"….json"``).
    device : str
        Device that jobs will ask for: with ``"auto"`` and ``"cuda"`` local workers get one GPU each, where there are
        any.
    workers : int, optional
        Number of local workers; by default one per GPU, or as many as cores and memory allow.

    Yields
    ------
    Executor
        ``Client.get_executor()``.

    Raises
    ------
    ConfigError
        If there is no scheduler at the address, or no such device here.
    MissingExtraError
        If Dask is not installed.
    """
    distributed = _import_distributed()
    with ExitStack() as stack:
        if address == LOCAL:
            find_device(device)  # better now than in every worker
            cluster = distributed.SpecCluster(
                scheduler={
                    "cls": distributed.Scheduler,
                    "options": {"host": _HOST, "port": 0, "dashboard": False, "dashboard_address": f"{_HOST}:0"},
                },
                workers={
                    number: {"cls": distributed.Nanny, "options": options}
                    for number, options in enumerate(local_workers(device, workers))
                },
                silence_logs=_QUIET,
            )
            target = {"address": stack.enter_context(cluster)}
        else:
            target = {"scheduler_file" if address.endswith(".json") else "address": address}
        try:
            client = stack.enter_context(distributed.Client(**target))
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"there is no Dask scheduler at {address!r} ({error}). Start one (`dask scheduler`) and give the "
                "address that it prints, or 'local' for workers of this machine."
            ) from error
        yield client.get_executor()


def local_workers(device: str = "auto", workers: int | None = None) -> list[dict[str, Any]]:
    """Return the options of each worker process of this machine.

    Parameters
    ----------
    device : str
        Device that jobs will ask for. ``"auto"`` and ``"cuda"`` share the visible GPUs out, one per worker in turn.
    workers : int, optional
        Number of workers; by default one per GPU, else per core, as far as there is memory.

    Returns
    -------
    list of dict
        Keyword arguments of `distributed.Nanny`: one thread, an equal share of the memory (bytes), environment.
    """
    from dask.system import CPU_COUNT  # of this process, which may be allowed fewer than the machine has
    from distributed.system import MEMORY_LIMIT

    gpus = _visible_gpus() if device in ("auto", "cuda") else []
    if workers is None:
        workers = max(1, min(len(gpus) or CPU_COUNT, MEMORY_LIMIT // MEMORY_PER_WORKER))
    options = {"host": _HOST, "nthreads": 1, "memory_limit": MEMORY_LIMIT // workers, "silence_logs": _QUIET}
    return [
        options | {"env": {"CUDA_VISIBLE_DEVICES": gpus[number % len(gpus)]} if gpus else {}}
        for number in range(workers)
    ]


def _visible_gpus() -> list[str]:
    """Return the names by which CUDA_VISIBLE_DEVICES selects the GPUs that this process may use."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = torch.cuda.device_count()
    return named.split(",")[:count] if named else [str(number) for number in range(count)]


def _import_distributed() -> ModuleType:
    try:
        import distributed
    except ImportError as error:
        raise MissingExtraError("Dask is not installed: pip install 'langdiff[cluster]'.") from error
    return distributed
