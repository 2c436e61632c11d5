"""A sweep before it runs: its dimensions, its chunks, and a digest of everything its numbers depend
on.

A chunk is a box of the grid, full along the last dimensions and one thick along the first, hence a
contiguous range of bodies.  How many bodies it has is a matter of convenience and leaves no trace
in the numbers:

    a 256th of the sweep, but no more than 2^31 body-steps, and no fewer than 2^24 body-steps and
    four tiles of lanes for each thread of a worker, unless there is less than that for every worker;
    never more than fit into a quarter of the memory of the smallest worker, at 1024 bytes for each
    body.
"""

import copy
import hashlib
import json
import math
from functools import cached_property
from pathlib import Path

import numpy as np

import polhode
from polhode.core.digest import digest
from polhode.core.motions import FLIGHT, ROTATION, with_rotors
from polhode.errors import InputError, whole
from polhode.support.file_names import readable
from polhode.engine.carriers.simd_tiles import LANES
from polhode.engine.rotors import check_rotors
from polhode.engine.schedule import segments
from polhode.io.scenario._load import make_scenario
from polhode.io.scenario.settings import fill_from_problem, put
from polhode.io.scenario.faults import Faults
from polhode.io.scenario.systems import is_system
from polhode.io.scenario.toml import check_depth, parse
from polhode.methods import get
from polhode.support.regular import file_path
from polhode.studies.sweep import axes as reading
from polhode.studies.sweep.axes import FIRST, SAMPLE
from polhode.studies.sweep.keys import METHOD, RANDOM, STEP

BYTES_PER_BODY = 1024  # of a worker's memory: state, inputs, results and their copies
PARTS = 256  # chunks wished for: balance between workers, little lost when one dies
TILES = 4  # of lanes for each thread: those that are done early take what is left
CHUNK_STEPS = 2**24, 2**31  # body-steps: some tenths, and some tens of seconds on a laptop
MOST_CHUNKS = 10**6
CHECKED_VALUES = 200  # of each axis, before any work


def load(source):
    """The Plan of a sweep file, or of the same as a dict."""
    if not isinstance(source, dict):
        path = file_path(source)
        return Plan(parse(path), path)
    return Plan(source, "the sweep")


