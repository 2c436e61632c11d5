"""The Zarr store of a sweep: one file for each chunk of each variable, and a checksum of each
chunk, written after its data.

Nothing in it says when or where it was computed, so that two runs of a sweep give the same files,
byte for byte.
"""

import hashlib
import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from polhode.core.motions import KINDS, ROTATION, Kind, with_rotors
from polhode.errors import InputError, difference
from polhode.io.formats import zarr as zarr_format
from polhode.io.store import check_place
from polhode.results.motion import LABELS, PARTS
from polhode.studies.sweep.plan import boxes
from polhode.support.atomic import written_whole

INSTALL = "pip install 'polhode[cluster]'"
# codes from 0 on; -1 is a body that has not been computed
STATUS = ("finished", "diverged", "unsolved", "failed")
Variables = dict[str, tuple[str | None, str, dict[str, Any]]]
# name: (component dimension and its labels, dtype, attributes)
BESIDE: Variables = {
    "energy": (
        None,
        "f8",
        {"units": "J", "long_name": "energy at the end, kinetic and where known potential"},
    ),
    "energy_error": (
        None,
        "f8",
        {"units": "J", "long_name": "energy at the end minus energy at the start"},
    ),
    "time": (None, "f8", {"units": "s", "long_name": "time reached"}),
    "status": (
        None,
        "i1",
        {"flag_values": [-1, *range(len(STATUS))], "flag_meanings": " ".join(("pending", *STATUS))},
    ),
}


def variables(kind: Kind) -> Variables:
    """What is stored of bodies whose motion is of this kind."""
    found: Variables = {}
    for part in (PARTS[field] for field in kind.slices):
        name, comma, more = part.long_name.partition(",")
        about = {"units": part.units, "long_name": f"{name} at the end{comma}{more}"}
        found[part.name] = part.components, "f8", about
    return found | BESIDE


def size_of(variables: Variables) -> int:
    """The bytes of one body."""
    return sum(
        np.dtype(kind).itemsize * (len(LABELS[names]) if names else 1)
        for names, kind, _ in variables.values()
    )


_ENTRY = "polhode_sweep"  # the attribute that says what this is


def import_libraries():
    """The libraries behind sweeps, or an error that says what to install."""
    try:
        import distributed
        import zarr
    except ImportError as error:
        raise InputError(
            f"a sweep needs dask.distributed and zarr, and {error.name!r} is not installed; "
            f"install with: {INSTALL}"
        ) from None
    return zarr, distributed


class Store:
    """An existing store.

    Attributes
    ----------
    path : Path
    identity : dict
        What the numbers depend on; see `plan.Plan.identity`.
    shape, chunk_shape : tuples
    boxes : list
        The chunks: corners (start, stop).
    """

    def __init__(self, path, mode="r+"):
        zarr, _ = import_libraries()
        self.path = Path(path)
        self.group = zarr.open_group(self.path, mode=mode)
        self.identity = json.loads(self.group.attrs[_ENTRY])
        name, rotors = self.identity.get("motion", (ROTATION.name, 0))
        self.variables = variables(with_rotors(KINDS[name], rotors))
        status = self.group["status"]
        self.shape, self.chunk_shape = status.shape, status.chunks
        self.boxes = list(boxes(self.shape, self.chunk_shape))
        self._sums = self.group["progress/sha256"]

    @property
    def n(self):
        """How many bodies."""
        return math.prod(self.shape)

    def bodies_in(self, number):
        """How many bodies a chunk has."""
        return math.prod(b - a for a, b in zip(*self.boxes[number], strict=True))

    def done(self):
        """How many chunks have been written."""
        return int(self._sums[:].any(axis=1).sum())

    def write(self, number, results):
        """Put a chunk into its place: data, then the checksum that makes it count."""
        where = self._slices(number)
        for name, values in results.items():
            self.group[name][where] = values
        self._sums[number] = np.frombuffer(self._checksum(results), np.uint8)

    def finished(self):
        """The numbers of the chunks that are there and whole; what a killed process left
        half-written is swept away."""
        for path in self.path.rglob("*.partial"):
            if zarr_format.LITTER.fullmatch(path.name):
                path.unlink(missing_ok=True)
        return [
            number
            for number, checksum in enumerate(self._sums[:])
            if checksum.any() and self._is_whole(number, checksum)
        ]

    def _is_whole(self, number, checksum):
        where = self._slices(number)
        try:
            return (
                self._checksum({name: self.group[name][where] for name in self.variables})
                == checksum.tobytes()
            )
        except (ValueError, OSError, RuntimeError):  # a file that is cut short
            return False

    def _checksum(self, results):
        total = hashlib.sha256()
        for name, (_, kind, _) in self.variables.items():
            total.update(np.ascontiguousarray(results[name], kind).tobytes())
        return total.digest()

    def _slices(self, number):
        return tuple(slice(a, b) for a, b in zip(*self.boxes[number], strict=True))

    def counts(self):
        """How many bodies have each status."""
        codes, counts = np.unique(self.group["status"][:], return_counts=True)
        return {
            ("pending", *STATUS)[code + 1]: int(count)
            for code, count in zip(codes.tolist(), counts, strict=True)
        }


