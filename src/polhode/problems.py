"""The papers' test problems by name, with their exact parameters and, where a paper is silent, what
was assumed.

>>> from polhode import problems
>>> run = problems.get("krysl/slow-top").integrate("NMB", step=0.0125)
>>> run.status
'finished'
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from polhode.bodies._body import RigidBody
from polhode.engine._integrate import integrate
from polhode.errors import InputError, shows_options, unknown
from polhode.loads import torques
from polhode.loads._torque import Torque
from polhode.loads.named import supplied_parameters
from polhode.methods._method import Method
from polhode.results._trajectory import Trajectory
from polhode.rotations import exp
from polhode.support.card import Card
from polhode.system_problems import SYSTEMS, SystemProblem, didymos, octahedra

__all__ = [
    "SYSTEMS",
    "Problem",
    "SystemProblem",
    "didymos",
    "get",
    "names",
    "octahedra",
    "of_one_body",
    "problem",
]


def __dir__() -> list[str]:
    return __all__  # what completion offers


@dataclass(frozen=True, eq=False)
class Problem(Card):
    """A body, a torque, an initial motion and a span of time.

    `torque` is a function of the step, since a torque may be made for steps of one size.  Until
    `comparable` methods can be compared by their motions; after it the energy alone says something.
    """

    name: str
    title: str
    source: str
    body: RigidBody
    acting: Torque
    rotation0: np.ndarray
    omega0: np.ndarray
    t_span: tuple[float, float]
    step: float
    assumptions: str = ""
    comparable: float | None = None
    torque_section: dict[str, Any] = field(default_factory=dict)  # as in a scenario file
    position0 = velocity0 = None  # it is not in flight

    def torque(self, step: float | None = None) -> Torque:
        """The torque, for runs with the given step."""
        return self.acting if step is None else self.acting.for_step(step)

    @shows_options(
        integrate, ("body", "torque", "rotation0", "scalar_first", "omega0", "momentum0")
    )
    def integrate(
        self,
        method: Method | str | None = None,
        step: float | ArrayLike | None = None,
        t_span: tuple[float, float] | ArrayLike | None = None,
        **options: Any,
    ) -> Trajectory:
        """Run the problem; `step` (unless there is `rtol`) and `t_span` default to the paper's."""
        step = self.step if step is None and "rtol" not in options else step
        size = float(step) if isinstance(step, (int, float, np.integer, np.floating)) else None
        return integrate(
            self.body,
            self.torque(size),
            self.t_span if t_span is None else t_span,
            step,
            method,
            rotation0=self.rotation0,
            scalar_first=False,
            omega0=self.omega0,
            **options,
        )

    def __repr__(self) -> str:
        return f"<Problem: {self.name}, {self.title}>"

    def describe(self) -> dict[str, Any]:
        """The problem as plain data."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "moments": self.body.moments.tolist(),
            "torque": self.torque().name,
            "rotation0": self.rotation0.tolist(),
            "omega0": self.omega0.tolist(),
            "t_span": list(self.t_span),
            "step": self.step,
            "assumptions": self.assumptions,
        }


def _problem(
    name,
    title,
    source,
    moments,
    torque,
    t_span,
    step,
    omega0=None,
    momentum0=None,
    rotation0=(0.0, 0.0, 0.0),
    assumptions="",
    comparable=None,
):
    """Enter a problem: `torque` is written as in a scenario file, `rotation0` is a rotation vector,
    one of `omega0` and `momentum0` is given, in the body frame."""
    make = torques.by_name(torque["name"])
    acting = make(
        **{key: step for key in supplied_parameters(make)},
        **{key: value for key, value in torque.items() if key != "name"},
    )
    body = RigidBody(moments, check_triangle=False, name=name)
    omega = (
        np.array(omega0, dtype=float) if momentum0 is None else np.array(momentum0) / body.moments
    )
    return name, Problem(
        name,
        title,
        source,
        body,
        acting,
        exp(rotation0),
        omega,
        t_span,
        step,
        assumptions,
        comparable,
        torque,
    )


OfSystem = Literal["fahnestock/octahedra", "octahedra", "benchmark/didymos", "didymos"]
KE = "Krysl & Endres 2004"

ALL = dict(
    [
        _problem(
            "krysl/free-body",
            "freely spinning body",
            f"{KE}, section 3.1, after McLachlan & Zanna 2003",
            (0.9144, 1.098, 1.66),
            {"name": "free"},
            (0.0, 100.0),
            1 / 8,
            omega0=(0.45549, 0.82623, 0.03476),
        ),
        _problem(
            "krysl/book-toss",
            "toss of a book about its intermediate axis",
            f"{KE}, section 3.2, after Simo & Wong 1991",
            (5.0, 10.0, 1.0),
            {"name": "book_toss"},
            (0.0, 12.0),
            0.05,
            omega0=(0.0, 0.0, 0.0),
            assumptions="The paper does not give the time of release: 2, as in Simo & Wong.  Its intervals "
            "overlap at the jumps: the mean of both sides is taken there.  The inertia (5, 10, 1) breaks "
            "the triangle inequality, as printed, and 5 is the intermediate moment, about which the "
            "torque acts.",
        ),
        _problem(
            "krysl/lagrange-top",
            "symmetric heavy top",
            f"{KE}, section 3.3, after Engo & Marthinsen 1998",
            (0.875, 0.875, 0.25),
            {"name": "heavy_top", "moment": math.sqrt(3.0) / 2.0 * 9.81},
            (0.0, 100.0),
            0.05,
            omega0=(0.0, 0.0, 1.0),
            rotation0=(math.pi / 16, 0.0, 0.0),
            assumptions="The paper gives neither inertia nor initial state: diag(7, 7, 2)/8, mass 1, omega "
            "(0, 0, 1) and a tilt of pi/16 about the first axis, as in the DiffMan example it refers to.",
        ),
        _problem(
            "krysl/fast-top",
            "fast symmetric top",
            f"{KE}, section 3.4, after Simo & Wong 1991",
            (5.0, 5.0, 1.0),
            {"name": "heavy_top", "moment": 20.0},
            (0.0, 10.0),
            0.005,
            omega0=(0.0, 0.0, 50.0),
            rotation0=(0.3, 0.0, 0.0),
        ),
        _problem(
            "krysl/slow-top",
            "slow symmetric top",
            f"{KE}, section 3.5; Krysl 2005, figure 1",
            (5.0, 5.0, 1.0),
            {"name": "heavy_top", "moment": 20.0},
            (0.0, 10.0),
            0.05,
            omega0=(0.0, 0.0, 5.0),
            rotation0=(0.05, 0.0, 0.0),
        ),
        _problem(
            "krysl/coulomb-wall",
            "attraction with a soft wall",
            f"{KE}, section 3.6, after Holder, Leimkuhler & Reich 2001",
            (2.0, 3.0, 4.5),
            {"name": "coulomb_wall"},
            (0.0, 10.0),
            0.0125,
            momentum0=(2.0, 2.0, 2.0),
            assumptions="The sign that the text describes: an attraction and a wall that repels.  With the sign of the printed "
            "torque the body never meets a wall: that is krysl/coulomb-wall-printed.",
        ),
        _problem(
            "krysl/coulomb-wall-printed",
            "the same with the sign as printed",
            f"{KE}, section 3.6",
            (2.0, 3.0, 4.5),
            {"name": "coulomb_wall", "sign": "printed"},
            (0.0, 10.0),
            0.0125,
            momentum0=(2.0, 2.0, 2.0),
            assumptions="The torque exactly as printed, which repels where the text says it attracts.",
        ),
        _problem(
            "bou-rabee/stress",
            "stress test for long runs",
            "Bou-Rabee, Ortolan & Saccon 2009, section 3",
            (2.0, 2.0, 4.0),
            {"name": "stress_potential"},
            (0.0, 15000.0),
            0.25,
            omega0=(0.0, 0.0, 0.625),
            rotation0=(0.0, 0.7227, 0.0),
            comparable=100.0,
        ),
        _problem(
            "buss/prism",
            "thin prism, torque-free",
            "Buss 2001, section 6",
            (19 / 60, 3 / 100, 47 / 150),
            {"name": "free"},
            (0.0, 40.0),
            0.001,
            momentum0=(3 / math.sqrt(2.0), 3 / math.sqrt(2.0), 0.0),
            assumptions="The paper gives neither the inertia nor the momentum, and its 1:4:18 prism is not the body it used: "
            "J = (19/60, 3/100, 47/150) and body momentum (3/sqrt 2)(1, 1, 0) reproduce its tables.",
        ),
    ]
)


@overload
def get(name: OfSystem | SystemProblem) -> SystemProblem: ...  # type: ignore[overload-overlap]
@overload
def get(name: str | Problem) -> Problem: ...
def get(name: Any) -> Any:
    """A problem by name; the part after the slash is enough where it is unique.

    Examples
    --------
    >>> get("slow-top").name, get("slow-top").body.moments
    ('krysl/slow-top', array([5., 5., 1.]))
    >>> get("didymos")
    <SystemProblem: benchmark/didymos, Didymos and Dimorphos>
    """
    if isinstance(name, (Problem, SystemProblem)):
        return name
    key = name.strip().lower() if isinstance(name, str) else ""
    matches = [full for full in names() if key in (full, full.split("/")[1])]
    if len(matches) != 1:
        raise unknown("problem", name, names(), {full.split("/")[1]: full for full in names()})
    return ALL.get(matches[0]) or _of_system(matches[0])


@cache
def _of_system(name: str) -> SystemProblem:
    return SYSTEMS[name]()


def of_one_body(name: str | Problem) -> Problem:
    """The same for what works with one body alone."""
    found = get(name)
    if isinstance(found, Problem):
        return found
    raise InputError(
        f"the problem {found.name!r} has {len(found.system)} bodies, and this works with one; give one of {', '.join(ALL)}"
    )


def names() -> list[str]:
    """The names of all problems, those of several bodies last.

    Examples
    --------
    >>> names()[:2]
    ['krysl/free-body', 'krysl/book-toss']
    """
    return [*ALL, *SYSTEMS]


problem = get
