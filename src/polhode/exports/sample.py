"""The numbers in the example at the top of a file: the body that it was made for, and a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody

MOMENTS = 1.0, 2.0, 3.0  # of a body that is not known
OMEGA = 0.1, 3.0, 0.1
MOTION = {"q": (0.0, 0.0, 0.0, 1.0), "Om": OMEGA, "x": (0.0, 0.0, 0.0), "v": (1.0, 0.0, 0.0)}
PARTS = "q", "Om", "x", "v", "W"  # of a motion at the start


def sample(body: RigidBody | None) -> dict[str, Any]:
    """Values for the parameters of make_body and start, by their names."""
    if body is None:
        return {"I": MOMENTS, **MOTION}
    found = {"I": tuple(map(float, body.moments)), **MOTION}
    if not body.rotors:
        return found
    return found | {
        "axes": tuple(one.axis for one in body.rotors),
        "J": tuple(one.inertia for one in body.rotors),
        "is_free": tuple(0.0 if one.is_held else 1.0 for one in body.rotors),
        "W": tuple(map(float, body.rotor_speeds(OMEGA))),
    }
