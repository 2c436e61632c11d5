"""Odd values at every public door, and functions that write to what they are handed: the answer is
a result or one of polhode's own errors, and the run is what it would be without."""

import traceback

import numpy as np
import pytest

from doors import DOORS, arguments
from odd import VALUES

import polhode
from polhode import lie, translation
from polhode.errors import InputError, PolhodeError, TorqueError

# --- every door -----------------------------------------------------------------------------------

OWN = (
    "events",
    "progress",
    "force",
    "W",
    "derivatives",
    "bracket",
    "tilt",
)  # functions of the user's own: their errors are theirs
LONG = {
    ("Stepper.step", "n", "10**15"),
    ("Stepper.step", "n", "2**63"),
    ("Stepper.step", "n", "10**400"),  # right, and endless
    ("compare", "methods", "None"),
    ("compare body", "methods", "None"),
    ("advise", "methods", "None"),
}
SLOW = (
    "certify",
    "compare",
    "advise",
    "Advice",
    "Comparison",
    "sweep",
    "plots",
    "view",
    "Page",
    "Trajectory",
    "ensemble",
    "Ensemble",
    "exact",
    "integrate compiled",
)  # doors behind which something is compiled, drawn or waited for


def foreign(door, name, odd):
    """What is wrong with the answer of a door to an odd value, in words; "" where nothing is."""
    function, given = DOORS[door]
    value = VALUES[odd]()
    try:
        function(**arguments(given) | {name: value})
    except PolhodeError as error:
        message = str(error)
        return (
            ""
            if "; " in message and "\x1b" not in message
            else f"{door}({name}={odd}): no way out in {message!r}"
        )
    except Exception as error:
        if name in OWN and callable(value):
            return ""
        return f"{door}({name}={odd}) raised {''.join(traceback.format_exception_only(error))}"
    return ""


def attacks(doors):
    """All (door, argument, odd value)."""
    return [
        (door, name, odd)
        for door in doors
        for name in DOORS[door][1]
        for odd in VALUES
        if (door, name, odd) not in LONG
    ]


@pytest.mark.filterwarnings("ignore")
def test_odd_values_are_refused_in_words(tmp_path, monkeypatch):
    """Every door and argument with a few odd values; `slow` tries all of them."""
    monkeypatch.chdir(tmp_path)
    quick = attacks(door for door in DOORS if not door.startswith(SLOW))
    found = [foreign(*one) for one in quick[::61]]
    assert not list(filter(None, found)), "\n".join(filter(None, found))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("door", DOORS)
def test_all_odd_values_are_refused_in_words(door, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [foreign(*one) for one in attacks([door])]
    assert not list(filter(None, found)), "\n".join(filter(None, found))


@pytest.mark.parametrize(
    "value",
    [
        "1.5",
        b"1",
        np.datetime64("2026-01-01"),
        np.timedelta64(1, "s"),
        True,
        1.0 + 0.0j,
        np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
        [np.ma.masked, 1.0, 2.0],
        ["1", "2", "3"],
    ],
)
def test_text_dates_and_masked_entries_are_no_parameters(value):
    with pytest.raises(InputError):
        polhode.torque(lambda t, R, p: R[0], params={"k": value})
    with pytest.raises(InputError):
        polhode.torques.constant(value)
    with pytest.raises(InputError):
        polhode.torques.heavy_top().with_params(moment=value)


# --- compiled=False -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        lambda R: None,
        lambda R: "abc",
        lambda R: (1.0, 2.0),
        lambda R: (1.0, 2.0, 3.0, 4.0),
        lambda R: 1.0,
        lambda R: R,
        lambda R: missing,  # noqa: F821
        lambda R: 1 / 0,
        lambda R: (1.0, None, 2.0),
    ],
)
def test_a_torque_that_is_no_torque_is_a_torque_error_as_plain_python_too(answer):
    for options in ({"step": 0.1}, {"rtol": 1e-3}):
        with pytest.raises(TorqueError):
            polhode.integrate(
                [1, 2, 2.5],
                lambda t, R: answer(R),
                (0, 1),
                omega0=(0, 0, 1),
                compiled=False,
                **options,
            )
    with pytest.raises(TorqueError):
        polhode.Stepper(
            [1, 2, 2.5], lambda t, R: answer(R), step=0.1, omega0=(0, 0, 1), compiled=False
        ).step()


@pytest.mark.parametrize("compiled", [False, True])
def test_functions_get_floats_for_times(compiled):
    """With NumPy's numbers 1 / t would be infinite at t = 0 where Python's raise an error."""
    kinds = []

    def torque(t, R):
        kinds.append(type(t))
        return (0.1 * t, 0.0, 0.0)

    def potential(t, R, p):
        kinds.extend((type(t), type(p.k)))
        return p.k * R[2, 2]

    def weight(t, R, p):
        kinds.extend((type(t), type(p.k)))
        return (-p.k * R[1, 2], p.k * R[0, 2], 0.0)

    def event(t, R, omega, *place):
        kinds.append(type(t))
        return t - 0.35

    def force(t, x, v, R):
        kinds.append(type(t))
        return (0.0, 0.0, -1.0)

    start = {"omega0": (0.1, 1.0, 0.2), "compiled": compiled, "events": event}
    both = polhode.torque(weight, params={"k": 2.0}, potential=potential) + torque
    for options in ({"step": 0.1, "method": "NMB"}, {"rtol": 1e-4}, {"step": [0.0, 0.2, 0.5, 1.0]}):
        assert (
            polhode.integrate([1, 2, 2.5], both, (0, 1), **options, **start).potential_energy
            is not None
        )
    polhode.integrate([1, 2, 2.5], None, (0, 1), 0.1, force=force, **start)
    assert set(kinds) == {float}


