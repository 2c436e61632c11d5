"""Machine code of a user's torque is compared with its Python, and the number of its components is
checked on the way."""

import numpy as np
import pytest

import polhode
from polhode.errors import TorqueError

BODY, START = [1.0, 2.0, 3.0], {"t_span": (0, 1), "step": 0.1, "omega0": (0.5, -0.4, 0.8)}
LARGE, DIGITS, ONE = 7_000_000, 9, 1


def overflows(t, R):
    return np.array([LARGE**3 * R[0, 0] * 1e-18, 0.0, 0.0])


def vanishes(t, R):
    return np.array([10**-DIGITS * R[0, 0], 0.0, 0.0])


def raises_in_python_alone(t, R):
    return [2.0 ** int(4000 * t), 0.0, 0.0]


def agrees(t, R):
    return np.array([R[1, 2], -R[0, 2], 0.1 * np.sin(t)])


pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("torque", [overflows, vanishes, raises_in_python_alone])
def test_what_machine_code_gets_wrong_is_called_back(torque):
    start = START | {"t_span": (0, 0.5)}
    run, python = (
        polhode.integrate(BODY, torque, **start),
        polhode.integrate(BODY, torque, **start, compiled=False),
    )
    assert run.mode == "callback" and "its machine code" in run.note and "its Python" in run.note
    np.testing.assert_array_equal(run.omega, python.omega)


def test_everything_that_runs_compares():
    stepper = polhode.Stepper(BODY, overflows, step=0.1, omega0=START["omega0"])
    stepper.step(10)
    many = polhode.ensemble(BODY, overflows, **START)
    assert (stepper.program.mode, many.mode) == ("callback", "callback")
    expected = polhode.integrate(BODY, overflows, **START).omega[-1]
    np.testing.assert_array_equal([stepper.omega, many.omega[0]], [expected, expected])
    assert (
        polhode.integrate(BODY, overflows, (0, 1), rtol=1e-3, omega0=START["omega0"]).mode
        == "callback"
    )


def test_a_force_is_compared():
    def push(t, x, v, R):
        return np.array([LARGE**3 * 1e-18, 0.0, 0.0])

    run = polhode.integrate(polhode.RigidBody(BODY, mass=1.0), None, force=push, **START)
    assert run.mode == "callback" and abs(run.position[-1, 0] - 171.5) < 1e-9


@pytest.mark.filterwarnings("ignore:.* is not minus the slope of its potential")
def test_a_potential_is_compared():
    torque = polhode.torque(agrees, potential=lambda t, R: 10**-DIGITS * R[2, 2])
    run = polhode.integrate(BODY, torque, **START | {"step": 0.01})
    assert len(run) > 64 and np.all(np.abs(run.potential_energy) > 1e-11)


def test_a_torque_that_agrees_stays_machine_code_and_is_asked_once():
    assert polhode.integrate(BODY, agrees, **START).mode == "compiled"
    asked = []

    class Asked(polhode.Torque):
        def __call__(self, *arguments):
            asked.append(arguments)
            return super().__call__(*arguments)

    torque = Asked(lambda t, R: np.array([0.5 * R[1, 2], -R[0, 2], 0.0]))
    runs = [polhode.integrate(BODY, torque, **START).mode for _ in range(3)]
    assert runs == ["compiled"] * 3
    first = len(asked)
    polhode.integrate(BODY, torque, **START)
    assert len(asked) == first


def test_infinite_and_undefined_values_agree():
    def undefined_later(t, R):
        return np.array([0.0, 0.0, np.sqrt(0.9 - t)])

    start = START | {"t_span": (0, 0.5)}
    run = polhode.integrate(BODY, undefined_later, **start)
    assert run.mode == "compiled" and run.success


def test_an_error_at_a_state_that_the_run_never_reaches_does_not_end_it():
    def late(t, R):
        if t > 0.75:
            raise ValueError("too late")
        return np.array([0.0, 0.0, R[2, 1]])

    def tilted(t, R):
        if R[2, 2] < 0.9:
            raise ValueError("too far")
        return np.array([0.0, 0.0, R[2, 1]])

    assert polhode.integrate(BODY, late, **START | {"t_span": (0, 0.75)}).success
    assert polhode.integrate(BODY, tilted, **START | {"t_span": (0, 0.3)}).success


