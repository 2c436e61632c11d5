"""Input from outside gives a result or one of polhode's own errors, whatever it is: a short version
of `make fuzz`."""

import copy

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mutate import Choices, damaged, places
from targets import SCENARIOS, SWEEPS, TARGETS

from polhode import rotations
from polhode.errors import PolhodeError
from polhode.io.scenario._load import make_scenario
from polhode.studies.sweep.plan import Plan

# where it is not 200
INPUTS = {"rotation": 1000, "words": 500, "sweep": 80, "netcdf": 60, "obj": 80, "zarr": 15}


def inputs(name, count):
    """Seeds, seeds with changes, and noise: the same on every run."""
    random = np.random.default_rng(sum(name.encode()))
    seeds = TARGETS[name][1]()
    yield from seeds[:10]
    for number in range(count):
        seed = seeds[int(random.integers(len(seeds)))]
        yield (
            damaged(seed, Choices(random.bytes(100)))
            if number % 2
            else random.bytes(int(random.integers(200)))
        )


def survives(name, count):
    target = TARGETS[name][0]
    for data in inputs(name, count):
        try:
            target(data)
        except Exception as error:
            raise AssertionError(f"{name} did not survive {data!r}") from error


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", TARGETS)
def test_every_reader_survives_hostile_input(name):
    survives(name, INPUTS.get(name, 200))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", TARGETS)
def test_every_reader_survives_much_hostile_input(name):
    survives(name, 50 * INPUTS.get(name, 200))


# --- the same with structure ----------------------------------------------------------------------

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.dates()
    | st.times()
    | st.sampled_from(["NMB", "end", "random", "box", 10**400, 1e-320, -0.0])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def changed(draw, originals):
    """A valid scenario with another value at one of its keys, or at a key more."""
    data = copy.deepcopy(draw(st.sampled_from(originals)))
    here, key = draw(st.sampled_from(list(places(data))))
    here[key] = draw(VALUES)
    return data


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=150, deadline=None)
@given(changed(SCENARIOS))
@example({**SCENARIOS[0], "initial": {"#": None}})  # an unknown key like a name of an alternative
def test_a_scenario_with_any_value_at_any_key_is_read_or_refused(data):
    try:
        found = make_scenario(data, "scenario.toml")
    except PolhodeError as error:
        assert str(error).startswith("scenario.toml")
    else:
        assert np.isfinite(found.omega0).all() and found.body.moments.min() > 0.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=60, deadline=None)
@given(changed(SWEEPS))
def test_a_sweep_with_any_value_at_any_key_is_read_or_refused(data):
    try:
        plan = Plan(data, "sweep.toml")
    except PolhodeError:
        return
    assert plan.n >= 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=300, deadline=None)
@given(
    VALUES
    | st.lists(st.floats(), min_size=3, max_size=4)
    | st.lists(st.lists(st.floats(), min_size=3, max_size=3), min_size=3, max_size=3)
)
def test_a_rotation_is_a_unit_quaternion_or_refused(value):
    try:
        found = rotations.as_quaternion(value)
    except PolhodeError:
        return
    assert abs(np.linalg.norm(found) - 1.0) < 1e-12
