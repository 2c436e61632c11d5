"""The rigid body: its inertia about the centre of mass, its mass, and (where known) its geometry.

The inertia tensor is ``sum m (|r|^2 1 - r r^T)`` in the user's own body axes.  It is symmetric and
positive definite, and its principal moments obey the triangle inequality ``Ii <= Ij + Ik``, with
equality for a flat body.  It is split once,

    inertia = axes @ diag(moments) @ axes.T,        det(axes) = +1,

so that methods may work in the principal axes while results are given back in the user's.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.bodies import mesh, urdf
from polhode.errors import InputError, brief, flag, floats, label, number, unknown
from polhode.support.frames import principal_axes, rows_times

__all__ = ["RigidBody"]

# asymmetry allowed, relative to the largest entry: rounding of a rotated tensor, nothing more
_SYMMETRY = 1e-12
# excess allowed, relative to the largest moment: a flat body has equality up to rounding
_TRIANGLE = 1e-12
# below this fraction of the largest, a moment of a full tensor is rounding
_SINGULAR = 4 * np.finfo(float).eps
_KEYS = ("inertia", "mass", "check_triangle", "name", "shape")


class RigidBody:
    """A rigid body, immutable.

    Parameters
    ----------
    inertia : array_like, shape (3,) or (3, 3)
        Principal moments, or the full symmetric tensor about the centre of mass in your own body
        axes.  Off-diagonal entries are *minus* the products of inertia (``-sum m x y``); some CAD
        programs print them without the minus.
    mass : float, optional
        Mass, 1 by default.  Rotation about the centre of mass does not depend on it.
    check_triangle : bool, optional
        Refuse moments that no distribution of mass has (the default).
    name : str, optional
        A label, for figures and files.
    shape : dict, optional
        Geometry for drawing, such as ``{"kind": "box", "size": (1, 2, 3)}``; it does not enter the
        motion.

    Attributes
    ----------
    inertia : ndarray, shape (3, 3)
        The tensor in your axes.
    moments : ndarray, shape (3,)
        Principal moments.  Given three moments or a diagonal tensor they keep your order; otherwise
        they are ordered so that `axes` is as near to the identity as it can be.  Moments of a full
        tensor that agree to rounding are equal.
    axes : ndarray, shape (3, 3)
        A rotation whose columns are the principal axes in your axes.  Where moments agree, so that
        the tensor leaves directions free, it is still the nearest to the identity, and the same
        bits on every processor.
    is_principal : bool
        Whether your axes are the principal axes: the tensor has no off-diagonal entries, and `axes`
        is the identity.
    mass, name, shape
        As given.

    Examples
    --------
    >>> body = RigidBody([1.0, 2.0, 2.5])
    >>> body.momentum([1.0, 1.0, 1.0])
    array([1. , 2. , 2.5])
    >>> RigidBody.box(1, 2, 3, mass=12)
    RigidBody(moments=(13, 10, 5), mass=12, shape='box')
    """

    inertia: np.ndarray
    moments: np.ndarray
    axes: np.ndarray
    is_principal: bool
    mass: float
    name: str | None

    def __init__(
        self,
        inertia: Any,
        mass: float = 1.0,
        *,
        check_triangle: bool = True,
        name: str | None = None,
        shape: Mapping[str, Any] | None = None,
    ) -> None:
        check_triangle, name = flag("check_triangle", check_triangle), label("name", name)
        given = floats("inertia", inertia)
        if given.shape not in ((3,), (3, 3)):
            raise InputError(
                f"inertia must be 3 principal moments or a symmetric 3x3 tensor, got shape {given.shape}; give "
                "one of them"
            )
        tensor = _symmetric(given) if given.ndim == 2 else np.diag(given)
        is_principal = not np.any(tensor[~np.eye(3, dtype=bool)])
        moments, axes = (np.diag(tensor).copy(), np.eye(3)) if is_principal else _principal(tensor)
        _check_positive(moments, is_principal)
        excess = _triangle_excess(moments)
        if check_triangle and excess:
            raise InputError(
                f"moments {_show(moments)}: {excess}, breaking the triangle inequality: no distribution "
                "of mass has these; check the entries, or switch the check off if you mean it: "
                "check_triangle=False, in TOML check_triangle = false"
            )
        self.__setstate__(
            {
                "inertia": tensor + 0.0,  # no negative zeros
                "moments": moments,
                "axes": axes,
                "is_principal": bool(is_principal),
                "mass": number("mass", mass, positive=True),
                "name": name,
                "_shape": _plain_shape(shape),
            }
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        # also after unpickling and copying, which give back writeable arrays
        for key, value in state.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, key, value)

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(
            f"a RigidBody cannot be changed (tried to set {key!r}); make a new one"
        )

    def __delattr__(self, key: str) -> None:
        raise AttributeError(
            f"a RigidBody cannot be changed (tried to delete {key!r}); make a new one"
        )

    @property
    def shape(self) -> dict[str, Any] | None:
        """Geometry for drawing (a fresh dict), or None."""
        return copy.deepcopy(self._shape)

    # ---- uniform bodies about their centre of mass -----------------------------------------------

    @classmethod
    def box(
        cls,
        a: float,
        b: float,
        c: float,
        mass: float | None = None,
        *,
        density: float | None = None,
        name: str | None = None,
    ) -> RigidBody:
        """Return a uniform box with edges `a`, `b`, `c` along x, y, z; give `mass` (default 1) or `density`.

        Examples
        --------
        >>> RigidBody.box(1, 1, 2, density=3.0).mass
        6.0
        """
        a, b, c = (
            number(f"box edge {n}", v, positive=True) for n, v in zip("abc", (a, b, c), strict=True)
        )
        m = _mass(mass, density, a * b * c)
        moments = (m / 12 * (b * b + c * c), m / 12 * (c * c + a * a), m / 12 * (a * a + b * b))
        return cls._uniform(moments, m, name, {"kind": "box", "size": (a, b, c)})

    @classmethod
    def ellipsoid(
        cls,
        a: float,
        b: float,
        c: float,
        mass: float | None = None,
        *,
        density: float | None = None,
        name: str | None = None,
    ) -> RigidBody:
        """Return a uniform ellipsoid with semi-axes `a`, `b`, `c` along x, y, z; give `mass` (default 1) or `density`.

        Examples
        --------
        >>> RigidBody.ellipsoid(1, 2, 3, mass=5).moments
        array([13., 10.,  5.])
        """
        a, b, c = (
            number(f"ellipsoid semi-axis {n}", v, positive=True)
            for n, v in zip("abc", (a, b, c), strict=True)
        )
        m = _mass(mass, density, 4 / 3 * math.pi * a * b * c)
        moments = (m / 5 * (b * b + c * c), m / 5 * (c * c + a * a), m / 5 * (a * a + b * b))
        return cls._uniform(moments, m, name, {"kind": "ellipsoid", "semi_axes": (a, b, c)})

    @classmethod
    def cylinder(
        cls,
        radius: float,
        height: float,
        mass: float | None = None,
        *,
        density: float | None = None,
        name: str | None = None,
    ) -> RigidBody:
        """Return a uniform solid cylinder, its axis along z; give `mass` (default 1) or `density`.

        Examples
        --------
        >>> RigidBody.cylinder(2, 6, mass=2).moments
        array([8., 8., 4.])
        """
        r = number("cylinder radius", radius, positive=True)
        height = number("cylinder height", height, positive=True)
        m = _mass(mass, density, math.pi * r * r * height)
        across = m / 12 * (3 * r * r + height * height)
        return cls._uniform(
            (across, across, m / 2 * r * r),
            m,
            name,
            {"kind": "cylinder", "radius": r, "height": height},
        )

    @classmethod
    def sphere(
        cls,
        radius: float,
        mass: float | None = None,
        *,
        density: float | None = None,
        hollow: bool = False,
        name: str | None = None,
    ) -> RigidBody:
        """Return a uniform ball, or a thin shell where `hollow`; give `mass` (default 1) or, for a ball, `density`.

        Examples
        --------
        >>> RigidBody.sphere(1, mass=5).moments, RigidBody.sphere(1, mass=3, hollow=True).moments
        (array([2., 2., 2.]), array([2., 2., 2.]))
        """
        r = number("sphere radius", radius, positive=True)
        if flag("hollow", hollow) and density is not None:
            raise InputError(
                f"density = {brief(density)} has no meaning for a thin shell, which has no volume; pass mass"
            )
        m = _mass(mass, density, 4 / 3 * math.pi * r * r * r)
        moment = m * (2 / 3 if hollow else 2 / 5) * r * r
        return cls._uniform(
            (moment,) * 3, m, name, {"kind": "sphere", "radius": r, "hollow": bool(hollow)}
        )

    @classmethod
    def point_masses(cls, masses: Any, positions: Any, *, name: str | None = None) -> RigidBody:
        """Return points of given `masses` (n,) at `positions` (n, 3), held rigidly; inertia about their centre of mass.

        Examples
        --------
        >>> RigidBody.point_masses([1, 1, 1, 1], [[1, 0, 0], [-1, 0, 0], [0, 2, 0], [0, -2, 0]]).moments
        array([ 8.,  2., 10.])
        """
        m, x = floats("masses", masses), floats("positions", positions)
        if m.ndim != 1 or x.shape != (m.size, 3):
            raise InputError(
                "masses must have shape (n,) and positions (n, 3), one row for each mass; "
                f"got {m.shape} and {x.shape}"
            )
        if np.any(m <= 0.0):
            i = int(np.argmax(m <= 0.0))
            raise InputError(
                f"masses must be positive, got masses[{i}] = {float(m[i])!r}; drop that point"
            )
        # by powers of two, exactly, so that squares cannot overflow
        (m, em), (x, ex) = _scaled(m), _scaled(x)
        r = x - _sums(m * x.T) / m.sum() if m.size else x
        weighted = np.sqrt(m) * r.T  # (3, n): sums run along the points
        rounding = 16 * np.finfo(float).eps
        if m.size < 3 or _off_line(weighted) <= rounding * math.sqrt(_sums(m * (x * x).T).sum()):
            raise InputError(
                f"the {m.size} points lie on one line (or in one place), so the moment about it is zero; "
                "give at least 3 points that are not collinear"
            )
        second = _sums(weighted[:, None] * weighted)
        tensor = np.trace(second) * np.eye(3) - second
        # symmetric sets: sums that cancel to rounding are zero
        size = np.sqrt(m) * (np.abs(x) + np.abs(r)).T
        tensor[
            (np.abs(second) <= rounding * _sums(size[:, None] * size)) & ~np.eye(3, dtype=bool)
        ] = 0.0
        with np.errstate(over="ignore", under="ignore"):
            tensor, total, at = (
                np.ldexp(tensor, 2 * ex + em),
                float(np.ldexp(m.sum(), em)),
                np.ldexp(r, ex),
            )
            masses = np.ldexp(m, em)
        return cls._uniform(
            tensor, total, name, {"kind": "points", "masses": masses, "positions": at}
        )

    @classmethod
    def from_mesh(
        cls,
        path: Any,
        density: float | None = None,
        *,
        mass: float | None = None,
        units: str | float = "m",
        name: str | None = None,
    ) -> RigidBody:
        """Return the uniform solid inside a closed surface in an .stl, .obj, .ply or .glb file; needs ``polhode[mesh]``.

        Parameters
        ----------
        path : str or Path
            The file.  Every edge must have a face on both sides, wound alike; several parts and
            cavities are fine.  Parts that overlap are counted twice, with a warning that names
            them.
        density, mass : float
            One of the two, in kg/m^3 or kg.
        units : str or float
            Of the coordinates: "m" (the default, and what GLB is by its standard), "cm", "mm", "um", "nm", "km", "in",
            "ft", or the length of one in metres.
        name : str, optional
            A label.

        Returns
        -------
        RigidBody
            Its inertia is about the centre of mass, in the axes of the mesh;
            ``shape["centre_of_mass"]`` says where that is.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> corner = pathlib.Path(tempfile.mkdtemp()) / "corner.obj"
        >>> lines = "v 0 0 0", "v 1 0 0", "v 0 1 0", "v 0 0 1", "f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4"
        >>> _ = corner.write_text(chr(10).join(lines))
        >>> RigidBody.from_mesh(corner, mass=80).inertia.round(9)
        array([[6., 1., 1.],
               [1., 6., 1.],
               [1., 1., 6.]])
        """
        return mesh.body(cls, path, density, mass, units, name)

    @classmethod
    def from_urdf(cls, path: Any, link: str | None = None) -> RigidBody:
        """Return the body of a `link` of a URDF file from its ``<inertial>``; the link may be left out if only one has it.

        The inertia is about the centre of mass in the axes of the link: the ``rpy`` of the origin
        turns it, and the ``xyz`` is given back as ``shape["centre_of_mass"]``.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> robot = pathlib.Path(tempfile.mkdtemp()) / "robot.urdf"
        >>> _ = robot.write_text("<robot><link name='arm'><inertial><mass value='3'/><inertia ixx='1' ixy='0' ixz='0' iyy='2' "
        ...                      "iyz='0' izz='2.5'/></inertial></link></robot>")
        >>> RigidBody.from_urdf(robot, "arm")
        RigidBody(moments=(1, 2, 2.5), mass=3, shape='link', name='arm')
        """
        return urdf.body(cls, path, link)

    @classmethod
    def _uniform(
        cls, inertia: Any, mass: float, name: str | None, shape: dict[str, Any]
    ) -> RigidBody:
        inertia = np.asarray(inertia)
        moments = np.diag(inertia) if inertia.ndim == 2 else inertia
        if not (np.isfinite([*inertia.flat, mass]).all() and np.all(moments > 0) and mass > 0):
            raise InputError(
                f"the {shape['kind']} has mass {mass:.6g} and moments {_show(moments)}, beyond the range "
                "of float64; choose other units"
            )
        return cls(inertia, mass, name=name, shape=shape)

    # ---- quantities ------------------------------------------------------------------------------

    def momentum(self, omega: Any) -> np.ndarray:
        """Return the body angular momentum ``inertia @ omega`` of body angular velocities `omega`
        (..., 3)."""
        omega = floats("omega", omega, last=3, finite=False)
        if self.is_principal:
            return self.moments * omega
        return rows_times(omega, self.inertia)

    def omega(self, momentum: Any) -> np.ndarray:
        """Return the body angular velocity that has the body angular `momentum` (..., 3).

        Examples
        --------
        >>> RigidBody([1.0, 2.0, 2.5]).omega([1.0, 1.0, 1.0])
        array([1. , 0.5, 0.4])
        """
        momentum = floats("momentum", momentum, last=3, finite=False)
        if self.is_principal:
            return momentum / self.moments
        return rows_times(rows_times(momentum, self.axes) / self.moments, self.axes.T)

    def kinetic_energy(self, omega: Any) -> np.ndarray:
        """Return the rotational energy ``omega . inertia omega / 2`` of body angular velocities
        `omega` (..., 3).

        Examples
        --------
        >>> float(RigidBody([1.0, 2.0, 2.5]).kinetic_energy([0.0, 3.0, 0.0]))
        9.0
        """
        omega = floats("omega", omega, last=3, finite=False)
        return 0.5 * np.sum(omega * self.momentum(omega), axis=-1)

    def is_symmetric(self, rtol: float = 1e-9) -> bool:
        """Return whether two principal moments (or all three) agree to `rtol`, relative to the
        larger of the two.

        Examples
        --------
        >>> RigidBody([1, 1, 1.5]).is_symmetric(), RigidBody([1, 1.2, 1.5]).is_symmetric()
        (True, False)
        """
        rtol = number("rtol", rtol)
        return any(
            abs(a - b) <= rtol * max(a, b)
            for a, b in itertools.combinations(self.moments.tolist(), 2)
        )

    # ---- identity --------------------------------------------------------------------------------

    def __repr__(self) -> str:
        parts = [f"moments={_show(self.moments, 6)}", f"mass={self.mass:.6g}"]
        parts += [] if self.is_principal else ["axes=tilted"]
        parts += [] if self._shape is None else [f"shape={self._shape['kind']!r}"]
        parts += [] if self.name is None else [f"name={self.name!r}"]
        return f"RigidBody({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RigidBody):
            return NotImplemented
        return bool(
            np.array_equal(self.inertia, other.inertia)
            and self.mass == other.mass
            and self.name == other.name
            and self._shape == other._shape
        )

    def __hash__(self) -> int:
        return hash((self.inertia.tobytes(), self.mass, self.name))

    def to_dict(self) -> dict[str, Any]:
        """Return the body as a plain dict that JSON can hold; `from_dict` gives it back bit for
        bit.

        Examples
        --------
        >>> RigidBody([1, 2, 2.5]).to_dict()
        {'inertia': [1.0, 2.0, 2.5], 'mass': 1.0, 'check_triangle': True, 'name': None, 'shape': None}
        """
        inertia = self.moments if self.is_principal else self.inertia
        return {
            "inertia": inertia.tolist(),
            "mass": self.mass,
            "check_triangle": not _triangle_excess(self.moments),
            "name": self.name,
            "shape": self.shape,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RigidBody:
        """Return the body that `to_dict` described; only ``"inertia"`` is required."""
        if not isinstance(data, Mapping) or "inertia" not in data:
            raise InputError(
                f"a body is a dict with at least the key 'inertia', got {brief(data)}; give what "
                "RigidBody.to_dict() gave"
            )
        for key in data:
            if key not in _KEYS:
                raise unknown("key of a body", key, _KEYS)
        return cls(**data)


# ---- checks --------------------------------------------------------------------------------------


def _show(values: Any, digits: int = 15) -> str:
    return "(" + ", ".join(f"{v:.{digits}g}" for v in np.asarray(values).tolist()) + ")"


def _scaled(array: np.ndarray) -> tuple[np.ndarray, int]:
    """Return (array / 2^e, e) with the largest entry in [1/2, 1)."""
    e = int(np.frexp(np.max(np.abs(array), initial=0.0))[1])
    return np.ldexp(array, -e), e


def _sums(terms: np.ndarray) -> np.ndarray:
    """Return the sums along the last axis, whose numbers lie side by side: NumPy adds such in
    pairs, in a fixed order."""
    return np.ascontiguousarray(terms).sum(axis=-1)


def _off_line(points: np.ndarray) -> float:
    """Return the root of the sum of squared distances of `points` (3, n) from the line through 0
    and the farthest."""
    farthest = points[:, np.argmax((points * points).sum(axis=0))]
    along = farthest / (math.sqrt((farthest * farthest).sum()) or 1.0)
    off = points - along[:, None] * (along[:, None] * points).sum(axis=0)
    return math.sqrt((off * off).sum())


def _symmetric(tensor: np.ndarray) -> np.ndarray:
    unit, e = _scaled(tensor)
    off = np.abs(unit - unit.T)
    if off.max() > _SYMMETRY * np.abs(unit).max():
        i, j = (int(k) for k in np.unravel_index(np.argmax(off), off.shape))
        raise InputError(
            f"inertia must be symmetric: inertia[{i}, {j}] = {tensor[i, j]:.15g} but inertia[{j}, {i}] = "
            f"{tensor[j, i]:.15g}, {np.ldexp(off[i, j], e):.3g} apart; correct the entry, or pass "
            "(inertia + inertia.T) / 2"
        )
    return tensor.copy() if not off.any() else np.ldexp(0.5 * (unit + unit.T), e)


def _principal(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments and axes, which have no unit."""
    unit, e = _scaled(tensor)
    moments, axes = principal_axes(unit)
    with np.errstate(over="ignore"):
        moments = np.ldexp(moments, e)
    if not np.isfinite(moments).all():
        raise InputError(
            f"inertia has moments {_show(moments)}, beyond the range of float64; choose other units"
        )
    return moments, axes


