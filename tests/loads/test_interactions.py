"""Interactions by name: forces and torques are the derivatives of the potential, action is reaction, and each is what its
formula says."""

import numpy as np
import polhode
import pytest
from polhode import RigidBody, interactions, rotations
from polhode.bodies.cubature import cubature, surface, tetrahedra
from polhode.loads.interactions.polyhedron import harmonics, nodes

LINKS = [(0, 1), (2, 1)]
PLACES = np.array([[0.1, -0.2, 0.3], [2.1, 0.4, -0.3], [0.6, 2.2, 0.9]])
ANGLES = rotations.exp([[0.3, -0.2, 0.5], [-0.9, 0.4, 0.1], [0.2, 1.1, -0.7]])
TURNS = rotations.matrices(ANGLES)
SPEEDS = np.array([[0.3, 0.1, -0.2], [-0.4, 0.2, 0.5], [0.1, -0.6, 0.2]])
RATES = np.array([[0.5, -0.3, 0.8], [-1.0, 0.2, 0.4], [0.6, 0.7, -0.1]])
POINTS = [((0.4, 0.1, -0.2), (-0.3, 0.2, 0.1)), ((0.0, 0.2, 0.3), (0.1, -0.4, 0.0))]
AXES = [((0.3, 0.1, -0.2), (-0.3, 0.2, 0.1)), ((0.0, 0.2, 0.3), (0.1, -0.4, 0.0))]
UNEVEN = [
    RigidBody.point_masses(
        [1, 2, 3, 1.5], [[0.3, 0, 0], [0, 0.4, 0.1], [-0.2, 0.1, 0.3], [0, 0, -0.4]]
    ),
    RigidBody.ellipsoid(0.4, 0.5, 0.7, mass=2.0),
    RigidBody.point_masses(
        [2, 1, 1, 2], [[0.3, 0.1, 0], [0, -0.4, 0.2], [0.2, 0.1, 0.3], [0.1, 0, -0.4]]
    ),
]
FACES = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]


def octahedron(a, b, c, density=1.0):
    tips = [(a, 0, 0), (-a, 0, 0), (0, b, 0), (0, -b, 0), (0, 0, c), (0, 0, -c)]
    return RigidBody.polyhedron(tips, FACES, density=density)


WEDGE = RigidBody.polyhedron(
    [(0, 0, 0), (0.9, 0, 0), (0, 0.6, 0), (0, 0, 0.5)],
    [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)],
    mass=2.0,
)
SOLIDS = [octahedron(0.5, 0.6, 0.4, 9.0), WEDGE, octahedron(0.3, 0.5, 0.4, 9.0)]

ALL = {
    "springs": interactions.springs(LINKS, [3.0, 4.0], [0.5, 1.5], POINTS),
    "bushings": interactions.bushings(LINKS, (3, 4, 5, 0.6, 0.7, 0.8), POINTS, AXES),
    "dipoles": interactions.dipoles([(0.3, 0.1, 1.0), (-0.2, 0.8, 0.4), (1.0, 0.2, -0.5)], 0.7),
    "gravity 0": interactions.gravity(UNEVEN, 0.1, degree=0),
    "gravity 2": interactions.gravity(UNEVEN, 0.1, degree=2),
    "gravity 4": interactions.gravity(UNEVEN, 0.1, degree=4),
    "polyhedra": interactions.polyhedra(SOLIDS, 0.1, degree=3),
}
DAMPED = {
    "springs": interactions.springs(LINKS, 3.0, 0.5, POINTS, damping=[0.3, 0.4]),
    "bushings": interactions.bushings(
        LINKS, np.full((2, 6), 2.0), POINTS, AXES, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    ),
}


def slopes(function, size, d=1e-3):
    """The derivatives at 0 of a function of `size` numbers, by differences of sixth order."""
    found = np.empty(size)
    for i in range(size):
        e = d * np.eye(size)[i]
        first, second, third = (function(k * e) - function(-k * e) for k in (1, 2, 3))
        found[i] = (45.0 * first - 9.0 * second + third) / (60.0 * d)
    return found


@pytest.mark.parametrize("name", ALL)
def test_forces_and_torques_are_derivatives_of_the_potential(name):
    acting = ALL[name]
    forces, torques = acting(0.0, PLACES, TURNS)

    def moved(by):
        return acting.potential_energy(0.0, PLACES + by.reshape(PLACES.shape), TURNS)

    def turned(by):
        R = rotations.matrices(rotations.exp(by.reshape(-1, 3))) @ TURNS
        return acting.potential_energy(0.0, PLACES, R)

    # 1e-10: what differences of sixth order reach with steps of 1e-3, relative to the largest
    most = 1e-10 * max(abs(forces).max(), abs(torques).max())
    assert abs(forces.ravel() + slopes(moved, forces.size)).max() < most
    assert abs(torques.ravel() + slopes(turned, torques.size)).max() < most


