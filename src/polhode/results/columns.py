"""The contents of a stored run, for all formats: its variables with their units, and its provenance
as attributes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import brief
from polhode.results.motion import LABELS, PARTS

UNTITLED, UNTITLED_MANY = "rotation of a rigid body", "rotation of many rigid bodies"
UNTITLED_SYSTEM = "motion of a system of rigid bodies"
UNTITLED_SYSTEMS = "motion of many systems of rigid bodies"
_UNSAFE = re.compile("[\0\n\r]")  # characters that end a text in some format


class Column(NamedTuple):
    """A variable of a run: one value, or one for each label of `components`, at each stored
    time."""

    name: str
    components: str | None
    units: str  # of the SI in the tables below, of the run in `columns`
    long_name: str
    attribute: str = ""  # of the trajectory, where it has another name there
    bodies: int = 0  # of a system, each of which has a value

    @property
    def labels(self) -> str:
        """The labels of the components, "" for a single value."""
        return LABELS[self.components] if self.components else ""

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Their names."""
        return ("time", *["body"] * bool(self.bodies), *filter(None, [self.components]))

    def shape(self, n: int) -> tuple[int, ...]:
        """Its shape at n times."""
        each = [self.bodies] if self.bodies else []
        return (n, *each, *([len(self.labels)] if self.components else []))

    @property
    def about(self) -> dict[str, str]:
        """The attributes of the variable."""
        return {**({"units": self.units} if self.units else {}), "long_name": self.long_name}

    def values(self, run: Any) -> np.ndarray:
        """Its values in a trajectory."""
        return getattr(run, self.attribute or self.name)


_TIME = Column("time", None, "s", "time", "t")
_TURNING = [
    Column("omega_spatial", "axis", "rad/s", "angular velocity, space"),
    Column("momentum", "axis", "kg m2/s", "angular momentum, body frame"),
    Column("momentum_spatial", "axis", "kg m2/s", "angular momentum, space"),
    Column("kinetic_energy", None, "J", "kinetic energy"),
]
_ENERGIES = [
    Column("potential_energy", None, "J", "potential energy"),
    Column("total_energy", None, "J", "total energy"),
]
_FLYING = [
    Column("linear_momentum", "axis", "kg m/s", "momentum of the translation"),
    Column("angular_momentum", "axis", "kg m2/s", "angular momentum about the origin"),
]
_RESIDUAL = Column("residual", None, "1", "residual of the implicit equation", "residuals")


_TOTALS = [
    Column("linear_momentum", "axis", "kg m/s", "momentum of all bodies"),
    Column(
        "angular_momentum", "axis", "kg m2/s", "angular momentum of all bodies about the origin"
    ),
    Column("kinetic_energy", None, "J", "kinetic energy of all bodies"),
]


def columns(run: Any) -> list[Column]:
    """The variables of a trajectory: the parts of its motion, and what follows from them."""
    attitude, omega, *others = (
        Column(part.name, part.components, part.units, part.long_name)
        for part in (PARTS[name] for name in run.kind.slices)
    )
    energies = _ENERGIES if run.has_potential else []
    if run.kind.bodies:
        each = [attitude, omega, *others, *_TURNING[:-1]]
        own = [one._replace(bodies=run.kind.bodies) for one in each]
        found = [_TIME, *own, *_TOTALS, *energies, _RESIDUAL]
        return [one._replace(units=run.body.units.of(one.units)) for one in found]
    flying = _FLYING if "position" in run.kind.slices else []
    found = [_TIME, attitude, omega, *_TURNING, *energies, *others, *flying, _RESIDUAL]
    return [one._replace(units=run.body.units.of(one.units)) for one in found]


# --- provenance -----------------------------------------------------------------------------------


def attributes(provenance: dict[str, Any], title: str = UNTITLED) -> dict[str, Any]:
    """Provenance as texts and numbers, which every format holds; `provenance_in` gives it back exactly."""
    return {"title": title, **{key: _held(value) for key, value in provenance.items()}}


def _held(value):
    if isinstance(value, str) and value and not (_UNSAFE.search(value) or _is_json(value)):
        return value
    # all that netCDF holds
    if (type(value) is float and np.isfinite(value)) or (type(value) is int and abs(value) < 2**31):
        return value
    return json.dumps(value)