class Plan:
    """A checked sweep.

    Attributes
    ----------
    data : dict
        The scenario, every axis at its first value.
    axes : list of Axis
    dimensions : dict
        Name and length of each dimension, in order.
    n : int
        How many bodies.
    """

    def __init__(self, source, path):
        check_depth(source, path)
        data = copy.deepcopy(source)
        self.source, self.path = source, path
        self.title = str(data.get("title", readable(Path(path).stem)))
        table = data.pop("sweep", None)
        if table is None:
            raise InputError(
                f"{path}: has no [sweep] section; name the keys that vary, such as run.step = [0.1, 0.05]"
            )
        for key in ("output", "ensemble"):
            if key in data:
                raise InputError(
                    f"{path}: [{key}] does not go with [sweep]; drop it, and name the store with --output"
                )
        if is_system(data):
            raise InputError(
                f"{path}: [sweep] does not go with a system of bodies, [[body]]; run it for each value, with `polhode run "
                "--set` or in a loop over polhode.integrate"
            )
        faults = Faults()
        for key in ("body", "initial", "run"):
            if not isinstance(data.get(key, {}), dict):
                faults.add(
                    (key,),
                    f"must be a section, got {data[key]!r:.60}; write a line [{key}] and its keys below that",
                )
        faults.report(path)
        for key in {"every", "t_eval"} & set(data.get("run", ())):
            faults.add(
                ("run", key), "does not go with [sweep], which stores where each body ends; drop it"
            )
        options, self.axes = reading.read(table, data, faults)
        if not faults:
            with faults.at("sweep"):
                fill_from_problem(data, [axis.path for axis in self.axes])
                self._set_dimensions(data, options)
        faults.report(path)
        self._check_values()

    def _set_dimensions(self, data, options):
        self.seed, self.device, self.dtype = options.seed, options.device, options.dtype
        self.dimensions = {axis.path: len(axis.values) for axis in self.axes if axis.values}
        if options.samples is not None:
            self.dimensions[SAMPLE] = options.samples
        self.shape = tuple(self.dimensions.values())
        self.n = math.prod(self.shape)
        self.data = data
        self.data = self.at(dict.fromkeys(self.dimensions, 0))

    def at(self, index):
        """The scenario, as the contents of a file, at an index {dimension: number} into some of the
        dimensions."""
        data = copy.deepcopy(self.data)
        for axis in self.axes:
            if axis.dimension in index:
                value = axis.column(np.array([index[axis.dimension]]), self.seed)[0]
                put(
                    data,
                    "initial.quaternion" if axis.path == RANDOM else axis.path,
                    value if isinstance(value, str) else np.asarray(value).tolist(),
                )
        return data

    def scenario(self, index):
        """The Scenario there."""
        where = ", ".join(f"{name} {number}" for name, number in index.items())
        return make_scenario(self.at(index), f"{self.path} ({where})" if where else self.path)

    def _check_values(self):
        """Read the scenario at every value of every axis, the others at their first: what is wrong
        shows before any work."""
        for name, length in self.dimensions.items():
            for number in np.unique(
                np.linspace(0, length - 1, min(length, CHECKED_VALUES), dtype=int)
            ).tolist():
                scenario = self.scenario({name: number})
        self.torque, self.body, self.t_span = scenario.torque, scenario.body, scenario.t_span
        self.force = scenario.force
        base = FLIGHT if scenario.in_flight else ROTATION
        self.kind = with_rotors(base, len(self.body.rotors))
        steps, methods = (
            self._all(STEP, scenario.step),
            self._all(METHOD, scenario.method.name),
        )
        steps = (
            sorted({*steps[:: -(-len(steps) // CHECKED_VALUES)], min(steps)})
            if len(steps) > CHECKED_VALUES
            else steps
        )
        for method in methods:
            for step in steps:
                put(trial := copy.deepcopy(self.data), METHOD, method)
                put(trial, STEP, step)
                scenario = make_scenario(trial, self.path)
                if scenario.rtol is not None:
                    raise InputError(
                        f"run.method: {method} chooses its own steps; a sweep needs steps of a given size; give "
                        "run.step, with a method that takes steps"
                    )
                if scenario.body.rotors:
                    check_rotors(scenario.method)
        self.methods = methods
        counts = [
            sum(part.count for part in segments(scenario.t_span, step, scenario.breaks))
            for step in steps
        ]
        self.steps, self.mean_steps = max(counts), sum(counts) / len(counts)

    def _all(self, path, default):
        return next((axis.values for axis in self.axes if axis.path == path), (default,))

    # --- chunks -----------------------------------------------------------------------------------

    def chunk_shape(self, workers, chunk=None):
        """The box of a chunk for such workers (`cluster.Workers`), or for so many bodies."""
        if chunk is None:
            fits = max(1, int(workers.memory / 4 / BYTES_PER_BODY))
            busy = min(TILES * LANES * workers.threads, -(-self.n // workers.processes))
            least, most = (max(busy, steps // self.steps) for steps in CHUNK_STEPS)
            chunk = min(fits, max(least, min(-(-self.n // PARTS), most)))
        box, left = [], whole("chunk", chunk, 1, "leave it out, or use 1000")
        for name, length in reversed(self.dimensions.items()):
            box.append(1 if name in FIRST else min(length, left))
            left = left // length if name not in FIRST and left >= length else 0
            left = max(1, left)
        count = math.prod(
            -(-length // size) for length, size in zip(self.shape, reversed(box), strict=True)
        )
        if count > MOST_CHUNKS:
            raise InputError(
                f"{self.n} bodies in chunks of {chunk} are {count} chunks, over {MOST_CHUNKS}; use larger ones"
            )
        return tuple(reversed(box))

    # --- identity ---------------------------------------------------------------------------------

    @cached_property
    def identity(self):
        """Everything the numbers depend on, as plain data."""
        sweep = {axis.path: list(axis.values) or list(axis.law) for axis in self.axes}
        sweep |= {"seed": self.seed, "device": self.device, "dtype": self.dtype}
        if SAMPLE in self.dimensions:
            sweep["samples"] = self.dimensions[SAMPLE]
        found = {
            "sweep": sweep,
            "scenario": self.data,
            "polhode_version": polhode.__version__,
            "code": self.code(),
            **({} if self.kind is ROTATION else {"motion": [self.kind.name, self.kind.spinning]}),
        }
        return json.loads(json.dumps(found))

    def code(self):
        """A digest of the code of each method with the loads."""
        found = {name: get(name).suited(self.torque) for name in self.methods}
        loads = [self.torque.source()]
        loads += [] if self.force is None else [self.force.source()]
        return {
            name: digest(*self._steps(one), *loads, identity=True) for name, one in found.items()
        }

    def _steps(self, method):
        """The functions of a method for this kind of motion."""
        further = [method.flight] * (self.kind.name == FLIGHT.name)
        further += [method.rotors] * (self.kind.spinning > 0)
        return [method.step, method.start, *filter(None, further)]

    @cached_property
    def digest(self):
        """A name for all of it."""
        return hashlib.sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()


def boxes(shape, chunk_shape):
    """The chunks in order: (start, stop) corners of each box."""
    counts = [-(-length // size) for length, size in zip(shape, chunk_shape, strict=True)]
    for place in np.ndindex(*counts):
        start = tuple(i * size for i, size in zip(place, chunk_shape, strict=True))
        yield (
            start,
            tuple(
                min(a + size, length)
                for a, size, length in zip(start, chunk_shape, shape, strict=True)
            ),
        )
