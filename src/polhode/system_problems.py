"""Test problems of several bodies, each made by a function.

>>> from polhode import problems
>>> run = problems.didymos().integrate("EXACT-RKN4", step=400.0, t_span=(0.0, 43200.0))
>>> run.status
'finished'
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.engine._integrate import integrate
from polhode.errors import shows_options
from polhode.loads._system import System
from polhode.loads.interactions.multipole import gravity
from polhode.loads.interactions.polyhedron import polyhedra
from polhode.methods._method import Method
from polhode.results._system_trajectory import SystemTrajectory
from polhode.support.card import Card

START = ("position0", "velocity0", "rotation0", "omega0", "momentum0", "scalar_first")


@dataclass(frozen=True, eq=False)
class SystemProblem(Card):
    """A system, an initial motion and a span of time; attitudes are quaternions, scalar last."""

    name: str
    title: str
    source: str
    system: System
    position0: np.ndarray
    velocity0: np.ndarray
    rotation0: np.ndarray
    omega0: np.ndarray
    t_span: tuple[float, float]
    step: float
    assumptions: str = ""
    comparable: float | None = None

    @property
    def body(self) -> System:
        """The system, by the name that one body has in a `Problem`."""
        return self.system

    def torque(self, step: float | None = None) -> None:
        """There is none: the interaction is part of the system."""

    @shows_options(integrate, ("body", "torque", *START))
    def integrate(
        self,
        method: Method | str | None = None,
        step: float | ArrayLike | None = None,
        t_span: tuple[float, float] | ArrayLike | None = None,
        **options: Any,
    ) -> SystemTrajectory:
        """Run the problem; `step` (unless there is `rtol`) and `t_span` default to those here."""
        return integrate(
            self.system,
            t_span=self.t_span if t_span is None else t_span,
            step=self.step if step is None and "rtol" not in options else step,
            method=method,
            position0=self.position0,
            velocity0=self.velocity0,
            rotation0=self.rotation0,
            scalar_first=False,
            omega0=self.omega0,
            **options,
        )

    def __repr__(self) -> str:
        return f"<SystemProblem: {self.name}, {self.title}>"

    def describe(self) -> dict[str, Any]:
        """The problem as plain data."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "bodies": len(self.system),
            "masses": self.system.masses.tolist(),
            "moments": self.system.moments.tolist(),
            "interaction": self.system.interaction.name,
            **{
                name: getattr(self, name).tolist()
                for name in ("position0", "velocity0", "rotation0", "omega0")
            },
            "t_span": list(self.t_span),
            "step": self.step,
            "assumptions": self.assumptions,
        }


def _apart(masses: np.ndarray, separation: Any) -> np.ndarray:
    """Two vectors with this difference, second less first, about a centre of mass that rests."""
    d = np.asarray(separation, dtype=float)
    return np.array([-masses[1] * d, masses[0] * d]) / masses.sum()


# --- two octahedra --------------------------------------------------------------------------------

FACES = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]


def octahedron(a: float, b: float, c: float, density: float) -> RigidBody:
    """A uniform octahedron with its vertices at the distances a, b and c along the axes."""
    tips = [(a, 0, 0), (-a, 0, 0), (0, b, 0), (0, -b, 0), (0, 0, c), (0, 0, -c)]
    return RigidBody.polyhedron(tips, FACES, density=density)


def octahedra(degree: int = 6) -> SystemProblem:
    """Two octahedra that pass each other: Fahnestock, Lee, Leok, McClamroch & Scheeres 2006, scenario 2.

    Parameters
    ----------
    degree : int
        Of the nodes in `polhode.interactions.polyhedra`.

    Examples
    --------
    >>> problem = octahedra()
    >>> problem.system.masses.round(1).tolist()
    [390.3, 4500.0]
    """
    bodies = [
        octahedron(1.0, 1.0 / math.e, 1.0 / math.pi, 2500.0),
        octahedron(1.0, 1.5, 0.9, 2500.0),
    ]
    system = System(bodies, polyhedra(bodies, G=6.672e-11, degree=degree))
    spins = 0.566
    # 3-1-3 angles with 0 in the middle are one turn about the third axis
    turns = np.radians([180.0 + 30.0, 270.0 + 30.0])
    return SystemProblem(
        "fahnestock/octahedra",
        "two gravitating octahedra",
        "Fahnestock, Lee, Leok, McClamroch & Scheeres 2006, scenario 2",
        system,
        _apart(system.masses, (0.0, -6.0, 0.0)),
        _apart(system.masses, (0.006, 0.0, 0.0)),
        rotations.exp(np.outer(turns, (0.0, 0.0, 1.0))),
        np.array([[0.0, 0.0, spins], [0.0, 0.0, -spins]]),
        (0.0, 40_000.0),
        4.0,
        assumptions="Position and velocity are those of body 1 from body 2, and the centre of mass rests; angles and spins "
        "are those of body 1 and body 2, in this order.  The mutual potential is not the paper's series but that of "
        "`polhode.interactions.polyhedra`.",
        comparable=2000.0,
    )


# --- Didymos and Dimorphos ------------------------------------------------------------------------


def didymos(degree: int = 2) -> SystemProblem:
    """Didymos and Dimorphos before the impact, with the values of the public benchmark.

    Their distance of 1180 m and speed of 0.17277588 m/s belong to a circular orbit of two point masses with a
    period of 11.92 h, the observed one.  From the same start the two extended bodies have a mean period of
    11.81 h: the flattening of Didymos adds to its pull, and the orbit is not a circle.

    Parameters
    ----------
    degree : {0, 2, 4}
        Of `polhode.interactions.gravity`; 4 takes ellipsoids of the same masses and moments.

    Examples
    --------
    >>> problem = didymos()
    >>> problem.system.masses.round(-7).tolist()
    [522940000000.0, 4840000000.0]
    """
    masses = (5.2294178707036884e11, 4.8429638900586843e9)
    moments = (
        (3.1348424975008636e16, 3.1920248302583308e16, 3.2790416201495100e16),
        (1.0438985934293971e13, 1.4689757387650045e13, 1.6572197488200174e13),
    )
    bodies = [
        _ellipsoid(m, I) if degree == 4 else RigidBody(I, m)
        for m, I in zip(masses, moments, strict=True)
    ]
    system = System(bodies, gravity(bodies, G=6.67408e-11, degree=degree))
    return SystemProblem(
        "benchmark/didymos",
        "Didymos and Dimorphos",
        "the public benchmark of full two-body codes for Didymos",
        system,
        _apart(system.masses, (1180.0, 0.0, 0.0)),
        _apart(system.masses, (0.0, 0.17277588232829763, 0.0)),
        np.tile((0.0, 0.0, 0.0, 1.0), (2, 1)),
        np.array([[0.0, 0.0, 7.7226958052846407e-4], [0.0, 0.0, 1.488075e-4]]),
        (0.0, 10 * 86400.0),
        400.0,
        assumptions="Both long axes point along the line between the bodies at the start, and both spin about the axis of "
        "the orbit.  The period of 11.92 h is that of a circular orbit of point masses with this distance and speed; "
        "the extended bodies turn about each other in 11.81 h on average.",
    )


def _ellipsoid(mass: float, moments: tuple[float, float, float]) -> RigidBody:
    """The uniform ellipsoid of this mass and these moments."""
    half = sum(moments) / 2.0
    a, b, c = (math.sqrt(5.0 / mass * (half - I)) for I in moments)
    return RigidBody.ellipsoid(a, b, c, mass)


SYSTEMS = {"fahnestock/octahedra": octahedra, "benchmark/didymos": didymos}
