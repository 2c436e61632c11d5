"""Systems of bodies: the bodies, and the interaction between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.bodies.rotor import refuse_rotors
from polhode.core.systems import AXES, INERTIA, INVERSE, LIGHTNESS, NUMBERS
from polhode.errors import InputError, brief, warn
from polhode.loads.count import check_number
from polhode.loads.interaction import Interaction, as_interaction
from polhode.support.card import Card
from polhode.support.limits import check_moments
from polhode.support.units import Units


class System(Card):
    """Bodies that interact.

    Parameters
    ----------
    bodies : sequence of RigidBody, or of inertias
        The same body may stand in it many times: `[water] * 216`.
    interaction : function f(t, x, R), Interaction, Pair or None
        Forces and torques on all bodies; None lets each move alone.  `polhode.interactions` has
        gravity, magnets, molecules, springs and bushings; interactions add.
    fixed : bool or list of indices
        Bodies that turn about a fixed point, which is their origin: True for all of them.

    Attributes
    ----------
    bodies, interaction, fixed
        As given, `fixed` as an array of bool.
    moments, axes, masses : (n, 3), (n, 3, 3) and (n,) arrays
        Principal moments and axes, and masses.

    Examples
    --------
    Two boxes that attract each other.

    >>> import polhode
    >>> def attraction(t, x, R):
    ...     r = x[1] - x[0]
    ...     F = r / np.linalg.norm(r) ** 3
    ...     return np.stack((F, -F)), np.zeros((2, 3))
    >>> system = System([RigidBody.box(1, 2, 3), RigidBody.box(1, 1, 2)], attraction)
    >>> run = polhode.integrate(system, t_span=(0, 10), step=0.01, position0=[[-1, 0, 0], [1, 0, 0]],
    ...                         velocity0=[[0, -0.5, 0], [0, 0.5, 0]])
    >>> run.position.shape, bool(abs(run.linear_momentum).max() < 1e-14)
    ((1001, 2, 3), True)
    """

    rotors = ()
    shape = name = None

    def __init__(
        self,
        bodies: Iterable[Any],
        interaction: Interaction | Callable[..., Any] | None = None,
        *,
        fixed: Any = False,
    ) -> None:
        if isinstance(bodies, (RigidBody, str, Mapping)) or not isinstance(bodies, Iterable):
            raise InputError(
                f"bodies must be a list of bodies, got {brief(bodies)}; write System([body, body], ...)"
            )
        made: dict[int, RigidBody] = {}
        given = list(bodies)
        for i, one in enumerate(given):
            if id(one) not in made:
                made[id(one)] = as_body(i, one)
        self.bodies = tuple(made[id(one)] for one in given)
        if not self.bodies:
            raise InputError("a system needs at least one body, got none; give a list of bodies")
        n = len(self.bodies)
        self.interaction = as_interaction(interaction)
        check_number(self.interaction, n)
        _check_made_for(self.interaction, self.bodies)
        self.fixed = _fixed(fixed, n)
        self.moments = np.array([one.moments for one in self.bodies])
        self.axes = np.array([one.axes for one in self.bodies])
        self.masses = np.array([one.mass for one in self.bodies])
        for one in (self.fixed, self.moments, self.axes, self.masses):
            one.flags.writeable = False
        self.is_principal = all(one.is_principal for one in made.values())
        self.units: Units = self.bodies[0].units

    def __len__(self) -> int:
        return len(self.bodies)

    @property
    def mass(self) -> float:
        """The mass of all bodies."""
        return float(self.masses.sum())

    @property
    def names(self) -> str:
        """The bodies in words: each kind with its number."""
        kinds = Counter(
            body.name or (body.shape or {}).get("kind") or "body" for body in self.bodies
        )
        return ", ".join(name if n == 1 else f"{n} {name}" for name, n in kinds.items())

    def momentum(self, omega: Any) -> np.ndarray:
        """Angular momenta about the centres of mass, body frame, of angular velocities (..., n, 3)."""
        return self._each(lambda body, omega: body.momentum(omega), omega)

    def omega(self, momentum: Any) -> np.ndarray:
        """Angular velocities that have these angular momenta (..., n, 3)."""
        return self._each(lambda body, momentum: body.omega(momentum), momentum)

    def _each(self, function: Callable[..., Any], given: Any) -> np.ndarray:
        given = np.asarray(given, dtype=float)
        found = np.empty_like(given)
        which: dict[RigidBody, list[int]] = {}
        for i, body in enumerate(self.bodies):
            which.setdefault(body, []).append(i)
        for body, own in which.items():
            found[..., own, :] = function(body, given[..., own, :])
        return found

    def rotational_energy(self, omega: Any) -> np.ndarray:
        """Kinetic energies (..., n) of the rotations with these angular velocities (..., n, 3)."""
        omega = np.asarray(omega, dtype=float)
        return 0.5 * np.sum(omega * self.momentum(omega), axis=-1)

    def kinetic_energy(self, omega: Any, velocity: Any) -> np.ndarray:
        """The kinetic energy of all bodies, from angular velocities and velocities (..., n, 3)."""
        moving = 0.5 * self.masses * np.sum(np.square(velocity), axis=-1)
        return (self.rotational_energy(omega) + moving).sum(axis=-1)

    def linear_momenta(self, velocity: Any) -> np.ndarray:
        """The momentum of each body (..., n, 3)."""
        masses = np.where(self.fixed, 0.0, self.masses)
        return masses[:, None] * np.asarray(velocity)

    def linear_momentum(self, velocity: Any) -> np.ndarray:
        """The momentum of all bodies (..., 3)."""
        return self.linear_momenta(velocity).sum(axis=-2)

    def angular_momenta(
        self, quaternion: Any, omega: Any, position: Any, velocity: Any
    ) -> np.ndarray:
        """The angular momentum of each body about the origin (..., n, 3); one that turns about a fixed
        point has that about this point alone."""
        orbital = np.cross(position, self.linear_momenta(velocity))
        return orbital + rotations.rotate(quaternion, self.momentum(omega))

    def angular_momentum(
        self, quaternion: Any, omega: Any, position: Any, velocity: Any
    ) -> np.ndarray:
        """The angular momentum of all bodies about the origin (..., 3)."""
        return self.angular_momenta(quaternion, omega, position, velocity).sum(axis=-2)

    def numbers(self) -> np.ndarray:
        """What loops know of the bodies: a row for each, see `polhode.core.systems`."""
        found = np.empty((len(self), NUMBERS))
        found[:, INERTIA : INERTIA + 3] = self.moments
        found[:, INVERSE : INVERSE + 3] = 1.0 / self.moments
        found[:, LIGHTNESS] = np.where(self.fixed, 0.0, 1.0 / self.masses)
        found[:, AXES:] = self.axes.reshape(-1, 9)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The bodies as plain data; `from_dict` makes the system again, without the interaction."""
        kinds = {one: i for i, one in enumerate(dict.fromkeys(self.bodies))}
        return {
            "bodies": [one.to_dict() for one in kinds],
            "which": [kinds[one] for one in self.bodies],
            "fixed": np.flatnonzero(self.fixed).tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], interaction: Any = None) -> System:
        """The system of `to_dict`."""
        if not isinstance(data, Mapping) or set(data) != {"bodies", "which", "fixed"}:
            raise InputError(
                f"a system is a dict with bodies, which and fixed, got {brief(data)}; pass the result of System.to_dict()"
            )
        given, which = data["bodies"], data["which"]
        count = len(given) if isinstance(given, list) else 0
        if not isinstance(which, list) or not all(type(i) is int and 0 <= i < count for i in which):
            raise InputError(
                f"which must give, for each body of a system, its place among the {count} in bodies, got {brief(which)}; "
                "pass the result of System.to_dict()"
            )
        kinds = [RigidBody.from_dict(one) for one in given]
        return cls([kinds[i] for i in which], interaction, fixed=data["fixed"])

    def __repr__(self) -> str:
        return f"<System of {len(self)} bodies, {self.interaction.name}>"


