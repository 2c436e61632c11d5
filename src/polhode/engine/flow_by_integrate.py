"""The calls of a `Flow` that go through `integrate`: long, in Python, at given times, or with something
to report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.engine._integrate import integrate
from polhode.engine.prepared import BodyMotion, FlightMotion
from polhode.errors import InputError, IntegrationError
from polhode.results.motion import described, parts
from polhode.support.limits import check_times


def by_integrate(
    flow: Any,
    given: Sequence[Any],
    t0: float,
    t1: float,
    parameters: Any,
    inertia: Any,
    t_eval: Any,
) -> BodyMotion | FlightMotion:
    """The motion at t1, or at the times of `t_eval`, from what was given for t0: attitude, angular
    velocity and, in flight, position and velocity."""
    body, torque, force = flow._changed(parameters, inertia)
    rotation0, omega0, *places = given
    check_times(np.array([t0, t1]), "t0 and t1")
    if t0 == t1:
        raise InputError(f"t0 and t1 must differ, got {t0!r} for both; give another t1")
    rtol, atol = flow._tolerance or (None, None)
    run = integrate(
        body,
        torque,
        (t0, t1),
        flow._step,
        flow._method,
        rtol=rtol,
        atol=atol,
        max_step=flow._max_step,
        rotation0=rotation0,
        scalar_first=bool(flow._scalar_first),
        omega0=omega0,
        force=force,
        **dict(zip(("position0", "velocity0"), places, strict=False)),
        t_eval=t_eval,
        every="end" if t_eval is None else 1,
    )
    if not run.success:
        t, motion = run.ends[1]
        error = IntegrationError(
            run.message, t=t, step_index=run.steps, state=described(motion, run.kind)
        )
        error.trajectory = run
        raise error
    found = (part if t_eval is not None else part[-1] for part in parts(run.motion, run.kind))
    return (BodyMotion if force is None else FlightMotion)(*found)
