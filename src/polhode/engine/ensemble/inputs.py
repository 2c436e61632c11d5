"""The user's input for many bodies as arrays: counts, attitudes and vectors are checked, and random
values drawn.

A quantity is given once for all bodies, once for each, or as something to draw from:
`rotation0="random"` for attitudes spread evenly over the rotation group, or any frozen distribution
of scipy.stats (anything with `rvs(size=..., random_state=...)`), also as single entries of a vector.
What body i draws depends only on the seed, the name of the quantity and i, so that a run over some of
the bodies, or over more of them, draws the same.
"""

from __future__ import annotations

import secrets
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.support import memory
from polhode import rotations
from polhode.errors import InputError, brief, floats, number, whole
from polhode.methods._method import IN_C, Method
from polhode.methods._registry import get
from polhode.rotations.convert import scalar_last

if TYPE_CHECKING:
    pass

BLOCK = 4096  # bodies that share a random stream
BYTES_PER_BODY = 256  # state, inputs and results


def check_bodies_fit(n: int) -> None:
    """Refuse more bodies than memory holds."""
    memory.fits(
        f"{n} bodies", BYTES_PER_BODY * n, "run them in several ensembles (first=...), or sweep"
    )


def method_of(method: Method | str, device: str, dtype: str) -> Method:
    """A method, by its name; one that is machine code runs where that was made for."""
    found = get(method)
    if found.family == IN_C and (device, dtype) != ("cpu", "float64"):
        raise InputError(
            f"{found.name} is machine code of doubles for this processor, got device={device!r} and dtype={dtype!r}; "
            "use 'cpu' and 'float64', or the method in Python"
        )
    if found.arrays and (device, dtype) != ("cpu", "float64"):
        raise InputError(
            f"{found.name} keeps the stages of a step in an array of doubles, got device={device!r} and dtype={dtype!r}; "
            "use 'cpu' and 'float64', or EXACT-RKN6-14"
        )
    return found


# --- draws ----------------------------------------------------------------------------------------


def seed_of(rng: Any) -> int:
    """A whole number from None, a number or a numpy Generator."""
    if rng is None:
        return secrets.randbits(128)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    raise InputError(
        f"rng must be a whole number from 0 on, a numpy Generator or None, got {brief(rng)}; write rng=1"
    )


