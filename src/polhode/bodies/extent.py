"""How far bodies reach from their centres of mass."""

from __future__ import annotations

import numpy as np

from polhode.bodies._body import RigidBody


def radius(body: RigidBody) -> float | None:
    """The radius of the ball about the centre of mass that holds the body; None where its shape is not
    known."""
    shape = body.shape or {}
    match shape.get("kind"):
        case "box":
            return 0.5 * float(np.linalg.norm(shape["size"]))
        case "ellipsoid":
            return float(np.max(shape["semi_axes"]))
        case "sphere":
            return float(shape["radius"])
        case "cylinder":
            return float(np.hypot(shape["radius"], 0.5 * shape["height"]))
        case "points":
            return float(np.linalg.norm(shape["positions"], axis=1).max())
        case "mesh" if "vertices" in shape:
            return float(np.linalg.norm(shape["vertices"], axis=1).max())
    return None
