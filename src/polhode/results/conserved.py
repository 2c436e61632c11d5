"""What a motion conserves, and how far a run deviates from it: the errors that pages and figures
show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


KEPT = 1e-10  # a relative change below this is one of rounding


class Stray(NamedTuple):
    """A deviation from the start along a run, relative to `size`.

    `cause` says what changes the quantity by right, so that the deviation is no error.  A momentum in
    flight is `about` the origin or the centre of mass.  Of one that is conserved about one direction
    alone, `up`, it is the deviation about that.
    """

    values: np.ndarray
    title: str
    size: float
    cause: str = ""
    about: str = ""
    up: list[float] | None = None

    @property
    def by_right(self) -> bool:
        """Whether something changes the quantity, so that the deviation is no error."""
        return bool(self.cause)


def is_free(run: Any) -> bool:
    """Whether the body is known to be free of torques."""
    terms = run.torque.record()
    return bool(terms) and not any(term["acts"] for term in terms)


def acting(run: Any) -> str:
    """What acts, in words: the torque, the loads on a body in flight, or the interaction of a
    system."""
    if run.kind.bodies:
        return f"interaction {run.interaction.name}"
    if run.position is None:
        return f"torque {run.torque.name}"
    return f"load {' + '.join(loads(run))}" if loads(run) else "no load"


def loads(run: Any) -> list[str]:
    """The names of the loads on a body in flight."""
    terms = ([] if run.force is None else run.force.record()) + run.torque.record()
    return list(dict.fromkeys(term["name"] for term in terms if term["acts"]))


def weight(run: Any) -> dict[str, Any] | None:
    """The record of the first torque that is a weight on an arm, if there is one."""
    return next((term for term in run.torque.record() if term["arm"] and term["up"]), None)


def kept_axis(run: Any) -> list[float] | None:
    """The direction in space about which no torque acts, where all that act are known to have the
    same."""
    first, *others = [term["up"] for term in run.torque.record() if term["acts"]] or [None]
    return first if all(other == first for other in others) else None


def loads_keep_energy(run: Any) -> bool:
    """Whether all loads come from potentials that do not depend on time."""
    records = run.torque.record() + ([] if run.force is None else run.force.record())
    return all(load["conservative"] and load.get("steady", True) for load in records)


def energy(run: Any, start: int = 0) -> Stray:
    """The energy, with that of the rotors, against that at the point `start`: relative to it, or to a
    thousandth of the largest kinetic energy."""
    values = run.total_energy
    scale = energy_scale(float(values[start]), float(run.kinetic_energy.max()))
    name = "Kinetic energy" if run.potential_energy is None else "Energy"
    return Stray(
        (values - values[start]) / scale,
        f"{name} (E − E₀) / |E₀|",
        scale,
        ("" if run.keeps_energy else "the interaction may change it")
        if run.kind.bodies
        else _cause(
            run, not loads_keep_energy(run), any(not one.is_free for one in run.body.rotors)
        ),
    )


def energy_scale(energy0: float, kinetic: float) -> float:
    """What changes of the energy are divided by: its size at the start, or a thousandth of the
    largest kinetic energy."""
    return max(abs(energy0), 1e-3 * kinetic) or 1.0


def momentum(run: Any, start: int = 0) -> Stray:
    """The spatial momentum, with that of the rotors, against that at the point `start`; about
    `kept_axis` where no more of it is conserved.

    In flight it is the whole momentum about the origin, which loads may change; where forces act and
    no torque, it is that about the centre of mass, which is conserved.  Of a system it is that of all
    bodies about the origin, against the sum of the sizes of theirs.
    """
    if run.kind.bodies:
        cause = "" if run.keeps_angular_momentum else _of_momenta(run, angular=True)
        return _of_all(run.angular_momenta, "Angular momentum", "L", start, cause)
    in_flight, free = run.position is not None, is_free(run)
    pushed = in_flight and (run.force is None or run.force.acts)
    about = "" if not in_flight else "the centre of mass" if free and pushed else "the origin"
    L = run.angular_momentum if about == "the origin" else run.momentum_spatial
    size = float(np.linalg.norm(L[start])) or float(np.linalg.norm(L, axis=1).max()) or 1.0
    up = None if in_flight else kept_axis(run)
    if up is not None:
        return Stray(
            (L - L[start]) @ np.asarray(up) / size,
            "Vertical momentum (L − L₀)·up / |L₀|",
            size,
            up=up,
        )
    return Stray(
        np.linalg.norm(L - L[start], axis=1) / size,
        f"{f'Momentum about {about}' if about else 'Momentum'} |L − L₀| / |L₀|",
        size,
        _cause(run, not free),
        about,
    )


def linear_momentum(run: Any, start: int = 0) -> Stray:
    """The momentum of all bodies of a system, against the sum of the sizes of theirs."""
    cause = "" if run.keeps_momentum else _of_momenta(run)
    return _of_all(run.linear_momenta, "Momentum", "P", start, cause)


def _of_all(momenta, name, letter, start, cause):
    """The change of the sum of momenta (n, bodies, 3), which may itself be zero."""
    total, sizes = momenta.sum(axis=1), np.linalg.norm(momenta, axis=2).sum(axis=1)
    size = float(sizes[start]) or float(sizes.max()) or 1.0
    one, values = letter.lower(), np.linalg.norm(total - total[start], axis=1) / size
    return Stray(
        values,
        f"{name} |{letter} − {letter}₀| / Σ|{one}|",
        size,
        "" if values.max(initial=0.0) < KEPT else cause,
    )


def _of_momenta(run, angular=False):
    """What may change a momentum of all bodies, in words."""
    if run.body.fixed.any():
        return "fixed points change it"
    if angular and any(term.get("box") for term in run.interaction.record()):
        return "the periodic box changes it"
    return "the interaction changes it"


def _cause(run, loads, motors=False):
    """What changes a quantity, in words; "" if neither loads nor motors and bearings do."""
    found = [*["loads" if run.position is not None else "torque"] * loads]
    found += ["motors and bearings"] * motors
    if found == ["torque"]:
        return "changed by the torque"
    return f"{', '.join(found)} may change it" if found else ""
