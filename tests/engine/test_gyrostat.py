"""Bodies with rotors: against equations written down independently, with all methods that take
them."""

import pickle

import numpy as np
import pytest
from numba.core import event
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode
from polhode import RigidBody, Rotor

INERTIA = np.array([[1.0, 0.1, 0.0], [0.1, 2.0, 0.05], [0.0, 0.05, 2.5]])
OMEGA = np.array([1.0, 2.0, 3.0])
ATTITUDE = Rotation.from_rotvec([0.3, -0.2, 0.5])


def swing(t):
    return 0.3 * np.cos(2.0 * t)


def governor(t, R, omega, speed):
    return -0.4 * (speed - 3.0) + 0.2 * R[2, 0] - 0.1 * omega[1]


def weight(t, R):
    return -5.0 * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))


def drag(t, R, omega):
    return -0.3 * R @ omega


ROTORS = [
    Rotor((0, 0, 1), 0.1, momentum=3.0),
    Rotor((1, 1, 0), 0.1, speed=30.0),
    Rotor((1, 0, 1), 0.2, torque=swing),
]
FEELING = [
    Rotor((0, 0, 1), 0.1, damping=0.3, speed=5.0),
    Rotor((1, 1, 0), 0.1, speed=30.0),
    Rotor((1, 0, 1), 0.2, torque=governor),
]


def reference(rotors, torque, end, uses_omega=False):
    """q, omega and the speeds at the end, by SciPy from the inertia of the whole:
    I w' + sum J W' a = T - w x (I w + sum J W a), and J (W' + a . w') = u or W' = 0."""
    n, J = len(rotors), np.array([one.inertia for one in rotors])
    axes = np.array([one.axis for one in rotors])

    def motor(one, t, R, w, W):
        given = one.torque
        if callable(given):
            given = given(t) if given is swing else given(t, R, w, W)
        return (given or 0.0) - (one.damping or 0.0) * W

    def slope(t, y):
        q, w, W = y[:4], y[4:7], y[7:]
        R = Rotation.from_quat(q).as_matrix()
        T = R.T @ (torque(t, R, w) if uses_omega else torque(t, R))
        M, right = np.zeros((3 + n, 3 + n)), np.zeros(3 + n)
        M[:3, :3], M[:3, 3:] = INERTIA, (J[:, None] * axes).T
        right[:3] = T - np.cross(w, INERTIA @ w + (J * W) @ axes)
        for i, one in enumerate(rotors):
            if one.is_held:
                M[3 + i, 3 + i] = 1.0
            else:
                M[3 + i, :3], M[3 + i, 3 + i] = J[i] * axes[i], J[i]
                right[3 + i] = motor(one, t, R, w, W[i])
        x, y_, z, s = q
        turn = np.array(
            [
                [s, -z, y_],
                [z, s, -x],
                [-y_, x, s],
                [-x, -y_, -z],
            ]
        )
        return np.concatenate([0.5 * turn @ w, np.linalg.solve(M, right)])

    body = RigidBody(INERTIA, rotors=rotors)
    start = np.concatenate([ATTITUDE.as_quat(), OMEGA, body.rotor_speeds(OMEGA)])
    found = solve_ivp(slope, (0, end), start, method="DOP853", rtol=1e-13, atol=1e-14)
    return found.y[:, -1]


def error(run, truth):
    """Of the last motion, up to the sign of the quaternion."""
    last = np.concatenate([run.quaternion[-1], run.omega[-1], run.rotor_speeds[-1]])
    last[:4] *= np.sign(last[:4] @ truth[:4])
    return np.abs(last - truth).max()


def gyrostat(rotors=ROTORS, torque=weight, span=(0, 1), **options):
    start = {"rotation0": ATTITUDE, "omega0": OMEGA, "every": "end"}
    body = RigidBody(INERTIA, rotors=rotors)
    return polhode.integrate(body, torque, span, **{**start, **options})


@pytest.fixture(scope="module")
def truth():
    return reference(ROTORS, weight, 1.0)


