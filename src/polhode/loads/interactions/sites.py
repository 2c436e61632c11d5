"""Sites: points of bodies that act on those of other bodies by charges and by the potential of
Lennard-Jones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode.core.rows import Rows, in_turn
from polhode.core.systems import Term
from polhode.errors import InputError, brief, choice, floats, number
from polhode.loads import interaction_kernels as kernels
from polhode.loads.interaction import NO_ADDRESS, Interaction, row
import polhode.loads.interactions.site_kernels as site_kernels
from polhode.loads.interactions._named import named
from polhode.loads.neighbours import near
from polhode.loads.pair import check_box

SHIFTS = {"force": (1.0, 1.0), "energy": (1.0, 0.0), "none": (0.0, 0.0)}


class Sites(Interaction):
    """Forces between the sites of all bodies, see `sites`."""

    kind = "interaction of sites"
    balanced = True
    has_potential = True
    is_ours = True
    uses_velocity = False
    in_c = False
    cutoff: float
    params = None
    name = "sites"

    def __init__(
        self,
        kinds: Sequence[np.ndarray],
        of: np.ndarray | None,
        strength: float,
        cutoff: float,
        box: tuple[float, float, float] | None,
        shift: str,
    ) -> None:
        # rows of each kind: point, charge, half of sigma, root of epsilon
        self.kinds, self.of, self.strength = tuple(kinds), of, strength
        self.cutoff, self.box, self.shift = cutoff, box, shift
        self.count = None if of is None else len(of)
        self.reach = max(float(np.linalg.norm(one[:, :3], axis=1).max()) for one in kinds)

    def source(self) -> tuple[Any, ...]:
        return ()

    def obstacle(self) -> None:
        return None

    def rows(self) -> Rows:
        return site_kernels.ROWS

    def act(self) -> Callable[..., Any]:
        return in_turn(site_kernels.ROWS)

    def energy(self) -> Callable[..., Any]:
        return site_kernels.energy

    def term(self, n: int) -> Term:
        of = np.zeros(n, dtype=int) if self.of is None else self.of[:n]
        counts = np.array([len(one) for one in self.kinds])[of]
        each = np.concatenate([self.kinds[i] for i in of])
        last = np.cumsum(counts)
        limits = [self.strength, self.cutoff, *SHIFTS[self.shift], self.reach]
        return Term(
            row([limits, self.box or np.zeros(3)]),
            each,
            np.zeros((len(each), 6)),
            np.stack((last - counts, last), axis=1).astype(np.int64),
            np.empty((0, 0)),
            NO_ADDRESS,
            near(n, self.cutoff + 2.0 * self.reach, self.box),
        )

    def sample(self, n: int) -> tuple[Interaction, np.ndarray]:
        return self, np.arange(min(n, 2))

    def __call__(
        self, t: float, x: Any, R: Any = None, v: Any = None, omega: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        return kernels.evaluated(self, *self._given(t, x, R, v, omega))[:2]

    def potential_energy(self, t: float, x: Any, R: Any = None) -> float:
        return float(kernels.evaluated(self, *self._given(t, x, R))[2])

    def values(self) -> dict[str, Any]:
        kinds = [one.tolist() for one in self.kinds]
        few = {"kinds": kinds} if sum(map(len, kinds)) <= 16 else {}
        return {"strength": self.strength, "shift": self.shift, **few}


@named("sites")
def sites(
    points: Any,
    charges: Any = None,
    sigma: Any = None,
    epsilon: Any = None,
    *,
    cutoff: float,
    box: ArrayLike | None = None,
    shift: str = "force",
    strength: float = 1.0,
    kinds: ArrayLike | None = None,
) -> Sites:
    """Molecules: points of bodies with charges and Lennard-Jones potentials.

    Two sites of different bodies at a distance r have the potential
    strength q1 q2 / r + 4 epsilon ((sigma / r)^12 - (sigma / r)^6), with the mean of the two sigma and
    the geometric mean of the two epsilon.  It acts where r, from site to site, is less than the
    cut-off.

    Parameters
    ----------
    points : (s, 3) array, or a list of them
        The sites in the body frame, from the centre of mass: of all bodies, or of each kind of body.
    charges, sigma, epsilon : number, (s,) array, or a list of one for each kind
        Of each site; zero by default.
    cutoff : float
        The largest distance at which two sites act on each other.
    box : length or three lengths, optional
        Edges of a periodic box: sites act on the nearest images of others.
    shift : {"force", "energy", "none"}
        What is continuous at the cut-off: potential and force, the potential alone, or neither.  The
        energy of a run is well conserved with "force" alone.
    strength : float
        Of Coulomb's law, 1 / (4 pi epsilon0) in your units.
    kinds : (n,) integers, optional
        The kind of each body, its place in the list of points; needed if there are several.

    Examples
    --------
    >>> argon = sites([(0, 0, 0)], sigma=0.34, epsilon=1.0, cutoff=1.0, shift="none")
    >>> bottom = argon.potential_energy(0.0, [[0, 0, 0], [0.34 * 2 ** (1 / 6), 0, 0]])
    >>> round(bottom, 12)
    -1.0
    """
    given = {"charges": charges, "sigma": sigma, "epsilon": epsilon}
    if kinds is None:
        tables, of = [_table(points, given)], None
    else:
        if not isinstance(points, (list, tuple)) or not len(points):
            raise InputError(
                f"points must be a list of the sites of each kind of body, got {brief(points)}; write points=[[(0, 0, 0)]] "
                "with kinds"
            )
        tables = [
            _table(
                one, {name: _of_kind(name, value, i, len(points)) for name, value in given.items()}
            )
            for i, one in enumerate(points)
        ]
        of = _kinds(kinds, len(tables))
    cutoff = number("cutoff", cutoff, positive=True)
    return Sites(
        tables,
        of,
        number("strength", strength),
        cutoff,
        None if box is None else check_box(box, cutoff),
        choice("shift", shift, tuple(SHIFTS)),
    )


def _table(points: Any, given: dict[str, Any]) -> np.ndarray:
    """Point, charge, half of sigma and root of epsilon of each site of a kind of body."""
    array = floats("points", points)
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise InputError(
            f"points must have a row of three numbers for each site, got shape {array.shape}; write points=[(0, 0, 0)], and "
            "for several kinds of bodies a list of these, with the kinds of all bodies"
        )
    values = []
    for name, value in given.items():
        numbers = np.zeros(len(array)) if value is None else floats(name, value)
        if numbers.shape not in ((), (len(array),)):
            raise InputError(
                f"{name} must be a number for each of the {len(array)} sites, got shape {numbers.shape}; give as many"
            )
        if name != "charges" and (numbers < 0.0).any():
            raise InputError(f"{name} must not be negative, got {brief(value)}; correct it")
        values.append(np.broadcast_to(numbers, len(array)))
    charges, sigma, epsilon = values
    return np.column_stack((array, charges, 0.5 * sigma, np.sqrt(epsilon)))


def _of_kind(name: str, value: Any, i: int, count: int) -> Any:
    """What one kind of body has."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or len(value) != count:
        raise InputError(
            f"{name} must be a list of one entry for each of the {count} kinds of bodies, got {brief(value)}; give as many"
        )
    return value[i]


def _kinds(kinds: Any, count: int) -> np.ndarray:
    """The kind of each body."""
    found = np.asarray(kinds)
    listed = found.ndim == 1 and found.dtype.kind in "iu" and len(found)
    if not listed or found.min() < 0 or found.max() >= count:
        raise InputError(
            f"kinds must have a whole number from 0 to {count - 1} for each body, got {brief(kinds)}; correct it"
        )
    return found.astype(int)


__all__ = ["Sites", "sites"]
