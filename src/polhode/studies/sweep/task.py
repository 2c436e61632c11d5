"""One chunk of a sweep: a pure function of the plan and the box.

Body for body the numbers are those of the scenario with the values of its axes written into it.
Reading a scenario costs about a thousand steps of a body, so that what varies in the commonest
sweeps, and is a matter of putting numbers into a column, takes a shorter way: angular velocity,
attitude, principal moments, and plain parameters of a torque.
"""

import re
import signal

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.engine._ensemble import ensemble
from polhode.engine.ensemble.parameters import terms_of
from polhode.engine.ensemble.measure import Measure
from polhode.engine.carriers.simd_tiles import default_threads
from polhode.errors import InputError
from polhode.results.motion import in_principal_axes
from polhode.studies.sweep.axes import FIRST
from polhode.studies.sweep.plan import Plan
from polhode.studies.sweep.sweep_store import STATUS

_plans: dict[str, Plan] = {}  # the sweep this worker is busy with, by its digest


def compute(source, digest, box, threads=None):
    """The results of the bodies in a box, for a worker: {"quaternion": ..., ...} in the shape of
    the box, and seconds."""
    if digest not in _plans:
        plan = Plan(source, "the sweep")
        if plan.digest != digest:
            raise InputError(
                "this worker runs other code than the client; install the same polhode, numba and Python on both"
            )
        _plans.clear()
        _plans[digest] = plan
    try:
        return SweepChunk(_plans[digest], box).run(own_threads() if threads is None else threads)
    except InputError as error:
        where = ", ".join(
            f"{name} {a}..{b - 1}"
            for name, a, b in zip(_plans[digest].dimensions, *box, strict=True)
        )
        raise InputError(f"in the chunk of {where}: {error}") from error