@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [
        ("LP2", 2, 80),
        ("MR2-231-cay", 2, 160),
        ("EXACT", 2, 80),
        ("MR4-231", 4, 80),
        ("MR2-BM4", 4, 20),
        ("EXACT-RKN4", 4, 20),
        ("LP2+suzuki4", 4, 40),
        ("MR2-BM6", 6, 20),
        pytest.param("EXACT-RKN6", 6, 10, marks=pytest.mark.slow),
        pytest.param("EXACT-RKN6-14", 6, 10, marks=pytest.mark.slow),
        ("DP5", 5, 40),
        ("DOP853", 8, 10),
    ],
)
def test_orders(method, order, steps, truth):
    errors = [error(gyrostat(step=1 / n, method=method), truth) for n in (steps, 2 * steps)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(
        order, abs=0.5 if order in (5, 8) else 0.1
    )


@pytest.mark.parametrize("method", ["DP5", "DOP853"])
def test_tolerance(method, truth):
    run = gyrostat(rtol=1e-11, method=method)
    assert error(run, truth) < 1e-9 and run.mode == "compiled"


@pytest.mark.parametrize("method", ["LP2", pytest.param("EXACT-RKN4", marks=pytest.mark.slow)])
def test_motors_and_torques_that_depend_on_velocities(method):
    body, end = FEELING, 1.0

    def torque(t, R, omega):
        return weight(t, R) + drag(t, R, omega)

    goal = reference(body, torque, end, uses_omega=True)
    acting = polhode.torque(torque, uses_omega=True)
    assert error(gyrostat(body, acting, rtol=1e-12), goal) < 1e-10
    errors = [error(gyrostat(body, acting, step=1 / n, method=method), goal) for n in (80, 160)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_a_motor_that_depends_on_velocities_lowers_the_order():
    run = gyrostat(FEELING, weight, step=0.1, method="EXACT-RKN4", compiled=False)
    assert "is of order 2, not 4" in run.message


@pytest.mark.parametrize("method", ["LP2", "DOP853"])
def test_the_same_as_python_and_by_callbacks(method):
    run = gyrostat(FEELING, step=0.05, method=method)
    plain = gyrostat(FEELING, step=0.05, method=method, compiled=False)
    np.testing.assert_allclose(plain.motion, run.motion, rtol=1e-12)
    seen = []

    def telling(t, R, omega, speed):
        seen.append(t)  # numba cannot
        return governor(t, R, omega, speed)

    called = gyrostat(
        [*FEELING[:2], Rotor((1, 0, 1), 0.2, torque=telling)], step=0.05, method=method
    )
    assert called.mode == "callback" and seen
    np.testing.assert_allclose(called.motion, run.motion, rtol=1e-12)


def test_what_a_motor_raises_is_told():
    def failing(t, R, omega, speed):
        if t > 0.5:
            raise ValueError("out of power")
        return 0.0

    def empty(t, R, omega, speed):
        return np.nan if t > 0.5 else 0.0

    with pytest.raises(polhode.TorqueError, match="out of power"):
        gyrostat([Rotor((0, 0, 1), 0.1, torque=failing)], step=0.05)
    for how in ({"step": 0.05}, {"rtol": 1e-6, "max_step": 0.05}):
        with pytest.raises(polhode.TorqueError, match="torque of a rotor 'empty' returned"):
            gyrostat([Rotor((0, 0, 1), 0.1, torque=empty)], **how)


def test_a_flight_with_rotors():
    """Rotation as without the flight, and a body thrown upwards."""
    held = {"force": polhode.weight(1.0), "velocity0": (1.0, 0.0, 5.0)}
    for how in ({"step": 0.02, "method": "LP2"}, {"rtol": 1e-10}):
        run, still = gyrostat(**how, **held), gyrostat(**how)
        np.testing.assert_allclose(run.position[-1], [1.0, 0.0, 5.0 - 9.81 / 2], rtol=1e-9)
        np.testing.assert_allclose(run.omega[-1], still.omega[-1], rtol=1e-8)
        np.testing.assert_allclose(run.rotor_speeds[-1], still.rotor_speeds[-1], rtol=1e-8)


FREE = [Rotor((0, 0, 1), 0.1, momentum=3.0), Rotor((1, 1, 0), 0.1, torque=0.0, speed=20.0)]


@pytest.mark.parametrize("method", ["LP2", "MR2-BM4"])
def test_free_gyrostats_keep_momentum_and_do_not_drift(method):
    run = gyrostat(FREE, None, (0, 10_000), step=0.01, method=method, every=1000)
    L, E = run.momentum_spatial, run.kinetic_energy
    assert np.abs(L - L[0]).max() < 1e-11 * np.linalg.norm(L[0])
    half = len(E) // 2
    assert abs(E[half:].mean() - E[:half].mean()) < 0.05 * np.ptp(E)
    assert np.ptp(E) < 2e-2 * E[0]


@pytest.mark.parametrize(
    ("method", "step", "steps"),
    [
        ("EXACT", 0.01, 1_000_000),
        pytest.param("EXACT", 3.0, 100_000, marks=pytest.mark.slow),  # in parts
        pytest.param("EXACT-RKN4", 0.05, 1_000_000, marks=pytest.mark.slow),
    ],
)
def test_the_exact_motion_keeps_momentum_and_energy_to_round_off(method, step, steps):
    run = gyrostat(FREE, None, (0, steps * step), step=step, method=method, every=1000)
    L, E = run.momentum_spatial, run.kinetic_energy
    size = np.linalg.norm(L, axis=1)
    assert np.ptp(size) < 3e-15 * size[0]
    assert np.ptp(E) < 3e-13 * E[0]
    assert np.abs(L - L[0]).max() < 1e-10 * size[0]


BODIES = {
    "along an axis of symmetry": ([2.0, 2.0, 1.0], [(0, 0, 1)]),
    "along the first axis": ([1.0, 2.0, 2.0], [(1, 0, 0)]),
    "sphere": ([2.0, 2.0, 2.0], [(1, 2, 3)]),
    "across the axis of symmetry": ([2.0, 2.0, 1.0], [(1, 0, 0)]),
    "triaxial": ([1.0, 2.0, 2.5], [(1, -1, 2), (0, 1, 0)]),
    "tilted": (INERTIA, [(1, -1, 2), (0, 1, 0)]),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("method", ["EXACT", "EXACT-RKN4", "EXACT+suzuki4"])
def test_the_free_motion_is_exact_at_any_step(name, method):
    """One step of any size is right, and the energy stays."""
    inertia, axes = BODIES[name]
    body = RigidBody(inertia, rotors=[Rotor(one, 0.05, torque=0.0, speed=50.0) for one in axes])
    start = {"omega0": OMEGA, "rotation0": ATTITUDE}
    run = polhode.integrate(body, t_span=(0, 20), step=5.0, method=method, compiled=False, **start)
    goal = polhode.exact.gyrostat(body, t=run.t, **start)
    np.testing.assert_allclose(run.matrix, goal.matrix, atol=2e-13)
    np.testing.assert_allclose(run.omega, goal.omega, atol=2e-13)
    np.testing.assert_allclose(run.rotor_speeds, goal.rotor_speeds, atol=2e-13)
    assert np.ptp(run.kinetic_energy) < 1e-13 * run.kinetic_energy[0]


@pytest.mark.parametrize("step", [0.05, 2.0])
def test_the_same_bits_in_other_units(step):
    """Powers of two in place of the units of mass and time, near the ends of the range."""

    def end(mass, time):
        rotors = [Rotor((1, -1, 2), 0.05 * mass, torque=0.0, speed=50.0 / time)]
        body = RigidBody(np.multiply(mass, [1.0, 2.0, 2.5]), rotors=rotors)
        run = polhode.integrate(
            body,
            t_span=(0, 10 * step * time),
            step=step * time,
            method="EXACT",
            omega0=OMEGA / time,
            compiled=False,
        )
        return np.concatenate([run.quaternion[-1], run.omega[-1] * time])

    for mass, time in ((2.0**160, 2.0**-70), (2.0**-160, 2.0**70), (2.0**-160, 2.0**-70)):
        assert np.array_equal(end(mass, time), end(1.0, 1.0))


def test_permanent_rotations():
    """About the momentum, with I omega + G along omega, any axis is one: it stays, stable or not."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        omega, moments = rng.standard_normal(3), np.array([1.0, 2.0, 2.5])
        G = (3.0 - moments) * omega  # momentum 3 omega
        size = np.linalg.norm(G)
        body = RigidBody(moments, rotors=[Rotor(G, 0.05, speed=size / 0.05)])
        run = polhode.integrate(
            body, t_span=(0, 4), step=0.5, method="EXACT", omega0=omega, compiled=False
        )
        np.testing.assert_allclose(run.omega, np.tile(omega, (9, 1)), atol=1e-13)
        goal = Rotation.from_rotvec(np.outer(run.t, omega))
        np.testing.assert_allclose(run.matrix, goal.as_matrix(), atol=1e-13)


@pytest.mark.parametrize(("speed", "stable"), [(0.0, False), (10.0, False), (30.0, True)])
def test_a_wheel_makes_the_intermediate_axis_stable(speed, stable):
    """Rotation W about axis 2 with a wheel of momentum G on it, in linear terms: the squared rate of what
    is left is -((I2 - I1) W + G) ((I2 - I3) W + G) / (I1 I3)."""
    I, W, G, step = (1.0, 2.0, 3.0), 1.0, 0.05 * speed, 0.1
    squared = -((I[1] - I[0]) * W + G) * ((I[1] - I[2]) * W + G) / (I[0] * I[2])
    body = RigidBody(I, rotors=[Rotor((0, 1, 0), 0.05, speed=speed)])
    small = 1e-5
    run = polhode.integrate(
        body, t_span=(0, 3), step=step, method="EXACT", omega0=(small, W, 0.0), compiled=False
    )
    assert (squared < 0.0) == stable
    goal = small * np.cosh(np.sqrt(complex(squared)) * run.t).real
    np.testing.assert_allclose(run.omega[:, 0], goal, atol=1e-7 * np.abs(goal).max(), rtol=0)


def test_a_wheel_that_spins_up_in_kicks():
    """EXACT with a constant motor torque about a principal axis: every step is right, whatever its size."""
    body = RigidBody([1.0, 2.0, 3.0], rotors=[Rotor((0, 0, 1), 0.5, torque=0.25)])
    run = polhode.integrate(
        body, t_span=(0, 20), step=2.5, method="EXACT", omega0=(0, 0, 2.0), compiled=False
    )
    np.testing.assert_allclose(run.omega[:, 2], 2.0 - 0.25 * run.t / 2.5, atol=1e-13)
    np.testing.assert_allclose(
        run.rotor_speeds[:, 0], 0.25 * run.t * (1 / 0.5 + 1 / 2.5), atol=1e-12
    )
    angle = 2.0 * run.t - 0.05 * run.t**2
    np.testing.assert_allclose(run.matrix[:, 0, 0], np.cos(angle), atol=1e-12)


def test_a_held_rotor_keeps_its_speed_and_the_energy_that_its_motor_leaves():
    run = gyrostat([Rotor((1, 1, 0), 0.1, speed=30.0)], None, (0, 50), rtol=1e-12, every=1)
    assert np.ptp(run.rotor_speeds) == 0.0
    energy = 0.5 * np.sum(run.omega * (run.omega @ INERTIA), axis=1)
    assert np.ptp(energy) < 1e-9 * energy[0]


def test_a_wheel_that_spins_up_stops_the_body():
    """About one axis: I W' = ..., in closed form."""
    body = RigidBody([1.0, 2.0, 3.0], rotors=[Rotor((0, 0, 1), 0.5, torque=0.25)])
    run = polhode.integrate(body, t_span=(0, 20), step=0.5, omega0=(0, 0, 2.0))
    np.testing.assert_allclose(run.omega[:, 2], 2.0 - 0.25 * run.t / 2.5, atol=1e-13)
    np.testing.assert_allclose(
        run.rotor_speeds[:, 0], 0.25 * run.t * (1 / 0.5 + 1 / 2.5), atol=1e-12
    )
    assert abs(run.omega[-1, 2]) < 1e-13


def test_a_viscous_rotor_turns_the_body_to_its_major_axis():
    """Energy falls at fixed momentum to H^2 / (2 I_max)."""
    body = RigidBody([0.5, 2.0, 2.2], rotors=[Rotor((0, 1, 0), 0.2, damping=0.3)])
    run = polhode.integrate(body, t_span=(0, 600), rtol=1e-10, omega0=(5.0, 0.1, 0.0))
    L = run.momentum_spatial
    assert np.abs(L - L[0]).max() < 1e-6 * np.linalg.norm(L[0])
    assert np.all(np.diff(run.kinetic_energy) < 1e-8)
    assert run.kinetic_energy[-1] == pytest.approx(np.dot(L[0], L[0]) / (2 * 2.2), rel=1e-3)
    assert abs(run.omega[-1, 2]) == pytest.approx(np.linalg.norm(L[0]) / 2.2, rel=1e-3)


def test_stored_points_events_and_checkpoints(tmp_path):
    def fast(t, R, omega, speed_1, speed_2, speed_3):
        return speed_1 - 27.1

    run = gyrostat(rtol=1e-10, t_eval=np.linspace(0, 1, 11), events=fast, every=1)
    assert run.rotor_speeds.shape == (11, 3) and run.rotor_speed_2.tolist() == [30.0] * 11
    assert run.y_events[0][0, 7] == pytest.approx(27.1, abs=1e-9)
    for suffix in ("nc", "zarr", "csv", "npz"):
        stored = polhode.read(polhode.io.save(run, tmp_path / f"run.{suffix}"))
        assert np.array_equal(stored.motion, run.motion) and stored.kind is run.kind
        assert np.array_equal(stored.momentum_spatial, run.momentum_spatial)
        assert stored.body.rotors[0] == run.body.rotors[0]

    def progress(done, total):
        if done >= 50:
            raise KeyboardInterrupt

    options = {"step": 0.01, "every": 1, "checkpoint": tmp_path / "part", "checkpoint_every": 20}
    with pytest.raises(KeyboardInterrupt):
        gyrostat(**options, progress=progress)
    assert np.array_equal(gyrostat(**options).motion, gyrostat(step=0.01, every=1).motion)


def axial(stepper):
    """The absolute angular velocities of the rotors about their axes."""
    axes = np.array([one.axis for one in stepper.body.rotors])
    return stepper.rotor_speeds + axes @ stepper.omega


def test_stepper():
    """The same steps, impulses that leave free rotors their momenta, and copies."""
    rotors = [*ROTORS[:2], Rotor((1, 0, 1), 0.2, torque=0.5)]
    run = gyrostat(rotors, "heavy_top", step=0.01)
    start = {"rotation0": ATTITUDE, "omega0": OMEGA}
    one = polhode.Stepper(run.body, "heavy_top", step=0.01, **start)
    one.step(50)
    other = pickle.loads(pickle.dumps(one))
    for stepper in (one, other):
        stepper.step(50)
        assert np.array_equal(stepper.motion, run.motion[-1])
    speeds, momentum, blow = axial(one), one.momentum, np.array([0.1, 0.2, 0.3])
    one.apply_impulse(blow, frame="body")
    np.testing.assert_allclose(one.momentum, momentum + blow, rtol=1e-14)
    np.testing.assert_allclose(axial(one)[[0, 2]], speeds[[0, 2]], rtol=1e-14)
    assert one.rotor_speeds[1] == 30.0


def test_the_method_starts_from_a_total_momentum():
    body = RigidBody(INERTIA, rotors=ROTORS)
    run = polhode.integrate(body, t_span=(0, 1), step=0.1, momentum0=(4.0, 5.0, 6.0))
    np.testing.assert_allclose(run.momentum[0], [4.0, 5.0, 6.0], rtol=1e-14)


def test_summary_and_figures():
    run = gyrostat(ROTORS[:1], None, step=0.01, every=1)
    assert run.summary()["momentum_error_relative"] < 1e-13
    assert (
        run.to_xarray()["rotor_speed_1"].attrs["long_name"]
        == "speed of rotor 1 relative to the body"
    )
    run.plot()
    assert "LP2" in run._repr_html_() and "turns freely" in run.body._repr_html_()


SCENARIO = """
[body]
shape = "box"
size = [0.2, 0.13, 0.03]
[[body.rotors]]
axis = [0.0, 1.0, 0.0]
inertia = 1e-5
speed = 500.0
[[body.rotors]]
axis = [1.0, 0.0, 0.0]
inertia = 1e-5
damping = 1e-5
[initial]
omega = [0.1, 6.0, 0.0]
[run]
step = 0.01
t_span = [0.0, 1.0]
"""


def test_scenario_files(tmp_path):
    path = tmp_path / "wheels.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    rotors = [Rotor((0, 1, 0), 1e-5, speed=500.0), Rotor((1, 0, 0), 1e-5, damping=1e-5)]
    body = RigidBody.box(0.2, 0.13, 0.03).with_rotors(rotors)
    run = polhode.io.load(path).integrate()
    same = polhode.integrate(body, t_span=(0, 1), step=0.01, omega0=(0.1, 6.0, 0.0))
    assert run.body.rotors == body.rotors and np.array_equal(run.motion, same.motion)


def test_what_changes_in_a_motor_is_noticed():
    strength = [0.5]

    def motor(t):
        return strength[0]

    first = gyrostat([Rotor((0, 0, 1), 0.1, torque=motor)], step=0.1)
    strength[0] = 0.0
    second = gyrostat([Rotor((0, 0, 1), 0.1, torque=motor)], step=0.1)
    assert first.rotor_speeds[-1, 0] != second.rotor_speeds[-1, 0]


@pytest.mark.parametrize(
    "given, kept",
    [
        ({"momentum": 0.3}, True),
        ({"torque": 0.0, "speed": 2.0}, True),
        ({"speed": 2.0}, False),
        ({"torque": 0.1}, False),
        ({"damping": 0.1, "speed": 2.0}, False),
    ],
)
def test_the_energy_is_constant_only_where_no_motor_works(given, kept):
    body = polhode.RigidBody([2.0, 3.0, 4.0], rotors=[polhode.Rotor((1, 2, 3), 0.2, **given)])
    run = polhode.integrate(body, None, (0, 2), 0.1, omega0=(0.3, -0.2, 0.5), compiled=False)
    assert run.keeps_energy is kept
    assert (run.summary()["energy_drift_max"] is not None) is kept


@pytest.mark.compiled
def test_a_command_in_a_closure_needs_no_compilation():
    """A control loop sets the torque of a wheel before every step, which the wheel gets."""

    def wheel():
        command = 0.0

        def motor(t):
            return command

        def set_command(value):
            nonlocal command
            command = value

        return motor, set_command

    motor, set_command = wheel()
    body = polhode.RigidBody([2.0, 2.5, 3.0])
    start = {"step": 0.1, "omega0": (0.1, 0.2, 0.3)}
    driven = polhode.Stepper(body.with_rotors([Rotor((0, 1, 0), 0.1, torque=motor)]), **start)
    driven.step()
    with event.install_recorder("numba:compile") as compiled:
        for k in range(1, 6):
            set_command(0.01 * k)
            momentum, spin = driven.momentum_spatial, driven.rotor_speeds[0] + driven.omega[1]
            driven.step()
            np.testing.assert_allclose(driven.momentum_spatial, momentum, atol=1e-14)
            gained = 0.1 * (driven.rotor_speeds[0] + driven.omega[1] - spin)
            # half a kick by the torque that the last step ended with, half by the new one
            assert gained == pytest.approx(0.1 * 0.01 * (k - 0.5), rel=1e-10)
    assert not compiled.buffer