def _check_positive(moments: np.ndarray, is_principal: bool) -> None:
    smallest, i = float(moments.min()), int(moments.argmin())
    if is_principal and smallest <= 0.0:
        raise InputError(
            f"moments must be positive, got I{i + 1} = {smallest:.15g} in {_show(moments)}; correct it "
            "(a body without extent about an axis has no motion about it: give it a small moment)"
        )
    if not is_principal and smallest <= _SINGULAR * moments.max():
        raise InputError(
            f"inertia must be positive definite, but its principal moments are {_show(moments)}: I{i + 1} "
            f"= {smallest:.6g} is not positive beyond rounding; check the off-diagonal entries, or give "
            "the three principal moments of a very thin body themselves"
        )


def _triangle_excess(moments: np.ndarray) -> str:
    """Return "I2 = 10 > I1 + I3 = 6" where the triangle inequality fails, else the empty string."""
    u, m = _scaled(moments)[0].tolist(), moments.tolist()
    i = int(np.argmax(u))
    j, k = (n for n in range(3) if n != i)
    if u[i] - (u[j] + u[k]) <= _TRIANGLE * u[i]:
        return ""
    return f"I{i + 1} = {m[i]:.15g} > I{j + 1} + I{k + 1} = {m[j] + m[k]:.15g}"


def _mass(mass: float | None, density: float | None, volume: float) -> float:
    if mass is not None and density is not None:
        raise InputError(
            f"give mass or density, not both (got mass = {brief(mass)} and density = {brief(density)}); drop "
            "one"
        )
    if density is not None:
        return number("density", density, positive=True) * volume
    return 1.0 if mass is None else number("mass", mass, positive=True)


def _plain_shape(shape: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if shape is None:
        return None
    if not isinstance(shape, Mapping) or not isinstance(shape.get("kind"), str):
        raise InputError(
            f"shape must be a dict with a text 'kind', such as {{'kind': 'box', 'size': (1, 2, 3)}}, "
            f"got {brief(shape)}; write one"
        )
    return _plain(shape)


def _plain(value: Any) -> Any:
    """Return `value` in dicts, tuples and Python scalars: it compares by value and JSON can hold
    it."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_plain(v) for v in value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InputError(
        f"shape may hold numbers, text, lists and dicts, got {brief(value)}; convert it first"
    )