# --- two or four numbers --------------------------------------------------------------------------


def two_later(t, R):
    if t < 0.45:
        return np.array([0.0, 0.0, R[2, 1]])
    return np.array([0.0, 1.0])


def four_later(t, R):
    values = [0.0, 0.0, R[2, 1]]
    if t > 0.45:
        values.append(1.0)
    return values


@pytest.mark.parametrize("how", [True, False])
@pytest.mark.parametrize("torque", [two_later, four_later])
def test_a_torque_that_returns_more_or_fewer_numbers_later_ends_the_run(torque, how):
    with pytest.raises(TorqueError, match="three numbers") as caught:
        polhode.integrate(BODY, torque, method="NMB", **START, compiled=how)
    assert caught.value.step_index == 4 and abs(caught.value.t - 0.4) < 1e-12
    assert len(caught.value.trajectory) == 5 and caught.value.trajectory.mode == (
        "compiled" if how else "python"
    )


def test_a_stepper_and_an_ensemble_notice_it_too():
    stepper = polhode.Stepper(BODY, two_later, step=0.1, omega0=START["omega0"], method="NMB")
    with pytest.raises(TorqueError, match="three numbers"):
        stepper.step(10)
    many = polhode.ensemble(BODY, two_later, **START, method="NMB")
    assert not many.success


def test_another_span_is_compared_anew():
    def late(t, R):
        return np.array([float(int(t) ** 30 % 7), 0.0, 0.0])

    early = {**START, "t_span": (0, 1)}
    assert polhode.integrate(BODY, late, **early).mode == "compiled"
    start = {**START, "t_span": (0, 20)}
    run = polhode.integrate(BODY, late, **start)
    assert run.mode == "callback"
    np.testing.assert_array_equal(
        run.omega, polhode.integrate(BODY, late, **start, compiled=False).omega
    )


@polhode.torque(params={"n": 3.0})
def large(t, R, p):
    return np.array([1e-3 * float(10 ** int(p.n) % 1000003), 0.0, 0.0])


def test_the_parameters_of_every_body_are_compared():
    start = {**START, "omega0": [START["omega0"]] * 3}
    assert (
        polhode.ensemble(BODY, large, **start, parameters={"n": [3.0, 4.0, 5.0]}).mode == "compiled"
    )
    with pytest.raises(
        polhode.InputError, match="with the parameters of body 1 must run as Python"
    ):
        polhode.ensemble(BODY, large, **start, parameters={"n": [3.0, 30.0, 25.0]})


def test_a_potential_that_machine_code_gets_wrong_restores_no_energy():
    def weight(t, R):
        return -2.0 * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))

    def potential(t, R):
        return 2.0 * R[2, 2] * 10 * 10**-ONE

    start = {**START, "rotation0": (0.7, 0.2, 0.1)}
    acting = polhode.torque(weight, potential=potential)
    kept, plain = (
        polhode.integrate(BODY, acting, **start, method=name) for name in ("LP2+ep", "LP2")
    )
    assert "differs from its machine code" in kept.message
    np.testing.assert_array_equal(kept.omega, plain.omega)


def test_energies_of_a_potential_that_has_changed_are_not_passed_off_as_those_of_the_run():
    k = 2.0

    def potential(t, R):
        return k * R[2, 2]

    acting = polhode.torque(
        lambda t, R: -k * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0])), potential=potential
    )
    before, after = (polhode.integrate(BODY, acting, **START, compiled=False) for _ in range(2))
    assert np.ptp(before.total_energy) < 0.1
    k = 7.0
    with pytest.warns(RuntimeWarning, match="has changed since the run"):
        assert after.total_energy is not None


