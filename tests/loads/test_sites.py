"""Sites of molecules: forces are those by hand and the derivatives of the potential; rigid water."""

import numpy as np
import polhode
import pytest
from polhode import RigidBody, System, interactions, rotations

ANGULAR = np.array([[0.0, 0.0, 0.4], [0.3, 0.0, -0.2], [-0.3, 0.1, -0.1]])
SINGLE = np.array([[0.0, 0.0, 0.0]])
KINDS = [ANGULAR, SINGLE]
VALUES = {
    "charges": [[-0.8, 0.5, 0.3], [0.7]],
    "sigma": [[0.3, 0.0, 0.1], [0.25]],
    "epsilon": [[1.2, 0.0, 0.4], [0.8]],
}
WHICH = [0, 1, 0, 0, 1, 0, 1, 0, 0]


def several(cutoff=1.3, box=None, shift="force"):
    return interactions.sites(
        KINDS, **VALUES, kinds=WHICH, cutoff=cutoff, box=box, shift=shift, strength=2.5
    )


def placed(seed=0, apart=1.0):
    """Nine bodies on a displaced lattice, some of them far outside of a box of 3."""
    random = np.random.default_rng(seed)
    lattice = np.stack(np.meshgrid(range(3), range(3), [0], indexing="ij"), -1).reshape(-1, 3)
    x = apart * lattice + 0.1 * random.normal(size=(9, 3))
    return x, rotations.matrices(rotations.exp(random.normal(size=(9, 3))))


def by_hand(x, R, cutoff, box, shift):
    """Forces, torques and energy: all pairs of sites, one by one."""
    forced, lifted = {"force": (1, 1), "energy": (0, 1), "none": (0, 0)}[shift]
    F, N, V = np.zeros_like(x), np.zeros_like(x), 0.0
    sites = [
        (i, R[i] @ d, q, s, e)
        for i, kind in enumerate(WHICH)
        for d, q, s, e in zip(KINDS[kind], *(VALUES[name][kind] for name in VALUES), strict=True)
    ]
    for i, arm, qa, sa, ea in sites:
        for j, other, qb, sb, eb in sites:
            if j <= i:
                continue
            r = x[j] + other - x[i] - arm
            if box is not None:
                r -= box * np.round(r / box)
            d, Q, s, e = np.linalg.norm(r), 2.5 * qa * qb, 0.5 * (sa + sb), np.sqrt(ea * eb)
            if d >= cutoff:
                continue

            def energy(d, Q=Q, s=s, e=e):
                return Q / d + 4 * e * ((s / d) ** 12 - (s / d) ** 6)

            def slope(d, Q=Q, s=s, e=e):
                return -Q / d**2 - 24 * e * (2 * (s / d) ** 12 - (s / d) ** 6) / d

            V += energy(d) - lifted * energy(cutoff) - forced * (d - cutoff) * slope(cutoff)
            f = (forced * slope(cutoff) - slope(d)) * r / d
            F[j] += f
            F[i] -= f
            N[j] += np.cross(other, f)
            N[i] -= np.cross(arm, f)
    return F, N, V


@pytest.mark.parametrize("shift", ["force", "energy", "none"])
@pytest.mark.parametrize("box", [None, (3.0, 3.2, 2.7)])
def test_forces_torques_and_energy_by_hand(shift, box):
    x, R = placed()
    x[4] += 7 * 3.0 if box else 0.0
    one = several(box=box, shift=shift)
    F, N = one(0.0, x, R)
    expected = by_hand(x, R, 1.3, None if box is None else np.array(box), shift)
    assert abs(F - expected[0]).max() < 1e-12 * abs(expected[0]).max()
    assert abs(N - expected[1]).max() < 1e-12 * abs(expected[0]).max()
    assert one.potential_energy(0.0, x, R) == pytest.approx(expected[2], rel=1e-12)


def test_forces_are_derivatives_of_the_potential():
    one, (x, R), h = several(box=3.0), placed(1), 1e-5
    F, N = one(0.0, x, R)
    for i in range(9):
        for k, e in enumerate(np.eye(3)):
            ends = []
            for sign in (1, -1):
                moved, turned = x.copy(), R.copy()
                moved[i] += sign * h * e
                turned[i] = rotations.matrices(rotations.exp(sign * h * e)) @ R[i]
                ends.append((one.potential_energy(0, moved, R), one.potential_energy(0, x, turned)))
            there, back = np.array(ends)
            assert (back - there) / (2 * h) == pytest.approx([F[i, k], N[i, k]], abs=1e-6)


