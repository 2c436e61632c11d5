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
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from polhode.bodies import mesh, rotor, urdf
from polhode.bodies.inertia import check_positive, diagonal, show, symmetric, triangle_excess
from polhode.bodies.rotor import Rotor, as_rotors
from polhode.bodies.shapes import Shapes, plain_shape
from polhode.errors import InputError, brief, flag, floats, label, number, unknown
from polhode.support.card import Card
from polhode.support.frames import rows_times
from polhode.support.units import UNSPECIFIED, Units, as_units

__all__ = ["RigidBody"]

_KEYS = ("inertia", "mass", "check_triangle", "name", "shape", "units", "rotors")


class RigidBody(Card, Shapes):
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
    units : "SI" or dict, optional
        The units of your numbers, such as ``{"length": "mm", "mass": "g", "time": "s"}``: figures,
        pages and files are labelled with them and with what follows from them.  Nothing is
        converted.  Without them nothing has a unit.
    rotors : list of Rotor, optional
        Wheels inside the body, which the inertia includes.

    Attributes
    ----------
    inertia : ndarray, shape (3, 3)
        The tensor in your axes.
    moments : ndarray, shape (3,)
        Principal moments.  Given three moments or a diagonal tensor they keep your order; otherwise
        they are ordered so that `axes` is as near to the identity as it can be.  Moments of a full
        tensor that agree to rounding are equal.  With rotors that turn freely, moments and axes are
        those of the inertia less the rotors' moments about their axes.
    axes : ndarray, shape (3, 3)
        A rotation whose columns are the principal axes in your axes.  Where moments agree, so that
        the tensor leaves directions free, it is still the nearest to the identity, and the same
        bits on every processor.
    is_principal : bool
        Whether your axes are the principal axes: the tensor has no off-diagonal entries, and `axes`
        is the identity.
    mass, name, shape, units, rotors
        As given; `units` has the attributes length, mass and time.

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
    units: Units = UNSPECIFIED
    rotors: tuple[Rotor, ...] = ()

    def __init__(
        self,
        inertia: Any,
        mass: float = 1.0,
        *,
        check_triangle: bool = True,
        name: str | None = None,
        shape: Mapping[str, Any] | None = None,
        units: str | Mapping[str, str] | None = None,
        rotors: Iterable[Rotor] = (),
    ) -> None:
        check_triangle, name = flag("check_triangle", check_triangle), label("name", name)
        given = floats("inertia", inertia)
        if given.shape not in ((3,), (3, 3)):
            raise InputError(
                f"inertia must be 3 principal moments or a symmetric 3x3 tensor, got shape {given.shape}; give "
                "one of them"
            )
        tensor = symmetric(given) if given.ndim == 2 else np.diag(given)
        moments, axes, is_principal = diagonal(tensor)
        check_positive(moments, is_principal)
        excess = triangle_excess(moments)
        if check_triangle and excess:
            raise InputError(
                f"moments {show(moments)}: {excess}, which violates the triangle inequality: no distribution "
                "of mass has these; check the entries, or, if you mean them, give "
                "RigidBody(..., check_triangle=False), in TOML check_triangle = false"
            )
        rotors = as_rotors(rotors)
        if rotors:
            rotor.check_own(rotor.without(tensor, rotors))
            turning = rotor.without(tensor, (one for one in rotors if not one.is_held))
            moments, axes, is_principal = diagonal(turning)
        self.__setstate__(
            {
                "inertia": tensor + 0.0,  # no negative zeros
                "moments": moments,
                "axes": axes,
                "is_principal": is_principal,
                "mass": number("mass", mass, positive=True),
                "name": name,
                "_shape": plain_shape(shape),
                "units": as_units(units),
                "rotors": rotors,
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

    _shape: dict[str, Any] | None

    @property
    def shape(self) -> dict[str, Any] | None:
        """Geometry for drawing (a fresh dict), or None."""
        return copy.deepcopy(self._shape)

    def with_units(self, units: str | Mapping[str, str] | None) -> RigidBody:
        """Return the same body with other names for the units of its numbers, which stay as they are.

        Examples
        --------
        >>> RigidBody.box(1, 2, 3).with_units("SI").units.of("kg m2")
        'kg m2'
        """
        other = object.__new__(type(self))
        other.__setstate__({**vars(self), "units": as_units(units)})
        return other

    def with_rotors(self, rotors: Iterable[Rotor]) -> RigidBody:
        """Return the same body with these rotors in place of those it has; its inertia, which
        includes them, stays as it is.

        Examples
        --------
        >>> RigidBody.box(1, 2, 3).with_rotors([Rotor((0, 0, 1), 0.01, speed=300.0)])
        RigidBody(moments=(1.08333, 0.833333, 0.416667), mass=1, shape='box', rotors=1)
        """
        whole = RigidBody(self.inertia, check_triangle=False, rotors=rotors)
        other = object.__new__(type(self))
        names = ("moments", "axes", "is_principal", "rotors")
        other.__setstate__({**vars(self), **{name: getattr(whole, name) for name in names}})
        return other

    # ---- from files ------------------------------------------------------------------------------

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

    # ---- quantities ------------------------------------------------------------------------------

    def momentum(self, omega: Any, rotor_speeds: Any = None) -> np.ndarray:
        """Return the body angular momentum ``inertia @ omega`` of body angular velocities `omega`
        (..., 3), with that of the rotors at their speeds (..., n), by default those at the start."""
        omega = floats("omega", omega, last=3, finite=False)
        if self.rotors:
            added = self._speeds(omega, rotor_speeds) @ rotor.axial(self.rotors)
            return rows_times(omega, self.inertia) + added
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
        if self.rotors:
            given = (one for one in self.rotors if one.momentum is not None)
            rest = momentum - self.momentum(np.zeros(3))
            return rows_times(rest, np.linalg.inv(rotor.without(self.inertia, given)))
        if self.is_principal:
            return momentum / self.moments
        return rows_times(rows_times(momentum, self.axes) / self.moments, self.axes.T)

    def kinetic_energy(self, omega: Any, rotor_speeds: Any = None) -> np.ndarray:
        """Return the rotational energy ``omega . inertia omega / 2`` of body angular velocities
        `omega` (..., 3), with that of the rotors at their speeds (..., n), by default those at the
        start.

        Examples
        --------
        >>> float(RigidBody([1.0, 2.0, 2.5]).kinetic_energy([0.0, 3.0, 0.0]))
        9.0
        """
        omega = floats("omega", omega, last=3, finite=False)
        if self.rotors:
            locked = 0.5 * np.sum(omega * rows_times(omega, self.inertia), axis=-1)
            return locked + rotor.energy(self.rotors, omega, self._speeds(omega, rotor_speeds))
        return 0.5 * np.sum(omega * self.momentum(omega), axis=-1)

    def rotor_speeds(self, omega: Any) -> np.ndarray:
        """Return the speeds of the rotors at the start (..., n), where the body turns at `omega`
        (..., 3): a rotor given by its momentum turns the slower the faster the body does.

        Examples
        --------
        >>> body = RigidBody([1, 2, 2.5], rotors=[Rotor((0, 0, 1), 0.1, momentum=3.0)])
        >>> body.rotor_speeds([0.0, 0.0, 5.0])
        array([25.])
        """
        return rotor.speeds(self.rotors, floats("omega", omega, last=3, finite=False))

    def _speeds(self, omega, given):
        if given is None:
            return self.rotor_speeds(omega)
        return floats("rotor_speeds", given, last=len(self.rotors), finite=False)

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
        parts = [f"moments={show(self.moments, 6)}", f"mass={self.mass:.6g}"]
        parts += [] if self.is_principal else ["axes=tilted"]
        parts += [] if self._shape is None else [f"shape={self._shape['kind']!r}"]
        parts += [f"rotors={len(self.rotors)}"] if self.rotors else []
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
            and self.units == other.units
            and self.rotors == other.rotors
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
        moments, _, is_principal = diagonal(self.inertia)
        return {
            "inertia": (moments if is_principal else self.inertia).tolist(),
            "mass": self.mass,
            "check_triangle": not triangle_excess(moments),
            "name": self.name,
            "shape": self.shape,
            **({"units": self.units._asdict()} if self.units != UNSPECIFIED else {}),
            **({"rotors": [one.to_dict() for one in self.rotors]} if self.rotors else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RigidBody:
        """Return the body that `to_dict` described; only ``"inertia"`` is required."""
        if not isinstance(data, Mapping) or "inertia" not in data:
            raise InputError(
                f"a body is a dict with at least the key 'inertia', got {brief(data)}; pass the "
                "result of RigidBody.to_dict()"
            )
        for key in data:
            if key not in _KEYS:
                raise unknown("key of a body", key, _KEYS)
        return cls(**data)