@pytest.mark.parametrize("acting", [*ALL.values(), *DAMPED.values()], ids=lambda one: one.name)
def test_momentum_is_kept_to_rounding(acting):
    forces, torques = acting(0.0, PLACES, TURNS, SPEEDS, RATES)
    moments = torques + np.cross(PLACES, forces)
    size = abs(torques).sum() + abs(np.cross(PLACES, forces)).sum()
    assert abs(forces.sum(axis=0)).max() < 4e-16 * abs(forces).sum()
    assert abs(moments.sum(axis=0)).max() < 4e-16 * size


@pytest.mark.parametrize("name", DAMPED)
def test_dampers_take_energy_and_rigid_motions_feel_none(name):
    damped = DAMPED[name]
    still = damped(0.0, PLACES, TURNS)
    forces, torques = damped(0.0, PLACES, TURNS, SPEEDS, RATES)
    spatial = np.einsum("nij,nj->ni", TURNS, RATES)
    power = ((forces - still[0]) * SPEEDS).sum() + ((torques - still[1]) * spatial).sum()
    assert power < -1e-3
    w = np.array([0.3, -0.5, 0.9])
    together = damped(
        0.0, PLACES, TURNS, 0.2 + np.cross(w, PLACES), np.einsum("nji,j->ni", TURNS, w)
    )
    assert abs(np.array(together) - np.array(still)).max() < 1e-14


@pytest.mark.parametrize("name", ALL)
def test_a_run_keeps_energy_and_momentum(name):
    run = polhode.integrate(
        polhode.System(SOLIDS if name == "polyhedra" else UNEVEN, ALL[name]),
        t_span=(0, 0.2),
        step=0.0005 if name == "bushings" else 0.01,
        method="LP2" if name == "bushings" else "EXACT-RKN4",
        position0=PLACES,
        velocity0=SPEEDS,
        omega0=RATES,
        rotation0=ANGLES,
        compiled=name
        == "bushings",  # the others as Python, for a few steps: quicker than compiling
    )
    E, L = run.total_energy, run.angular_momentum
    most = 1e-5 if name == "bushings" else 1e-7  # of second order, and of fourth
    assert abs(E - E[0]).max() < most * abs(run.kinetic_energy).max()
    assert abs(L - L[0]).max() < 1e-13 * abs(L[0]).max()


def test_magnets_are_those_of_the_field_of_a_dipole():
    m, M = np.array([0.3, 0.1, 1.0]), np.array([-0.2, 0.8, 0.4])
    _, torques = interactions.dipoles([m, M], 0.7)(0.0, PLACES[:2])
    r = PLACES[1] - PLACES[0]
    n, d = r / np.linalg.norm(r), np.linalg.norm(r)
    B = 0.7 * (3.0 * n * (n @ m) - m) / d**3
    assert np.allclose(torques[1], np.cross(M, B), rtol=1e-14)
    forces, _ = interactions.dipoles([m, M])(0.0, PLACES[:2])
    alone = polhode.flight.magnet(M, 1e-7 * np.linalg.norm(m), axis=m)
    expected, _ = alone(0.0, r, np.zeros(3), np.eye(3))
    assert np.allclose(forces[1], expected, rtol=1e-13)


def test_a_bushing_turned_far_pulls_back_in_proportion():
    joint = interactions.bushings([(0, 1)], (1, 1, 1, 5, 6, 7))
    for angle in (1e-9, 0.5, 2.0, 3.1):
        R = rotations.matrices(rotations.exp([[0.0, 0.0, 0.0], [0.0, angle, 0.0]]))
        _, torques = joint(0.0, np.zeros((2, 3)), R)
        assert np.allclose(torques[0], [0.0, 6.0 * angle, 0.0], rtol=1e-14, atol=1e-24)
        assert joint.potential_energy(0.0, np.zeros((2, 3)), R) == pytest.approx(
            3.0 * angle**2, rel=1e-14
        )


def direct(bodies, x, R, degree=10):
    """Gravity of all points of two bodies on each other."""
    (p, m), (q, M) = (cubature(body, degree) for body in bodies)
    d = (x[1] + q @ R[1].T)[None] - (x[0] + p @ R[0].T)[:, None]
    return -(m[:, None] * M[None] / np.linalg.norm(d, axis=-1)).sum()


