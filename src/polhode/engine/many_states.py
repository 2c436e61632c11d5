"""Many states in one call of a `Flow`: over SIMD lanes by steps of one size, over threads by
tolerance.  What is long, or has something to report, goes through `integrate` one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.core.jit import direct
from polhode.core.loops.fixed import DONE, REFUSED
from polhode.core.motions import FLIGHT, ROTATION
from polhode.engine._ensemble import ensemble
from polhode.engine.diagnosis import escaped_states
from polhode.engine.ensemble import inputs
from polhode.engine.flow_by_integrate import by_integrate
from polhode.engine.prepared import BodyMotion, FlightMotion
from polhode.engine.whole_run import MOST, runs_loop, spread
from polhode.errors import floats, number
from polhode.results.motion import in_principal_axes, in_user_axes, parts
from polhode.support.limits import check_rates, check_times


def are_many(rotation0: Any, *vectors: Any) -> bool:
    """Whether these are many states."""
    several = any(np.ndim(vector) == 2 for vector in vectors)
    if hasattr(rotation0, "as_quat"):
        return not rotation0.single or several
    form = np.shape(rotation0) if rotation0 is not None else ()
    return several or (len(form) == 2 and form != (3, 3)) or len(form) == 3


class ManyStates(NamedTuple):
    """What a call of a flow has in common for all states."""

    flow: Any  # the `Flow`
    t0: float
    t1: float
    parameters: Any
    inertia: Any

    def end(self, given: tuple[Any, ...], t_eval: Any) -> BodyMotion | FlightMotion:
        """The motions at t1, or at the times of `t_eval`, from attitudes, angular velocities and, in
        flight, positions and velocities."""
        rotation0, *vectors = given
        states = {"rotation0": inputs.attitudes(rotation0, self.flow._scalar_first)}
        for name, one in zip(("omega0", "position0", "velocity0"), vectors, strict=False):
            states[name] = inputs.vectors(name, one)
        counts = inputs.Counts(None)
        for name, rows in states.items():
            counts.add(name, len(rows))
        for name, rows in states.items():
            states[name] = np.broadcast_to(rows, (counts.n, rows.shape[1]))
            floats(name, rows)  # not a number is refused
        each = tuple(states.values())
        if t_eval is not None:
            found = [self._one(i, each, t_eval) for i in range(counts.n)]
            return self._motion(*map(np.stack, zip(*found, strict=True)))
        return self._by_lanes(states) if self.flow._tolerance is None else self._by_threads(*each)

    @property
    def _motion(self) -> type:
        return BodyMotion if self.flow._force is None else FlightMotion

    def _by_lanes(self, states):
        """By steps of one size, as an ensemble."""
        flow, (body, torque, force) = self.flow, self.flow._changed(self.parameters, self.inertia)
        span, given = (self.t0, self.t1), tuple(states.values())
        run = ensemble(
            body, torque, span, flow._step, flow._method, scalar_first=False, force=force, **states
        )
        found = self._motion(*(one for one in run._at_end if one is not None))
        escaped = escaped_states(torque, body, *span, given[:2], found[:2])
        for i in sorted({*(one.body for one in run.failures), *escaped}):
            self._one(i, given)
        return found

    def _by_threads(self, q, Om, *places):
        """By tolerance, each in its own steps."""
        flow, t0, t1 = self.flow, number("t0", self.t0), number("t1", self.t1)
        check_rates(Om)
        check_times(np.array([t0, t1]), "t0 and t1")
        first = tuple(one[0].copy() for one in places)
        span = (t0, t1, self.parameters, self.inertia)
        found = flow._found(q[0].copy(), Om[0].copy(), first, *span)
        why, kind = np.ones(len(q), dtype=np.int64), FLIGHT if places else ROTATION
        if found is None:
            motions = np.concatenate([q, Om, *places], axis=1)
        else:
            ready, I, p, _ = found
            axes = None if flow._body.is_principal else flow._body.axes
            turned = in_principal_axes(None, axes, q, Om, False)
            motions = np.concatenate([turned, *places], axis=1)
            loop = runs_loop(ready.bound.program, flow._tolerance.rtol)
            rest = (motions, t0, t1, flow._control, MOST, I, p, why)
            try:
                spread(direct(loop, 0, 0, *rest), len(q), rest)
            except Exception:  # of the torque, for one of them: `integrate` will say where
                why[:] = REFUSED
            motions = in_user_axes(flow._body, motions, kind)
        body, torque, _ = flow._changed(self.parameters, self.inertia)
        escaped = escaped_states(torque, body, t0, t1, (q, Om), parts(motions))
        for i in sorted({*np.flatnonzero(why != DONE).tolist(), *escaped}):
            motions[i] = np.concatenate(self._one(i, (q, Om, *places)))
        return self._motion(*parts(motions, kind))

    def _one(self, i, states, t_eval=None):
        """State i by `integrate`; an error says which state it was."""
        try:
            return by_integrate(
                self.flow,
                [rows[i] for rows in states],
                self.t0,
                self.t1,
                self.parameters,
                self.inertia,
                t_eval,
            )
        except Exception as error:
            error.add_note(f"(state {i} of those given)")
            raise
