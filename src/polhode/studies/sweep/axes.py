"""The section [sweep] of a scenario: which of its keys vary, and over what.

    [sweep]
    initial.omega.2 = { from = 1.0, to = 100.0, count = 64, scale = "log" }     # a grid
    torque.moment = [10.0, 20.0, 40.0]                                          # a list
    run.method = ["NMB", "LIEMID[EA]"]
    body.inertia.0 = { normal = [5.0, 0.1] }                                    # mean and standard deviation
    initial.rotation = "random"                                                 # spread evenly over all attitudes
    samples = 1000                                                              # of what is drawn
    seed = 7

An axis is the path of a key of the scenario; numbers in it count from 0 and pick one entry of a
list, and one of several torques or loads is picked by its name.  Lists and grids multiply.  What is drawn is
drawn once for each sample, and every point of the grid gets the same samples, so that differences
between points are no noise.
"""

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationError

from polhode.engine.ensemble.inputs import draw_values
from polhode.errors import InputError, unknown
from polhode.io.scenario import messages, schema
from polhode.io.scenario.torque import EXAMPLES
from polhode.studies.sweep.keys import METHOD, RANDOM, STEP, Key, keys

SAMPLE = "sample"
# these dimensions come first: a chunk has one method and one step
FIRST = (METHOD, STEP)

MOST = 10**6  # values of an axis, or whole axes of them would go through every worker

Pair = Annotated[list[float], Field(min_length=2, max_length=2)]


class Grid(schema.Section):
    begin: Annotated[float, Field(alias="from")]
    to: float
    count: Annotated[int, Field(ge=2, le=MOST)]
    scale: Literal["linear", "log"] = "linear"


class Draw(schema.Section):
    normal: Pair | None = None
    uniform: Pair | None = None
    loguniform: Pair | None = None


