"""What a system is given: arrays that are changed later, links beyond a cut-off, functions that fail late, and
runs that are continued with something else."""

import numpy as np
import polhode
import pytest
from polhode import InputError, RigidBody, System
from polhode.engine.many_systems import turns as turns_of

BODIES = [RigidBody.box(1, 2, 3), RigidBody.box(1, 1, 2), RigidBody([1.0, 1.0, 1.0])]
PLACES = [[-2.0, 0.0, 0.1], [2.0, 0.1, 0.0], [0.0, 3.0, 0.2]]


def two(function):
    return System(BODIES[:2], function)


def pull(r, Ri, Rj, p):
    T = p.c * np.cross(Ri[:, 0], Rj[:, 0])
    return p.k * r, T, -T


def test_a_function_that_fails_late_is_named():
    def later(t, x, R):
        if t > 0.5:
            raise ValueError("no more")
        return np.zeros_like(x), np.zeros_like(x)

    for system in (two(later), System(BODIES * 4, later)):  # in registers, and in arrays
        places = np.arange(3.0 * len(system)).reshape(-1, 3)
        options = {"step": 0.1, "position0": places, "compiled": False}
        with pytest.raises(polhode.TorqueError, match="the interaction 'later' raised") as info:
            polhode.integrate(system, t_span=(0, 1), **options)
        assert len(info.value.trajectory) == 6


@pytest.mark.parametrize("more", [0, 10])  # in registers, and in arrays
def test_links_act_within_a_cutoff(more):
    @polhode.pair(
        links=[(0, 1), (1, 2)], cutoff=4.1, potential=lambda r, Ri, Rj: 0.5 * (r * r).sum()
    )
    def spring(r, Ri, Rj):
        return r, np.zeros(3), np.zeros(3)

    places = np.concatenate([PLACES, 100.0 + np.arange(3.0 * more).reshape(-1, 3)])
    forces, _ = spring(0.0, places)
    assert np.array_equal(forces[0], places[1] - places[0])
    assert np.array_equal(forces[2], places[1] - places[2])
    places[2, 1] = 6.0  # too far
    forces, _ = spring(0.0, places)
    assert not forces[2:].any()
    system = System([BODIES[0]] * len(places), spring)
    run = polhode.integrate(system, t_span=(0, 0.1), step=0.1, position0=places, compiled=False)
    assert np.array_equal(run.position[-1, 2], places[2])
    assert run.potential_energy[0] == pytest.approx(0.5 * ((places[1] - places[0]) ** 2).sum())


def test_arrays_that_are_changed_later_are_not_those_of_a_system():
    k, c, charge = np.array([1.0, 2.0]), np.array([[3.0], [4.0]]), np.array([5.0, 6.0])

    def function(t, x, R, p):
        p.k[0] += 1.0  # its own copy
        return p.k[0] * np.ones_like(x), np.zeros_like(x)

    def of_pair(r, Ri, Rj, a, b, c):
        return c.c[0] * a.charge * b.charge * r, np.zeros(3), np.zeros(3)

    whole = polhode.interaction(params={"k": k}, external=True)(function)
    pair = polhode.Pair(of_pair, each={"charge": charge}, links=[(0, 1), (0, 1)], own={"c": c})
    places = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    for one in (k, c, charge):
        one[:] = 0.0
    assert [whole(0.0, places)[0][0, 0] for _ in range(2)] == [2.0, 2.0]
    assert pair(0.0, places)[0][0, 0] == (3.0 + 4.0) * 5.0 * 6.0
    system = System(BODIES * 4, whole)
    options = {"t_span": (0, 1), "step": 0.1, "position0": np.zeros((12, 3)), "compiled": False}
    run = polhode.integrate(system, **options)
    assert np.allclose(run.linear_momentum[-1], 2.0 * len(system))
    with pytest.raises(ValueError, match="read-only"):
        system.masses[0] = 2.0


@pytest.mark.filterwarnings("ignore:the energy")  # magnets meet
def test_a_run_continues_with_the_same_interaction_alone(tmp_path):
    def crash(done, total):
        raise RuntimeError("power cut")

    def go(system, **options):
        options |= {"step": 0.1, "position0": [[0, 0, 0], [1, 0, 0]], "compiled": False}
        return polhode.integrate(system, t_span=(0, 1), checkpoint_every=2, **options)

    charged = {"sigma": 0.1, "epsilon": 0.1, "cutoff": 3.0}
    changes = [
        [polhode.interactions.springs([(0, 1)], k, 0.5) for k in (2.0, 3.0)],
        [polhode.Pair(pull, params={"k": 1.0, "c": 1.0}, cutoff=c) for c in (3.0, 2.0)],
        [polhode.interactions.sites([(0, 0, 0)], q, **charged) for q in (1.0, 2.0)],
        [polhode.interactions.dipoles(np.full((2, 3), m), 1.0) for m in (1.0, 1.0 + 1e-15)],
    ]
    for i, (one, other) in enumerate(changes):
        folder = tmp_path / str(i)
        with pytest.raises(RuntimeError):
            go(two(one), checkpoint=folder, progress=crash)
        with pytest.raises(InputError, match=r"is another one: interaction\."):
            go(two(other), checkpoint=folder)
        assert np.array_equal(go(two(one), checkpoint=folder).motion, go(two(one)).motion)