def test_derivatives_are_compared():
    def weight(t, R):
        return np.array([2.0 * R[2, 1], -2.0 * R[2, 0], 0.0])

    def turning(scale):
        def derivative(t, R, w):
            g = np.cross(R[2], w[0])
            return scale() * np.array([g[1], -g[0], 0.0])

        return polhode.torque(weight, frame="body", derivatives=derivative)

    right, wrong = turning(lambda: 2.0), turning(lambda: 2.0 * float(LARGE**3) / 3.43e20)
    start = {**START, "rotation0": (0.7, 0.2, 0.1), "method": "taylor2"}
    runs = [polhode.integrate(BODY, torque, **start) for torque in (right, wrong)]
    assert [run.mode for run in runs] == ["compiled", "callback"]
    assert "derivative 1: at t = 0 its Python gives" in runs[1].note
    as_python = polhode.integrate(BODY, right, **start, compiled=False)
    np.testing.assert_allclose(runs[0].omega, as_python.omega, rtol=0.0, atol=1e-13)


def test_what_differs_within_the_span_alone_is_found():
    def late(t, R):
        return np.array([float(10 ** (20 * int(2.0 < t < 9.0)) % 1000003) * 1e-6, 0.0, 0.0])

    run = polhode.integrate(BODY, late, **{**START, "t_span": (0, 10)})
    assert run.mode == "callback"


def test_statistics_are_compared():
    def size(omega):
        return float(LARGE**3) * 1e-20 * omega[0]

    keep = polhode.Statistics(every=5, of="energy", functions={"size": size})
    run = polhode.ensemble(BODY, None, **{**START, "omega0": [START["omega0"]] * 3}, keep=keep)
    found = run.statistics["size"].over_bodies.mean
    np.testing.assert_allclose(found[0], 3.43 * START["omega0"][0], rtol=1e-12)


# --- potentials -----------------------------------------------------------------------------------


def weight(t, R):
    return np.array([2.0 * R[2, 1], -2.0 * R[2, 0], 0.0])


@pytest.mark.parametrize(
    "wrong", [lambda t, R: -2.0 * R[2, 2], lambda t, R: R[2, 2], lambda t, R: 2.0 * R[0, 2]]
)
def test_a_potential_that_is_not_the_torques_is_told_once(wrong):
    torque, start = (
        polhode.torque(weight, frame="body", potential=wrong),
        {**START, "rotation0": (0.7, 0.2, 0.1)},
    )
    with pytest.warns(
        RuntimeWarning,
        match="torque 'weight' is not minus the slope of its potential: at t = 0 it is",
    ):
        polhode.integrate(BODY, torque, **start)
    polhode.integrate(BODY, torque, **start)  # a warning would be an error here
    right = polhode.torque(weight, frame="body", potential=lambda t, R: 2.0 * R[2, 2])
    for other in (
        right,
        right + polhode.torques.damping(0.1),
        right + (lambda t, R: np.array([0.0, 0.0, 1.0])),
    ):
        polhode.integrate(BODY, other, **start)


@pytest.mark.filterwarnings("ignore:.* is not minus the slope of its potential")
def test_a_motor_beside_a_potential_is_no_blow_up():
    def driven(t, R):
        return np.array([2.0 * R[2, 1], -2.0 * R[2, 0], 3.0])

    torque = polhode.torque(driven, frame="body", potential=lambda t, R: 2.0 * R[2, 2])
    run = polhode.integrate(
        [1.0, 1.0, 0.5], torque, (0, 10), 0.01, omega0=(0.1, 0.0, 0.1), rotation0=(0.3, 0.0, 0.0)
    )
    assert run.success and run.t[-1] == 10.0


def test_a_part_of_a_span_is_compared_anew():
    """What machine code gets wrong in a window may have been missed by the samples of a longer
    run."""
    window = polhode.torque(
        lambda t, R: np.array(
            [10.0**-DIGITS if not 510 < t < 511 else float(10**-DIGITS), 0.0, 0.0]
        )
    )
    run = polhode.integrate(BODY, window, (0.0, 1000.0), 1.0, "LP2", omega0=(0.1, 0.2, 0.3))
    inside = polhode.integrate(BODY, window, (510.2, 510.8), 0.1, "LP2", omega0=(0.1, 0.2, 0.3))
    python = polhode.integrate(
        BODY, window, (510.2, 510.8), 0.1, "LP2", omega0=(0.1, 0.2, 0.3), compiled=False
    )
    assert run.success and inside.mode == "callback"
    assert np.array_equal(inside.omega, python.omega)
