"""Many systems of a few bodies: the user's input is checked here before any work."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.motions import of_bodies
from polhode.engine.diagnosis import check_first
from polhode.engine.ensemble import inputs
from polhode.engine.ensemble.keep import Statistics
from polhode.engine.ensemble.measure import QUANTITIES
from polhode.engine.many_runs import ManyRuns
from polhode.engine.one_system import refuse_moving, refuse_beside_system
from polhode.engine.programs import find_bound_system
from polhode.engine.systems.few import FewProgram, check_few, trouble
from polhode.engine.systems.halved import HalvedSystems
from polhode.engine.systems.measure import SystemMeasure
from polhode.engine.systems.parameters import check_system_parameters, parameter_array
from polhode.engine.systems.program import speeds_felt
from polhode.errors import InputError, floats, one_given, unknown, whole
from polhode.loads._system import System
from polhode.loads.agreement import Start
from polhode.results._system_ensemble import SystemEnsemble
from polhode.results.motion import OMEGA, in_principal_axes, in_user_axes
from polhode.support.limits import check_rates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from polhode.methods._method import Method


class ManySystems(ManyRuns):
    """One call of `ensemble` with a system: one system for each lane of a register, or thread of a GPU."""

    what = "systems"

    def __init__(
        self,
        system: System,
        t_span: tuple[float, float] | ArrayLike | None,
        step: float | ArrayLike | None,
        method: Method | str,
        breaks: ArrayLike | None,
        device: str = "cpu",
        dtype: str = "float64",
        **others: Any,
    ) -> None:
        refuse_beside_system(**others)
        self.device, self.dtype, self.breaks = device, dtype, breaks
        self.system, self.kind = system, of_bodies(len(system))
        self.method = inputs.method_of(method, device, dtype)
        self._will_step(t_span, step)
        check_few(self.method, system)
        on_arrays = (one for one in system.interaction.terms if getattr(one, "form", "") != "tuple")
        array = next(on_arrays, None)
        if device == "cuda" and array is not None:
            raise InputError(
                f"device='cuda' needs interactions of pairs in form 'tuple', and {array.name!r} gets arrays, for which a "
                "thread has no memory; write it as Pair(..., form='tuple'), or use device='cpu'"
            )

    def will_start(
        self,
        rotation0: Any,
        scalar_first: bool | None,
        omega0: Any,
        momentum0: Any,
        position0: Any,
        velocity0: Any,
        n: int | None,
        parameters: Mapping[str, Any] | None,
        rng: int | np.random.Generator | None,
        first: int,
    ) -> None:
        """Check, draw and place the initial motions (n, width), in principal axes, and the parameters."""
        system, bodies = self.system, len(self.system)
        if omega0 is not None or momentum0 is not None:
            spin, given = one_given(
                "three numbers for each body", omega0=omega0, momentum0=momentum0
            )
        else:
            spin, given = "omega0", np.zeros(3)
        if position0 is None and bodies > 1 and not system.fixed.all():
            raise InputError(
                f"position0 is missing; give the positions of the centres of mass, an array ({bodies}, 3), or "
                f"(systems, {bodies}, 3)"
            )
        if isinstance(rotation0, str) and rotation0 != "random":
            raise unknown("rotation0", rotation0, ["random"])
        vectors = {spin: given, "position0": position0, "velocity0": velocity0}
        vectors = {name: np.zeros(3) if one is None else one for name, one in vectors.items()}
        values = check_system_parameters(system, parameters)
        laws = {name: inputs.law_of(one) for name, one in {**vectors, **values}.items()}
        random = isinstance(rotation0, str)
        self.first = whole("first", first, example="write first=0")
        counts = inputs.Counts(n)
        rows = {
            name: each_body(name, floats(name, one, finite=False), bodies)
            for name, one in vectors.items()
            if laws[name] is None
        }
        if not random:
            rows["rotation0"] = turns(rotation0, bodies, scalar_first)
        for name, one in rows.items():
            counts.add(name, len(one))
        self.values = {name: one for name, one in values.items() if laws[name] is None}
        for name, one in self.values.items():
            counts.add(
                f"parameter {name!r}", len(one) if one.ndim > len(self.shape_of(name)) else 1
            )
        self.n = counts.n
        inputs.check_bodies_fit(self.n * bodies)
        self.seed = None
        if random or any(laws.values()):
            if n is None and self.n == 1:
                raise InputError(
                    "n is missing: what is drawn at random does not say how many systems there are; give n=1000"
                )
            self.seed = inputs.seed_of(rng)
        if random:
            each = [self._draw(f"rotation0[{i}]", rotation0, (4,)) for i in range(bodies)]
            rows["rotation0"] = np.stack(each, axis=1)
        for name in vectors:
            if laws[name] is not None:
                rows[name] = self._draw(name, laws[name], (bodies, 3))
        for name in values:
            if laws[name] is not None:
                self.values[name] = self._draw(f"parameter {name}", laws[name], self.shape_of(name))
        refuse_moving(system, rows["velocity0"])
        self._place(rows["rotation0"], rows[spin], rows["position0"], rows["velocity0"], spin)

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of a parameter."""
        term, _, field = name.rpartition(".")
        return next(
            np.shape(getattr(one.params, field))
            for one in self.system.interaction.terms
            if term in ("", one.name) and field in getattr(one.params, "_fields", ())
        )

    def _draw(self, what: str, law: Any, shape: tuple[int, ...]) -> np.ndarray:
        return inputs.draw_values(what, law, shape, self.seed, self.first, self.n)

    def _place(
        self, q: np.ndarray, vector: np.ndarray, x: np.ndarray, v: np.ndarray, what: str
    ) -> None:
        """The initial motions; a system with NaN or infinity is lost from the start."""
        system, n, bodies = self.system, self.n, len(self.system)
        axes = None if system.is_principal else system.axes
        vector = np.broadcast_to(vector, (n, bodies, 3))
        with np.errstate(over="ignore", invalid="ignore"):
            if what == "momentum0":
                vector = system.omega(vector)
            turned = in_principal_axes(
                None, axes, np.broadcast_to(q, (n, bodies, 4)), vector, False
            )
        places = (np.broadcast_to(one, (n, bodies, 3)) for one in (x, v))
        motions = np.concatenate([turned, *places], axis=2)
        finite = np.isfinite(motions).all(axis=(1, 2))
        self.lost = set(np.flatnonzero(~finite).tolist())
        if len(self.lost) == n:
            raise InputError(
                f"rotation0, {what}, position0 and velocity0 must be finite, got {motions[0].tolist()} for system 0 and "
                "similarly for the others; give finite numbers"
            )
        check_rates(
            motions[finite][..., OMEGA],
            "omega0" if what == "omega0" else "the angular velocity of momentum0",
        )
        self.motions = motions.reshape(n, -1)

    # --- the run ----------------------------------------------------------------------------------

    @property
    def quantities(self) -> tuple[str, ...]:
        """The names of what can be measured."""
        return QUANTITIES

    def measure(self, options: Statistics) -> SystemMeasure:
        """What evaluates the quantities of some statistics."""
        foreign = next((name for name in options.of if name not in QUANTITIES), None)
        if foreign is not None:
            raise InputError(
                f"the statistic {foreign!r} is one of a body alone; for systems there are {', '.join(QUANTITIES)}, and "
                "functions of your own"
            )
        return SystemMeasure(self.system, self._parameters(), options.functions)

    def _parameters(self) -> np.ndarray:
        """Those of the interaction, (m, 1 or n)."""
        return parameter_array(self.system, self.values, self.n)

    def _lowered(self) -> str:
        return self.method.lowered(speeds_felt(self.system))

    def _members(self, threads: int | None) -> list[tuple[Any, Any]]:
        well = next(i for i in range(self.n) if i not in self.lost)
        motion = self.motions[well]
        given = in_user_axes(self.system, motion, self.kind)
        start = Start(self.t0, self.segments[-1].end, given, self.kind)
        program: Any = find_bound_system(self.method, self.system, True, start).program
        if not isinstance(program, FewProgram):
            why = trouble(self.system, start.t, start.end, start.motion)
            raise InputError(
                f"an ensemble of systems needs interactions that numba can compile, and {why}; write it with numbers, "
                "tuples and arrays, or run the systems one by one with integrate"
            )
        parameters = self._parameters()
        check_first(program, self.t0, motion)
        arrays = program.moments, parameters
        return [(range(self.n), self.backend(program, self.n, *arrays, self.dtype, threads))]

    def _result(self, **facts: Any) -> SystemEnsemble:
        return SystemEnsemble(
            **facts,
            body=self.system,
            measure=partial(SystemMeasure, self.system, self._parameters()),
            estimate=HalvedSystems(
                ManySystems, self.system, self.breaks, self.t0, self.n, *self.sample
            ),
        )


