"""What the user of a file calls and writes, in words that all languages share."""

from __future__ import annotations

from typing import Any, NamedTuple

from polhode.exports.acting import VECTOR
from polhode.exports.calls import UsersFunction
from polhode.exports.module import Root

BODY = "A body with these principal moments of inertia"
OF_ROTORS = (
    ", less those of free rotors; and with rotors: unit axes, moments, and 1 for one that turns freely or is driven, "
    "0 for one held at its speed"
)
MOTORS = "The torques of your motors on the rotors, which have the speeds W relative to the body; 0 for one that is held."


class Public(NamedTuple):
    """A function that is called from outside."""

    name: str
    doc: str
    root: Root


class Outside:
    """What `Printer` and `Machine` know of the outside of a file."""

    module: Any
    precision: str
    attitude = "s.q"  # of a state

    @property
    def flies(self) -> bool:
        """Whether the body flies."""
        return any(name == "x" for name, _ in self.module.start.params)

    @property
    def solved(self) -> str:
        """What the residual of a step that was solved does not exceed."""
        return "1e-5" if self.precision == "float" else "2e-14"

    @property
    def acting(self) -> str:
        """What the user's function is called; with motors there are two of them, in a structure."""
        return "acting" if self.module.motors else self.module.asked.name

    @property
    def users(self) -> list[UsersFunction]:
        """The functions that the user writes."""
        return [one for one in (self.module.asked, self.module.motors) if one]

    def only(self) -> str:
        """Which bodies the file is for, where it is not for all."""
        fits = getattr(self.module, "symmetry", None)
        return f"; NaN without {fits}" if fits else ""

    def public_functions(self) -> list[Public]:
        """What is called from outside."""
        module, spins = self.module, self.module.speeds
        start = (
            "The state at time t, before steps of h: from attitude (x, y, z, w), body to space, and body velocity"
            + "; place and velocity of the centre of mass" * self.flies
            + "; speeds of the rotors relative to the body" * bool(spins)
        )
        of = self.attitude.removesuffix("q")
        place = f", the place {of}x, the velocity {of}v" * self.flies
        found = [
            Public(
                "make_body", f"{BODY}{OF_ROTORS if spins else ''}{self.only()}.", module.make_body
            ),
            Public("start", f"{start}.", module.start),
            Public("step", "A step from time t to t + h.", module.step),
            Public(
                "omega", f"The body velocity; the attitude is {self.attitude}{place}.", module.omega
            ),
        ]
        for name, (doc, root) in module.readings.items():
            found.append(Public(name, doc.format(solved=self.solved), root))
        if spins:
            found.append(Public("speeds", "The speeds of the rotors, relative to the body.", spins))
        return found

    def users_doc(self, more: str = "") -> str:
        """What the user's torque or load is."""
        where = {"spatial": "in space", "body": "in the body"}[self.module.frame]
        further = "" if self.module.asked.result == VECTOR else ", and acceleration, in space"
        return f"Your torque, {where}{further}, at time t, attitude R (by rows) and body velocity Om{more}."