class Options(schema.Section):
    samples: Annotated[int, Field(ge=1, le=2**53)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    device: Literal["cpu", "cuda"] = "cpu"
    dtype: Literal["float64", "float32"] = "float64"


# keys of a table that is the value of an axis
LEAF = dict.fromkeys(("from", "to", "count", "scale", *Draw.model_fields))


@dataclass(frozen=True)
class Axis:
    """One axis: the values of a grid, or a law to draw from: ("normal", a, b) and the like, or
    ("random",) for attitudes."""

    key: Key
    values: tuple = ()
    law: tuple = ()
    shape: tuple = ()

    @property
    def path(self):
        """The path of its key."""
        return str(self.key)

    @cached_property
    def _array(self):
        return np.asarray(self.values)

    @property
    def dimension(self):
        """The dimension it runs along: its own, or that of the samples."""
        return SAMPLE if self.law else self.path

    def column(self, index, seed):
        """The values at these indices along its dimension."""
        if self.values:
            return (
                [self.values[i] for i in index]
                if isinstance(self.values[0], str)
                else self._array[index]
            )
        first = int(index.min())
        law = "random" if self.law[0] == "random" else Law(*self.law)
        numbers = draw_values(self.path, law, self.shape, seed, first, int(index.max()) - first + 1)
        return numbers[index - first]


LAWS = {  # how numbers are drawn: from a numpy Generator, `size` of them, by the law's two numbers
    "normal": lambda random, size, a, b: a + b * random.standard_normal(size),
    "uniform": lambda random, size, a, b: a + (b - a) * random.random(size),
    "loguniform": lambda random, size, a, b: a * (b / a) ** random.random(size),
}


@dataclass(frozen=True)
class Law:
    """A distribution with the method `rvs` of those of scipy.stats, whose import takes a second."""

    name: str
    a: float
    b: float

    def rvs(self, size, random_state):
        """Numbers from a numpy Generator."""
        return LAWS[self.name](random_state, size, self.a, self.b)


def flatten_axes(table, valid, path=""):
    """{path: leaf} of nested tables; a table is a leaf where it speaks of a grid or a law, or
    stands at the path of a key."""
    found = {}
    for key, value in table.items():
        here = f"{path}.{key}" if path else key
        inner = isinstance(value, dict) and value and not LEAF.keys() & value.keys()
        inner = inner and not (here in valid and not all(part.isdigit() for part in value))
        found |= flatten_axes(value, valid, here) if inner else {here: value}
    return found


def read(table, data, faults):
    """(options, axes) of the section for the scenario `data`; what is wrong goes to `faults`."""
    if not isinstance(table, dict):
        faults.add(
            ("sweep",),
            f"must be a section, got {table!r}; write a line [sweep] and its keys below that",
        )
        return None, []
    options = faults.check(
        Options,
        {key: value for key, value in table.items() if key in Options.model_fields},
        "sweep",
    )
    valid = keys(data)
    leaves = flatten_axes(
        {key: value for key, value in table.items() if key not in Options.model_fields}, valid
    )
    axes = []
    for path, leaf in leaves.items():
        with faults.at("sweep"):
            if path not in valid:
                raise _unknown(path, valid)
            axes.append(_axis(valid[path], leaf))
    if not leaves:
        faults.add(
            ("sweep",), "has no axis; name a key that varies, such as run.step = [0.1, 0.05]"
        )
    with faults.at("sweep"):
        _check_together(options, axes)
    return options, sorted(
        axes, key=lambda axis: FIRST.index(axis.path) if axis.path in FIRST else len(FIRST)
    )


def _unknown(path, valid):
    if "." not in path:
        return unknown("key", path, [*Options.model_fields, *valid])
    section = path.partition(".")[0]
    if section in EXAMPLES and not any(key.section == section for key in valid.values()):
        return InputError(
            f"{path}: the scenario has no [{section}] section to vary; write one with a name, such as "
            f'"{EXAMPLES[section]}"'
        )
    return unknown("axis", path, valid)


def _axis(key, leaf):
    """The axis of a key."""
    path = str(key)
    if path == RANDOM:
        if leaf != "random":
            raise InputError(
                f'{path}: must be "random", got {leaf!r}; other attitudes go to initial.rotation_vector'
            )
        return Axis(key, law=("random",), shape=(4,))
    if isinstance(leaf, list):
        return Axis(key, _list_values(path, leaf))
    if not isinstance(leaf, dict):
        raise InputError(
            f"{path}: must be a list of values, {{ from, to, count }} or a distribution such as {{ normal = [0, 1] }}, "
            f"got {leaf!r}; write {path} = [0.1, 0.2]"
        )
    model = Draw if set(leaf) & set(Draw.model_fields) else Grid
    try:
        section = model.model_validate(leaf)
    except ValidationError as errors:
        # misspelt, then missing
        first = min(errors.errors(), key=lambda error: error["type"] != "extra_forbidden")
        place, message = messages.complaint(first, LEAF, path)
        raise InputError(f"{'.'.join(map(str, (path, *place)))}: {message}") from None
    if model is Grid:
        return Axis(key, _grid_values(path, section))
    if key.section == "run":
        raise InputError(f"{path}: cannot be drawn; give a list")
    shape = (key.width,) if key.width and key.entry is None else ()
    return Axis(key, law=_checked_law(path, section), shape=shape)


def _list_values(path, values):
    """A list of numbers, of texts or of vectors of one length, none twice."""
    if not values:
        raise InputError(f"{path}: the list is empty; give at least one value")
    kinds = {_value_kind(value) for value in values}
    if len(kinds) > 1 or None in kinds:
        raise InputError(
            f"{path}: must be numbers, texts or vectors of one length, all of the same kind and finite, got {values!r:.80}; "
            "correct them"
        )
    found = tuple(
        tuple(map(float, v)) if isinstance(v, list) else v if isinstance(v, str) else float(v)
        for v in values
    )
    seen = set()
    twice = next((value for value in found if value in seen or seen.add(value)), None)
    if twice is not None:
        raise InputError(f"{path}: {twice!r} is given twice; drop one")
    return found


def _value_kind(value):
    if isinstance(value, str):
        return "text"
    if isinstance(value, list):
        return (
            len(value) if value and all(_value_kind(item) == "number" for item in value) else None
        )
    known = (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )
    return "number" if known else None


def _grid_values(path, grid):
    a, b = grid.begin, grid.to
    if a == b:
        raise InputError(
            f"{path}: from and to are both {a!r}; make them differ, or give a list of one value"
        )
    if grid.scale == "linear":
        return tuple(np.linspace(a, b, grid.count).tolist())
    if a * b <= 0.0:
        raise InputError(
            f"{path}: a log scale needs from and to of one sign and not zero, got {a!r} and {b!r}; use a linear "
            "scale, or other ends"
        )
    return tuple(np.geomspace(a, b, grid.count).tolist())


def _checked_law(path, section):
    given = [(name, value) for name, value in section if value is not None]
    if len(given) != 1:
        raise InputError(
            f"{path}: give one distribution, got {' and '.join(name for name, _ in given) or 'none'}; keep one of them"
        )
    ((name, (a, b)),) = given
    if name == "normal" and not b > 0.0:
        raise InputError(
            f"{path}.normal: the standard deviation must be positive, got {b!r}; give a value above zero"
        )
    if (name != "normal" and not a < b) or (name == "loguniform" and not a > 0.0):
        above = ", above zero" if name == "loguniform" else ""
        raise InputError(
            f"{path}.{name}: must be two numbers that ascend{above}, got {[a, b]!r}; swap or correct them"
        )
    return name, a, b


def _check_together(options, axes):
    laws = [axis.path for axis in axes if axis.law]
    if options and laws and options.samples is None:
        raise InputError(f"samples is missing; {laws[0]} is drawn, so give their number")
    if options and options.samples is not None and not laws:
        raise InputError(
            "samples is given, but no axis is drawn; drop it, or give a distribution such as { normal = [0, 1] }"
        )
    varying = [axis.key for axis in axes]
    for key in varying:
        if key.entry is not None and key.whole in varying:
            raise InputError(f"{key} and {key.whole} both vary; drop one")