def is_store(path):
    """Whether a sweep's store is there."""
    try:
        return _ENTRY in json.loads((Path(path) / "zarr.json").read_text("utf-8"))["attributes"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def check(path, plan, force):
    """Refuse, before any work, what would fail after it."""
    path = Path(path)
    if path.exists() and not is_store(path):
        raise InputError(
            f"{str(path)!r} exists and is not the store of a sweep; choose another name"
        )
    if path.exists() and not force:
        there = Store(path).identity
        if there != plan.identity:
            raise InputError(
                f"{str(path)!r} holds another sweep: {difference(there, plan.identity)}; choose another name, "
                "or start again with --force (in Python force=True)"
            )
        return
    if path.exists():
        zarr_format.check_owned(path)
    check_place(path, force, may_replace=is_store)
    folder = path.absolute().parent
    each = size_of(variables(plan.kind))
    size, free = each * plan.n, shutil.disk_usage(folder).free
    if size > free:
        raise InputError(
            f"{plan.n} bodies of {each} bytes each need {size} bytes ({size / 1e9:.3g} GB); {free / 1e9:.3g} GB "
            f"are free in {str(folder)!r}; sweep over fewer values"
        )


def create(path, plan, chunk_shape, force=False):
    """Make an empty store; it appears whole or not at all."""
    path = Path(path)
    with written_whole(path, force) as partial:
        _fill(partial, plan, chunk_shape)
    return Store(path)


def _named(about, units):
    """The attributes of a variable in the units of the scenario."""
    unit = units.of(about.get("units", ""))
    return {key: value for key, value in about.items() if key != "units"} | (
        {"units": unit} if unit else {}
    )


def _fill(path, plan, chunk_shape):
    zarr, _ = import_libraries()
    attributes = {
        "title": plan.title,
        "polhode_version": plan.identity["polhode_version"],
        "digest": plan.digest,
        _ENTRY: json.dumps(plan.identity),
    }
    group = zarr.create_group(path, attributes=attributes)
    dimensions = list(plan.dimensions)
    for name, (components, kind, about) in variables(plan.kind).items():
        last, names = ((len(LABELS[components]),), [components]) if components else ((), [])
        group.create_array(
            name,
            shape=(*plan.shape, *last),
            chunks=(*chunk_shape, *last),
            dtype=kind,
            compressors=None,
            fill_value=float("nan") if kind == "f8" else -1,
            dimension_names=[*dimensions, *names],
            attributes=_named(about, plan.body.units),
            config={"write_empty_chunks": True},
        )
    group.attrs["coordinates"] = " ".join(_coordinate(group, axis, plan) for axis in plan.axes)
    for name, labels in LABELS.items():
        _array(group, name, np.array(list(labels), dtype=object), [name])
    count = math.prod(
        -(-length // size) for length, size in zip(plan.shape, chunk_shape, strict=True)
    )
    group.create_group("progress").create_array(
        "sha256",
        shape=(count, 32),
        chunks=(1, 32),
        dtype="u1",
        fill_value=0,
        compressors=None,
        dimension_names=["chunk", "byte"],
    )
    zarr_format.finish(path)


def _coordinate(group, axis, plan):
    """Write the values of an axis along its dimension; vectors cannot label a dimension and stand
    beside it.  The name."""
    values = axis.column(np.arange(plan.dimensions[axis.dimension]), plan.seed)
    values = np.array(values, dtype=object) if isinstance(values, list) else values
    name = f"{axis.path}.value" if values.ndim > 1 and axis.values else axis.path
    _array(group, name, values, [axis.dimension, *([f"{axis.path}.entry"] * (values.ndim - 1))])
    return name


def _array(group, name, values, dimensions):
    kind = str if values.dtype == object else values.dtype
    array = group.create_array(
        name,
        shape=values.shape,
        chunks=values.shape,
        dtype=kind,
        compressors=None,
        dimension_names=dimensions,
    )
    array[:] = values
