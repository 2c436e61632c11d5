"""Units as labels.  The library computes in whatever units it is given; units that the user names
appear in figures and files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from polhode.errors import InputError, brief, unknown

_NAME = re.compile(r"[^\W\d_]+")  # one word


class Units(NamedTuple):
    """The names of the base units; None where one is not known."""

    length: str | None = None
    mass: str | None = None
    time: str | None = None

    def of(self, si: str) -> str:
        """The unit of a quantity whose unit in the SI is `si`; "" where it is not known.

        Examples
        --------
        >>> Units("mm", "g", "ms").of("kg m2/s"), Units("mm", "g", "ms").of("J"), Units().of("rad/s")
        ('g mm2/ms', 'g mm2/ms2', '')
        """
        if self == SI:
            return si
        names = {"m": self.length, "kg": self.mass, "s": self.time, "rad": "rad"}
        parts = re.split("([a-z]+)", si.replace("J", "kg m2/s2"))
        named = [names.get(part, part) for part in parts]
        return "" if None in named else "".join(map(str, named))

    def label(self, name: str, si: str) -> str:
        """What stands at an axis of a figure: a name, and the unit in brackets where it is known.

        Examples
        --------
        >>> Units(time="h").label("time", "s"), Units().label("time", "s")
        ('time [h]', 'time')
        """
        unit = self.of(si)
        return f"{name} [{unit}]" if unit else name

    def value(self, text: str, si: str) -> str:
        """A number and its unit where that is known, as text for figures.

        Examples
        --------
        >>> SI.value("5", "kg m2/s"), Units().value("5", "kg m2/s")
        ('5 kg m²/s', '5')
        """
        return f"{text} {self.of(si).replace('2', '²')}".rstrip()


SI, UNSPECIFIED = Units("m", "kg", "s"), Units()


def as_units(given: Any) -> Units:
    """Units from what a user gives: "SI", a dict of names, Units, or None.

    Examples
    --------
    >>> as_units({"time": "h"})
    Units(length=None, mass=None, time='h')
    """
    if given is None or isinstance(given, Units):
        return given or UNSPECIFIED
    if given == "SI":
        return SI
    if not isinstance(given, Mapping):
        raise InputError(
            f"units must be 'SI' or a dict with length, mass and time, got {brief(given)}; write "
            'units={"length": "mm", "mass": "g", "time": "s"}'
        )
    for key, name in given.items():
        if key not in Units._fields:
            raise unknown("unit", key, Units._fields)
        if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise InputError(
                f"the unit of {key} must be one word, got {brief(name)}; write its usual sign, such as "
                f"{getattr(SI, key)!r}"
            )
    return Units(**given)
