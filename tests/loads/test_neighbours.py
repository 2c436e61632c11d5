"""Pairs with a cut-off: lists of neighbours find what a look at all pairs finds, and in the same order."""

import numpy as np
import polhode
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polhode import Pair, RigidBody, System


def fading(r, A, B, p):
    """V = w^2 (k c^2 / 4 + b A . B), w = 1 - r^2 / c^2, with the first axes A and B of the bodies."""
    w = 1.0 - (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / (p.c * p.c)
    f = -w * (p.k + 4.0 * p.b * (A[0] * B[0] + A[1] * B[1] + A[2] * B[2]) / (p.c * p.c))
    g = -p.b * w * w
    AB = (A[1] * B[2] - A[2] * B[1], A[2] * B[0] - A[0] * B[2], A[0] * B[1] - A[1] * B[0])
    T = (g * AB[0], g * AB[1], g * AB[2])
    return (f * r[0], f * r[1], f * r[2]), T, (-T[0], -T[1], -T[2])


def fading_energy(r, A, B, p):
    w = 1.0 - (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / (p.c * p.c)
    return w * w * (0.25 * p.k * p.c * p.c + p.b * (A[0] * B[0] + A[1] * B[1] + A[2] * B[2]))


def first_axis(R, a, p):
    return (R[0][0], R[1][0], R[2][0])


def soft(cutoff, box=None, k=3.0, b=0.2):
    params = {"k": k, "c": cutoff, "b": b}
    options = {"params": params, "cutoff": cutoff, "box": box, "form": "tuple"}
    return Pair(fading, potential=fading_energy, aspect=first_axis, **options)


def by_hand(x, R, cutoff, box, k=3.0, b=0.2):
    """Forces, torques and energy from all pairs, by numpy."""
    i, j = np.triu_indices(len(x), 1)
    r = x[j] - x[i]
    if box is not None:
        r -= box * np.round(r / box)
    some = np.einsum("ij,ij->i", r, r) < cutoff**2
    i, j, r = i[some], j[some], r[some]
    A, B = R[i, :, 0], R[j, :, 0]
    w = (1.0 - np.einsum("ij,ij->i", r, r) / cutoff**2)[:, None]
    s = np.einsum("ij,ij->i", A, B)[:, None]
    pull, turn = -w * (k + 4.0 * b * s / cutoff**2) * r, -b * w**2 * np.cross(A, B)
    F, N = np.zeros_like(x), np.zeros_like(x)
    for target, value in ((F, pull), (N, turn)):
        np.add.at(target, i, value)
        np.subtract.at(target, j, value)
    return F, N, (w**2 * (0.25 * k * cutoff**2 + b * s)).sum()


@settings(max_examples=80, deadline=None)
@given(
    n=st.integers(1, 40),
    cutoff=st.sampled_from([0.05, 0.3, 1.0, 4.0]),
    edges=st.none() | st.tuples(*[st.floats(1.0, 7.0)] * 3),
    spread=st.sampled_from([0.1, 1.0, 30.0, 1e6]),
    clusters=st.integers(1, 4),
    seed=st.integers(0, 2**16),
)
def test_neighbours_are_those_of_a_look_at_all_pairs(n, cutoff, edges, spread, clusters, seed):
    # boxes from two cut-offs up, where the grid has one cell, and positions outside of them
    random = np.random.default_rng(seed)
    box = None if edges is None else 2.0 * cutoff * np.array(edges)
    x = random.normal(size=(clusters, 3))[random.integers(0, clusters, n)] * spread
    x = x + cutoff * random.normal(size=(n, 3))
    R = polhode.rotations.matrices(polhode.rotations.exp(random.normal(size=(n, 3))))
    pairs = soft(cutoff, box)
    F, N = pairs(0.0, x, R)
    expected = by_hand(x, R, cutoff, box)
    # a distance is as accurate as the places, and relative to the cut-off so is what it gives
    rounding = 1e-14 * n * (1.0 + np.abs(x).max() / cutoff)
    strength = 3.0 + 0.8 / cutoff**2
    assert abs(F - expected[0]).max() <= rounding * strength * cutoff
    assert abs(N - expected[1]).max() <= rounding
    energy = pairs.potential_energy(0.0, x, R)
    assert abs(energy - expected[2]) <= rounding * n * strength * cutoff**2


def scattered(n, seed=1):
    """Bodies on a lattice of distance 1, a little displaced, that fly about."""
    random = np.random.default_rng(seed)
    side = round(n ** (1 / 3))
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
    some = {"position0": 0.1, "velocity0": 0.6, "omega0": 1.0}
    given = {name: size * random.normal(size=(side**3, 3)) for name, size in some.items()}
    given["position0"] += lattice
    return given


def everyone(**options):
    """125 bodies in a box of 5 x 5 x 5."""
    given = scattered(125)
    system = System([RigidBody([0.1, 0.12, 0.14])] * 125, soft(1.5, (5.0, 5.0, 5.0)))
    return polhode.integrate(system, t_span=(0, 4), step=0.02, **given, **options)


@pytest.fixture(scope="module")
def whole():
    return everyone()


def test_a_run_in_which_lists_are_made_anew(whole):
    # bodies move by several skins: forces at the end are those by hand
    assert np.linalg.norm(whole.position[-1] - whole.position[0], axis=1).max() > 1.0
    E, P = whole.total_energy, whole.linear_momentum
    assert abs(E - E[0]).max() < 1e-3 * abs(E[0])
    assert abs(P - P[0]).max() < 1e-12
    R = polhode.rotations.matrices(whole.quaternion[-1])
    by_numpy = by_hand(whole.position[-1], R, 1.5, np.array([5.0] * 3))[2]
    assert whole.potential_energy[-1] == pytest.approx(by_numpy, rel=1e-12)


def test_points_and_checkpoints_change_no_bits(whole, tmp_path):
    assert np.array_equal(everyone(every="end").motion[-1], whole.motion[-1])

    def crash(done, total):
        if done > 50:
            raise RuntimeError("power cut")

    options = {"checkpoint": tmp_path / "run", "checkpoint_every": 7}
    with pytest.raises(RuntimeError):
        everyone(progress=crash, **options)
    assert np.array_equal(everyone(**options).motion, whole.motion)


def test_a_list_grows_with_a_crowd():
    # all bodies meet in one place, with many times the neighbours that there were
    random = np.random.default_rng(3)
    x = 10.0 * random.normal(size=(150, 3))
    system = System([RigidBody([0.1, 0.1, 0.1])] * 150, soft(2.0, (200.0,) * 3, k=0.02))
    result = polhode.integrate(system, t_span=(0, 1), step=0.02, position0=x, velocity0=-x)
    last = result.position[-1]
    r = last[:, None] - last
    assert ((r**2).sum(-1) < 4.0).sum() > 5000
    R = polhode.rotations.matrices(result.quaternion[-1])
    assert result.potential_energy[-1] == pytest.approx(
        by_hand(last, R, 2.0, None, k=0.02)[2], rel=1e-11
    )


def test_threads_change_no_bits():
    system = System([RigidBody([0.1, 0.12, 0.14])] * 1331, soft(1.5, (11.0,) * 3))
    given = scattered(1331)
    one, two, three = (
        polhode.integrate(system, t_span=(0, 0.5), step=0.02, threads=n, every=5, **given)
        for n in (1, 2, 3)
    )
    assert np.array_equal(one.motion, two.motion)
    assert np.array_equal(one.motion, three.motion)
    E, P = one.total_energy, one.linear_momentum
    assert abs(E - E[0]).max() < 1e-3 * abs(E[0])
    assert abs(P - P[0]).max() < 1e-11
    R = polhode.rotations.matrices(one.quaternion[-1])
    by_numpy = by_hand(one.position[-1], R, 1.5, np.array([11.0] * 3))[2]
    assert one.potential_energy[-1] == pytest.approx(by_numpy, rel=1e-12)


@pytest.mark.slow
def test_a_hundred_thousand_bodies():
    n = 46**3
    system = System([RigidBody([0.1, 0.12, 0.14])] * n, soft(1.3, (46.0,) * 3))
    result = polhode.integrate(system, t_span=(0, 0.1), step=0.02, every="end", **scattered(n))
    E, P = result.total_energy, result.linear_momentum
    assert abs(E[1] - E[0]) < 1e-3 * abs(E[0])
    assert abs(P[1] - P[0]).max() < 1e-9