def each_body(name: str, value: np.ndarray, bodies: int) -> np.ndarray:
    """Vectors (1 or n, bodies, 3): of all bodies alike, of each, or of each in each system."""
    if value.shape == (3,):
        value = np.broadcast_to(value, (1, bodies, 3))
    elif value.ndim == 2:
        value = value[None]
    if value.ndim != 3 or value.shape[1:] != (bodies, 3):
        raise InputError(
            f"{name} must be three numbers for each of the {bodies} bodies, ({bodies}, 3), or for those of each system, "
            f"(systems, {bodies}, 3), got shape {value.shape}; give one of these"
        )
    return value


def turns(given: Any, bodies: int, scalar_first: bool | None) -> np.ndarray:
    """Quaternions (1 or n, bodies, 4) from attitudes of all bodies alike, of each, or of each in each
    system."""
    if given is not None and not hasattr(given, "as_quat"):
        value = floats("rotation0", given, finite=False)
        matrices = value.ndim == 3 and value.shape == (bodies, 3, 3)  # one for each body
        if value.ndim in (3, 4) and not matrices and value.shape[1] == bodies:
            rows = value.reshape(-1, *value.shape[2:])
            return inputs.of_each_body(rows, len(rows), scalar_first).reshape(-1, bodies, 4)
    q = inputs.of_each_body(given, bodies, scalar_first)
    if len(q) not in (1, bodies):
        raise InputError(
            f"rotation0 must be an attitude for all bodies, one for each of the {bodies}, or for those of each system, "
            f"(systems, {bodies}, ...), got {len(q)}; give one of these"
        )
    return np.broadcast_to(q, (bodies, 4))[None]
