"""What a method conserves: for the free body, for bodies under gravity, and for the problems of the
papers."""

from typing import NamedTuple

import numpy as np

from polhode import problems, rotations
from polhode.bodies._body import RigidBody
from polhode.core.vec import dot, qrotate
from polhode.loads import torques
from polhode.methods import Method
from polhode.problems import Problem
from polhode.results._trajectory import Trajectory
from polhode.studies.facts.trial import Map, run_length, step_size

TOP = RigidBody((3.0, 3.0, 4.5))  # symmetric about its third axis
WEIGHT = 1.5


def _largest_change(values, unit):
    """Largest distance from the first of a list of numbers or vectors, in units of `unit`."""
    values = np.array(values)
    away = (
        np.abs(values - values[0])
        if values.ndim == 1
        else np.linalg.norm(values - values[0], axis=1)
    )
    return float(np.max(away)) / float(unit)


# --- the trial body -------------------------------------------------------------------------------


class FreeDrift(NamedTuple):
    """Largest relative change of spatial momentum and of energy over a torque-free run."""

    momentum: float
    energy: float


def _free_run(method, step, count):
    """Spatial momenta, body momenta and energies along a torque-free run."""
    path = Map(method, torques.free())
    states = [
        (s.q, path.velocity(s, path.body), path.momentum(s))
        for s in path.run(step_size(step), run_length(count))
    ]
    return (
        [qrotate(q, Pi) for q, _, Pi in states],
        [Pi for *_, Pi in states],
        [0.5 * dot(Om, Pi) for _, Om, Pi in states],
    )


def free_drift(method: Method | str, step: float = 0.25, count: int = 1000) -> FreeDrift:
    """Largest relative change of spatial momentum and of energy over `count` torque-free steps.

    Examples
    --------
    >>> free_drift("LS").energy < 1e-12 < free_drift("VLV").energy
    True
    """
    momenta, _, energies = _free_run(method, step, count)
    return FreeDrift(
        _largest_change(momenta, np.linalg.norm(momenta[0])), _largest_change(energies, energies[0])
    )


def size_drift(method: Method | str, step: float = 0.25, count: int = 1000) -> float:
    """Largest relative change of |Pi| over `count` torque-free steps: whether the momentum stays on
    its coadjoint orbit.

    Examples
    --------
    >>> size_drift("VLV") < 1e-12 < size_drift("NMB")
    True
    """
    sizes = np.linalg.norm(_free_run(method, step, count)[1], axis=1)
    return _largest_change(sizes, sizes[0])


class AxisDrift(NamedTuple):
    """Largest change, relative to |pi|, of the momentum about a symmetry axis of the torque and
    about one of the body."""

    space: float
    body: float


def axis_drift(method: Method | str, step: float = 0.25, count: int = 1000) -> AxisDrift:
    """Momentum about the vertical, of the trial body under gravity, and about its own axis, of a
    symmetric top.

    Examples
    --------
    >>> axis_drift("VLV").space < 1e-12
    True
    """
    gravity, step, count = torques.heavy_top(WEIGHT), step_size(step), run_length(count)
    path, top = Map(method, gravity), Map(method, gravity, TOP)
    vertical = [qrotate(s.q, path.momentum(s)) for s in path.run(step, count)]
    own = [top.momentum(s) for s in top.run(step, count)]
    return AxisDrift(
        *(
            _largest_change([v[2] for v in values], np.linalg.norm(values[0]))
            for values in (vertical, own)
        )
    )


# --- the problems of the papers -------------------------------------------------------------------


def invariants(problem: str | Problem) -> list[str]:
    """Which of energy, momentum, size, axis_space, axis_body the exact motion of a problem
    conserves.

    A component of the torque that vanishes at fifty attitudes and times is taken for a symmetry.
    """
    chosen = problems.of_one_body(problem)
    torque, body = chosen.torque(), chosen.body
    if not torque.acts:
        kept = ["energy", "momentum", "size"]
        return [*kept, "axis_body"] if body.moments[0] == body.moments[1] else kept
    if torque.potential_kernel() is None:
        return []
    random = np.random.default_rng(1)
    times = np.linspace(*chosen.t_span, 50)
    attitudes = rotations.matrices(rotations.exp(random.normal(size=(50, 3))))
    values = np.array([torque(t, R, np.zeros(3)) for t, R in zip(times, attitudes, strict=True)])
    if torque.frame == "body":
        values = np.einsum("nij,nj->ni", attitudes, values)
    own = np.einsum("nij,ni->nj", attitudes, values)
    scale = np.abs(values).max()
    kept = ["energy"]
    if np.abs(values[:, 2]).max() < 1e-12 * scale:
        kept.append("axis_space")
    if body.moments[0] == body.moments[1] and np.abs(own[:, 2]).max() < 1e-12 * scale:
        kept.append("axis_body")
    return kept


def changes(run: Trajectory, kept: list[str]) -> dict[str, float]:
    """Largest relative change of each quantity along a Trajectory; energy relative to the largest
    kinetic energy."""
    space, body, energy = run.momentum_spatial, run.momentum, run.total_energy
    size = np.linalg.norm(body, axis=1)
    values = {
        "energy": (energy, run.kinetic_energy.max()),
        "momentum": (space, size[0]),
        "size": (size, size[0]),
        "axis_space": (space[:, 2], size.max()),
        "axis_body": (body[:, 2], size.max()),
    }
    return {name: _largest_change(*values[name]) for name in kept}
