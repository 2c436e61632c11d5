"""The keys of a scenario that may vary, by their paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from polhode.io.scenario import schema
from polhode.loads import flight, torques
from polhode.loads.named import supplied_parameters

METHOD, STEP = "run.method", "run.step"
RANDOM = "initial.rotation"  # stands for any attitude


@dataclass(frozen=True)
class Key:
    """A key of a scenario: where it is written, and what it is of."""

    path: str
    # "run", "initial", "body", "rotor", "torque" or "load"
    section: str
    name: str
    place: int = 0  # of a rotor among those of the body
    load: str = ""  # the name of the torque or load
    width: int = 0  # how many numbers a value has, 0 for one number or text
    entry: int | None = None  # which of them varies, None for all

    @property
    def whole(self) -> Key:
        """The key that this is an entry of."""
        return self if self.entry is None else replace(self, entry=None)

    def entries(self) -> list[Key]:
        """The key and its entries."""
        return [self, *(replace(self, entry=i) for i in range(self.width))]

    def __str__(self) -> str:
        return self.path if self.entry is None else f"{self.path}.{self.entry}"


# how many numbers a value has where the scenario need not say
WIDTHS = {
    "initial": {
        "omega": 3,
        "momentum": 3,
        "position": 3,
        "velocity": 3,
        "rotation_vector": 3,
        "quaternion": 4,
    },
    "body": {"inertia": 3},
    "rotor": {"axis": 3},
}
# what cannot vary
FIXED = {
    "body": ("shape", "name", "check_triangle", "hollow", "mesh", "units"),
    "initial": ("rotation", "matrix", "scalar_first"),
}


def keys(data: dict[str, Any]) -> dict[str, Key]:
    """The keys that may vary in a scenario, by their paths."""
    found = [Key(METHOD, "run", "method"), Key(STEP, "run", "step"), Key(RANDOM, "initial", "any")]
    body, initial = (_table(data.get(name)) for name in ("body", "initial"))
    model = schema.SHAPES.get(str(body.get("shape")), schema.Inertia)
    found += _of("body", "body", model.model_fields, body)
    rotors = body.get("rotors")
    for i, rotor in enumerate(rotors if isinstance(rotors, list) else []):
        fields = schema.Rotor.model_fields
        found += _of(f"body.rotors.{i}", "rotor", fields, _table(rotor), place=i)
    found += _of("initial", "initial", schema.Initial.model_fields, initial)
    for section, table in (("torque", torques.BUILT_IN), ("load", flight.BUILT_IN)):
        found += _of_loads(section, table, data.get(section))
    return {str(one): one for key in found for one in key.entries()}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _of_loads(section: str, table: dict[str, Any], given: Any) -> Iterator[Key]:
    """The parameters of one torque or load, or of several, which are picked by their names."""
    several = isinstance(given, list)
    for one in given if several else [given]:
        name = str(_table(one).get("name")).lower().replace("-", "_")
        make = table.get(name)
        if make:
            path = f"{section}.{one['name']}" if several else section
            fields = schema.torque_model(one["name"], make).model_fields
            rest = [key for key in fields if key not in ("name", *supplied_parameters(make))]
            yield from _of(path, section, rest, one, load=name)


def _of(
    path: str, section: str, names: Iterable[str], given: dict[str, Any], **of: Any
) -> Iterator[Key]:
    for name in names:
        if name not in FIXED.get(section, ()):
            value = given.get(name)
            width = WIDTHS.get(section, {}).get(name, len(value) if isinstance(value, list) else 0)
            yield Key(f"{path}.{name}", section, name, width=width, **of)
