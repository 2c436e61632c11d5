"""What a user's interaction returned, where it is not what it must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.errors import InputError, brief


def forces_and_torques(name: str, found: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Forces and torques on n bodies as arrays."""
    if not _fit(found, [(n, 3)] * 2):
        raise InputError(
            f"the interaction {name!r} must return forces and torques, two arrays {(n, 3)}, got {_shown(found)}; write "
            "return forces, torques"
        )
    forces, torques = found
    return np.asarray(forces, dtype=float), np.asarray(torques, dtype=float)


def check_pair(name: str, found: Any) -> None:
    """Refuse what is not a force and two torques."""
    if not _fit(found, [(3,)] * 3):
        raise InputError(
            f"the interaction {name!r} must return the force on body i and the torques on i and j, three vectors, got "
            f"{_shown(found)}; write return F, Ti, Tj"
        )


def _fit(found: Any, shapes: list[tuple[int, ...]]) -> bool:
    """Whether something consists of arrays of these shapes."""
    try:
        return [np.shape(one) for one in found] == shapes
    except (TypeError, ValueError):
        return False


def _shown(found: Any) -> str:
    """It, in words."""
    if isinstance(found, np.ndarray):
        return f"one array {found.shape}"
    try:
        shapes = [str(np.shape(one)) for one in found]
    except (TypeError, ValueError):
        return brief(found)
    return f"arrays {' and '.join(shapes)}" if 0 < len(shapes) <= 4 else brief(found)


__all__ = ["check_pair", "forces_and_torques"]
