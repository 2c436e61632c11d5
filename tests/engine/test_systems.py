"""Systems of bodies: what each method gives for them, and how a run of them is asked for, stored and ended."""

import warnings

import numpy as np
import polhode
import pytest
from polhode import InputError, RigidBody, System

METHODS = ["LP2", "EXACT", "VLV", "LIEMID[EA]", "DMV", "MR2-BM4", "EXACT-RKN4", "LP2+yoshida4"]
TILTED = RigidBody([[2.0, 0.3, 0.1], [0.3, 2.5, -0.2], [0.1, -0.2, 1.5]], mass=1.5)
BODIES = [RigidBody.box(1, 2, 3), RigidBody.box(1, 1, 2), TILTED, RigidBody([1.0, 1.0, 1.0])]
MOTION = {
    "position0": [[-2.0, 0.0, 0.1], [2.0, 0.1, 0.0], [0.0, 3.0, 0.2], [0.3, -3.0, 0.0]],
    "velocity0": [[0.0, -0.5, 0.0], [0.0, 0.5, 0.1], [0.2, 0.0, 0.0], [-0.2, 0.0, 0.0]],
    "rotation0": [[0.1, 0.0, 0.0], [0.0, 0.4, 0.0], [0.3, 0.2, 0.1], [0.0, 0.0, 0.0]],
    "omega0": [[0.1, 2.0, 0.1], [1.0, 0.2, 0.3], [0.4, -1.0, 0.2], [0.0, 0.0, 1.0]],
}


def pull(t, x, R):
    """Springs of the centres to each other, and of the axes 1."""
    forces, torques = np.zeros_like(x), np.zeros_like(x)
    for i in range(len(x)):
        for j in range(len(x)):
            forces[i] += 0.3 * (x[j] - x[i])
            torques[i] += 0.2 * np.cross(R[i, :, 0], R[j, :, 0])
    return forces, torques


def pull_energy(t, x, R):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            r = x[j] - x[i]
            total += 0.15 * (r[0] ** 2 + r[1] ** 2 + r[2] ** 2)
            total -= 0.2 * (
                R[i, 0, 0] * R[j, 0, 0] + R[i, 1, 0] * R[j, 1, 0] + R[i, 2, 0] * R[j, 2, 0]
            )
    return total


@polhode.pair(
    params={"k": 0.3, "c": 0.2}, potential=lambda r, Ri, Rj, p: energy_of_pair(r, Ri, Rj, p)
)
def pulls(r, Ri, Rj, p):
    T = p.c * np.cross(Ri[:, 0], Rj[:, 0])
    return p.k * r, T, -T


def energy_of_pair(r, Ri, Rj, p):
    return 0.5 * p.k * (r * r).sum() - p.c * (Ri[:, 0] * Rj[:, 0]).sum()


@pytest.fixture(scope="module")
def pulling():
    return System(BODIES, polhode.interaction(potential=pull_energy)(pull))


def run(system, method="LP2", t1=1.2, step=0.02, **options):
    return polhode.integrate(
        system, t_span=(0, t1), step=step, method=method, **{**MOTION, **options}
    )


@pytest.mark.parametrize("method", METHODS)
def test_bodies_that_do_not_interact_move_as_if_alone(method):
    together = run(System(BODIES), method)
    for i, body in enumerate(BODIES):
        given = {name: values[i] for name, values in MOTION.items()}
        alone = polhode.integrate(body, t_span=(0, 1.2), step=0.02, method=method, **given)
        for part in ("quaternion", "omega", "position", "velocity"):
            assert np.array_equal(getattr(together, part)[:, i], getattr(alone, part)), (i, part)


@pytest.mark.parametrize(
    ("method", "order"), [("LP2", 2), ("VLV", 2), ("EXACT-RKN4", 4), ("EXACT-RKN6", 6)]
)
def test_order(pulling, method, order):
    steps = [0.4, 0.2, 0.1] if order == 6 else [0.1, 0.05, 0.025]
    exact = run(pulling, "EXACT-RKN6", step=0.005, every="end")
    ends = [run(pulling, method, step=h, every="end") for h in steps]
    for part in ("quaternion", "omega", "position", "velocity"):
        errors = [abs(getattr(end, part)[-1] - getattr(exact, part)[-1]).max() for end in ends]
        assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.35), part


@pytest.mark.parametrize(
    ("method", "order", "step"),
    [pytest.param("DP5", 5, 0.1, marks=pytest.mark.slow), ("DOP853", 8, 0.3)],
)
def test_order_of_runge_kutta_pairs(pulling, method, order, step):
    exact = run(pulling, "DOP853", step=None, rtol=1e-14, every="end")
    ends = [run(pulling, method, step=h, every="end") for h in (step, step / 2)]
    coarse, fine = (abs(end.motion[-1] - exact.motion[-1]).max() for end in ends)
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.7)


