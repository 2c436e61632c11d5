"""NAME+ep: the correction itself on a hundred thousand cases, and the methods made with it."""

import numpy as np
import pytest

from polhode import integrate, torques
from polhode.core.jit import compiled
from polhode.methods import get
from polhode.methods.energy import restore, turn

CASES = 100_000


def cases(seed, count):
    """(body momentum, wanted energy, reciprocal moments): awkward bodies, awkward directions, large and tiny corrections."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        J = np.exp(rng.uniform(-3.0, 3.0, 3))
        kind = i % 8
        if kind == 0:                                       # symmetric
            J[1] = J[0]
        elif kind == 1:                                     # nearly
            J[1] = J[0] * (1.0 + 10.0 ** rng.uniform(-15, -3))
        elif kind == 2:                                     # a sphere
            J[:] = J[0]
        elif kind == 3:                                     # nearly
            J = J[0] * (1.0 + 10.0 ** rng.uniform(-14, -2) * rng.uniform(-1, 1, 3))
        elif kind == 4:                                     # flat
            J[2] = J[0] + J[1]
        elif kind == 5:                                     # a needle
            J[0], J[2] = 1e-3 * J[1], J[1] * (1.0 + rng.uniform(-1e-3, 1e-3))
        m = rng.normal(size=3) * 10.0 ** rng.uniform(-6, 6)
        axis = rng.integers(3)
        small = [0.0, 1e-9, 1e-160, 1.0, 1.0, 1.0, None][rng.integers(7)]
        m = np.eye(3)[axis] * m if small is None else np.where(np.arange(3) == axis, small * m, m)
        k = 1.0 / J
        low, high, now = 0.5 * (m @ m) * k.min(), 0.5 * (m @ m) * k.max(), 0.5 * (m * m) @ k
        near = now * (1.0 + 10.0 ** rng.uniform(-15, -1) * rng.choice([-1.0, 1.0]))
        E = [rng.uniform(low, high), near, low, high, now, rng.uniform(0.5 * low, 1.5 * high)][rng.integers(6)]
        yield tuple(m.tolist()), float(E), tuple(k.tolist())


def test_energy_is_restored_or_reported_impossible():
    correct = compiled(restore)
    asked = list(cases(1, CASES))
    results = [correct(*case) for case in asked]
    m, E, k = (np.array(column) for column in zip(*asked, strict=True))
    new, possible, low, high = (np.array(column) for column in zip(*results, strict=True))
    assert np.isfinite(new).all()
    wide = new.astype(np.longdouble)   # 64 bits or more: what is left is the error of `restore`
    energy = 0.5 * np.sum(k * wide**2, axis=1)
    square = np.sum(wide**2, axis=1) / np.sum(m.astype(np.longdouble) ** 2, axis=1)
    assert np.max(np.abs(energy / E - 1.0)[possible]) < 1e-14
    assert np.max(np.abs(square - 1.0)) < 1e-14
    assert np.all(new * m >= 0.0)
    assert np.array_equal(new[~possible], m[~possible])
    assert not np.any((low < E) & (high > E) & (high > low * (1.0 + 1e-14)) & ~possible)
    assert 0 < np.sum(~possible) < CASES // 4


def test_the_correction_is_the_same_in_python():
    correct = compiled(restore)
    for m, E, k in cases(2, 2000):
        assert correct(m, E, k) == restore(m, E, k)


def test_the_hyperboloid_meets_the_polhode_at_right_angles():
    """A small correction moves the point rho of the inertia ellipsoid across the polhode, as in the paper."""
    J, m = np.array([1.0, 2.0, 3.5]), np.array([0.7, -0.9, 1.1])
    E = 0.5 * float(m**2 / J @ np.ones(3))
    new = np.array(restore(tuple(m), E * (1 + 1e-6), tuple(1 / J))[0])

    def rho(m):
        return m / J / np.sqrt(m @ (m / J))

    moved, along = rho(new) - rho(m), np.cross(J * rho(m), J**2 * rho(m))
    assert abs(moved @ along) < 1e-5 * np.linalg.norm(moved) * np.linalg.norm(along)


def test_the_turn_leaves_the_momentum_in_space():
    from polhode.core.vec import qrotate

    m, q = (0.7, -0.9, 1.1), (0.1, 0.5, 0.5, 0.7)
    new = restore(m, 0.4, (1.0, 0.5, 0.3))[0]
    assert new != m
    assert np.allclose(qrotate(turn(q, m, new), new), qrotate(q, m), rtol=0, atol=1e-15)


# --- methods ----------------------------------------------------------------------------------------------------------------

SPIN = {"rotation0": (0.3, -0.2, 0.5), "omega0": (0.6, 1.1, -0.8)}
BODY = [1.0, 2.0, 2.5]


@pytest.mark.parametrize("name", ["taylor1", "taylor3", "NMB", "SW", "MR2-231", "RK4-quaternion", "ABAM-buss"])
def test_a_free_body_keeps_its_energy(name):
    run = integrate(BODY, t_span=(0, 60), step=0.1, method=f"{name}+ep", compiled=False, **SPIN)
    assert np.abs(run.kinetic_energy / run.kinetic_energy[0] - 1).max() < 2e-14
    if "momentum" in get(name).conserves:
        assert np.abs(run.momentum_spatial - run.momentum_spatial[0]).max() < 1e-12
    plain = integrate(BODY, t_span=(0, 60), step=0.1, method=name, compiled=False, **SPIN)
    assert np.abs(plain.kinetic_energy / plain.kinetic_energy[0] - 1).max() > 1e-7


@pytest.mark.parametrize("omega", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
def test_steady_rotation_stays_steady(omega):
    run = integrate(BODY, t_span=(0, 20), step=0.1, method="taylor3+ep", omega0=omega, compiled=False)
    assert np.isfinite(run.quaternion).all()
    assert np.abs(run.omega - omega).max() < 1e-9   # the second axis is unstable: round-off grows
    assert run.message == "the run reached its end"


def top(t, R):
    return np.cross(R @ np.array([0.2, 0.1, 0.9]), [0.0, 0.0, -1.0])


@pytest.mark.parametrize(("name", "order"), [("taylor1", 1), ("taylor2", 2), ("taylor3", 3), ("taylor4", 4), ("taylor5", 5),
                                             ("taylor6", 6), ("LP2", 2), ("RK4-quaternion", 4), ("MR4-231", 4)])
def test_the_order_survives_torque(name, order):
    method = get(f"{name}+ep")
    assert method.order == order
    best = integrate(BODY, top, (0, 2), 0.02, "taylor(8)", compiled=False, every="end", **SPIN)
    errors = []
    for count in (16, 32):
        run = integrate(BODY, top, (0, 2), 2 / count, method, compiled=False, every="end", **SPIN)
        errors.append([np.abs(run.matrix[-1] - best.matrix[-1]).max(), np.abs(run.omega[-1] - best.omega[-1]).max()])
        more = 0 if name.startswith("taylor") else 3
        assert method.torques == get(name).torques + more
    found = np.log2(np.array(errors[0]) / errors[1])
    assert np.all(np.abs(found - order) < 0.45), found


def test_odd_orders_drift_like_the_next_even_one():
    """Over many turns of the polhode, halving the step divides the error of taylor3+ep by more than 14, of taylor3 by about 8."""
    from polhode.papers.buss2001 import angle_error

    for name, low, high in (("taylor3", 7.0, 9.0), ("taylor3+ep", 14.0, 18.0), ("taylor1+ep", 3.5, 4.5)):
        ratio = angle_error(name, 4.0, 4000) / angle_error(name, 4.0, 8000)
        assert low < ratio < high, (name, ratio)


def test_what_is_impossible_is_said():
    sphere = integrate([2.0, 2.0, 2.0], torques.heavy_top(1.0), (0, 1), 0.1, "taylor2+ep", compiled=False, **SPIN)
    assert sphere.status == "finished"
    assert "the energy could not be restored 10 times" in sphere.message
    assert "the momentum allows" in sphere.message
    still = integrate(BODY, t_span=(0, 1), step=0.1, method="taylor2+ep", compiled=False, omega0=(0.0, 0.0, 0.0))
    assert np.array_equal(still.quaternion[0], still.quaternion[-1])


def test_compiled_and_python_agree_bit_for_bit():
    for torque, name in ((None, "taylor3+ep"), (torques.heavy_top(2.0), "NMB+ep")):
        runs = [integrate(BODY, torque, (0, 4), 0.1, name, compiled=compiled, **SPIN) for compiled in (True, False)]
        assert np.array_equal(runs[0].quaternion, runs[1].quaternion)
        assert np.array_equal(runs[0].omega, runs[1].omega)
        assert runs[0].nfev == runs[1].nfev