@pytest.mark.parametrize(
    ("shift", "continuous"), [("force", (1, 1)), ("energy", (1, 0)), ("none", (0, 0))]
)
def test_what_is_continuous_at_the_cutoff(shift, continuous):
    one = interactions.sites(SINGLE, 1.0, 0.9, 1.0, cutoff=1.0, shift=shift)
    inside = [[0, 0, 0], [0, 0, 1.0 - 1e-9]]
    jumps = one.potential_energy(0, inside), one(0, inside)[0][0, 2]
    assert (np.abs(jumps) < 1e-7).tolist() == [bool(one) for one in continuous]


def test_molecules_on_a_list_are_those_of_all():
    # more sites than a tile has, in several kinds, in a run: P is kept, and E as well as a step allows
    random = np.random.default_rng(5)
    lattice = np.stack(np.meshgrid(*[range(4)] * 3, indexing="ij"), -1).reshape(-1, 3)
    water = interactions.water("TIP3P", cutoff=0.5, box=1.24)
    system = System([water.body] * 64, water.interaction)
    turns = rotations.exp(random.normal(size=(64, 3)))
    start = {"position0": 0.31 * lattice, "rotation0": turns, "omega0": random.normal(size=(64, 3))}
    calm = polhode.integrate(system, t_span=(0, 0.2), step=0.0005, **start)
    last = {
        "position0": calm.position[-1],
        "rotation0": calm.quaternion[-1],
        "omega0": calm.omega[-1],
        "velocity0": calm.velocity[-1],
    }
    errors = []
    for step in (0.002, 0.001):
        run = polhode.integrate(system, t_span=(0, 0.2), step=step, **last)
        errors.append(np.std(run.total_energy))
        P = run.linear_momentum
        assert abs(P - P[0]).max() < 1e-13 * np.abs(64 * water.body.mass * run.velocity).max()
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize(("model", "debye"), [("TIP3P", 2.347), ("SPC/E", 2.351)])
def test_water_is_that_of_the_papers(model, debye):
    water = interactions.water(model, cutoff=0.9)
    masses = np.array([15.9994, 1.008, 1.008])
    assert abs(masses @ water.points).max() < 1e-15
    assert water.body.mass == pytest.approx(18.0154)
    O, H, K = water.points
    tensor = sum(
        m * (d @ d * np.eye(3) - np.outer(d, d)) for m, d in zip(masses, water.points, strict=True)
    )
    assert water.body.moments == pytest.approx(np.diag(tensor))
    assert abs(tensor - np.diag(np.diag(tensor))).max() < 1e-18
    angle = np.degrees(np.arccos((H - O) @ (K - O) / np.linalg.norm(H - O) ** 2))
    assert angle == pytest.approx({"TIP3P": 104.52, "SPC/E": 109.47}[model])
    dipole = water.charges @ water.points
    assert np.linalg.norm(dipole) / 0.020819434 == pytest.approx(debye, abs=1e-3)


def test_large_systems_have_the_same_bits_with_all_threads():
    lattice = np.stack(np.meshgrid(*[range(11)] * 3, indexing="ij"), -1).reshape(-1, 3)
    dumbbell = [(0, 0, 0.2), (0, 0, -0.2)]
    pull = interactions.sites(dumbbell, [0.3, -0.3], 0.5, 1.0, cutoff=1.4, box=11.0)
    system = System([RigidBody([0.1, 0.1, 0.01])] * 1331, pull)
    turns = rotations.exp(np.random.default_rng(6).normal(size=(1331, 3)))
    start = {"position0": lattice.astype(float), "rotation0": turns}
    one, two = (
        polhode.integrate(system, t_span=(0, 0.1), step=0.005, threads=n, every="end", **start)
        for n in (1, 2)
    )
    assert np.array_equal(one.motion, two.motion)
    assert abs(np.diff(one.total_energy)).max() < 1e-3 * abs(one.total_energy[0])
    assert abs(one.linear_momentum[-1]).max() < 1e-12 * np.abs(one.velocity).sum()
