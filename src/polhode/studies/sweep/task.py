"""One chunk of a sweep: a pure function of the plan and the box.

Body for body the numbers are those of the scenario with the values of its axes written into it.
Reading a scenario costs about a thousand steps of a body, so that what varies in the commonest
sweeps, and is a matter of putting numbers into a column, takes a shorter way: attitude, angular
velocity, position, velocity, speeds of rotors, principal moments, mass, and plain parameters of
torques and loads.
"""

import signal

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.engine._ensemble import ensemble
from polhode.engine.ensemble.parameters import parameter_names, terms_of
from polhode.engine.ensemble.measure import Measure
from polhode.engine.carriers.threads import default_threads
from polhode.errors import InputError
from polhode.loads._torque import ZERO
from polhode.results.motion import LABELS, OMEGA, PARTS, in_principal_axes, in_user_axes
from polhode.studies.sweep.axes import FIRST
from polhode.studies.sweep.plan import Plan
from polhode.studies.sweep.sweep_store import STATUS, variables

# what is known of the start of each body, as `ensemble` takes it
COLUMNS = {
    "rotation0": lambda one: one.rotation0,
    "omega0": lambda one: one.omega0,
    "position0": lambda one: one.position0 or ZERO,
    "velocity0": lambda one: one.velocity0 or ZERO,
    "mass": lambda one: one.body.mass,
}
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


