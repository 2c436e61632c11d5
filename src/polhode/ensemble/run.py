"""The front door of ensembles: everything is checked before any work, then chunks of steps until the end or Ctrl-C."""

import time

import numpy as np

from polhode._torque import as_torque
from polhode.agreement import Start
from polhode.ensemble import inputs
from polhode.ensemble.keep import keeping
from polhode.ensemble.kinds import Kinds
from polhode.ensemble.result import Ensemble, Failure
from polhode.errors import InputError, called_as, choice, unknown, whole
from polhode.grid import segments
from polhode.limits import check_rates
from polhode.march import first_trouble, in_principal_axes, interruptible
from polhode.methods import get
from polhode.program import build

FIRST_CHUNK, CHUNK_STEPS, CHUNK_SECONDS = 8, 1_000_000, 0.1   # steps in a call: the first, the most, and how long it may take
DEVICES, DTYPES = ("cpu", "cuda"), ("float64", "float32")
OPTIONS = ("bodies", "torque", "t_span", "step", "method", "rotation0", "omega0", "momentum0", "n", "parameters", "rng", "first",
           "breaks", "keep", "device", "dtype", "threads", "progress")


def ensemble(bodies, torque=None, t_span=None, step=None, method="LP2", *, rotation0=None, omega0=None, momentum0=None, n=None,
             parameters=None, rng=None, first=0, breaks=None, keep="end", device="cpu", dtype="float64", threads=None,
             progress=None, **misspelt):
    """Follow many rigid bodies over a span of time.

    Every body moves by the same equations with its own numbers.  On a processor in float64 each motion is, bit for bit, the one
    `integrate` computes, whatever the number of threads.

    Parameters
    ----------
    bodies : RigidBody or inertia, a list of them, or array (n, 3) of principal moments or (n, 3, 3) of tensors
        A single one stands for all.
    torque, t_span, step, method, breaks
        As in `integrate`.
    rotation0 : one rotation, scipy Rotation of n, array (n, 4), (n, 3, 3) or (n, 3), "random", or None
        Attitudes at t0.  "random": spread evenly over all rotations.
    omega0, momentum0 : three numbers, array (n, 3), or a distribution of scipy.stats
        Body angular velocity or momentum at t0; one of the two.
    n : int, optional
        How many bodies, where nothing else says it.
    parameters : dict, optional
        Values of the torque's parameters by name, one for each body, or a distribution.  In a sum of torques a name that occurs
        twice is written "torque.name".
    rng : int, numpy Generator or None
        Seed of what is drawn.  Body i draws the same whatever the number of bodies.
    first : int
        The number of the first body, where these are a part of a larger ensemble: what is drawn depends on it.
    keep : "end", int, "statistics", or polhode.Statistics(every=..., of=..., functions=...)
        "end": the motions at the end alone.  A number: also after every so many steps.  Statistics: means, variances and
        extremes, over time for each body and over bodies at each sampled time, without storing motions.
    device : "cpu" or "cuda"
    dtype : "float64" or "float32"
        Single precision is faster and accurate to about 1e-7 times the square root of the number of steps, at best.
    threads : int, optional
        As many as there are processors by default.
    progress : function, optional
        Called as progress(steps done, steps in all).

    Returns
    -------
    Ensemble

    Raises
    ------
    PolhodeError, KeyboardInterrupt
        Ctrl-C, and an error of a statistic or of `progress`, carry what was computed as their attribute `ensemble`.  A second
        Ctrl-C does not wait until all bodies are at the same step, and keeps nothing.

    Examples
    --------
    >>> from scipy import stats
    >>> run = ensemble([1.0, 2.0, 3.0], t_span=(0, 10), step=0.01, n=100, rotation0="random", omega0=stats.norm(0, 1), rng=1)
    >>> run.omega.shape, str(run.status[0])
    ((100, 3), 'finished')
    """
    if misspelt:
        raise unknown("option of ensemble", next(iter(misspelt)), OPTIONS)
    choice("device", device, DEVICES)
    dtype = choice("dtype", np.dtype(dtype).name if isinstance(dtype, (type, np.dtype)) else dtype, DTYPES)
    if progress is not None:
        called_as("progress", progress, "progress(done, total)")
    run = Run(bodies, torque, t_span, step, method, breaks)
    run.will_start(rotation0, omega0, momentum0, n, parameters, rng, first)
    run.will_keep(keep)
    return run.follow(device, dtype, threads, progress)


