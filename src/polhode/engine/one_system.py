"""One system of bodies: everything a user gives is checked here before any work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.motions import of_bodies
from polhode.engine.carriers.threads import check_threads
from polhode.engine.ensemble.inputs import of_each_body
from polhode.engine.one_run import OneRun
from polhode.engine.programs import find_bound_system
from polhode.engine.systems.encounters import (
    jump_of_energy,
    too_close_along,
    too_close_at_start,
)
from polhode.engine.systems.few import FewProgram
from polhode.engine.systems.program import SystemProgram, check_chooses
from polhode.engine.trouble import AT_START
from polhode.errors import InputError, TorqueError, brief, floats, warn
from polhode.loads._system import System
from polhode.methods._registry import get
from polhode.results.motion import in_principal_axes, parts
from polhode.support.limits import check_rates
from polhode.support.provenance import fingerprint

if TYPE_CHECKING:
    from polhode.engine.programs import Bound
    from polhode.loads.agreement import Start
    from polhode.methods._method import Method

UNBALANCED = 1e-9  # of the sum of the sizes of all forces: more is not rounding


class OneSystem(OneRun):
    """The motion of a system."""

    def __init__(
        self,
        system: System,
        method: Method | str,
        rotation0: Any = None,
        omega0: Any = None,
        momentum0: Any = None,
        scalar_first: bool | None = None,
        position0: Any = None,
        velocity0: Any = None,
        threads: int | None = None,
    ) -> None:
        self.body, self.method, self.threads = system, get(method), check_threads(threads)
        self.loads = {"interaction": system.interaction}
        self.kind = of_bodies(len(system))
        self.placed = position0 is not None or len(system) == 1
        rotations = initial_rotations(system, rotation0, omega0, momentum0, scalar_first)
        self.motion = np.concatenate([rotations, *initial_places(system, position0, velocity0)], 1)
        self.motion = self.motion.ravel()

    def will_choose(self, *given: Any) -> None:
        check_chooses(self.method, self.body)
        super().will_choose(*given)

    def bound(self, compiled: bool, start: Start) -> Bound:
        found: Any = find_bound_system(self.method, self.body, compiled, start)
        found.program.threads = self.threads
        return found

    def _identity(self) -> dict[str, Any]:
        interaction = self.body.interaction
        terms = (one.term(len(self.body)) for one in interaction.terms)
        numbers = (array for one in terms for array in (*one[:2], *one[3:5], *one.near[:1]))
        acting = {"terms": interaction.record(), "numbers": fingerprint(*numbers)}
        return {**super()._identity(), "interaction": acting}

    def follow(self, *given: Any, **options: Any) -> Any:
        run = super().follow(*given, **options)
        if run.success:
            near = too_close_along(run)
            start = parts(self.first, self.kind).position
            told = near and too_close_at_start(self.body, self.t0, start)
            for why in filter(None, (near, jump_of_energy(run))):
                run.message += f"; {why}"
                if not (why is near and told):
                    warn(why, RuntimeWarning)
        return run

    def look(self, program: SystemProgram | FewProgram, start: Start) -> None:
        """Evaluate the interaction at the start, once: a bad value is an error, and forces that change
        the momentum are told."""
        try:
            F, N = program.checked_forces(start.t, start.motion, AT_START)
        except TorqueError as error:
            if self.placed:
                raise
            raise InputError(
                f"position0 is missing, and with all bodies at the origin {error}; give the positions, an array "
                f"({len(self.body)}, 3)"
            ) from error
        program.tried = True
        x = parts(start.motion, self.kind).position
        if why := too_close_at_start(self.body, start.t, x):
            warn(why, RuntimeWarning)
        program.calls = [0 for _ in program.pythons]
        interaction = self.body.interaction
        known = all(one.balanced and one.is_ours for one in interaction.terms)
        if known or interaction.external or self.body.fixed.any():
            return
        boxed = any(
            one.box for one in interaction.terms
        )  # then a pair may act through a face of it
        arm = x - np.average(x, axis=0, weights=self.body.masses)
        pushed, turned = F.sum(axis=0), (N + np.cross(arm, F)).sum(axis=0)
        lever = np.linalg.norm(arm, axis=1) @ np.linalg.norm(F, axis=1)
        size = np.abs(F).sum(), np.abs(N).sum() + lever
        which = [
            f"{name} by {one.tolist()} per unit of time"
            for name, one, whole in (
                ("momentum", pushed, size[0]),
                *[("angular momentum", turned, size[1])] * (not boxed),
            )
            if np.abs(one).max() > UNBALANCED * whole
        ]
        if which:
            warn(
                f"the interaction {interaction.name!r} changes the total {' and the '.join(which)}: action and reaction "
                "differ.  Correct it, or say external=True if it stands for something outside of the system",
                RuntimeWarning,
            )


def refuse_beside_system(**given: Any) -> None:
    """Refuse what goes with one body alone."""
    name = next((name for name, value in given.items() if value is not None), None)
    if name is not None:
        raise InputError(
            f"{name} goes with one body; what acts on a system is its interaction, System(bodies, interaction), to which "
            "interactions can be added"
        )


def refuse_units(units: Any) -> None:
    """Refuse units that are not those of the bodies."""
    if units is not None:
        raise InputError("units of a system are those of its bodies; give units to them")


def initial_rotations(
    system: System,
    rotation0: Any,
    omega0: Any,
    momentum0: Any,
    scalar_first: bool | None,
    name: str = "rotation0",
) -> np.ndarray:
    """Quaternions and body angular velocities (n, 7) in principal axes; without turns and at rest
    by default."""
    n = len(system)
    if omega0 is not None and momentum0 is not None:
        raise InputError("give omega0 or momentum0, not both; drop one")
    q = np.broadcast_to(each(name, of_each_body(rotation0, n, scalar_first, name), n, 4), (n, 4))
    which = "omega0" if momentum0 is None else "momentum0"
    given = omega0 if momentum0 is None else momentum0
    vector = np.zeros((n, 3)) if given is None else each(which, floats(which, given), n, 3)
    if momentum0 is not None:
        vector = system.omega(vector)
    check_rates(vector, "omega0" if momentum0 is None else "the angular velocity of momentum0")
    axes = None if system.is_principal else system.axes
    return in_principal_axes(system.moments, axes, q, vector, False)


def initial_places(system: System, position0: Any, velocity0: Any) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities (n, 3)."""
    n = len(system)
    if position0 is None and n > 1 and not system.fixed.all():
        raise InputError(
            f"position0 is missing; give the positions of the centres of mass, an array ({n}, 3)"
        )
    x = np.zeros((n, 3)) if position0 is None else places("position0", position0, n)
    v = (
        np.zeros((n, 3))
        if velocity0 is None
        else each("velocity0", floats("velocity0", velocity0), n, 3)
    )
    refuse_moving(system, v)
    return x, v


