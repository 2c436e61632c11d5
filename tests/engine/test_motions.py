"""A part of a motion is declared in two places: its kind in `core.motions`, its meaning in
`results.motion`.  Everything else follows: loops, recorder, checkpoint, files, messages."""

from typing import NamedTuple

import numpy as np
import pytest

import polhode
from polhode.core import motions
from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.core.vec import axpy, cross, matrix, qexp, qmul, renormalise, scale, sub, times
from polhode.methods._method import Method
from polhode.results import motion as meanings

BODY = np.array([[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 4.0]])
SPAN, STEP, START = (0.0, 2.0), 0.01, {"rotation0": (0.3, 0.1, 0.0), "omega0": (0.1, 1.0, 5.0)}


class Counting(NamedTuple):
    """A rotation, with an angle that grows at a rate of its own."""

    attitude: Quaternion
    omega: Vector
    angle: float
    pace: float


class CountingState(NamedTuple):
    q: Quaternion
    Om: Vector
    angle: float
    pace: float


@jit
def launch(start, h, t, motion, body, torque, p):
    return start(h, t, motion.attitude, motion.omega, motion.angle, motion.pace, body, torque, p)


@jit
def observe(s, Om, body):
    return Counting(s.q, Om, s.angle, s.pace)


@jit
def start(h, t, q, Om, angle, pace, body, torque, p):
    return CountingState(q, Om, angle, pace)


@jit
def step(h, t, s, body, torque, p):
    """Explicit Euler; the pace grows with time: angle = t^3 / 6 but for the error of the steps."""
    T = torque.body(t, matrix(s.q), s.Om, p)
    A = times(body.Iinv, sub(T, cross(s.Om, times(body.I, s.Om))))
    q = renormalise(qmul(s.q, qexp(scale(h, s.Om))))
    return CountingState(q, axpy(h, A, s.Om), s.angle + h * s.pace, s.pace + h * t)


@pytest.fixture
def counter(monkeypatch):
    """The method, with its kind of motion declared."""
    kind = motions.Kind(
        "counting",
        Counting,
        launch,
        observe,
        motions.flaw_in_rotation,
        needs=("angle", "pace"),
    )
    monkeypatch.setitem(motions.KINDS, "counting", kind)
    parts = {
        "angle": meanings.MotionPart(
            "angle", "angle", None, "rad", "angle of a rotor", rate="pace"
        ),
        "pace": meanings.MotionPart("pace", "pace", None, "rad/s", "rate of a rotor"),
    }
    for name, part in parts.items():
        monkeypatch.setitem(meanings.PARTS, name, part)
    return Method(
        "counter", step, start, CountingState, order=1, torques=1, symmetric=False, symplectic=False
    )


def expected(t):
    """The pace and the angle after explicit Euler steps, in closed form."""
    k = np.round(t / STEP)
    return STEP**2 * k * (k - 1) / 2, STEP**3 * k * (k - 1) * (k - 2) / 6


def run(method, **options):
    return polhode.integrate(BODY, "heavy_top", SPAN, STEP, method, **{**START, **options})


@pytest.mark.parametrize("compiled", [True, False])
def test_it_is_followed_recorded_and_an_attribute(counter, compiled):
    found = run(counter, compiled=compiled)
    pace, angle = expected(found.t)
    np.testing.assert_allclose(found.pace, pace, atol=1e-12)
    np.testing.assert_allclose(found.angle, angle, atol=1e-12)
    assert found.quaternion.shape == (201, 4) and found.position is None
    assert found.nfev == 200, "the start asks for no torque"
    with pytest.raises(AttributeError, match="no attribute 'velocty'"):
        found.velocty  # noqa: B018


def test_between_steps_it_is_interpolated_by_its_rate_and_seen_by_events(counter):
    def third(t, R, omega, angle, pace):
        return angle - 1.0 / 3.0

    found = run(counter, t_eval=[0.505, 1.0, 1.2345], events=third)
    pace, angle = expected(np.array([0.5, 0.51]))
    rise = (angle[1] - angle[0]) / STEP
    middle = angle.mean() - STEP * (pace[1] - pace[0]) / 8
    assert found.angle[0] == pytest.approx(middle, abs=1e-12)
    assert found.pace[0] == pytest.approx(1.5 * rise - pace.sum() / 4, abs=1e-9)
    assert found.y_events[0][0, 7] == pytest.approx(1.0 / 3.0, abs=1e-12)
    with pytest.raises(polhode.InputError, match=r"called as g\(t, R, omega, angle, pace\)"):
        run(counter, events=lambda t, R, omega: 1.0)


@pytest.mark.parametrize("suffix", ["nc", "npz", "csv", "zarr"])
def test_it_is_stored_and_read_back(counter, tmp_path, suffix):
    found = run(counter, every=10)
    stored = polhode.read(polhode.io.save(found, tmp_path / f"run.{suffix}"))
    assert np.array_equal(stored.angle, found.angle)
    assert np.array_equal(stored.pace, found.pace)
    assert np.array_equal(stored.omega, found.omega)
    data = found.to_xarray()
    assert data["angle"].attrs == {"units": "rad", "long_name": "angle of a rotor"}


def test_a_checkpoint_goes_on_with_it(counter, tmp_path):
    whole, folder = run(counter), tmp_path / "run.part"
    stop = {"at": 50}

    def progress(done, total):
        if done >= stop["at"]:
            raise KeyboardInterrupt

    options = {"checkpoint": folder, "checkpoint_every": 20}
    with pytest.raises(KeyboardInterrupt):
        run(counter, progress=progress, **options)
    found = run(counter, **options)
    assert np.array_equal(found.motion, whole.motion) and np.array_equal(found.angle, whole.angle)


def test_an_error_names_it(counter):
    def failing(t, R):
        return np.array([0.0, 0.0, np.nan if t > 1.0 else 0.0])

    with pytest.raises(polhode.TorqueError) as caught:
        polhode.integrate(BODY, failing, SPAN, STEP, counter, **START)
    assert caught.value.state["pace"] == pytest.approx(expected(1.01)[0], rel=0.05)
    assert "pace" in str(caught.value)
