"""The calls of a `Flow` that go through `integrate`: long, in Python, at given times, or with something
to report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.engine._integrate import integrate
from polhode.engine.prepared import Given
from polhode.errors import InputError, IntegrationError
from polhode.results.motion import described
from polhode.support.limits import check_times


def by_integrate(
    flow: Any,
    given: Sequence[Any],
    t0: float,
    t1: float,
    parameters: Any,
    inertia: Any,
    t_eval: Any,
) -> Given:
    """The motion at t1, or at the times of `t_eval`, from what was given for t0: attitude, angular
    velocity, in flight position and velocity, with rotors their speeds."""
    body, torque, force = flow._changed(parameters, inertia)
    rotation0, *vectors = given
    names = [f"{name}0" for name in flow._kind.groups][1:]
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
        force=force,
        **dict(zip(names, vectors, strict=True)),
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
    motions = run.motion if t_eval is not None else run.motion[-1]
    return flow._given(motions)