def as_body(i: int, given: Any) -> RigidBody:
    """Body number i."""
    try:
        body = given if isinstance(given, RigidBody) else RigidBody(given)
        check_moments(body.moments)
        refuse_rotors(body, "a system")
    except InputError as error:
        raise InputError(f"bodies[{i}]: {error}") from error
    return body


def _check_made_for(interaction: Interaction, bodies: tuple[RigidBody, ...]) -> None:
    """Warn of an interaction that was made for other bodies."""
    for term in interaction.terms:
        for i, (theirs, own) in enumerate(zip(term.made_for, bodies, strict=False)):
            if theirs is own:
                continue
            near = np.abs(theirs.inertia - own.inertia).max() <= 1e-9 * np.abs(own.inertia).max()
            if not near or abs(theirs.mass - own.mass) > 1e-9 * own.mass:
                warn(
                    f"the interaction {term.name!r} was made for other bodies: its body {i} is {theirs!r}, that of the system "
                    f"{own!r}; make it for these bodies"
                )
                break


def _fixed(given: Any, n: int) -> np.ndarray:
    """Which bodies turn about fixed points."""
    if isinstance(given, (bool, np.bool_)):
        return np.full(n, bool(given))
    try:
        value = np.asarray(given)
    except ValueError:
        value = np.asarray(None)
    if value.dtype == bool and value.shape == (n,):
        return value.copy()
    found = np.zeros(n, dtype=bool)
    listed = value.ndim == 1 and (value.dtype.kind in "iu" or not value.size)
    if not listed or (value.size and not (value.min() >= 0 and value.max() < n)):
        raise InputError(
            f"fixed must be True, False or numbers of bodies from 0 to {n - 1}, got {brief(given)}; correct it"
        )
    found[value.astype(int)] = True
    return found
