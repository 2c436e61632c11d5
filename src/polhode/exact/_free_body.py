"""The torque-free motion of a rigid body, exactly.  The mathematics is in core/free_motion.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.bodies.rotor import refuse_rotors
from polhode.core.closed.double_double import DOUBLE_DOUBLE, dd_add, dd_mul, dd_times
from polhode.core.closed.free_motion import Polhode, polhode, turn
from polhode.core.jit import bind
from polhode.core.layout import layout
from polhode.core.vec import normalise, qconj, qmul
from polhode.errors import InputError, floats, one_given
from polhode.exact._axes import principal
from polhode.exact._motion import ExactMotion
from polhode.support.frames import rows_times

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

_memory = layout(Polhode)
pack, unpack = _memory.pack, _memory.unpack


@dataclass(frozen=True)
class FreeMotion(ExactMotion):
    """A free motion at the times t.  Shapes are t.shape + (shape of the bodies and initial states) + (component,)."""

    t: np.ndarray
    quaternion: np.ndarray  # body to space, scalar last
    omega: np.ndarray  # body frame, the user's own axes
    momentum: np.ndarray  # body frame


@dataclass(frozen=True)
class Periods:
    """How fast a free body goes round: numbers, or arrays over bodies and initial states."""

    # period of the momentum in the body; inf on the separatrix and for a sphere
    polhode: np.ndarray
    # mean rate at which the axis the polhode goes round turns about the momentum in space
    precession_rate: np.ndarray

    @property
    def precession(self) -> np.ndarray:
        """The period that belongs to the precession rate; inf for a body at rest."""
        with np.errstate(divide="ignore"):
            return 2.0 * np.pi / np.abs(self.precession_rate)


def free_body(
    body: RigidBody | ArrayLike | Sequence[RigidBody],
    rotation0: Rotation | ArrayLike | None = None,
    omega0: ArrayLike | None = None,
    t: ArrayLike = 0.0,
    *,
    momentum0: ArrayLike | None = None,
) -> FreeMotion:
    """The torque-free motion from attitude `rotation0` and body angular velocity `omega0`, at the
    times `t`.

    By Jacobi's elliptic functions, with the rates that time multiplies in double-double arithmetic:
    the attitude is good to 1e-13 rad after a thousand turns, taking the numbers given as exact, for
    every kind of body and of motion.

    Parameters
    ----------
    body : RigidBody, inertia, list of RigidBody, or array (..., 3) of principal moments
        An array of shape (3, 3) is an inertia tensor; give three bodies as a list.
    rotation0 : as for `integrate`, or array (..., 4) of quaternions
    omega0, momentum0 : array (..., 3)
        Angular velocity or angular momentum, body frame; one of the two.
    t : float or array
        Times since the initial state.

    Returns
    -------
    FreeMotion
        Bodies, attitudes and velocities are broadcast against each other, and each is followed to
        all times.

    Examples
    --------
    >>> motion = free_body([1.0, 2.0, 3.0], None, [0.0, 1.0, 1e-6], [0.0, 20.0, 40.0])
    >>> motion.omega[:, 1].round(3)
    array([ 1.   ,  0.996, -1.   ])
    """
    state = _State(body, rotation0, omega0, momentum0)
    times = floats("t", t)
    constants, left = state.prepared()
    shape, n = state.shape, left.shape[1]
    q, momentum = np.empty((times.size, n, 4)), np.empty((times.size, n, 3))
    bind(_evaluate)(times.flatten(), state.clock.ravel(), constants, left, q, momentum)
    check_far(times, q)
    q, momentum = (x.reshape(times.shape + shape + x.shape[-1:]) for x in (q, momentum))
    omega, momentum = state.in_your_units(momentum / state.moments[0], momentum)
    if state.tilted:
        q = rotations.qmul(q, state.axes_quaternion * np.array([-1.0, -1.0, -1.0, 1.0]))
        omega, momentum = (
            rows_times(x, np.swapaxes(state.axes[0], -1, -2)) for x in (omega, momentum)
        )
    return FreeMotion(times, q, omega, momentum)


def check_far(times: np.ndarray, attitudes: np.ndarray) -> None:
    """Refuse times at which no attitude is known: attitudes has one row, or more axes, for each
    time."""
    if not times.size:
        return
    lost = ~np.isfinite(attitudes.reshape(times.size, -1)).all(axis=1)
    if lost.any():
        raise InputError(
            f"t = {float(times.ravel()[np.argmax(lost)])!r} is too far away: the body has turned too often for a "
            "double to tell which way it points; give times within about 1e14 radians of the start"
        )


def periods(
    body: RigidBody | ArrayLike | Sequence[RigidBody],
    omega0: ArrayLike | None = None,
    *,
    momentum0: ArrayLike | None = None,
) -> Periods:
    """The period of the polhode and the mean rate of precession.

    Examples
    --------
    >>> p = periods([1.0, 1.0, 2.0], [0.6, 0.0, 0.4])   # precession at L/I1
    >>> float(p.precession_rate), float(p.polhode * 0.4 / (2 * np.pi))
    (1.0, 1.0)
    """
    state = _State(body, None, omega0, momentum0)
    constants, _ = state.prepared()
    names = [unpack(constants, k) for k in range(constants.shape[1])]
    around = np.array(
        [
            2.0 * np.pi * abs(c.rate[0]) / (2.0 * c.period[0] if c.period[0] > 0.0 else 2.0 * np.pi)
            for c in names
        ]
    ).reshape(state.shape)
    sign = np.array([-np.sign(c.rate[0]) * c.side for c in names]).reshape(state.shape)
    spin = np.array([2.0 * c.half_spin[0] for c in names]).reshape(state.shape)
    with np.errstate(divide="ignore"):
        return Periods(2.0 * np.pi / around / state.clock, (spin + sign * around) * state.clock)


class _State:
    """What the user gave, checked, broadcast, in principal axes, and in units in which nothing is
    large or small.

    These are powers of two: moments and velocity are about 1, and time runs `clock` times as fast.
    """

    def __init__(self, body, rotation0, omega0, momentum0):
        name, given = one_given("body frame", omega0=omega0, momentum0=momentum0)
        vector = floats(name, given, last=3)
        self.moments, self.axes, self.tilted = _bodies(body)
        q = _quaternions(rotation0)
        inertia, size = _exponent(self.moments[0]), _exponent(vector)
        self.moments, vector = (
            np.ldexp(self.moments, -inertia[..., None]),
            np.ldexp(vector, -size[..., None]),
        )
        try:
            self.shape = np.broadcast_shapes(
                self.moments.shape[1:-1], vector.shape[:-1], q.shape[:-1]
            )
        except ValueError:
            raise InputError(
                f"bodies {self.moments.shape[1:-1]}, rotation0 {q.shape[:-1]} and {name} {vector.shape[:-1]} "
                "cannot be broadcast against each other; give as many of each, or one"
            ) from None
        if self.tilted:
            self.axes_quaternion = np.apply_along_axis(
                lambda R: rotations.as_quaternion(R.reshape(3, 3)),
                -1,
                self.axes[0].reshape((*self.axes.shape[1:-2], 9)),
            )
            q = rotations.qmul(q, self.axes_quaternion)
            vector = _rotated_back(self.axes, vector)
        else:
            vector = vector, np.zeros_like(vector)
        moments = self.moments[0], self.moments[1]
        self.momentum = vector if momentum0 is not None else dd_mul(moments, vector)
        self.q = q
        self.exponents = np.broadcast_arrays(
            *((size, inertia + size) if momentum0 is None else (size - inertia, size)),
            np.empty(self.shape),
        )[:2]
        if self.exponents[0].max(initial=0) > 1000:
            raise InputError(
                f"{name} gives an angular velocity above 1e300; choose another unit of time"
            )
        self.clock = np.ldexp(1.0, self.exponents[0])

    def in_your_units(self, omega, momentum):
        """Velocities and momenta (..., 3) as the user counts them."""
        with np.errstate(over="ignore", under="ignore"):
            omega, momentum = (
                np.ldexp(x, e[..., None])
                for x, e in zip((omega, momentum), self.exponents, strict=True)
            )
        if not (np.isfinite(omega).all() and np.isfinite(momentum).all()):
            raise InputError(
                "the angular velocity or the momentum of this motion is beyond the range of float64; choose other "
                "units"
            )
        return omega, momentum

    def prepared(self):
        """The constants of each motion, and the constant left factor of its attitude."""

        def column(parts, width):
            return np.concatenate(
                [np.broadcast_to(x, (*self.shape, width)).reshape(-1, width) for x in parts], axis=1
            ).T.copy()

        momentum, moments, q = (
            column(self.momentum, 3),
            column(self.moments, 3),
            column((self.q,), 4),
        )
        n = q.shape[1]
        constants, left = np.empty((_memory.size, n)), np.empty((4, n))
        bind(_prepare)(momentum, moments, q, constants, left)
        return constants, left


def _exponent(vectors):
    """e for each vector (..., 3), with its largest component in [2^(e - 1), 2^e)."""
    return np.frexp(np.abs(vectors).max(axis=-1))[1]


def _rotated_back(axes, vector):
    """axes^T vector as a pair of arrays."""
    total = np.zeros(1), np.zeros(1)
    for j in range(3):
        total = dd_add(
            total, dd_times((axes[0][..., j, :], axes[1][..., j, :]), vector[..., j, None])
        )
    return total


def _bodies(body):
    """Moments (2, ..., 3) and axes (2, ..., 3, 3), high and low parts, and whether any axes are
    tilted."""
    if isinstance(body, (list, tuple)) and body and all(isinstance(one, RigidBody) for one in body):
        for one in body:
            refuse_rotors(one, "free_body")
        parts = [principal(one) for one in body]
        return (
            np.stack([p[0] for p in parts], axis=1),
            np.stack([p[1] for p in parts], axis=1),
            not all(one.is_principal for one in body),
        )
    if not isinstance(body, RigidBody):
        array = floats("body", body, last=3)
        if array.shape not in ((3,), (3, 3)):
            if not np.all(array > 0.0):
                raise InputError(
                    f"moments must be positive, got {float(array.min())!r}; give values above zero"
                )
            return np.stack([array, np.zeros_like(array)]), None, False
        body = RigidBody(array, check_triangle=False)
    refuse_rotors(body, "free_body")
    moments, axes = principal(body)
    return moments, axes, not body.is_principal


def _quaternions(rotation0):
    """One rotation in any form, or an array (..., 4) of quaternions, normalised."""
    if rotation0 is not None and not hasattr(rotation0, "as_quat"):
        array = floats("rotation0", rotation0)
        if array.ndim >= 2 and array.shape[-1] == 4:
            return array / np.linalg.norm(array, axis=-1, keepdims=True)
    elif rotation0 is not None and not rotation0.single:
        return rotation0.as_quat()
    return rotations.as_quaternion(rotation0)


# --- the loops ------------------------------------------------------------------------------------


def _prepare(momentum, moments, q, constants, left):
    for k in range(q.shape[1]):
        Pi = (
            (momentum[0, k], momentum[3, k]),
            (momentum[1, k], momentum[4, k]),
            (momentum[2, k], momentum[5, k]),
        )
        I = (
            (moments[0, k], moments[3, k]),
            (moments[1, k], moments[4, k]),
            (moments[2, k], moments[5, k]),
        )
        c = polhode(DOUBLE_DOUBLE, Pi, I)
        pack(c, constants, k)
        G, _ = turn(0.0, c)
        x = qmul((q[0, k], q[1, k], q[2, k], q[3, k]), qconj(G))
        for i in range(4):
            left[i, k] = x[i]


def _evaluate(t, clock, constants, left, attitudes, momenta):
    for k in range(left.shape[1]):
        c = unpack(constants, k)
        q0 = (left[0, k], left[1, k], left[2, k], left[3, k])
        for j in range(len(t)):
            G, Pi = turn(t[j] * clock[k], c)
            q = normalise(qmul(q0, G))
            for i in range(4):
                attitudes[j, k, i] = q[i]
            for i in range(3):
                momenta[j, k, i] = Pi[i]
