"""Between tuples and arrays: how a state or a set of parameters is stored.

Kernels work on nested tuples of floats; loops, tiles, checkpoints and GPUs keep the same numbers in
arrays of shape (component, lane).  A `Layout` has the two functions that convert them, generated for
one structure so that they compile to plain loads and stores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, get_args, get_type_hints

from polhode.core.generated import generated

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # scalar last: (x, y, z, w)
Matrix = tuple[Vector, Vector, Vector]  # rows


class Layout(NamedTuple):
    """`unpack(z, k)` builds the structure from lane k of an array, `pack(s, z, k)` stores it;
    `size` is the number of components."""

    size: int
    unpack: Callable[..., Any]
    pack: Callable[..., Any]


def _parts(kind: Any) -> tuple[Any, Sequence[Any]] | None:
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


def _write(
    kind: Any, path: str, place: Callable[[int], str], stores: dict[str, str], scope: dict[str, Any]
) -> str:
    """The expression that builds `kind`; {path of a component: its place in the array} is added to
    the stores, and constructors to the scope."""
    parts = _parts(kind)
    if parts is None:
        stores[path] = f"z[{place(len(stores))}]"
        return stores[path]
    make, kinds = parts
    inside = "".join(
        _write(part, f"{path}[{i}]", place, stores, scope) + ", " for i, part in enumerate(kinds)
    )
    if make is tuple:
        return f"({inside})"
    name = f"make{len(scope) + 1}"
    scope[name] = make
    return f"{name}({inside})"


def shape(value: Any) -> Any:
    """The structure of a value without its numbers: values of equal shape have the same layout."""
    if not isinstance(value, tuple):
        return float
    parts = tuple(map(shape, value))
    return TupleShape(type(value), parts) if hasattr(value, "_fields") else parts


class TupleShape(NamedTuple):
    """A NamedTuple class without annotations, and the shapes of its fields."""

    make: type
    parts: tuple[Any, ...]


@lru_cache(512)
def layout(
    kind: Any, lanes: int | None = None, first: int = 0, rows: bool = False, flat: bool = False
) -> Layout:
    """The layout of a NamedTuple class annotated with floats, Vector, Quaternion, ..., or of the
    `shape` of a value.

    With `lanes` the array is one flat tile, and component i of lane k is z[(first + i) * lanes + k]: the
    constant distance tells LLVM that lanes do not overlap.  With `rows` the array is (row, component).
    With `flat` it is a tuple of the components.
    """

    def place(index: int) -> str:
        if flat:
            return str(first + index)
        if rows:
            return f"k, {first + index}"
        return f"{first + index}, k" if lanes is None else f"{(first + index) * lanes} + k"

    stores: dict[str, str] = {}
    scope: dict[str, Any] = {}
    expression = _write(kind, "s", place, stores, scope)
    lines = [f"{element} = {path}" for path, element in stores.items()]
    return Layout(
        len(stores),
        generated(__name__, "unpack", "z, k", (), expression, **scope),
        generated(__name__, "pack", "s, z, k", lines or ["pass"]),
    )


def filler(kind: Any, numbers: Sequence[float], places: Sequence[int]) -> Callable[..., Any]:
    """`fill(s)`: a flat tuple of these numbers, with the components of a structure in the given
    places."""
    stores: dict[str, str] = {}
    parts = [f"numbers[{i}]" for i in range(len(numbers))]
    _write(kind, "s", str, stores, {})
    for place, path in zip(places, stores, strict=True):
        parts[place] = path
    whole = "".join(f"{part}, " for part in parts)
    return generated(__name__, "fill", "s", (), f"({whole})", numbers=tuple(numbers))


def flatten(value: Any) -> list[float]:
    """The numbers of a nested tuple, in the order of its layout."""
    if isinstance(value, tuple):
        return [number for part in value for number in flatten(part)]
    return [float(value)]
