"""Between tuples and arrays: how a state or a set of parameters lies in memory.

Kernels work on nested tuples of floats; loops, tiles, checkpoints and GPUs keep the same numbers in
arrays of shape (component, lane).  A `Layout` holds the two functions that translate, written out
for one structure so that they compile to plain loads and stores.
"""

from functools import lru_cache
from typing import NamedTuple, get_args, get_type_hints

from polhode.core.generated import generated

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # scalar last: (x, y, z, w)
Matrix = tuple[Vector, Vector, Vector]  # rows


class Layout(NamedTuple):
    """`unpack(z, k)` builds the structure from lane k of an array, `pack(s, z, k)` stores it;
    `size` is the component count."""

    size: int
    unpack: object
    pack: object


def _parts(kind):
    """(constructor, parts) of a structure given as an annotation or as a shape; None for a
    number."""
    if isinstance(kind, TupleShape):
        return kind
    if hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        return kind, [hints[name] for name in kind._fields]
    if isinstance(kind, tuple):
        return tuple, list(kind)
    if get_args(kind):
        return tuple, list(get_args(kind))
    return None


def _write(kind, path, place, loads, stores, scope):
    """The expression that builds `kind`, filling in the loads, the stores and the names they
    use."""
    parts = _parts(kind)
    if parts is None:
        loads.append(f"z[{place(len(loads))}]")
        stores.append(f"{loads[-1]} = {path}")
        return loads[-1]
    make, kinds = parts
    inside = "".join(
        _write(part, f"{path}[{i}]", place, loads, stores, scope) + ", "
        for i, part in enumerate(kinds)
    )
    if make is tuple:
        return f"({inside})"
    name = f"make{len(scope) + 1}"
    scope[name] = make
    return f"{name}({inside})"


def shape(value):
    """The structure of an example value, without its numbers: what two values of equal layout have
    in common."""
    if not isinstance(value, tuple):
        return float
    parts = tuple(map(shape, value))
    return TupleShape(type(value), parts) if hasattr(value, "_fields") else parts


class TupleShape(NamedTuple):
    """A NamedTuple class without annotations, and the shapes of its fields."""

    make: type
    parts: tuple


@lru_cache(512)
def layout(kind, lanes=None, first=0, rows=False, flat=False):
    """The layout of a NamedTuple class annotated with floats, Vector, Quaternion, ..., or of the
    `shape` of a value.

    With `lanes` the array is one tile, flat, and component i of lane k is z[(first + i) * lanes + k].  That the distance between
    components is a constant is what tells LLVM that lanes do not touch each other.  With `rows` the array is (row, component).
    With `flat` it is a tuple of the components.
    """

    def place(index):
        if flat:
            return str(first + index)
        if rows:
            return f"k, {first + index}"
        return f"{first + index}, k" if lanes is None else f"{(first + index) * lanes} + k"

    loads, stores, scope = [], [], {}
    expression = _write(kind, "s", place, loads, stores, scope)
    return Layout(
        len(loads),
        generated(__name__, "unpack", "z, k", (), expression, **scope),
        generated(__name__, "pack", "s, z, k", stores or ["pass"]),
    )


def filler(kind, numbers, places):
    """`fill(s)`: a flat tuple of these numbers, with the components of a structure in the given
    places."""
    stores, parts = [], [f"numbers[{i}]" for i in range(len(numbers))]
    _write(kind, "s", str, [], stores, {})
    for place, store in zip(places, stores, strict=True):
        parts[place] = store.partition(" = ")[2]
    whole = "".join(f"{part}, " for part in parts)
    return generated(__name__, "fill", "s", (), f"({whole})", numbers=tuple(numbers))


def flatten(value):
    """The numbers of a nested tuple, in the order in which its layout keeps them."""
    if isinstance(value, tuple):
        return [number for part in value for number in flatten(part)]
    return [float(value)]