# --- functions that write to what they are handed -------------------------------------------------

STATE = {"k": 0.3}  # a function that looks into a dict stays Python, and is called back


def writing(t, R, omega):
    """Leaves nothing as it was."""
    torque = np.array([0.1 * R[0, 0], 0.2 * omega[1], 0.0])
    R[:] = 0.0
    omega /= np.linalg.norm(omega)
    return torque


def reading(t, R, omega):
    """The same torque."""
    return np.array([0.1 * R[0, 0], 0.2 * omega[1], 0.0])


def writing_back(t, R, omega):
    """The same, called back."""
    return STATE["k"] * writing(t, R, omega)


def reading_back(t, R, omega):
    """The same, called back."""
    return STATE["k"] * reading(t, R, omega)


@pytest.mark.parametrize(
    "options",
    [
        {"step": 0.1, "method": "NMB"},
        pytest.param({"rtol": 1e-4, "method": "DP5"}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.compiled)])
@pytest.mark.parametrize("pair", [(writing, reading), (writing_back, reading_back)])
def test_a_torque_may_write_to_its_arguments(pair, compiled, options):
    one, other = (
        polhode.integrate(
            [1, 2, 2.5],
            polhode.torque(uses_omega=True)(f) + polhode.torques.damping(0.1),
            (0, 1),
            omega0=(0.1, 1.0, 0.2),
            compiled=compiled,
            **options,
        )
        for f in pair
    )
    assert np.array_equal(one.motion, other.motion)


def test_an_event_may_write_to_its_arguments():
    def spoiling(t, R, omega):
        value = omega[0]
        omega /= np.linalg.norm(omega)
        R[:] = 0.0
        return value

    start = {"omega0": (0.1, 1.0, 0.2), "compiled": False}
    for options in (
        {"step": 0.1, "method": "NMB"},
        {"rtol": 1e-4},
        {"step": 0.1, "t_eval": [0.5, 1.0]},
    ):
        plain = polhode.integrate(
            [1, 2, 2.5], None, (0, 4), events=lambda t, R, omega: omega[0], **start, **options
        )
        spoilt = polhode.integrate([1, 2, 2.5], None, (0, 4), events=spoiling, **start, **options)
        assert np.array_equal(plain.motion, spoilt.motion) and np.array_equal(
            plain.t_events[0], spoilt.t_events[0]
        )
        assert len(plain.t_events[0])


def test_calling_a_torque_leaves_what_it_is_called_with_as_it_was():
    R, omega = np.eye(3), np.array([0.1, 1.0, 0.2])
    polhode.torque(uses_omega=True)(writing)(0.0, R, omega)
    assert np.array_equal(R, np.eye(3)) and np.array_equal(omega, [0.1, 1.0, 0.2])


@pytest.mark.filterwarnings("ignore:.* is not minus the slope of its potential")
def test_a_potential_a_force_and_a_field_may_write_to_their_arguments():
    def potential(t, R):
        value = R[2, 2]
        R[:] = 0.0
        return value

    def force(t, x, v, R):
        value = -x.copy()
        x[:] = v[:] = R[:] = 0.0
        return value

    def spring(t, u):
        u *= -1.0
        return u

    def field(t, y):
        y[:] = 0.0
        return np.array([0.0, 0.0, 1.0])

    flown = [
        polhode.integrate(
            [1, 2, 2.5],
            polhode.torque(potential=V)(lambda t, R: R[0]),
            (0, 1),
            0.1,
            "NMB",
            omega0=(0, 0, 1),
            force=F,
            position0=(1, 0, 0),
            compiled=False,
        )
        for V, F in ((potential, force), (lambda t, R: R[2, 2], lambda t, x, v, R: -x))
    ]
    assert np.array_equal(flown[0].motion, flown[1].motion) and np.array_equal(
        flown[0].total_energy, flown[1].total_energy
    )
    for solve in (translation.newmark, translation.adjoint, translation.symplectic_euler):
        assert np.array_equal(
            solve([1.0], [0.0], spring, step=0.1, steps=5)[1],
            solve([1.0], [0.0], lambda t, u: -u, step=0.1, steps=5)[1],
        )
    assert np.array_equal(
        lie.solve(lie.so3, field, np.eye(3), (0, 1), 5, "CF4").y,
        lie.solve(lie.so3, lambda t, y: np.array([0.0, 0.0, 1.0]), np.eye(3), (0, 1), 5, "CF4").y,
    )


# --- events that are conditions -------------------------------------------------------------------


def test_an_event_that_is_true_or_false_fires_where_that_changes():
    def number(t, R, omega):
        return t - 0.55

    def condition(t, R, omega):
        return t > 0.55

    start = {"step": 0.1, "omega0": (0.0, 1.0, 0.2), "compiled": False}
    run = polhode.integrate(
        [1, 2, 2.5], None, (0, 1), events=[number, condition, lambda t, R, omega: t < 0.55], **start
    )
    assert [len(times) for times in run.t_events] == [1, 1, 1]
    assert all(abs(times[0] - 0.55) < 1e-12 for times in run.t_events)
    condition.direction = -1
    assert not len(
        polhode.integrate([1, 2, 2.5], None, (0, 1), events=condition, **start).t_events[0]
    )


@pytest.mark.parametrize(
    "marks", [{"terminal": "yes"}, {"terminal": -1}, {"terminal": 1.5}, {"direction": "up"}]
)
def test_odd_marks_of_an_event_are_refused_before_the_run(marks):
    def event(t, R, omega):
        return t - 0.5

    event.__dict__.update(marks)
    with pytest.raises(InputError, match=next(iter(marks))):
        polhode.integrate(
            [1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), events=event, compiled=False
        )