@pytest.mark.parametrize("method", ["DP5", "DOP853"])
def test_by_tolerance(pulling, method):
    exact = run(pulling, "EXACT-RKN6", step=0.005)
    asked = [0.111, 0.5, 1.2]
    result = run(pulling, method, step=None, rtol=1e-11, t_eval=asked)
    near = run(pulling, "EXACT-RKN6", step=0.001)
    for part in ("quaternion", "omega", "position", "velocity"):
        values = getattr(result, part)
        assert abs(values[-1] - getattr(exact, part)[-1]).max() < 1e-9, part
        assert abs(values[0] - getattr(near, part)[111]).max() < 1e-8, part
    assert abs(np.linalg.norm(result.quaternion, axis=-1) - 1.0).max() < 1e-15
    P, L = result.linear_momentum, result.angular_momentum
    assert abs(P - P[0]).max() < 1e-13
    assert abs(L - L[0]).max() < 1e-9
    loose = run(pulling, method, step=None, rtol=1e-6)
    assert loose.nfev < result.nfev


def test_by_tolerance_each_body_moves_as_if_alone():
    together = run(System(BODIES[:2]), "DOP853", step=None, rtol=1e-10, **first(2))
    for i in range(2):
        given = {name: values[i] for name, values in MOTION.items()}
        alone = polhode.integrate(BODIES[i], t_span=(0, 1.2), rtol=1e-12, method="DOP853", **given)
        assert abs(together.omega[-1, i] - alone.omega[-1]).max() < 1e-9


def first(n):
    return {name: values[:n] for name, values in MOTION.items()}


def test_what_is_conserved(pulling):
    result = run(pulling, "EXACT", t1=20.0)
    P, L, E = result.linear_momentum, result.angular_momentum, result.total_energy
    assert abs(P - P[0]).max() < 1e-13
    assert abs(L - L[0]).max() < 1e-12
    assert abs(E - E[0]).max() < 2e-3 * abs(E[0])
    drift = np.polyfit(result.t, E, 1)[0] * 20.0
    assert abs(drift) < 2e-4 * abs(E[0])


def test_back_and_forth(pulling):
    there = run(pulling, "LP2", every="end")
    last = {
        "position0": there.position[-1],
        "velocity0": there.velocity[-1],
        "rotation0": there.quaternion[-1],
        "omega0": there.omega[-1],
    }
    back = polhode.integrate(pulling, t_span=(1.2, 0), step=0.02, **last)
    start = run(pulling).position[0]
    assert abs(back.position[-1] - start).max() < 1e-13


def test_pairs_and_a_function_of_all_bodies_agree(pulling):
    one, other = run(pulling), run(System(BODIES, pulls))
    assert abs(one.position - other.position).max() < 1e-13
    assert abs(one.quaternion - other.quaternion).max() < 1e-13
    assert abs(one.total_energy - other.total_energy).max() < 1e-12


def test_python_called_back_and_compiled_agree(pulling):
    compiled = run(pulling)
    assert compiled.mode == "compiled"
    plain = run(pulling, t1=0.1, compiled=False)
    assert plain.mode == "python"
    assert abs(plain.position[-1] - compiled.position[5]).max() < 1e-14

    def unknown_to_numba(t, x, R):
        return pull(t, x, R) if {}.get("key") is None and [*{}.items()] == [] else None

    back = run(System(BODIES, unknown_to_numba))
    assert back.mode == "callback"
    assert back.note
    assert abs(back.position - compiled.position).max() < 1e-13
    assert back.nfev == compiled.nfev


def test_interactions_add_up():
    half = polhode.Pair(pulls.function, params={"k": 0.15, "c": 0.1})
    one, both = run(System(BODIES, pulls)), run(System(BODIES, half + half))
    assert abs(one.position - both.position).max() < 1e-13


def test_links_act_between_listed_bodies():
    @polhode.pair(links=[(0, 1), (1, 2)], own={"k": [1.0, 2.0]})
    def spring(r, Ri, Rj, c):
        return c.k * r, np.zeros(3), np.zeros(3)

    forces, _ = spring(0.0, MOTION["position0"])
    x = np.array(MOTION["position0"])
    assert np.allclose(forces[0], x[1] - x[0])
    assert np.allclose(forces[3], 0.0)
    result = run(System(BODIES, spring))
    assert abs(result.linear_momentum - result.linear_momentum[0]).max() < 1e-14


def test_velocities_reach_an_interaction():
    @polhode.pair(uses_velocity=True, external=True)
    def damper(r, v, Ri, Rj, wi, wj):
        T = 0.1 * (wj - wi)
        return 0.2 * v, T, -T

    result = run(System(BODIES, damper), "EXACT-RKN4")
    assert (np.diff(result.kinetic_energy) < 0.0).all()
    assert "is of order 2" in result.message


def test_fixed_bodies_only_turn():
    result = run(System(BODIES, pulls, fixed=True), velocity0=None)
    assert np.ptp(result.position, axis=0).max() == 0.0
    assert np.ptp(result.quaternion, axis=0).max() > 0.1
    one = run(
        System(BODIES, pulls, fixed=[1]),
        velocity0=np.array(MOTION["velocity0"]) * [[1], [0], [1], [1]],
    )
    assert np.ptp(one.position, axis=0).max(axis=1)[1] == 0.0


