"""Functions of all bodies behind C function pointers."""

from __future__ import annotations

import ctypes
from typing import Any, Never

import numpy as np

from polhode.core import callback
from polhode.errors import InputError


class InC:
    """A function of all bodies in C, called like one in Python:

        void f(double t, int n, const double *x, const double *R, double *F, double *N, void *p)

    from positions (n, 3) and attitude matrices (n, 3, 3), body to space, to forces and torques (n, 3),
    which are zero when it is called.  p points to the numbers of the parameters, as doubles one after
    the other in the order of their names.  One that depends on velocities gets `const double *v, const
    double *omega` after R.
    """

    def __init__(self, pointer: Any, name: str | None) -> None:
        self.pointer = pointer  # kept: a ctypes function dies with its last reference
        self.name = self.__name__ = name or str(getattr(pointer, "__name__", "in C"))
        self.address = np.array([ctypes.cast(pointer, ctypes.c_void_p).value or 0])
        if not self.address[0]:
            raise InputError(
                f"the interaction {name!r} is a null pointer; give a function of a C library that is loaded"
            )

    def __call__(self, t: float, x: np.ndarray, R: np.ndarray, *further: Any) -> Any:
        """Forces and torques; `further` is v, omega and the parameters, as far as it takes them."""
        arrays = [np.ascontiguousarray(one, dtype=float) for one in (x, R)]
        F, N = np.zeros_like(arrays[0]), np.zeros_like(arrays[0])
        parameters = np.zeros(1)
        for one in further:
            if isinstance(one, tuple):
                parameters = np.concatenate([np.ravel(value) for value in one], dtype=float)
            else:
                arrays.append(np.ascontiguousarray(one, dtype=float))
        callback.call_in_c(int(self.address[0]), t, len(F), (*arrays, F, N, parameters))
        return F, N

    def __getstate__(self) -> Never:
        raise InputError(
            f"the interaction {self.name!r} is an address in this process, which means nothing in another one; load the "
            "C library there, in the function that the processes run"
        )


def is_in_c(function: Any) -> bool:
    """Whether it is a function of ctypes."""
    return isinstance(function, ctypes._CFuncPtr)  # type: ignore[attr-defined]
