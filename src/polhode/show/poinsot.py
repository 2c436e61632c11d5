"""Poinsot's construction as numbers: inertia ellipsoid, invariable plane, polhode, herpolhode.
Buss 2001, section 2.

With rho = nu / sqrt(2E), E the kinetic energy and nu the angular velocity in the body:

    rho . J rho = 1                    (12)   the inertia ellipsoid, fixed in the body
    rho . L = sqrt(2E)                 (15)   the invariable plane, fixed in space, at distance sqrt(2E)/L from the centre
    |J rho|^2 = L^2 / 2E               (16)   with (12): the polhode

The ellipsoid rolls on the plane without slipping; rho is where they touch.  It draws the polhode on
the ellipsoid and the herpolhode on the plane.  (Buss's rho is printed with an inconsistent scale;
this is the one that satisfies (12).)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.support import memory
from polhode.errors import InputError, whole
from polhode.io.read import as_run
from polhode.engine.one_body import as_body, initial_rotation
from polhode.results.motion import parts
from polhode.rotations import matrices

if TYPE_CHECKING:
    from polhode.results._trajectory import Trajectory

__all__ = ["Plane", "Poinsot"]


def __dir__() -> list[str]:
    return __all__  # what completion offers


class Plane(NamedTuple):
    """The points x with normal . x = distance; `axes` are two unit vectors along it."""

    normal: np.ndarray
    distance: float
    axes: np.ndarray


@dataclass(frozen=True)
class Poinsot:
    """The construction for a body and a torque-free motion; vectors in the user's body axes unless
    named spatial.

    Parameters
    ----------
    body : RigidBody or inertia
    rotation0, omega0, momentum0
        The motion at some moment, as in `integrate`.

    Examples
    --------
    >>> shape = Poinsot([1.0, 2.0, 3.0], omega0=(0.1, 1.0, 0.2))
    >>> curve = shape.polhode(100)
    >>> bool(np.allclose(np.sum(curve**2 * [1.0, 2.0, 3.0], axis=1), 1.0))
    True
    """

    body: Any  # becomes a RigidBody
    rotation0: Any = None
    omega0: Any = None
    momentum0: Any = None

    def __post_init__(self):
        object.__setattr__(self, "body", as_body(self.body, "poinsot"))
        if self.energy == 0.0:
            raise InputError(
                "a body at rest has no polhode; give an angular velocity that is not zero"
            )

    @cached_property
    def _start(self):
        """Quaternion and angular velocity in principal axes."""
        motion = initial_rotation(self.body, self.rotation0, self.omega0, self.momentum0)
        return parts(motion)

    @cached_property
    def _momentum(self):
        return self.body.moments * self._start[1]

    @property
    def energy(self) -> float:
        """Kinetic energy."""
        return 0.5 * float(self._momentum @ self._start[1])

    @cached_property
    def momentum_spatial(self) -> np.ndarray:
        """Angular momentum in space."""
        return matrices(self._start[0]) @ self._momentum

    def _in_user_axes(self, vectors):
        """From principal axes to the user's."""
        return vectors @ np.asarray(self.body.axes).T

    # --- surfaces ---------------------------------------------------------------------------------

    def ellipsoid(self, n: int = 40) -> np.ndarray:
        """The inertia ellipsoid rho . J rho = 1 as a grid of points (n, 2n, 3), poles on the third
        principal axis."""
        n = whole("n", n, 2, "use 40")
        memory.fits(f"{n} by {2 * n} points", 48 * n * n, "use fewer")
        polar, azimuth = np.meshgrid(
            np.linspace(0.0, np.pi, n), np.linspace(0.0, 2.0 * np.pi, 2 * n), indexing="ij"
        )
        sphere = np.stack(
            [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)],
            axis=-1,
        )
        return self._in_user_axes(sphere / np.sqrt(self.body.moments))

    def plane(self) -> Plane:
        """The invariable plane, in space."""
        L = np.linalg.norm(self.momentum_spatial)
        normal = self.momentum_spatial / L
        first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        first /= np.linalg.norm(first)
        return Plane(
            normal,
            float(np.sqrt(2.0 * self.energy) / L),
            np.array([first, np.cross(normal, first)]),
        )

    # --- curves -----------------------------------------------------------------------------------

    def polhode(self, n: int = 400) -> np.ndarray:
        """The polhode as a closed curve (n, 3), first and last point the same; it goes round with
        time.

        In momentum: |m| = L and sum m_i^2/J_i = 2E.  Without m_c, c the axis of largest or smallest moment that the curve goes
        round, an ellipse is left, m_a = A cos s, m_b = B sin s.
        """
        n = whole("n", n, 2, "use 400")
        memory.fits(f"{n} points", 24 * n, "use fewer")
        k, m = 1.0 / self.body.moments, self._momentum
        smallest, middle, largest = np.argsort(k)[::-1]  # moments
        L2, twice = float(m @ m), 2.0 * self.energy
        about_largest = k[middle] * L2 > twice
        c = largest if about_largest else smallest
        a, b = (c + 1) % 3, (c + 2) % 3
        # the velocity stands still, on the equator of a symmetric body or in a sphere
        if k[a] == k[c] or k[b] == k[c]:
            return self._in_user_axes(np.tile(m * k / np.sqrt(twice), (n, 1)))
        A, B = (np.sqrt(max((twice - k[c] * L2) / (k[i] - k[c]), 0.0)) for i in (a, b))
        sign = 1.0 if m[c] >= 0.0 else -1.0
        s = np.linspace(0.0, 2.0 * np.pi, n)
        curve = np.empty((n, 3))
        curve[:, a] = A * np.cos(s)
        # m_a' = m_b m_c (k_c - k_b)
        curve[:, b] = (sign if about_largest else -sign) * B * np.sin(s)
        curve[:, c] = sign * np.sqrt(np.maximum(L2 - curve[:, a] ** 2 - curve[:, b] ** 2, 0.0))
        return self._in_user_axes(curve * k / np.sqrt(twice))

    def contact(self, run: Trajectory) -> np.ndarray:
        """The point of contact rho along a computed torque-free run: on the polhode, (n, 3) in body
        axes."""
        run = as_run(run)
        return run.omega / np.sqrt(2.0 * run.rotational_energy)[:, None]

    def herpolhode(self, run: Trajectory) -> np.ndarray:
        """The curve on the invariable plane along a computed torque-free run, (n, 2), in the
        plane's own axes."""
        run = as_run(run)
        spatial = run.omega_spatial / np.sqrt(2.0 * run.rotational_energy)[:, None]
        return spatial @ self.plane().axes.T

    def herpolhode_radii(self) -> tuple[float, float]:
        """The smallest and largest distance of the herpolhode from the foot of the momentum."""
        # extremes at quarter turns
        radius2 = np.sum(self.polhode(721) ** 2, axis=1) - self.plane().distance ** 2
        return float(np.sqrt(max(radius2.min(), 0.0))), float(np.sqrt(max(radius2.max(), 0.0)))