def test_rows_of_numbers_may_be_lists():
    def nothing(t, x, R):
        return [[0.0, 0.0, 1.0] for _ in range(len(x))], [[0.0] * 3 for _ in range(len(x))]

    for bodies in (BODIES[:2], BODIES * 4):
        system = System(bodies, polhode.interaction(external=True)(nothing))
        places = np.zeros((len(bodies), 3))
        run = polhode.integrate(system, t_span=(0, 1), step=0.1, position0=places, compiled=False)
        assert np.allclose(run.linear_momentum[-1], (0.0, 0.0, len(bodies)))


def test_many_different_bodies_take_time_in_proportion(monkeypatch):
    system = System([RigidBody([1.0, 1.0, 1.0 + 1e-6 * i]) for i in range(2000)])
    compared, equal = [], RigidBody.__eq__
    monkeypatch.setattr(RigidBody, "__eq__", lambda *both: compared.append(1) or equal(*both))
    assert system.momentum(np.ones((2000, 3)))[3, 2] == 1.0 + 3e-6
    assert system.to_dict()["which"] == list(range(2000))
    assert len(compared) < 2000


def test_torques_of_a_pair_that_break_the_third_law_are_told():
    def one_sided(r, Ri, Rj):
        return r, np.array([0.0, 0.0, 1.0]), np.zeros(3)

    def sideways(r, Ri, Rj):
        return np.cross(r, np.array([0.0, 0.0, 1.0])), np.zeros(3), np.zeros(3)

    options = {"t_span": (0, 0.2), "step": 0.1, "compiled": False, "position0": PLACES[:2]}
    for function in (one_sided, sideways):
        with pytest.warns(RuntimeWarning, match="changes the total angular momentum by"):
            polhode.integrate(two(polhode.Pair(function)), **options)
        polhode.integrate(two(polhode.Pair(function, external=True)), **options)
    # between images in a box the angular momentum about the origin is not conserved by any pair
    central = polhode.Pair(lambda r, Ri, Rj: (r, 0 * r, 0 * r), cutoff=1.0, box=(2.2, 4.0, 4.0))
    options["position0"] = [[-1.0, 0.5, 0.0], [1.0, 0.0, 0.0]]
    polhode.integrate(two(central), **options)


def test_three_numbers_for_each_body_are_rotation_vectors_also_of_three_bodies():
    turns = [(0, 0, 0), (0, 0, 0.3), (0, 0.2, 0)]
    system, places = System(BODIES), {"position0": PLACES}
    quaternions = polhode.rotations.exp(turns)
    options = {"t_span": (0, 1), "step": 0.5, "compiled": False} | places
    run = polhode.integrate(system, rotation0=turns, **options)
    assert np.array_equal(run.quaternion[0], quaternions)
    matrices = polhode.rotations.matrices(quaternions)
    run = polhode.integrate(system, rotation0=matrices, **options)
    assert abs(run.quaternion[0] - quaternions).max() < 1e-15
    stepper = polhode.Stepper(system, step=0.1, rotation0=turns, compiled=False, **places)
    stepper.rotation = turns[::-1]
    assert np.array_equal(stepper.quaternion, quaternions[::-1])
    for given in (turns, [turns]):  # of each system, and of the only one
        assert np.array_equal(turns_of(given, 3, None), quaternions[None])
    with pytest.raises(InputError, match=r"one rotation matrix; write \[matrix\] \* 3"):
        polhode.integrate(system, rotation0=np.eye(3), **options)
    one = polhode.integrate(two(None), rotation0=matrices[1], **options | {"position0": PLACES[:2]})
    assert abs(one.quaternion[0] - quaternions[1]).max() < 1e-15


# --- parameters -----------------------------------------------------------------------------------


@polhode.pair(params={"k": 0.3, "c": 0.2})
def joined(r, Ri, Rj, p):
    return pull(r, Ri, Rj, p)


@polhode.interaction(params={"k": 1.0, "at": [0.0, 0.0, 0.0]}, external=True)
def trap(t, x, R, p):
    forces = np.empty_like(x)
    for i in range(len(x)):
        forces[i] = -p.k * (x[i] - p.at)
    return forces, np.zeros_like(x)