def loads_of(scenario):
    """The torque of a scenario, and its force if it has one."""
    return [scenario.torque, *filter(None, [scenario.force])]


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
        key = axis.key
        if key.section == "initial":
            return key.name in ("any", "omega", "position", "velocity")
        if key.section == "rotor":
            return key.name == "speed" and not self._momentum_given()
        if key.section == "body" and "inertia" in self.plan.data["body"]:
            return key.name == "mass" or (key.name == "inertia" and self._is_plain_moment(key))
        return bool(key.load) and not key.width and self._is_plain_parameter(axis)

    def _momentum_given(self):
        """Whether the angular velocity follows from inertia and speeds."""
        return "momentum" in self.plan.data.get("initial", {})

    def _is_plain_moment(self, key):
        """Whether an entry of the inertia is a principal moment, and nothing else depends on it."""
        body = self.plan.data["body"]
        plain = (
            key.entry is not None
            and self.first.body.is_principal
            and np.ndim(body["inertia"]) == 1
            and body.get("check_triangle", True)
            and not self.first.body.rotors
        )
        seen = (
            any(term.of_body for term in terms_of(self.first.torque))
            or self._momentum_given()
            or self.first.method.adapt is not None
        )
        return plain and not seen

    def _is_plain_parameter(self, axis):
        """Whether numbers of the section of a torque or load arrive unchanged among its parameters:
        seen at two places of the axis."""
        name, found = axis.key.name, []
        for number in {0, self.plan.dimensions[axis.dimension] - 1}:
            value = axis.column(np.array([number]), self.plan.seed)[0]
            named = [
                [term.params for term in terms if len(terms) == 1 or term.name == axis.key.load]
                for terms in map(terms_of, loads_of(self.plan.scenario({axis.dimension: number})))
            ]
            params = [
                one for several in named for one in several if name in getattr(one, "_fields", ())
            ]
            if not params or any(len(several) > 1 for several in named):
                return False
            if any(getattr(one, name) != value for one in params):
                return False
            found.append([one._replace(**{name: 0.0}) for one in params])
        return found[0] == found[-1] and self._parameter(axis) in parameter_names(
            self.first.torque, self.first.force
        )

    def _parameter(self, axis):
        """What `ensemble` calls the parameter of an axis: its key, after the name of the torque or
        load where there are several."""
        terms = [term for load in loads_of(self.first) for term in terms_of(load)]
        return f"{axis.key.load}.{axis.key.name}" if len(terms) > 1 else axis.key.name

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
        self.bodies, self.loads = [one.body for one in found], [loads_of(one) for one in found]
        self.columns = {
            name: np.array([values_of(one) for one in found])[self.which]
            for name, values_of in COLUMNS.items()
        }
        self.speeds = {}  # by the place of the rotor
        self.moments, self.parameters = None, self._differing_parameters()

    def _differing_parameters(self):
        """Parameters that are not the same in all torques and loads, as `ensemble` takes them."""
        given, several = {}, sum(len(terms_of(load)) for load in self.loads[0]) > 1
        for acting in zip(*self.loads, strict=True):
            first = terms_of(acting[0])
            for place, term in enumerate(first):
                others = [terms_of(load)[place] for load in acting]
                if any(
                    other.function is not term.function or other.frame != term.frame
                    for other in others
                ):
                    raise InputError(
                        f"the {term.kind} {term.name!r} is of several kinds within this sweep; make a sweep for each"
                    )
                for name in term.params._fields if term.params is not None else ():
                    values = np.array([getattr(other.params, name) for other in others], float)
                    if (values != values[0]).any():
                        if [one.name for one in first].count(term.name) > 1:
                            raise InputError(
                                f"two {term.kind}s are called {term.name!r}; one of them cannot vary"
                            )
                        given[f"{term.name}.{name}" if several else name] = values[self.which]
        return given

    def _write(self, axis, column):
        key = axis.key
        if key.name == "any":
            self.columns["rotation0"] = column
        elif key.section == "initial":
            entry = slice(None) if key.entry is None else key.entry
            self.columns[f"{key.name}0"][:, entry] = column
        elif key.section == "rotor":
            self.speeds[key.place] = column
        elif key.section == "body" and key.name == "mass":
            self.columns["mass"] = column
        elif key.section == "body":
            if self.moments is None:
                self.moments = np.array([body.moments for body in self.bodies])[self.which]
            self.moments[:, key.entry] = column
        else:
            self.parameters[self._parameter(axis)] = column

    # --- from bodies to results -------------------------------------------------------------------

    def run(self, threads):
        """Follow the bodies; those given by an inertia tensor go by themselves, and those with
        other rotors too."""
        out = {
            name: np.zeros((self.n, *((len(LABELS[names]),) if names else ())), kind)
            for name, (names, kind, _) in variables(self.plan.kind).items()
        }
        kinds = [
            str(body.to_dict()) if body.rotors else str(body.is_principal) for body in self.bodies
        ]
        _, kinds = np.unique(kinds, return_inverse=True)
        seconds = 0.0
        for kind in range(kinds.max() + 1):
            seconds += self._follow(np.flatnonzero(kinds[self.which] == kind), threads, out)
        return {
            name: values.reshape(*self.shape, *values.shape[1:]) for name, values in out.items()
        }, seconds

    def _bodies(self, chosen):
        """These bodies, as `ensemble` takes them."""
        if self.moments is None:
            bodies = [self.bodies[i] for i in self.which[chosen]]
            return bodies[0] if len(self.bodies) == 1 or bodies[0].rotors else bodies
        moments = self.moments[chosen]
        # three rows of three would be read as one tensor
        return [RigidBody(one) for one in moments] if len(moments) == 3 else moments

    def _speeds(self, body, start, chosen):
        """The speeds of the rotors at the start, from the rotations there in principal axes."""
        speeds = body.rotor_speeds(in_user_axes(body, start)[:, OMEGA])
        for place, column in self.speeds.items():
            speeds[:, place] = column[chosen]
        return speeds

    def _follow(self, chosen, threads, out):
        plan, one, bodies = self.plan, self.first, self._bodies(chosen)
        parameters = {name: values[chosen] for name, values in self.parameters.items()}
        start = {name: values[chosen] for name, values in self.columns.items()}
        rotation0, omega0 = start.pop("rotation0"), start.pop("omega0")
        more, first = {}, []  # what a motion has besides the rotation
        if one.in_flight:
            more |= {"force": one.force, **start}
            first += [start["position0"], start["velocity0"]]
        if one.body.rotors:
            axes = None if bodies.is_principal else bodies.axes
            turning = in_principal_axes(None, axes, rotation0, omega0, False)
            more["rotor_speeds0"] = self._speeds(bodies, turning, chosen)
            first.append(more["rotor_speeds0"])
        result = ensemble(
            bodies,
            self.loads[0][0],
            one.t_span,
            one.step,
            one.method,
            rotation0=rotation0,
            scalar_first=False,
            omega0=omega0,
            parameters=parameters,
            breaks=one.breaks,
            device=plan.device,
            dtype=plan.dtype,
            threads=threads if plan.device == "cpu" else None,
            **more,
        )
        turning = in_principal_axes(None, result.bodies.axes, rotation0, omega0, False)
        measure = Measure(result.bodies, result.torque, result.parameters, force=result.force)
        before = measure(
            "energy",
            np.full(len(chosen), float(one.t_span[0])),
            np.concatenate([turning, *first], axis=1),
        )
        speeds = () if result.rotor_speeds is None else result.rotor_speeds.T
        last = result.quaternion, result.omega, result.position, result.velocity, *speeds
        last = (part for part in last if part is not None)
        for field, values in zip(plan.kind.slices, last, strict=True):
            out[PARTS[field].name][chosen] = values
        out["energy"][chosen] = result.energy
        out["energy_error"][chosen] = result.energy - before
        out["time"][chosen] = result.t
        for failure in result.failures:
            body = chosen[failure.body]
            out["time"][body] = failure.t
            out["status"][body] = (
                STATUS.index(failure.reason) if failure.reason in STATUS else STATUS.index("failed")
            )
        return result.elapsed
