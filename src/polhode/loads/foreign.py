"""Torques behind C function pointers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple, Never

import numpy as np
from numpy.typing import ArrayLike

from polhode.core import callback
from polhode.errors import InputError, brief, choice
from polhode.loads import kernels as _kernels
from polhode.loads._torque import ZERO, Torque
from polhode.loads.arguments import potential_function
from polhode.loads.kernels import GROUND


class Callback(NamedTuple):
    """The address of a torque outside compiled code, in parts that single precision holds too; see
    core/callback.py."""

    high: float
    middle: float
    low: float

    @classmethod
    def to(cls, address: int) -> Callback:
        """Of a function at an address."""
        return cls(float(address >> 40), float(address >> 20 & 0xFFFFF), float(address & 0xFFFFF))


class Foreign(Torque):
    """A torque behind a C function pointer: `void f(double t, const double state[12], double
    out[3])`, spatial frame.

    `state` holds R row by row and then the body angular velocity.  Takes a ctypes function or an
    integer address.
    """

    feels_omega = feels_velocity = (
        False  # it gets the angular velocity; what it does with it is not known
    )

    def __init__(
        self,
        pointer: Any,
        *,
        frame: str = "spatial",
        potential: Callable[..., Any] | None = None,
        name: str = "foreign",
    ) -> None:
        self.pointer = pointer  # kept: a ctypes function dies with its last reference
        address = _address(pointer)
        if address is None or not 0 < address < 2**64:
            raise InputError(
                f"a foreign torque needs a C function or its address, got {brief(pointer)}; give one of ctypes, "
                "cffi or numba.cfunc"
            )
        self.frame, self.form, self.params = (
            choice("frame", frame, ("spatial", "body")),
            "tuple",
            None,
        )
        self.potential = potential_function(potential, None)
        self.uses_omega, self.uses_position, self.derivatives, self.name = True, False, (), name
        self.values_ = Callback.to(address)
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(
            address
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Torque:
        return copy(self)

    def __getstate__(self) -> Never:
        raise InputError(
            f"torque {self.name!r} is an address in this process, which means nothing in another one; load the C library "
            "there, in the function that the processes run"
        )

    def __call__(
        self,
        t: float,
        R: ArrayLike,
        omega: ArrayLike = ZERO,
        x: ArrayLike = ZERO,
        v: ArrayLike = ZERO,
    ) -> np.ndarray:
        state, out = np.concatenate([np.ravel(R), omega], dtype=float), np.zeros(3)
        self._call(t, state.ctypes.data, out.ctypes.data)
        return out

    function = __call__

    def with_lifted(self, what: str = "function") -> Torque:
        return self

    def kernel(self, setting: Any = GROUND) -> Callable[..., Any]:
        return callback.kernel if setting is GROUND else _kernels.on_ground(callback.kernel)

    @property
    def values(self) -> Any:
        return self.values_

    def source(self) -> tuple[Any, ...]:
        return self.name, self.potential

    def obstacle(self) -> None:
        return None


def _address(pointer):
    """Of a C function, or None."""
    if isinstance(pointer, int):
        return None if isinstance(pointer, bool) else pointer
    try:
        return ctypes.cast(pointer, ctypes.c_void_p).value
    except ctypes.ArgumentError:
        return None
