"""The shapes: for each its moments, its keys in scenario files, and what a page needs to draw it.

A shape is an entry of SHAPES and a method of `Shapes`, both under its name (`polyhedron` has no entry:
scenario files have meshes).  `polhode.io` makes the section of a scenario file from the entry,
`polhode.show` draws what `kind` of the page it is (a kind that the page does not know is drawn as a box
of the same moments).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from polhode.bodies import mesh
from polhode.bodies.inertia import off_line, scaled, show, sums
from polhode.errors import InputError, brief, flag, floats, number


class Key(NamedTuple):
    """A key of a shape: what it holds, and what that means."""

    holds: str  # "length", "lengths" (three), "flag", "masses", "positions"
    meaning: str


class Shape(NamedTuple):
    """What is known of a shape besides its moments."""

    summary: str
    keys: dict[str, Key]
    kind: str  # what its bodies have as shape["kind"]
    uniform: bool = True  # it has a mass or a density


SHAPES = {
    "box": Shape(
        "A uniform box.", {"size": Key("lengths", "Edges along the body axes.")}, kind="box"
    ),
    "ellipsoid": Shape(
        "A uniform ellipsoid.",
        {"semi_axes": Key("lengths", "Half diameters along the body axes.")},
        kind="ellipsoid",
    ),
    "cylinder": Shape(
        "A uniform cylinder about the third body axis.",
        {"radius": Key("length", "Radius."), "height": Key("length", "Height.")},
        kind="cylinder",
    ),
    "sphere": Shape(
        "A uniform ball or a thin shell.",
        {
            "radius": Key("length", "Radius."),
            "hollow": Key("flag", "A thin shell in place of a ball."),
        },
        kind="sphere",
    ),
    "point_masses": Shape(
        "Points held together by rods without mass.",
        {
            "masses": Key("masses", "The masses."),
            "positions": Key(
                "positions", "Where they are, in body axes; the centre of mass is found."
            ),
        },
        kind="points",
        uniform=False,
    ),
}


class Shapes:
    """Uniform bodies about their centre of mass; `RigidBody` has these methods."""

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
    ) -> Self:
        """Return a uniform box with edges `a`, `b`, `c` along x, y, z; give `mass` (default 1) or `density`.

        Examples
        --------
        >>> from polhode import RigidBody
        >>> RigidBody.box(1, 1, 2, density=3.0).mass
        6.0
        """
        a, b, c = (
            number(f"box edge {n}", v, positive=True) for n, v in zip("abc", (a, b, c), strict=True)
        )
        m = _mass_of(mass, density, a * b * c)
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
    ) -> Self:
        """Return a uniform ellipsoid with semi-axes `a`, `b`, `c` along x, y, z; give `mass` (default 1) or `density`.

        Examples
        --------
        >>> from polhode import RigidBody
        >>> RigidBody.ellipsoid(1, 2, 3, mass=5).moments
        array([13., 10.,  5.])
        """
        a, b, c = (
            number(f"ellipsoid semi-axis {n}", v, positive=True)
            for n, v in zip("abc", (a, b, c), strict=True)
        )
        m = _mass_of(mass, density, 4 / 3 * math.pi * a * b * c)
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
    ) -> Self:
        """Return a uniform solid cylinder, its axis along z; give `mass` (default 1) or `density`.

        Examples
        --------
        >>> from polhode import RigidBody
        >>> RigidBody.cylinder(2, 6, mass=2).moments
        array([8., 8., 4.])
        """
        r = number("cylinder radius", radius, positive=True)
        height = number("cylinder height", height, positive=True)
        m = _mass_of(mass, density, math.pi * r * r * height)
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
    ) -> Self:
        """Return a uniform ball, or a thin shell where `hollow`; give `mass` (default 1) or, for a ball, `density`.

        Examples
        --------
        >>> from polhode import RigidBody
        >>> RigidBody.sphere(1, mass=5).moments, RigidBody.sphere(1, mass=3, hollow=True).moments
        (array([2., 2., 2.]), array([2., 2., 2.]))
        """
        r = number("sphere radius", radius, positive=True)
        if flag("hollow", hollow) and density is not None:
            raise InputError(
                f"density = {brief(density)} has no meaning for a thin shell, which has no volume; pass mass"
            )
        m = _mass_of(mass, density, 4 / 3 * math.pi * r * r * r)
        moment = m * (2 / 3 if hollow else 2 / 5) * r * r
        return cls._uniform(
            (moment,) * 3, m, name, {"kind": "sphere", "radius": r, "hollow": bool(hollow)}
        )

    @classmethod
    def point_masses(cls, masses: Any, positions: Any, *, name: str | None = None) -> Self:
        """Return points of given `masses` (n,) at `positions` (n, 3), held rigidly; inertia about their centre of mass.

        Examples
        --------
        >>> from polhode import RigidBody
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
        (m, em), (x, ex) = scaled(m), scaled(x)
        r = x - sums(m * x.T) / m.sum() if m.size else x
        weighted = np.sqrt(m) * r.T  # (3, n): sums run along the points
        rounding = 16 * np.finfo(float).eps
        if m.size < 3 or off_line(weighted) <= rounding * math.sqrt(sums(m * (x * x).T).sum()):
            raise InputError(
                f"the {m.size} points lie on one line (or in one place), so the moment about it is zero; "
                "give at least 3 points that are not collinear"
            )
        second = sums(weighted[:, None] * weighted)
        tensor = np.trace(second) * np.eye(3) - second
        # symmetric sets: sums that cancel to rounding are zero
        size = np.sqrt(m) * (np.abs(x) + np.abs(r)).T
        tensor[
            (np.abs(second) <= rounding * sums(size[:, None] * size)) & ~np.eye(3, dtype=bool)
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
    def polyhedron(
        cls,
        vertices: Any,
        faces: Any,
        mass: float | None = None,
        *,
        density: float | None = None,
        name: str | None = None,
    ) -> Self:
        """Return the uniform solid with these flat faces; give `mass` or `density`.

        Parameters
        ----------
        vertices : (n, 3) array
        faces : sequence of sequences of numbers of vertices
            Three or more for each face, counter-clockwise seen from outside, counted from 0.
        mass, density : float
            One of the two.
        name : str, optional
            A label.

        Returns
        -------
        RigidBody
            Its inertia is about the centre of mass, in the axes of the vertices;
            ``shape["centre_of_mass"]`` says where that is.

        Examples
        --------
        >>> from polhode import RigidBody
        >>> tips = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
        >>> up = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4)]
        >>> down = [(2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
        >>> RigidBody.polyhedron(tips, up + down, density=3.0)
        RigidBody(moments=(0.8, 0.8, 0.8), mass=4, shape='mesh')
        """
        return mesh.polyhedron(cls, vertices, faces, mass, density, name)

    @classmethod
    def _uniform(cls, inertia: Any, mass: float, name: str | None, shape: dict[str, Any]) -> Self:
        inertia = np.asarray(inertia)
        moments = np.diag(inertia) if inertia.ndim == 2 else inertia
        if not (np.isfinite([*inertia.flat, mass]).all() and np.all(moments > 0) and mass > 0):
            raise InputError(
                f"the {shape['kind']} has mass {mass:.6g} and moments {show(moments)}, beyond the range "
                "of float64; choose other units"
            )
        return cls(inertia, mass, name=name, shape=shape)  # type: ignore[call-arg]  # RigidBody's


def _mass_of(mass: float | None, density: float | None, volume: float) -> float:
    if mass is not None and density is not None:
        raise InputError(
            f"give mass or density, not both (got mass = {brief(mass)} and density = {brief(density)}); drop "
            "one"
        )
    if density is not None:
        return number("density", density, positive=True) * volume
    return 1.0 if mass is None else number("mass", mass, positive=True)


# --- geometry for drawing ---------------------------------------------------------------------------


def plain_shape(shape: Mapping[str, Any] | None) -> dict[str, Any] | None:
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
