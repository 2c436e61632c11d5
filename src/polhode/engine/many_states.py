"""Many states in one call of a `Flow`: over SIMD lanes by steps of one size, over threads by
tolerance.  What is long, or has something to report, goes through `integrate` one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.core.jit import direct
from polhode.core.loops.fixed import DONE, REFUSED
from polhode.core.motions import SPEEDS
from polhode.engine._ensemble import ensemble
from polhode.engine.diagnosis import escaped_states
from polhode.engine.ensemble import inputs
from polhode.engine.flow_by_integrate import by_integrate
from polhode.engine.prepared import Given
from polhode.engine.rotors import check_speeds, first_speeds
from polhode.engine.whole_run import MOST, runs_loop, spread
from polhode.errors import floats, number
from polhode.results.motion import ATTITUDE, OMEGA, in_user_axes
from polhode.support.limits import check_rates, check_times
from polhode.support.on_device import on_host


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

    def end(self, given: tuple[Any, ...], t_eval: Any) -> Given:
        """The motions at t1, or at the times of `t_eval`, from attitudes, angular velocities and
        whatever else is followed."""
        flow, counts = self.flow, inputs.Counts(None)
        rotation0, *vectors = given
        states = {"rotation0": inputs.attitudes(rotation0, flow._scalar_first)}
        for name, one in zip([*flow._kind.groups][1:], vectors, strict=True):
            if name != SPEEDS:
                states[f"{name}0"] = inputs.vectors(f"{name}0", one)
            elif one is not None:
                rows = check_speeds(flow._kind.spinning, one, False, many=True)
                states[f"{name}0"] = np.atleast_2d(rows)
        for name, rows in states.items():
            counts.add(name, len(rows))
        for name, rows in states.items():
            states[name] = np.broadcast_to(rows, (counts.n, rows.shape[1]))
            floats(name, rows)  # not a number is refused
        if len(states) < len(given):
            turned = flow._in_principal_axes(states["rotation0"], states["omega0"])
            states[f"{SPEEDS}0"] = first_speeds(flow._body, turned)
        before = np.concatenate([*states.values()], axis=1)
        if t_eval is not None:
            found = [self._one(i, before, t_eval) for i in range(counts.n)]
            return flow._make(map(np.stack, zip(*found, strict=True)))
        if flow._tolerance is None:
            return flow._given(self._by_lanes(states, before))
        return flow._given(self._by_threads(before))

    def _by_lanes(self, states, before):
        """By steps of one size, as an ensemble."""
        flow, (body, torque, force) = self.flow, self.flow._changed(self.parameters, self.inertia)
        span = (self.t0, self.t1)
        run = ensemble(
            body, torque, span, flow._step, flow._method, scalar_first=False, force=force, **states
        )
        motions = run.to_user_axes(on_host(run._motions))
        escaped = escaped_states(torque, body, *span, before, motions)
        for i in sorted({*(one.body for one in run.failures), *escaped}):
            self._one(i, before)
        return motions

    def _by_threads(self, before):
        """By tolerance, each in its own steps."""
        flow, t0, t1 = self.flow, number("t0", self.t0), number("t1", self.t1)
        check_rates(before[:, OMEGA])
        check_times(np.array([t0, t1]), "t0 and t1")
        motions, why = before.copy(), np.ones(len(before), dtype=np.int64)
        q, Om, *rest = (before[0, place] for place in flow._places)
        found = flow._found(q, Om, rest, t0, t1, self.parameters, self.inertia)
        if found is not None:
            ready, I, p, _ = found
            turned = flow._in_principal_axes(before[:, ATTITUDE], before[:, OMEGA])
            motions[:, : turned.shape[1]] = turned
            loop = runs_loop(ready.bound.program, flow._tolerance.rtol)
            rest = (motions, t0, t1, flow._control, MOST, I, p, why)
            try:
                spread(direct(loop, 0, 0, *rest), len(motions), rest)
            except Exception:  # of the torque, for one of them: `integrate` will say where
                why[:] = REFUSED
            motions = in_user_axes(flow._body, motions, flow._kind)
        body, torque, _ = flow._changed(self.parameters, self.inertia)
        escaped = escaped_states(torque, body, t0, t1, before, motions)
        for i in sorted({*np.flatnonzero(why != DONE).tolist(), *escaped}):
            motions[i] = np.concatenate(self._one(i, before))
        return motions

    def _one(self, i, before, t_eval=None):
        """State i by `integrate`; an error says which state it was."""
        try:
            return by_integrate(
                self.flow,
                [before[i, place] for place in self.flow._places],
                self.t0,
                self.t1,
                self.parameters,
                self.inertia,
                t_eval,
            )
        except Exception as error:
            error.add_note(f"(state {i} of those given)")
            raise
