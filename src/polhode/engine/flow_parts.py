"""The parts of motions that a `Flow` follows: what its calls get for them, and what they give."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.core.motions import FLIGHT, ROTATION, SPEEDS, Kind, with_rotors
from polhode.engine._system_flow import SystemFlow
from polhode.engine.flight import check_place
from polhode.engine.one_body import three
from polhode.engine.prepared import form, given_by, plain
from polhode.engine.rotors import check_speeds, first_speeds
from polhode.errors import InputError
from polhode.loads._system import System
from polhode.loads._torque import ZERO
from polhode.results.motion import in_principal_axes


class FlowParts:
    """What a `Flow` knows of the parts of its motions."""

    __slots__ = ("_body_of", "_forms", "_kind", "_make", "_places", "_speeds")

    def __new__(cls, body: Any = None, *given: Any, **options: Any) -> Any:
        """A `SystemFlow` where a system is to be followed."""
        if isinstance(body, System):
            return SystemFlow(body, *given, **options)
        return super().__new__(cls)

    _body: RigidBody  # of the `Flow`
    _force: Any
    _scalar_first: bool | None
    _kind: Kind
    _places: list[slice]
    _forms: list[Any]
    _make: Any
    _speeds: np.ndarray | None
    _body_of: Any

    def _follow(self, flying: bool) -> None:
        """Choose what is followed."""
        rotors = self._body.rotors
        self._kind = with_rotors(FLIGHT if flying else ROTATION, len(rotors))
        self._places = [*self._kind.groups.values()]
        self._forms = [form(place.stop - place.start) for place in self._places[2:]]
        self._make = given_by(self._kind)._make
        # speeds of rotors where none are given; None where they depend on the angular velocity
        known = not any(one.momentum is not None for one in rotors)
        self._speeds = self._body.rotor_speeds(ZERO) if rotors and known else None
        self._body_of = lru_cache(64)(partial(RigidBody, check_triangle=False, rotors=rotors))

    def _beside(self, position0, velocity0, rotor_speeds0):
        """What else was given, or stands for it: None for speeds of rotors that depend on the
        angular velocity."""
        speeds = ()
        if self._kind.spinning:
            speeds = (self._speeds if rotor_speeds0 is None else rotor_speeds0,)
        elif rotor_speeds0 is not None:
            check_speeds(self._kind.spinning, rotor_speeds0, False)
        if "position" in self._kind.groups:
            if position0 is None:
                check_place(self._force, position0)
                position0 = ZERO
            x = position0
            return x, (ZERO if velocity0 is None else velocity0), *speeds
        if position0 is None and velocity0 is None:
            return speeds
        raise InputError(
            "position0 and velocity0 are for a body that flies, and this Flow follows the rotation alone; make it "
            "with force=..."
        )

    def _plain(self, rest):
        """These as fresh arrays, or None where they are not plain."""
        found = []
        for one, its_form in zip(rest, self._forms, strict=False):
            array = plain(one, its_form)
            if array is None:
                return None
            found.append(array)
        return tuple(found)

    def _checked(self, given):
        """One motion as fresh arrays, checked."""
        rotation0, *vectors = given
        yield (q := rotations.as_quaternion(rotation0, self._scalar_first, "rotation0"))
        for name, one in zip([*self._kind.groups][1:], vectors, strict=True):
            if name != SPEEDS:
                yield three(f"{name}0", one).copy()
            elif one is not None:
                yield check_speeds(self._kind.spinning, one, False).copy()
            else:
                Om = three("omega0", vectors[0])
                yield first_speeds(self._body, self._in_principal_axes(q, Om))

    def _in_principal_axes(self, q, Om):
        axes = None if self._body.is_principal else self._body.axes
        return in_principal_axes(None, axes, q, Om, False)

    def _given(self, motions):
        """What a call gives, from motions (..., width)."""
        return self._make([motions[..., place] for place in self._places])
