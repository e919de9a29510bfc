"""A pretend CUDA device: tensors that say they are on a GPU, computed on the CPU; what a GPU waits for is counted.

For builds of PyTorch without CUDA. `Pretend` is a process's only device from then on, so that tests start one in a
process of their own. Each operator of PyTorch goes through `Pretend.run`, which computes it on the CPU and notes

* an error where one operator gets tensors of both devices, as CUDA would raise;
* a synchronization where the host has to know what was computed: a number, an array, a size that depends on data;
* a blocking copy where something goes to the device from memory that is not pinned, or not asynchronously.

Memory, streams, the speed of kernels and the rounding of a GPU are not pretended. A layer of an LSTM is one operator,
as in cuDNN; in bfloat16 it is computed in single precision from rounded numbers, and its results are rounded.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_map

CUDA = torch.device("cuda", 0)
_HERE = Path(__file__).parent
# operators that return another view of the same memory, for which no kernel runs
_VIEWS = {"view", "_unsafe_view", "_reshape_alias", "reshape", "t", "transpose", "permute", "slice", "select", "expand"}
_VIEWS |= {"unsqueeze", "squeeze", "detach", "alias", "as_strided", "chunk", "split", "split_with_sizes", "unbind"}
_COPIES = {"_to_copy", "copy_"}
_PRODUCTS = {"mm", "addmm", "bmm", "baddbmm"}
_MASKS = (torch.bool, torch.uint8)


class Event(NamedTuple):
    """Something that a GPU waits for, and the line of the package where it happens."""

    kind: str
    line: str


def compile_guard(folder):
    """Compile what PyTorch asks of a device in C++; return the library, for LD_PRELOAD of a process with the device."""
    torch_at, library = Path(torch.__file__).parent, Path(folder) / "guard.so"
    includes = [f"-I{torch_at / 'include'}", f"-I{torch_at / 'include/torch/csrc/api/include'}"]
    command = ["g++", "-std=c++20", "-O0", "-shared", "-fPIC", *includes, str(_HERE / "guard.cpp"), "-o", str(library)]
    libraries = [f"-L{torch_at / 'lib'}", f"-Wl,-rpath,{torch_at / 'lib'}", "-lc10", "-ltorch_cpu"]
    subprocess.run([*command, *libraries], check=True)
    return library


class OnDevice(torch.Tensor):
    """A tensor that says it is on the device, and holds one on the CPU."""

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(
            cls, held.shape, strides=held.stride(), storage_offset=held.storage_offset(), dtype=held.dtype, device=CUDA
        )

    def __init__(self, held):
        self.held = held

    def __repr__(self):
        return f"OnDevice({self.held})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return Pretend.only.run(func, args, kwargs or {})


class Pretend(TorchDispatchMode):
    """The device, within a block.

    Attributes
    ----------
    operators : Counter of str
        Kernels that would have been started.
    waits, copies : Counter of Event
        Synchronizations, and blocking copies to the device.
    products : Counter of str
        Products of single precision, by what PyTorch's switches say of TF32.
    memory_units : int or None
        Symbols that a network can read at once; with more, memory runs out.
    refuses_bf16 : bool
        Whether layers in bfloat16 are refused, as by cuDNN on a GPU that is too old.
    """

    only = None  # the device of this process

    def __init__(self):
        super().__init__()
        Pretend.only = self
        self.operators, self.waits, self.copies, self.products = Counter(), Counter(), Counter(), Counter()
        self.memory_units, self.refuses_bf16 = None, False
        self._pinned = {}  # storages, kept so that their addresses are not used again
        torch.cuda._lazy_init = lambda: None
        torch.cuda.is_bf16_supported = lambda including_emulation=True: True
        torch.cuda.is_tf32_supported = lambda: True
        torch.__future__.set_overwrite_module_params_on_conversion(True)
        torch.utils._foreach_utils._foreach_supported_types.append(OnDevice)
        lstm = torch._VF.lstm
        torch._VF.lstm = lambda x, *rest: self._lstm(lstm, x, *rest) if isinstance(x, OnDevice) else lstm(x, *rest)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.run(func, args, kwargs or {})

    def counts(self):
        """Return how much has happened so far."""
        return tuple(each.copy() for each in (self.operators, self.waits, self.copies, self.products))

    def run(self, func, args, kwargs):
        """Compute an operator on the CPU, and note what a GPU would have waited for."""
        name = func._schema.name.removeprefix("aten::")
        tensors = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
        here = [x for x in tensors if isinstance(x, OnDevice)]
        there = [x for x in tensors if not isinstance(x, OnDevice)]
        if name in ("is_pinned", "_pin_memory"):
            return self._pin(name, args[0])
        asked = kwargs.get("device")
        to_device = bool(here) if asked is None else torch.device(asked).type == "cuda"
        if here and name not in _COPIES and any(x.dim() for x in there):
            raise RuntimeError(f"{func} got tensors of two devices at {_line()}")
        self._note(func, name, tensors, here, to_device=to_device, kwargs=kwargs)
        kwargs = {key: value for key, value in kwargs.items() if key not in ("pin_memory", "non_blocking")}
        if asked is not None:
            kwargs["device"] = torch.device("cpu")
        found = func(*tree_map(_held, args), **tree_map(_held, kwargs))
        if not to_device:
            return found
        known = {id(x.held): x for x in here}  # an operator in place returns what it was given

        def on_device(x):
            if not isinstance(x, torch.Tensor):
                return x
            return known[id(x)] if id(x) in known else OnDevice(x)

        return tree_map(on_device, found)

    def _note(self, func, name, tensors, here, *, to_device, kwargs):
        """Count a kernel, and what the host or the device waits for."""
        if not (here or to_device):
            return
        if name not in _VIEWS:
            self.operators[name] += 1
        if name == "embedding" and self.memory_units is not None and tensors[1].numel() > self.memory_units:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        if name in _PRODUCTS and here[0].dtype == torch.float32:
            self.products[torch.backends.cuda.matmul.fp32_precision] += 1
        if name in _COPIES:
            self._note_copy(tensors, to_device=to_device, asynchronous=bool(kwargs.get("non_blocking")))
        elif name in ("index", "index_put", "index_put_", "_index_put_impl_"):
            if any(x.dtype in _MASKS for x in here[1:]):
                self.waits[Event("indicator as index", _line())] += 1
        elif {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output} & set(func.tags):
            self.waits[Event(name, _line())] += 1

    def _note_copy(self, tensors, *, to_device, asynchronous):
        """Count a copy between the devices."""
        source = tensors[-1]
        if isinstance(source, OnDevice):
            if not (to_device and isinstance(tensors[0], OnDevice)):
                self.waits[Event("to the host", _line())] += 1
        elif to_device and source.dim():
            pinned = source.untyped_storage().data_ptr() in self._pinned
            if not (pinned and asynchronous):
                self.copies[Event("waits" if pinned else "not pinned", _line())] += 1

    def _pin(self, name, tensor):
        if name == "is_pinned":
            return tensor.untyped_storage().data_ptr() in self._pinned
        with _disable_current_modes():
            copy = tensor.clone()
        self._pinned[copy.untyped_storage().data_ptr()] = copy
        return copy

    def _lstm(self, lstm, x, begin, weights, *settings):
        """Compute a layer as cuDNN does: one operator, whose input, state and weights have one type and device."""
        tensors = [x, *begin, *weights]
        if not all(isinstance(tensor, OnDevice) for tensor in tensors):
            raise RuntimeError(f"an LSTM got tensors of two devices at {_line()}")
        if len({tensor.dtype for tensor in tensors}) > 1:
            raise RuntimeError(f"an LSTM got {sorted({str(tensor.dtype) for tensor in tensors})} at {_line()}")
        if self.refuses_bf16 and x.dtype == torch.bfloat16:
            raise RuntimeError("cuDNN error: CUDNN_STATUS_NOT_SUPPORTED")
        if x.dtype == torch.float32:
            self.products[torch.backends.cudnn.rnn.fp32_precision] += 1
        return _Layer.apply(lstm, settings, *tensors)


class _Layer(torch.autograd.Function):
    """A layer of an LSTM, and its gradients."""

    @staticmethod
    def forward(ctx, lstm, settings, *tensors):
        Pretend.only.operators["lstm"] += 1
        with _disable_current_modes(), torch.enable_grad():
            given = [tensor.held.detach().float().requires_grad_() for tensor in tensors]
            found, hidden, cell = lstm(given[0], tuple(given[1:3]), given[3:], *settings)
        ctx.given, ctx.found, ctx.dtype = given, (found, hidden, cell), tensors[0].dtype
        return tuple(OnDevice(each.detach().to(ctx.dtype)) for each in ctx.found)

    @staticmethod
    def backward(ctx, *gradients):
        Pretend.only.operators["lstm_backward"] += 1
        with _disable_current_modes():
            asked = torch.autograd.grad(ctx.found, ctx.given, [each.held.float() for each in gradients])
        return None, None, *(OnDevice(each.to(ctx.dtype)) for each in asked)


def _held(x):
    return x.held if isinstance(x, OnDevice) else x


def _line():
    """Return the innermost line of the package; the device's own thread, which goes backward, has none."""
    frame = sys._getframe()
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.parts[-4:-1] == ("langdiff", "lm", path.parent.name) or path.parts[-3:-1] == ("langdiff", "lm"):
            return f"{path.parent.name}/{path.name}:{frame.f_lineno}"
        frame = frame.f_back
    return "backward"