def test_an_interaction_with_other_parameters():
    both = joined + trap
    other = both.with_params(c=0.5, **{"trap.k": 2.0})
    assert (other.terms[0].params.c, other.terms[1].params.k) == (0.5, 2.0)
    assert (joined.params.c, trap.params.k) == (0.2, 1.0)
    moved = trap.with_params(at=(1, 0, 0))
    forces, _ = moved(0.0, [[0.0, 0.0, 0.0]])
    assert forces.tolist() == [[1.0, 0.0, 0.0]]
    assert (joined + joined).with_params(k=1.0).terms[1].params.k == 1.0  # of one name
    for wrong, message in [
        (lambda: both.with_params(k=2.0), r"valid: 'c', 'at', 'joined.k'"),
        (lambda: trap.with_params(at=2.0), r"'at' of 'trap' must have shape \(3,\)"),
        (lambda: two(None).interaction.with_params(k=2.0), "has no parameters"),
        (lambda: both.with_params(c=1.0, **{"joined.c": 2.0}), "is given twice"),
        (lambda: trap.params.__setitem__("k", 2.0), r"with_params\(k=...\)"),
        (lambda: setattr(trap, "params", {"k": 2.0}), "must be a dict of k, at"),
    ]:
        with pytest.raises(InputError, match=message):
            wrong()


def test_a_flow_takes_parameters_of_the_interaction():
    for system in (two(joined + trap), System(BODIES * 4, joined + trap)):
        n = len(system)
        flow = polhode.Flow(system, step=0.1)
        q = np.tile((0.0, 0.0, 0.0, 1.0), (n, 1))
        given = q, np.ones((n, 3)), 0.0, 0.2
        start = {"position0": np.arange(3.0 * n).reshape(n, 3), "velocity0": np.zeros((n, 3))}
        for parameters in ({"trap.k": 0.5}, {"c": 0.7, "at": np.array([1.0, 0.0, 0.0])}):
            end = flow(*given, **start, parameters=parameters)
            other = System(system.bodies, system.interaction.with_params(**parameters))
            same = polhode.integrate(
                other, t_span=(0, 0.2), step=0.1, rotation0=q, omega0=given[1], **start
            )
            assert np.array_equal(end.position, same.position[-1])
            assert np.array_equal(end.omega, same.omega[-1])
        assert not np.array_equal(flow(*given, **start).position, end.position)
        with pytest.raises(InputError, match="valid: 'c', 'at'"):
            flow(*given, **start, parameters={"d": 1.0})
        with pytest.raises(InputError, match="must be a dict"):
            flow(*given, **start, parameters=3)
    with pytest.raises(InputError, match=r"\.with_params\(k=2.0\)"):
        polhode.integrate(system, parameters={"k": 0.5})


def test_the_interaction_of_a_stepper_takes_other_parameters():
    own = trap.with_params(k=1.0)
    stepper = polhode.Stepper(two(own), step=0.1, position0=[[1, 0, 0], [0, 1, 0]], compiled=False)
    stepper.step(5)
    stepper.interaction.params = own.with_params(k=0.0).params
    stepper.step()
    before = stepper.velocity
    stepper.step()
    assert np.array_equal(stepper.velocity, before)


# --- messages -------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_why_lists_of_whole_numbers_and_floats_are_not_compiled():
    def mixed(t, x, R):
        return 0.0 * x, np.array([[0, 0, 1.0], [0, 0, -1]])

    run = polhode.integrate(two(mixed), t_span=(0, 0.1), step=0.1, position0=PLACES[:2])
    assert run.mode == "callback"
    assert run.note == "it has a list of whole numbers beside one of floats: write 1.0 for 1"


def test_at_the_start_one_cannot_end_the_run_before():
    def fails(t, x, R):
        raise KeyError("spring 7")

    options = {"t_span": (0, 1), "step": 0.1, "compiled": False}
    with pytest.raises(polhode.TorqueError, match=r"'spring 7'; correct it$"):
        polhode.integrate(two(fails), position0=PLACES[:2], **options)
    with pytest.raises(polhode.TorqueError, match=r"; correct it$"):
        polhode.integrate(BODIES[0], lambda t, R: {}["k"], omega0=(0, 0, 1), **options)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, "got None"),
        (np.ones((2, 3)), r"got one array \(2, 3\)"),
        ((np.ones((2, 3)), np.ones((3, 3))), r"arrays \(2, 3\) and \(3, 3\)"),
    ],
)
@pytest.mark.parametrize("compiled", [True, False])
def test_what_is_not_forces_and_torques_is_named(found, message, compiled):
    def wrong(t, x, R):
        return found

    with pytest.raises(
        polhode.TorqueError, match=rf"'wrong' must return .* two arrays \(2, 3\).*{message}"
    ):
        polhode.integrate(
            two(wrong), t_span=(0, 1), step=0.1, position0=PLACES[:2], compiled=compiled
        )
