"""Poinsot's construction: the curves lie where they should, and the ellipsoid rolls without
slipping."""

import numpy as np
import pytest

from polhode import InputError, RigidBody, integrate
from polhode.show.poinsot import Poinsot

TURN = (0.1, 0.4, -0.3)
SKEWED = RigidBody([[1.5, 0.1, -0.2], [0.1, 2.0, 0.3], [-0.2, 0.3, 2.6]])
MOTIONS = [
    ((1, 2, 3), (0.1, 1, 0.2)),
    ((1, 2, 3), (0.1, 0.2, 1)),
    ((1, 2, 3), (-1, 0.1, 0.2)),
    ((3, 1, 2), (0.3, -0.6, 0.2)),
    ((2, 2, 3), (0.5, 0.1, -1)),
    ((3, 2, 2), (0.5, 0.1, -1)),
    (SKEWED, (0.3, -0.2, 0.9)),
]


def rolling(body, omega):
    shape = Poinsot(body, rotation0=TURN, omega0=omega)
    run = integrate(body, None, (0, 30), 0.01, "taylor6", rotation0=TURN, omega0=omega)
    return shape, run


@pytest.mark.parametrize(("body", "omega"), MOTIONS)
def test_polhode_lies_on_both_ellipsoids(body, omega):
    shape = Poinsot(body, rotation0=TURN, omega0=omega)
    curve, J = shape.polhode(200), shape.body.inertia
    assert np.allclose(np.einsum("ni,ij,nj->n", curve, J, curve), 1.0, rtol=0, atol=1e-14)  # (12)
    L2 = shape.momentum_spatial @ shape.momentum_spatial
    # (16)
    assert np.allclose(np.sum((curve @ J) ** 2, axis=1), L2 / (2 * shape.energy), rtol=1e-13)
    assert np.allclose(curve[0], curve[-1])
    surface = shape.ellipsoid(12)
    assert surface.shape == (12, 24, 3)
    assert np.allclose(np.einsum("abi,ij,abj->ab", surface, J, surface), 1.0)


@pytest.mark.parametrize(("body", "omega"), MOTIONS)
def test_motion_follows_the_curves(body, omega):
    shape, run = rolling(body, omega)
    curve, contact = shape.polhode(4000), shape.contact(run)
    nearest = np.linalg.norm(contact[::20, None] - curve[None], axis=2).argmin(axis=1)
    assert np.linalg.norm(contact[::20] - curve[nearest], axis=1).max() < 1e-3
    assert np.median(np.diff(nearest) % 3999) < 2000  # the curve goes the way of the motion
    plane = shape.plane()
    spatial = np.einsum("nij,nj->ni", run.matrix, contact)
    assert np.allclose(spatial @ plane.normal, plane.distance, rtol=1e-9)  # (15)
    radius = np.linalg.norm(shape.herpolhode(run), axis=1)
    low, high = shape.herpolhode_radii()
    assert low - 1e-6 < radius.min() <= radius.max() < high + 1e-6
    assert np.allclose(np.sort(np.abs(plane.axes @ plane.normal)), 0.0, atol=1e-15)


@pytest.mark.parametrize(("body", "omega"), MOTIONS)
def test_rolling_without_slipping(body, omega):
    """Both curves have the same length at all times."""
    shape, run = rolling(body, omega)
    lengths = [
        np.linalg.norm(np.diff(curve, axis=0), axis=1).sum()
        for curve in (shape.contact(run), shape.herpolhode(run))
    ]
    assert lengths[0] == pytest.approx(lengths[1], rel=2e-4)


@pytest.mark.parametrize(
    ("moments", "omega"),
    [((2, 2, 2), (0.1, 0.2, 1)), ((2, 2, 3), (0.5, 0.1, 0)), ((1, 2, 3), (0, 0, 1))],
)
def test_a_steady_rotation_has_a_point_for_a_polhode(moments, omega):
    shape = Poinsot(moments, omega0=omega)
    assert np.abs(shape.polhode(50) - np.array(omega) / np.sqrt(2 * shape.energy)).max() < 1e-7
    assert max(shape.herpolhode_radii()) < 1e-7


def test_a_body_at_rest_is_refused():
    with pytest.raises(InputError, match="at rest"):
        Poinsot([1, 2, 3], omega0=(0, 0, 0))
