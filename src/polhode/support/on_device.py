"""Arrays of CuPy, PyTorch, JAX and others that are already on the GPU: found by
`__cuda_array_interface__` or by DLPack."""

from __future__ import annotations

import ctypes
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from polhode.core.loops import cuda
from polhode.errors import InputError

INSTALL = "pip install 'polhode[cuda]'"
DTYPES = ("float64", "float32")
ON_GPU = (2, 13)  # kinds of memory that DLPack calls CUDA, and CUDA managed


def require() -> Any:
    """numba's CUDA module, or an error that says what to install."""
    why = cuda.obstacle()
    if why is not None:
        raise InputError(
            f"device='cuda' needs a CUDA GPU, its driver and numba-cuda, but {why}; install with: {INSTALL}, "
            "or leave device='cpu'"
        )
    from numba import cuda as module

    return module


class OnDevice:
    """Numbers on the GPU; NumPy reads them as an array of floats, which is copied to the host once."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.ndim = array, tuple(array.shape), len(array.shape)

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def host(self) -> np.ndarray:
        """The same numbers in the memory of the host."""
        return on_host(self.array)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process has the numbers in the memory of the host."""
        return np.asarray, (self.host,)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.host, dtype=dtype, copy=copy)

    def columns(self) -> list[Any]:
        """Arrays (n,) of the GPU, one for each number that an entry (n, ...) has."""
        return [number_of(self.array, place) for place in np.ndindex(self.shape[1:])]


def number_of(rows: Any, place: tuple[int, ...]) -> Any:
    """Of each entry of an array of the GPU the number at a place, as an array (n,)."""
    if not place:
        return rows
    out = require().device_array(len(rows), rows.dtype)
    cuda.launch_over(len(rows), cuda.plain(cuda.one_number), rows, place, out)
    return out


def part_of(rows: Any, place: slice) -> Any:
    """Some columns of an array (n, width) of the GPU, as an array without gaps."""
    out = require().device_array((len(rows), place.stop - place.start), rows.dtype)
    cuda.launch_over(len(rows), cuda.plain(cuda.some_columns), rows, place.start, out)
    return out


def rows_of(rows: Any, numbers: np.ndarray) -> np.ndarray:
    """Some rows of an array of the GPU, in the memory of the host."""
    module = require()
    out = module.device_array((len(numbers), rows.shape[1]), rows.dtype)
    there = module.to_device(numbers)
    cuda.launch_over(len(numbers), cuda.plain(cuda.some_rows), rows, there, out)
    return on_host(out)


def on_host(numbers: Any) -> np.ndarray:
    """Numbers as an array of floats in the memory of the host, wherever they lie."""
    if isinstance(numbers, np.ndarray):
        return numbers
    return numbers.copy_to_host().astype(float, copy=False)


def read_in_place(what: str, value: Any, device: str) -> Any:
    """`value`, or an OnDevice in place of an array that lies on a GPU."""
    if not hasattr(value, "__cuda_array_interface__") and _place(value)[0] not in ON_GPU:
        return value
    if device != "cuda":
        raise InputError(
            f"{what} lies on a GPU, and device={device!r} reads the memory of the host; write device='cuda', "
            "or copy it to the host"
        )
    return OnDevice(_adopted(what, value))


def _adopted(what, value):
    """numba's array over the memory of another's, checked."""
    module, there = require(), _place(value)[1]
    here = getattr(module.get_current_device(), "id", 0)  # the simulator's has no number
    if there not in (None, here):
        raise InputError(
            f"{what} lies on GPU {there}, and the run is on GPU {here}; copy it there, or choose the GPU with "
            f"numba.cuda.select_device({there})"
        )
    interface, owner = getattr(value, "__cuda_array_interface__", None), value
    if interface is None:
        # of the default stream, in which the kernels run
        owner = value.__dlpack__(stream=1)
        interface = _interface(owner)
    kind, shape = np.dtype(interface["typestr"]).name, tuple(interface["shape"])
    if kind not in DTYPES or interface.get("mask") is not None or 0 in shape:
        raise InputError(
            f"{what} must be an array of {' or '.join(DTYPES)} on the GPU, without a mask and not empty, got "
            f"{kind} of shape {shape}; convert it"
        )
    if hasattr(module, "from_cuda_array_interface"):
        return module.from_cuda_array_interface(interface, owner)
    # in the simulator the memory is the host's
    view = np.asarray(SimpleNamespace(__array_interface__=interface))
    return module.to_device(np.ascontiguousarray(view))


def _place(value):
    """(kind of memory, number of the device) in the numbering of DLPack; None if they are unknown."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack_device__"):
        return None, None
    kind, number = value.__dlpack_device__()
    return int(kind), int(number)


# --- DLPack ---------------------------------------------------------------------------------------


KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # codes of types, in NumPy's letters


class _Tensor(ctypes.Structure):
    """DLTensor, with which a DLManagedTensor begins."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


def _interface(capsule):
    """The array of a DLPack capsule as `__cuda_array_interface__` would say it; the capsule keeps
    the memory."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    size = tensor.bits // 8
    return {
        "shape": tuple(tensor.shape[: tensor.ndim]),
        "strides": tuple(size * one for one in tensor.strides[: tensor.ndim])
        if tensor.strides
        else None,
        "typestr": f"<{KINDS.get(tensor.code, 'V')}{size}",
        "data": (tensor.data + tensor.offset, False),
        "version": 3,
    }
