"""A computation over tensors that stay in place, captured as a CUDA graph."""

from collections.abc import Callable
from functools import cache

import torch

from langdiff.lm.grouped.program import GroupLoss


@cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    """Return the stream on which everything captured runs, as capturing on torch's own is forbidden."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


class Captured:
    """Runs as it is the first time, and from the second time on as a graph of its kernels.

    The first run compiles what is to be compiled and lets the libraries set themselves up, which may
    not happen while a graph is captured.

    Parameters
    ----------
    run : callable
        Reads and writes the same tensors each time, and waits for no result.
    device : torch.device
        CUDA.
    siblings : list of CUDAGraph
        Graphs whose memory this one uses too, as none of them runs beside another; it is added to them.
        Their memory is theirs: a pool that has lost its last graph takes no other.
    """

    def __init__(
        self, run: Callable[[], GroupLoss], device: torch.device, siblings: list[torch.cuda.CUDAGraph]
    ) -> None:
        self._run = run
        self._device = device
        self._siblings = siblings
        self._runs = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: GroupLoss | None = None

    def __call__(self) -> GroupLoss:
        """Run; what is returned is overwritten by the next call."""
        stream = _stream(self._device)
        stream.wait_stream(torch.cuda.current_stream(self._device))
        try:
            with torch.cuda.stream(stream):
                if self._runs == 1:
                    self._capture()
                self._runs += 1
                if self._graph is None or self._result is None:
                    return self._run()
                self._graph.replay()
                return self._result
        finally:  # also if memory runs out, when what is running still uses some of it
            torch.cuda.current_stream(self._device).wait_stream(stream)

    def _capture(self) -> None:
        graph = torch.cuda.CUDAGraph()
        pool = self._siblings[0].pool() if self._siblings else None
        with torch.cuda.graph(graph, pool=pool, stream=_stream(self._device)):
            self._result = self._run()
        self._graph = graph
        self._siblings.append(graph)