class Run:
    """One call of `ensemble`."""

    def __init__(self, bodies, torque, t_span, step, method, breaks):
        self.bodies, self.torque, self.method = inputs.Bodies(bodies), as_torque(torque), get(method)
        if step is None:
            raise InputError("step is missing; give the size of a step, or an array of times")
        if t_span is None and np.ndim(step) == 0:
            raise InputError("t_span is missing; give (t0, t1)")
        self.segments = segments(t_span, step, breaks, self.method.multistep, f"method {self.method.name}")
        self.step = np.asarray(step).tolist()
        self.total = sum(segment.count for segment in self.segments)
        self.t, self.done = self.segments[0].time(0), 0
        self.failures, self.interrupted = {}, False
        self.together = False   # whether all bodies are at the same step

    def will_start(self, rotation0, omega0, momentum0, n, parameters, rng, first):
        """Motions (n, 7) in principal axes and torque parameters (m, 1 or n), checked."""
        if (omega0 is None) == (momentum0 is None):
            given = "neither" if omega0 is None else "both"
            raise InputError(f"give omega0 or momentum0 (three numbers for all bodies, or for each), got {given}; give one of "
                             "the two")
        what, vector = ("omega0", omega0) if momentum0 is None else ("momentum0", momentum0)
        values = inputs.check_parameters(self.torque, parameters)
        if isinstance(rotation0, str) and rotation0 != "random":
            raise unknown("rotation0", rotation0, ["random"])
        self.first, self.seed = whole("first", first, example="write first=0"), None
        counts = inputs.Counts(n)
        counts.add("bodies", self.bodies.count)
        q = None if isinstance(rotation0, str) else inputs.attitudes(rotation0)
        v = None if inputs.is_distribution(vector) else inputs.vectors(what, vector)
        for name, value in (("rotation0", q), (what, v)):
            counts.add(name, 1 if value is None else len(value))
        known = {name: value for name, value in values.items() if not inputs.is_distribution(value)}
        inputs.parameter_rows(self.torque, known, counts)
        self.n = counts.n
        inputs.enough(self.n)
        if q is None or v is None or len(known) < len(values):
            self.seed = inputs.seed_of(rng)
        if q is None:
            q = self._draw("rotation0", rotation0, (4,))
        if v is None:
            v = self._draw(what, vector, (3,))
        self.values = known | {name: self._draw(f"parameter {name}", value, self._shape(name))
                               for name, value in values.items() if name not in known}
        self._place(q, v, momentum0 is not None)

    def _draw(self, what, distribution, shape):
        return inputs.drawn(what, distribution, shape, self.seed, self.first, self.n)

    def _shape(self, name):
        term, _, field = name.rpartition(".")
        torques = [one for one in inputs.terms_of(self.torque) if term in ("", one.name)]
        return next(np.shape(getattr(one.params, field)) for one in torques if field in inputs.fields(one))

    def _place(self, q, v, is_momentum):
        """The initial motions; a body whose numbers are not numbers is out from the start."""
        one, bodies = self.n == 1 or self.bodies.count == 1, self.bodies
        q, v = np.broadcast_to(q, (self.n, 4)), np.broadcast_to(v, (self.n, 3))
        given = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
        with np.errstate(over="ignore"):
            self.motions = in_principal_axes(bodies.moments[:, 0] if one else bodies.moments.T, bodies.axes, q, v, is_momentum)
        check_rates(self.motions[given, 4:], "the angular velocity of momentum0" if is_momentum else "omega0")
        self.lost = set(np.flatnonzero(~np.isfinite(self.motions).all(axis=1)).tolist())
        if len(self.lost) == self.n:
            raise InputError(f"rotation0 and {'momentum0' if is_momentum else 'omega0'} must be finite, got "
                             f"{self.motions[0].tolist()} for body 0 and the like for every other; give numbers")

    def will_keep(self, keep):
        """What is to be stored or summed up on the way."""
        self.keep = keeping(keep, self)

    # --- the run ------------------------------------------------------------------------------------------------------------

    def follow(self, device, dtype, threads, progress):
        """Take the steps."""
        self.backend = self._backend(device, dtype, threads)
        self.dtype, self.device, self.elapsed, self.chunk = dtype, device, 0.0, FIRST_CHUNK
        lowered = self.method.lowered(self.torque)
        self.message = "the run reached its end" + (f"; {lowered}" if lowered else "")
        try:
            self._follow(progress)
        except BaseException as error:   # of a statistic, memory, `progress`, a second Ctrl-C
            if self.together:
                self.interrupted, self.message = True, f"{self._so_far()}: {error}"
                error.ensemble = Ensemble(self)
            raise
        result = Ensemble(self)
        if self.interrupted:
            error = KeyboardInterrupt(self.message)
            error.ensemble = result
            raise error
        return result

    def _follow(self, progress):
        with interruptible() as interrupted:
            for index, segment in enumerate(self.segments):
                if index == 0:
                    self.backend.begin(segment.first_step, segment.time(0), self.motions)
                    self.keep.first(self)
                    self.motions = None   # the backend has them
                elif segment.fresh:
                    self.backend.begin(segment.first_step, segment.time(0), self.backend.motions())
                if not self._through(segment, progress, interrupted):
                    break

    def _backend(self, device, dtype, threads):
        """What moves the bodies: one backend, or one for each kind of body the method has a step for."""
        if device == "cuda":
            from polhode.ensemble.gpu import Gpu as Backend
        else:
            from polhode.ensemble.tiles import Tiles as Backend
        members = []
        for like, chosen in self.bodies.kinds(self.method, self.torque):
            bodies = np.arange(self.n) if chosen is None else chosen
            well = next((i for i in bodies if i not in self.lost), None)
            start = None if well is None else Start(self.t, self.segments[-1].end, self.motions[well])
            self.program = program = build(self.method, self.torque, self.bodies.one, like=like, start=start)
            self._agree(like, start)
            trouble = None if well is None else first_trouble(program, self.t, self.motions[well])
            if trouble is not None:
                raise trouble
            moments, parameters = (rows if chosen is None or rows.shape[1] == 1 else rows[:, chosen]
                                   for rows in (self.bodies.moments, self._parameters(program)))
            members.append((bodies, Backend(program, len(bodies), moments, parameters, dtype, threads)))
        return members[0][1] if len(members) == 1 else Kinds(members)

    def _agree(self, like, start):
        """Machine code and Python must agree for the least and the largest of each parameter too, not for one set alone."""
        for term in [] if self.program.mode != "compiled" else inputs.terms_of(self.torque):
            own = {name: np.asarray(self.values[key], dtype=float) for name in inputs.fields(term)
                   for key in (name, f"{term.name}.{name}") if key in self.values}
            several = {name: value for name, value in own.items() if value.ndim > np.ndim(getattr(term.params, name))}
            if term.is_ours or not several:
                continue
            ends = {int(find(value.reshape(len(value), -1).sum(axis=1)))
                    for value in several.values() for find in (np.argmin, np.argmax)}
            for body in sorted(ends):
                one = term.with_params(**{name: value[body] if name in several else value for name, value in own.items()})
                program = build(self.method, one, self.bodies.one, like=like, start=start)
                if program.mode != "compiled":
                    raise InputError(f"torque {term.name!r} with the parameters of body {body} must run as Python "
                                     f"({program.note}), which knows one set of parameters; correct it, or integrate the bodies "
                                     "one by one")

    def _through(self, segment, progress, interrupted):
        """The steps of a segment; False when the run was interrupted inside it."""
        self.backend.advance(segment, 0, 0)   # compile, or load, before anyone looks at a clock
        k = 0
        while k < segment.count:
            count = min(self.keep.next(self.done), segment.count - k, self.chunk)
            started = time.perf_counter()
            self.together = False
            self.backend.advance(segment, k, count)
            seconds = time.perf_counter() - started
            self.elapsed += seconds
            self._note_failures(segment, self.done - k)
            k, self.done = k + count, self.done + count
            self.t, self.together = segment.time(k), True
            self.keep.look(self)
            if seconds < CHUNK_SECONDS / 2 and count == self.chunk:
                self.chunk = min(2 * self.chunk, CHUNK_STEPS)
            elif seconds > 2 * CHUNK_SECONDS:
                self.chunk = max(self.chunk // 2, FIRST_CHUNK)
            if progress is not None:
                progress(self.done, self.total)
            if interrupted.is_set():
                self.interrupted, self.message = True, self._so_far()
                return False
        return True

    def _so_far(self):
        return f"interrupted after {self.done} of {self.total} steps, at t = {self.t:.15g}"

    def _note_failures(self, segment, before):
        """Keep number, step, time and reason of the bodies that have failed in this segment."""
        for body, (k, reason) in self.backend.failures().items():
            if body not in self.failures:
                if body in self.lost:
                    reason = "its initial motion is not finite"
                self.failures[body] = Failure(body, before + k, segment.time(k), reason)

    def _parameters(self, program):
        """What the kernels get, (m, 1 or n): the axes where there are any, then the torque's values or the way to them."""
        python = program.pythons[0] is not None
        if python and self.values:
            raise InputError(f"torque {self.torque.name!r} runs as Python ({program.note}), which knows one set of "
                             "parameters; leave out parameters=..., or make it a function that numba can compile")
        address = [np.array([part]) for part in program.pythons[0].values] if python else None
        rows = address or inputs.parameter_rows(program.acting, self.values)
        if self.bodies.axes is not None:
            rows = [*self.bodies.axes.reshape(-1, 9).T, *rows]
        several = any(len(row) > 1 for row in rows)
        parameters = np.empty((len(rows), self.n if several else 1))
        for i, row in enumerate(rows):
            parameters[i] = row
        return parameters