@pytest.mark.parametrize(("degree", "order"), [(0, 2), (2, 3), (4, 5)])
def test_gravity_converges_to_that_of_all_points(degree, order):
    """The first term that is left out is (size / distance)^order of the whole."""
    pull = interactions.gravity([UNEVEN[0], UNEVEN[2]], 1.0, degree=degree)
    turns = TURNS[[0, 2]]
    errors = []
    for far in (20.0, 40.0):
        x = np.array([[0.0, 0.0, 0.0], [0.6 * far, -0.48 * far, 0.64 * far]])
        exact = direct([UNEVEN[0], UNEVEN[2]], x, turns)
        errors.append(abs(pull.potential_energy(0.0, x, turns) / exact - 1.0))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize(
    "body",
    [
        RigidBody.box(1, 2, 3, mass=5),
        RigidBody.ellipsoid(1, 2, 3, mass=5),
        RigidBody.cylinder(1, 3, mass=5),
        RigidBody.sphere(2, mass=5),
        RigidBody.sphere(2, mass=5, hollow=True),
    ],
    ids=str,
)
def test_cubature_is_exact_up_to_its_degree(body):
    points, masses = cubature(body, 6)
    finer, more = cubature(body, 13)
    for a, b, c in [
        (2, 0, 0),
        (4, 0, 0),
        (2, 2, 0),
        (2, 2, 2),
        (6, 0, 0),
        (1, 2, 3),
        (0, 0, 5),
        (0, 0, 6),
    ]:
        ours, theirs = (
            (w * np.prod(x ** np.array([a, b, c]), axis=1)).sum()
            for x, w in ((points, masses), (finer, more))
        )
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)


def test_fourth_moments_of_an_ellipsoid_are_the_known_ones():
    points, masses = cubature(RigidBody.ellipsoid(1, 2, 3, mass=35.0), 4)
    # the mean of x^4 is 3 a^4 / 35, that of x^2 y^2 is a^2 b^2 / 35
    assert (masses * points[:, 2] ** 4).sum() == pytest.approx(3.0 * 81.0, rel=1e-13)
    assert (masses * points[:, 1] ** 2 * points[:, 2] ** 2).sum() == pytest.approx(36.0, rel=1e-13)


@pytest.mark.parametrize("degree", [0, 2, 4])
def test_spheres_attract_like_points(degree):
    balls = [RigidBody.sphere(1, mass=2), RigidBody.sphere(2, mass=3)]
    x = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 4.0]])
    forces, torques = interactions.gravity(balls, 1.0, degree=degree)(0.0, x, TURNS[:2])
    assert np.allclose(forces[0], [6.0 * 3.0 / 125.0, 0.0, 6.0 * 4.0 / 125.0], rtol=1e-14)
    assert abs(torques).max() < 1e-16


def inside(body, degree):
    """Points of a body with flat faces, and their masses."""
    vertices, faces = surface(body)
    points, volumes = tetrahedra(vertices[faces], degree)
    return points, volumes * (body.mass / volumes.sum())


def test_polyhedra_converge_to_gravity_of_all_points():
    """With each degree by a factor a / s, about 1/4 here."""
    x = np.array([[0.0, 0.0, 0.0], [1.1, 0.7, 0.9]])
    (p, m), (q, M) = (inside(body, 13) for body in SOLIDS[:2])
    d = (x[1] + q @ TURNS[1].T)[None] - (x[0] + p @ TURNS[0].T)[:, None]
    exact = -(m[:, None] * M[None] / np.linalg.norm(d, axis=-1)).sum()
    errors = [
        abs(
            interactions.polyhedra(SOLIDS[:2], 1.0, degree=k).potential_energy(0.0, x, TURNS[:2])
            / exact
            - 1
        )
        for k in (2, 4, 6)
    ]
    assert errors[0] < 3e-3
    assert errors[1] < errors[0] / 8
    assert errors[2] < errors[1] / 8


def test_the_field_of_a_polyhedron_is_that_of_its_points():
    """A ball far smaller than the distance feels the field at its centre."""
    speck = octahedron(1e-4, 1e-4, 1e-4)
    x = np.array([[0.0, 0.0, 0.0], [1.2, 0.9, 0.8]])
    forces, _ = interactions.polyhedra([WEDGE, speck], 1.0)(0.0, x)
    points, masses = inside(WEDGE, 25)
    d = x[1] - points
    g = -(masses[:, None] * d / np.linalg.norm(d, axis=1)[:, None] ** 3).sum(axis=0)
    assert np.allclose(forces[1] / speck.mass, g, rtol=1e-7)  # (1e-4 / 1.7)^2 is left out of it


def test_nodes_are_few_and_have_the_moments_of_the_body():
    points, masses = inside(octahedron(1.0, 0.7, 0.4), 6)
    few = nodes(points, masses, 6)
    assert len(few) <= 49
    assert few[:, 3].min() > 0.0
    # norms of rows differ between sets of points: compare moments in the same ones
    both = harmonics(np.concatenate([few[:, :3], points]), 6)
    ours, theirs = both[:, : len(few)] @ few[:, 3], both[:, len(few) :] @ masses
    assert abs(ours - theirs).max() < 1e-14


def test_polyhedra_that_overlap_are_told():
    with pytest.raises(polhode.TorqueError, match="overlap"):
        polhode.integrate(
            polhode.System(SOLIDS[:2], interactions.polyhedra(SOLIDS[:2])),
            t_span=(0, 1),
            step=0.1,
            position0=[[0, 0, 0], [0.1, 0, 0]],
            compiled=False,
        )