def draw_values(
    what: str,
    distribution: Any,
    shape: tuple[int, ...],
    seed: int | None,
    first: int,
    n: int,
    others: tuple[tuple[int, ...], ...] = (),
) -> np.ndarray:
    """Numbers (n, *shape) for the bodies first, first + 1, ... from a distribution, or "random" for
    unit quaternions; `others` are shapes that a distribution of several dimensions may have."""
    parts = []
    for block in range(first // BLOCK, -(-(first + n) // BLOCK)):
        stream = np.random.default_rng(
            np.random.SeedSequence(seed, spawn_key=(zlib.crc32(what.encode()), block))
        )
        if isinstance(distribution, str):
            part = stream.standard_normal((BLOCK, 4))
            part /= np.sqrt((part * part).sum(axis=1, keepdims=True))
        else:
            # a distribution of several dimensions, such as multivariate_normal, has a shape of its own
            size = BLOCK if hasattr(distribution, "dim") else (BLOCK, *shape)
            try:
                part = np.asarray(distribution.rvs(size=size, random_state=stream), dtype=float)
                if part.shape[1:] not in (shape, *others):
                    raise ValueError(f"the distribution draws {part.shape[1:]}")
            except ValueError as error:
                raise InputError(
                    f"{what}: cannot draw {shape or 'one number'} for each body: {error}; give a distribution of that "
                    "shape"
                ) from error
        begin = block * BLOCK
        parts.append(part[max(first - begin, 0) : first + n - begin])
    return np.concatenate(parts)


class Entries:
    """The distribution of a vector whose entries are numbers or distributions."""

    def __init__(self, entries: Any) -> None:
        self.entries = entries

    def rvs(self, size: tuple[int, int], random_state: np.random.Generator) -> np.ndarray:
        """Rows of numbers."""
        count, width = size
        if len(self.entries) != width:
            raise ValueError(f"{len(self.entries)} entries are given")
        return np.stack(
            [
                one.rvs(size=count, random_state=random_state)
                if hasattr(one, "rvs")
                else np.full(count, number("an entry beside a distribution", one))
                for one in self.entries
            ],
            axis=1,
        )


def law_of(value: Any) -> Any:
    """The distribution that `value` is, or that its entries make; None if there is none."""
    if hasattr(value, "rvs"):
        return value
    listed = isinstance(value, (list, tuple)) and any(hasattr(one, "rvs") for one in value)
    return Entries(value) if listed else None


# --- counts ---------------------------------------------------------------------------------------


class Counts:
    """For how many bodies each argument is given; one stands for any number."""

    def __init__(self, n: int | None = None) -> None:
        self.given = {} if n is None else {"n": whole("n", n, 1, "write n=1000")}

    def add(self, what: str, count: int) -> None:
        if count == 0:
            raise InputError(
                f"{what} must be for at least one body, got an array for 0; give a row for each body"
            )
        if count != 1:
            self.given[what] = count

    @property
    def n(self) -> int:
        """The number of bodies."""
        n = next(iter(self.given.values()), 1)
        for what, count in self.given.items():
            if count != n:
                raise InputError(
                    f"{next(iter(self.given))} is for {n} bodies and {what} for {count}; give one for all, or as many "
                    "of each"
                )
        return n


# --- states ---------------------------------------------------------------------------------------


def attitudes(given: Any, scalar_first: bool | None = False) -> np.ndarray:
    """Quaternions (1 or n, 4) from one rotation or many, in any form; NaN is allowed."""
    if given is None:
        return rotations.as_quaternion(None)[None]
    if hasattr(given, "as_quat"):
        return np.atleast_2d(given.as_quat())
    value = floats("rotation0", given, finite=False)
    if value.shape in ((3,), (4,), (3, 3)):
        return rotations.as_quaternion(given, scalar_first, "rotation0")[None]
    if value.ndim == 3 and value.shape[1:] == (3, 3):
        return np.array([_attitude(i, one) for i, one in enumerate(value)])
    if value.ndim == 2 and value.shape[1] == 3:
        return rotations.exp(value)
    if value.ndim == 2 and value.shape[1] == 4:
        value = scalar_last(value, scalar_first)
        x, y, z, w = value.T
        length = np.sqrt(x * x + y * y + z * z + w * w)
        # a unit quaternion stays as it is, bit for bit
        others = np.flatnonzero(abs(length - 1.0) > 2 * np.finfo(float).eps)
        q = value.copy() if len(others) else value
        for i in others:
            q[i] = _attitude(int(i), value[i])
        return q
    raise InputError(
        "rotation0 must be one rotation, a scipy Rotation of n, or an array (n, 4) of quaternions, (n, 3, 3) of "
        f"matrices or (n, 3) of rotation vectors, got shape {value.shape}; give one of these"
    )


def of_each_body(
    given: Any, bodies: int, scalar_first: bool | None = False, name: str = "rotation0"
) -> np.ndarray:
    """Quaternions (1 or n, 4) for the bodies of a system: a row of three numbers for each is a rotation
    vector, also where there are three bodies."""
    if given is None or hasattr(given, "as_quat"):
        return attitudes(given, scalar_first)
    value = floats(name, given, finite=False)
    if bodies != 3 or value.shape != (3, 3):
        return attitudes(given, scalar_first)
    if np.allclose(value @ value.T, np.eye(3), rtol=0.0, atol=1e-6):
        raise InputError(
            f"{name} has a row of three numbers, a rotation vector, for each of the 3 bodies, got {brief(given)}, which "
            "is one rotation matrix; write [matrix] * 3, an array (3, 3, 3)"
        )
    return rotations.exp(value)


def _attitude(i: int, one: np.ndarray) -> np.ndarray:
    if not np.isfinite(one).all():
        return np.full(4, np.nan)
    try:
        return rotations.as_quaternion(one)
    except InputError as error:
        raise InputError(f"rotation0[{i}]: {error}") from error


def vectors(what: str, given: Any) -> np.ndarray:
    """Vectors (1 or n, 3); NaN is allowed."""
    value = np.atleast_2d(floats(what, given, finite=False))
    if value.ndim != 2 or value.shape[1] != 3:
        raise InputError(
            f"{what} must be three numbers, or three for each body (n, 3), got shape {np.shape(given)}; give one "
            "of these"
        )
    return value
