"""Many states in one call of a `Flow`: over SIMD lanes by steps of one size, over threads by
tolerance.  What is long, or has something to report, goes through `integrate` one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.core.jit import direct
from polhode.core.loops.fixed import DONE, REFUSED
from polhode.engine._ensemble import ensemble
from polhode.engine.diagnosis import escaped_states
from polhode.engine.ensemble import inputs
from polhode.engine.prepared import BodyMotion
from polhode.engine.whole_run import MOST, runs_loop, spread
from polhode.errors import floats, number
from polhode.results.motion import in_principal_axes, in_user_axes, parts
from polhode.support.limits import check_rates, check_times


def are_many(rotation0: Any, omega0: Any) -> bool:
    """Whether these are many states."""
    if hasattr(rotation0, "as_quat"):
        return not rotation0.single or np.ndim(omega0) == 2
    form = np.shape(rotation0) if rotation0 is not None else ()
    return np.ndim(omega0) == 2 or (len(form) == 2 and form != (3, 3)) or len(form) == 3


class ManyStates(NamedTuple):
    """What a call of a flow has in common for all states."""

    flow: Any  # the `Flow`
    t0: float
    t1: float
    parameters: Any
    inertia: Any

    def end(self, rotation0: Any, omega0: Any, t_eval: Any) -> BodyMotion:
        """The motions at t1, or at the times of `t_eval`."""
        q = inputs.attitudes(rotation0, self.flow._scalar_first)
        Om = inputs.vectors("omega0", omega0)
        counts = inputs.Counts(None)
        counts.add("rotation0", len(q))
        counts.add("omega0", len(Om))
        q, Om = np.broadcast_to(q, (counts.n, 4)), np.broadcast_to(Om, (counts.n, 3))
        floats("rotation0", q), floats("omega0", Om)  # not a number is refused
        if t_eval is not None:
            each = [self._one(i, q, Om, t_eval) for i in range(counts.n)]
            return BodyMotion(*map(np.stack, zip(*each, strict=True)))
        return self._by_lanes(q, Om) if self.flow._tolerance is None else self._by_threads(q, Om)

    def _by_lanes(self, q, Om):
        """By steps of one size, as an ensemble."""
        flow, (body, torque) = self.flow, self.flow._changed(self.parameters, self.inertia)
        span = self.t0, self.t1
        run = ensemble(
            body, torque, span, flow._step, flow._method, rotation0=q, scalar_first=False, omega0=Om
        )
        ends = (q, Om), (run.quaternion, run.omega)
        escaped = escaped_states(torque, body, *span, *ends)
        for i in sorted({*(one.body for one in run.failures), *escaped}):
            self._one(i, q, Om)
        return BodyMotion(run.quaternion, run.omega)

    def _by_threads(self, q, Om):
        """By tolerance, each in its own steps."""
        flow, t0, t1 = self.flow, number("t0", self.t0), number("t1", self.t1)
        check_rates(Om)
        check_times(np.array([t0, t1]), "t0 and t1")
        found = flow._found(q[0].copy(), Om[0].copy(), t0, t1, self.parameters, self.inertia)
        why = np.ones(len(q), dtype=np.int64)
        if found is None:
            motions = np.concatenate([q, Om], axis=1)
        else:
            ready, I, p, _ = found
            axes = None if flow._body.is_principal else flow._body.axes
            motions = in_principal_axes(None, axes, q, Om, False)
            loop = runs_loop(ready.bound.program, flow._tolerance.rtol)
            rest = (motions, t0, t1, flow._control, MOST, I, p, why)
            try:
                spread(direct(loop, 0, 0, *rest), len(q), rest)
            except Exception:  # of the torque, for one of them: `integrate` will say where
                why[:] = REFUSED
            motions = in_user_axes(flow._body, motions)
        body, torque = flow._changed(self.parameters, self.inertia)
        escaped = escaped_states(torque, body, t0, t1, (q, Om), parts(motions))
        for i in sorted({*np.flatnonzero(why != DONE).tolist(), *escaped}):
            motions[i] = np.concatenate(self._one(i, q, Om))
        return BodyMotion(*parts(motions))

    def _one(self, i, q, Om, t_eval=None):
        """State i by `integrate`; an error says which state it was."""
        try:
            return self.flow._followed(
                q[i], Om[i], self.t0, self.t1, self.parameters, self.inertia, t_eval
            )
        except Exception as error:
            error.add_note(f"(state {i} of those given)")
            raise