def dask_setup(worker):
    """Dask calls this in the workers of a cluster of our own: Ctrl-C in a terminal reaches them
    too, but is the client's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def own_threads():
    """The processors of this machine, shared between the threads of this Dask worker."""
    from distributed import get_worker

    return max(1, default_threads() // get_worker().state.nthreads)


class SweepChunk:
    """The bodies of a box."""

    def __init__(self, plan, box):
        self.plan, (start, stop) = plan, box
        self.shape = tuple(b - a for a, b in zip(start, stop, strict=True))
        places = np.indices(self.shape).reshape(len(self.shape), -1)
        self.n = places.shape[1]
        self.index = {
            name: row + first
            for name, row, first in zip(plan.dimensions, places, start, strict=True)
        }
        self.first = plan.scenario({name: int(row[0]) for name, row in self.index.items()})
        self.quick = [axis for axis in plan.axes if self._is_quick(axis)]
        self.slow = [
            axis for axis in plan.axes if axis not in self.quick and axis.path not in FIRST
        ]
        self._read()
        for axis in self.quick:
            self._write(axis, axis.column(self.index[axis.dimension], plan.seed))

    # --- from values to bodies --------------------------------------------------------------------

    def _is_quick(self, axis):
        """Whether the values of an axis need only be written into a column."""
        data = self.plan.data
        if re.fullmatch(r"initial\.(omega(\.\d)?|rotation)", axis.path):
            return True
        if re.fullmatch(r"body\.inertia\.\d", axis.path):
            body = data["body"]
            plain = (
                self.first.body.is_principal
                and np.ndim(body["inertia"]) == 1
                and body.get("check_triangle", True)
            )
            seen = (
                self._torque_sees_body()
                or "momentum" in data.get("initial", {})
                or self.first.method.adapt is not None
            )
            return plain and not seen
        return bool(re.fullmatch(r"torque\.\w+(\.\w+)?", axis.path)) and self._is_plain_parameter(
            axis
        )

    def _torque_sees_body(self):
        return any(term.of_body for term in terms_of(self.first.torque))

    def _is_plain_parameter(self, axis):
        """Whether numbers of a torque's section arrive unchanged among its parameters: seen at two
        places of the axis."""
        key, others = axis.path.split(".")[-1], []
        for number in {0, self.plan.dimensions[axis.dimension] - 1}:
            value = axis.column(np.array([number]), self.plan.seed)[0]
            terms = terms_of(self.plan.scenario({axis.dimension: number}).torque)
            named = [
                term.params
                for term in terms
                if self._parameter(axis) in (key, f"{term.name}.{key}")
            ]
            if np.ndim(value) or len(named) != 1 or getattr(named[0], key, None) != value:
                return False
            others.append(named[0]._replace(**{key: 0.0}))
        return others[0] == others[-1]

    def _parameter(self, axis):
        """What `ensemble` calls the parameter of an axis: its key, after the torque's name where
        there are several torques."""
        _, *name, key = axis.path.split(".")
        return (
            f"{name[0].lower().replace('-', '_')}.{key}"
            if name and len(terms_of(self.first.torque)) > 1
            else key
        )

    def _read(self):
        """The scenario at every combination of the slow axes in this box."""
        names = [
            name
            for name in self.plan.dimensions
            if name not in FIRST and name in {axis.dimension for axis in self.slow}
        ]
        rows = np.array([self.index[name] for name in names]).reshape(len(names), self.n)
        combinations, self.which = np.unique(rows, axis=1, return_inverse=True)
        fixed = {name: int(self.index[name][0]) for name in FIRST if name in self.index}
        found = [
            self.plan.scenario(fixed | dict(zip(names, map(int, column), strict=True)))
            for column in combinations.T
        ]
        if not names:
            self.which = np.zeros(self.n, dtype=int)
            found = [self.first]
        self.which = self.which.ravel()
        self.bodies, self.torques = [one.body for one in found], [one.torque for one in found]
        self.rotation0 = np.array([one.rotation0 for one in found])[self.which]
        self.omega0 = np.array([one.omega0 for one in found])[self.which]
        self.moments, self.parameters = None, self._differing_parameters()

    def _differing_parameters(self):
        """Parameters that are not the same in all torques, as `ensemble` takes them."""
        first = terms_of(self.torques[0])
        given = {}
        for place, term in enumerate(first):
            others = [terms_of(torque)[place] for torque in self.torques]
            if any(
                other.function is not term.function or other.frame != term.frame for other in others
            ):
                raise InputError(
                    f"the torque {term.name!r} is of several kinds within this sweep; make a sweep for each"
                )
            for name in term.params._fields if term.params is not None else ():
                values = np.array([getattr(other.params, name) for other in others], dtype=float)
                if (values != values[0]).any():
                    if [one.name for one in first].count(term.name) > 1:
                        raise InputError(
                            f"two torques are called {term.name!r}; one of them cannot vary"
                        )
                    given[name if len(first) == 1 else f"{term.name}.{name}"] = values[self.which]
        return given

    def _write(self, axis, column):
        section, _, *entry = axis.path.split(".")
        if axis.path == "initial.rotation":
            self.rotation0 = column
        elif section == "initial":
            self.omega0[:, int(entry[0]) if entry else slice(None)] = column
        elif section == "body":
            if self.moments is None:
                self.moments = np.array([body.moments for body in self.bodies])[self.which]
            self.moments[:, int(entry[0])] = column
        else:
            self.parameters[self._parameter(axis)] = column

    # --- from bodies to results -------------------------------------------------------------------

    def run(self, threads):
        """Follow the bodies; those given by an inertia tensor go by themselves."""
        out = {
            "quaternion": np.empty((self.n, 4)),
            "omega": np.empty((self.n, 3)),
            "energy": np.empty(self.n),
            "energy_error": np.empty(self.n),
            "time": np.empty(self.n),
            "status": np.zeros(self.n, np.int8),
        }
        seconds = 0.0
        principal = np.array([body.is_principal for body in self.bodies])[self.which]
        for kind in np.unique(principal):
            seconds += self._follow(np.flatnonzero(principal == kind), threads, out)
        return {
            name: values.reshape(*self.shape, *values.shape[1:]) for name, values in out.items()
        }, seconds

    def _follow(self, chosen, threads, out):
        plan, one = self.plan, self.first
        if self.moments is not None:
            bodies = self.moments[chosen]
            if len(bodies) == 3:  # three rows of three would be read as one tensor
                bodies = [RigidBody(one) for one in bodies]
        else:
            bodies = (
                self.bodies[0]
                if len(self.bodies) == 1
                else [self.bodies[i] for i in self.which[chosen]]
            )
        parameters = {name: values[chosen] for name, values in self.parameters.items()}
        result = ensemble(
            bodies,
            self.torques[0],
            one.t_span,
            one.step,
            one.method,
            rotation0=self.rotation0[chosen],
            scalar_first=False,
            omega0=self.omega0[chosen],
            parameters=parameters,
            breaks=one.breaks,
            device=plan.device,
            dtype=plan.dtype,
            threads=threads if plan.device == "cpu" else None,
        )
        start = in_principal_axes(
            None, result.bodies.axes, self.rotation0[chosen], self.omega0[chosen], False
        )
        before = Measure(result.bodies, self.torques[0], parameters)(
            "energy", np.full(len(chosen), float(one.t_span[0])), start
        )
        out["quaternion"][chosen], out["omega"][chosen], out["energy"][chosen] = (
            result.quaternion,
            result.omega,
            result.energy,
        )
        out["energy_error"][chosen] = result.energy - before
        out["time"][chosen] = result.t
        for failure in result.failures:
            body = chosen[failure.body]
            out["time"][body] = failure.t
            out["status"][body] = (
                STATUS.index(failure.reason) if failure.reason in STATUS else STATUS.index("failed")
            )
        return result.elapsed