def refuse_moving(system: System, v: np.ndarray) -> None:
    """Refuse velocities (..., n, 3) of bodies that turn about fixed points."""
    rows = v.reshape(-1, len(system), 3)
    moving = np.argwhere(system.fixed & (rows != 0.0).any(axis=2))
    if len(moving):
        k, i = moving[0]
        raise InputError(
            f"body {i} turns about a fixed point and cannot have the velocity {rows[k, i].tolist()}; drop it "
            "from fixed, or give it no velocity"
        )


def places(name: str, value: Any, n: int) -> np.ndarray:
    """The positions of n bodies."""
    x = floats(name, value)
    if x.shape != (n, 3):
        raise InputError(
            f"{name} must have a row of three numbers for each of the {n} bodies, got shape {x.shape}; give as many"
        )
    return x


def each(name: str, value: np.ndarray, n: int, width: int) -> np.ndarray:
    """A row for each body, from one for all or one for each."""
    rows = np.atleast_2d(value)
    if rows.ndim != 2 or rows.shape[1] != width or len(rows) not in (1, n):
        raise InputError(
            f"{name} must be one for all bodies, or one for each of the {n}, got shape {np.shape(value)}: "
            f"{brief(value)}; give one of these"
        )
    if not np.isfinite(rows).all():
        raise InputError(f"{name} must be finite, got {brief(rows.tolist())}; correct it")
    return np.broadcast_to(rows, (n, width)).copy()