def _is_json(text):
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def provenance_in(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The provenance that `attributes` was made of."""
    held = {key: _plain(value) for key, value in attributes.items()}
    if held.get("title") in (UNTITLED, UNTITLED_MANY, UNTITLED_SYSTEM, UNTITLED_SYSTEMS):
        del held["title"]
    return held


EACH_ITS_OWN = "each its own"  # in place of the body of an ensemble whose bodies differ

# the kind of each known fact; other facts in a file are not checked
_TEXTS = (
    "title",
    "polhode_version",
    "python_version",
    "numpy_version",
    "numba_version",
    "platform",
    "command",
    "method",
    "torque",
    "interaction",
    "torque_mode",
    "interaction_mode",
    "source_digest",
    "torque_digest",
    "status",
    "message",
    "device",
    "dtype",
)
_RULES = {
    **dict.fromkeys(_TEXTS, ("text", lambda fact: isinstance(fact, str))),
    **dict.fromkeys(
        ("steps", "torque_evaluations", "interaction_evaluations", "n"),
        ("a whole number", lambda fact: type(fact) is int and fact >= 0),
    ),
    "body": (
        f"a table, nor {EACH_ITS_OWN!r}",
        lambda fact: isinstance(fact, dict) or fact == EACH_ITS_OWN,
    ),
    "method_facts": ("a table", lambda fact: isinstance(fact, dict)),
    **dict.fromkeys(
        ("torque_terms", "force_terms"),
        ("a list of loads", lambda fact: isinstance(fact, list) and all(map(_is_term, fact))),
    ),
    "interaction_terms": (
        "a list of interactions",
        lambda fact: isinstance(fact, list) and all(map(_is_interaction, fact)),
    ),
    "step": ("a number, or a list of times", lambda fact: _is_number(fact) or _are_numbers(fact)),
    "error_sample": ("a table of errors", lambda fact: _is_error_sample(fact)),
    "tolerance": ("two numbers", lambda fact: _are_numbers(fact) and len(fact) == 2),
}


def _is_number(fact):
    return type(fact) in (int, float) and abs(fact) <= sys.float_info.max


def _are_numbers(fact):
    return isinstance(fact, list) and all(map(_is_number, fact))


def _is_error_sample(fact):
    """Whether this is what `ErrorEstimate.to_dict` gives."""
    names = {"bodies", "angle", "omega"}
    if not isinstance(fact, dict) or set(fact) - {"position", "velocity"} != names:
        return False
    lists = list(fact.values())
    return all(isinstance(one, list) and len(one) == len(lists[0]) for one in lists) and all(
        type(value) in (int, float) for one in lists for value in one
    )


_TERM = {
    "name": lambda value: isinstance(value, str),
    "parameters": lambda value: isinstance(value, dict),
    **dict.fromkeys(("acts", "conservative"), lambda value: isinstance(value, bool)),
    **dict.fromkeys(
        ("up", "arm"), lambda value: value is None or (_are_numbers(value) and len(value) == 3)
    ),
}


def _is_term(fact):
    """Whether this is what `Torque.record` gives for a torque; older files do not say whether it is
    steady."""
    return (
        isinstance(fact, dict)
        and all(key in fact and holds(fact[key]) for key, holds in _TERM.items())
        and isinstance(fact.get("steady", True), bool)
    )


def _is_interaction(fact):
    """Whether this is what `Interaction.record` gives for an interaction."""
    return (
        isinstance(fact, dict)
        and isinstance(fact.get("name"), str)
        and isinstance(fact.get("parameters"), dict)
        and all(isinstance(fact.get(key), bool) for key in ("conservative", "balanced"))
    )


def check_facts(facts: Any) -> dict[str, Any]:
    """The facts of a stored run or ensemble; a ValueError if one of the known facts is not of its
    kind."""
    if not isinstance(facts, dict):
        raise ValueError(f"its provenance is {brief(facts)}, not a table")
    for key, (kind, holds) in _RULES.items():
        if facts.get(key) is not None and not holds(facts[key]):
            raise ValueError(
                f"its provenance says {key} = {brief(facts[key])}, which is not {kind}"
            )
    return facts


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return json.loads(value) if isinstance(value, str) and _is_json(value) else value