def test_points_between_steps_events_and_checkpoints(pulling, tmp_path):
    whole = run(pulling, "EXACT")
    some = run(pulling, "EXACT", t_eval=[0.1, 0.333, 1.2])
    near = run(pulling, "EXACT", step=0.02 / 64)
    assert abs(some.position[1] - near.position[np.argmin(abs(near.t - 0.333))]).max() < 1e-3
    assert abs(some.quaternion[2] - whole.quaternion[-1]).max() < 1e-15

    def meet(t, R, omega, x, v):
        return x[0, 0] + 1.9

    meet.terminal = True
    ended = run(pulling, "EXACT", events=meet)
    assert ended.status == "event"
    assert abs(ended.position[-1, 0, 0] + 1.9) < 1e-12
    (found,) = ended.y_events
    assert found.shape == (1, 4, 13)
    assert np.array_equal(found[0, :, 7:10], ended.position[-1])
    assert np.array_equal(found[0, :, :4], ended.quaternion[-1])

    def crash(done, total):
        if done > 10:
            raise RuntimeError("power cut")

    folder = tmp_path / "long"
    with pytest.raises(RuntimeError) as info:
        run(pulling, "EXACT", checkpoint=folder, checkpoint_every=5, progress=crash)
    assert len(info.value.trajectory) >= 5
    again = run(pulling, "EXACT", checkpoint=folder, checkpoint_every=5)
    assert np.array_equal(again.position, whole.position)
    assert np.array_equal(again.omega, whole.omega)


def test_what_is_stored(pulling):
    data = run(pulling).to_xarray()
    assert data.position.dims == ("time", "body", "axis")
    assert data.quaternion.dims == ("time", "body", "quaternion_component")
    assert data.angular_momentum.dims == ("time", "axis")
    assert data.total_energy.dims == ("time",)
    assert data.body.values.tolist() == [0, 1, 2, 3]


def test_what_is_counted_is_named_after_the_interaction(pulling):
    result = run(pulling)
    for facts in (result.summary(), result.provenance()):
        assert facts["interaction_mode"] == "compiled"
        assert facts["interaction_evaluations"] == result.nfev
        assert not any(name in facts for name in ("torque_mode", "torque_evaluations"))


ERRORS = [
    ({"position0": None}, "position0 is missing"),
    ({"position0": [[0, 0, 0]]}, "a row of three numbers for each of the 4 bodies"),
    ({"omega0": np.zeros((3, 3))}, "one for each of the 4"),
    ({"omega0": None, "momentum0": [[np.nan] * 3] * 4}, "must be finite"),
    ({"method": "LIEMID[I]"}, "does not run with a system"),
    ({"rtol": 1e-9, "step": None, "method": "LP2"}, "takes fixed steps"),
    ({"torque": "heavy_top"}, "torque goes with one body"),
    ({"force": lambda t, x, v, R: x}, "force goes with one body"),
]


@pytest.mark.parametrize(("given", "message"), ERRORS)
def test_bad_input_is_refused(pulling, given, message):
    with pytest.raises(InputError, match=message):
        polhode.integrate(pulling, **{"t_span": (0, 1), "step": 0.02, **MOTION, **given})


def test_bad_systems_are_refused():
    with pytest.raises(InputError, match=r"bodies\[1\]"):
        System([[1, 2, 2.5], [1, 2, 9.0]])
    with pytest.raises(InputError, match="must be a list of bodies"):
        System(RigidBody([1, 2, 2.5]))
    with pytest.raises(InputError, match="link to body 4"):
        System(BODIES, polhode.Pair(pulls.function, params={"k": 1.0, "c": 1.0}, links=[(0, 4)]))
    with pytest.raises(InputError, match="cutoff"):
        System(BODIES * 25_000, pulls)
    with pytest.raises(InputError, match="will be called as"):
        System(BODIES, lambda t, x: (x, x))


def test_forces_that_break_the_third_law_are_told():
    def one_sided(t, x, R):
        forces = np.zeros_like(x)
        forces[0, 0] = 1.0
        return forces, np.zeros_like(x)

    with pytest.warns(RuntimeWarning, match="changes the total momentum"):
        run(System(BODIES, one_sided))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(System(BODIES, polhode.interaction(external=True)(one_sided)))


def test_bodies_in_one_place_and_bad_forces_are_errors():
    def attraction(t, x, R):
        r = x[1] - x[0]
        F = r / ((r * r).sum()) ** 1.5
        return np.stack((F, -F)), np.zeros((2, 3))

    two = System(BODIES[:2], attraction)
    with pytest.raises(polhode.TorqueError, match="bodies 0 and 1 are in the same place"):
        polhode.integrate(two, t_span=(0, 1), step=0.1, position0=[[0, 0, 0], [0, 0, 0]])

    def late(t, x, R):
        return np.zeros_like(x) + (np.nan if t > 0.5 else 0.0), np.zeros_like(x)

    with pytest.raises(polhode.TorqueError, match="forces") as info:
        polhode.integrate(two_of(late), t_span=(0, 1), step=0.1, position0=[[0, 0, 0], [1, 0, 0]])
    assert len(info.value.trajectory) == 6


def two_of(function):
    return System(BODIES[:2], function)
