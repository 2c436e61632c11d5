"""The papers' own methods for systems of bodies: Newmark, Simo-Wong, Taylor series, energy preservation.

Runs in Python are faster here than compiling; what machine code gives is compared once for each kind.
"""

import numpy as np
import polhode
import pytest
from polhode import InputError, RigidBody, System

BODIES = [
    RigidBody.box(1, 2, 3),
    RigidBody([[2.0, 0.3, 0.1], [0.3, 2.5, -0.2], [0.1, -0.2, 1.5]], mass=1.5),
    RigidBody([1.0, 1.0, 1.0]),
]
MOTION = {
    "position0": [[-2.0, 0.0, 0.1], [2.0, 0.1, 0.0], [0.0, 3.0, 0.2]],
    "velocity0": [[0.0, -0.5, 0.0], [0.0, 0.5, 0.1], [0.2, 0.0, 0.0]],
    "rotation0": polhode.rotations.exp([[0.1, 0.0, 0.0], [0.0, 0.4, 0.0], [0.3, 0.2, 0.1]]),
    "omega0": [[0.1, 2.0, 0.1], [1.0, 0.2, 0.3], [0.4, -1.0, 0.2]],
}
PARTS = ("quaternion", "omega", "position", "velocity")
BUSS = ["taylor1", "taylor2", "taylor3", "taylor4", "taylor6"]


def energy(r, Ri, Rj, p):
    """Of a spring between the centres that stiffens, and of axes that pull each other along."""
    s = r @ r
    return 0.5 * p.k * s * (1.0 + 0.1 * s) - p.c * (Ri[:, 0] @ Rj[:, 0]) + 0.1 * (Ri[:, 1] @ r) ** 2


@polhode.pair(params={"k": 0.1, "c": 0.4}, potential=energy)
def pulls(r, Ri, Rj, p):
    T = p.c * np.cross(Ri[:, 0], Rj[:, 0])
    side = 0.2 * (Ri[:, 1] @ r)
    F = p.k * (1.0 + 0.2 * (r @ r)) * r + side * Ri[:, 1]
    return F, T - side * np.cross(Ri[:, 1], r), -T


@polhode.pair(uses_velocity=True, external=True, params={"c": 0.3})
def drag(r, v, Ri, Rj, wi, wj, p):
    return p.c * v, p.c * (wj - wi), p.c * (wi - wj)


def run(method, step=0.05, interaction=pulls, t1=0.6, compiled=False, **options):
    return polhode.integrate(
        System(BODIES, interaction),
        t_span=(0, t1),
        step=step,
        method=method,
        compiled=compiled,
        **{**MOTION, **options},
    )


@pytest.fixture(scope="module")
def exact():
    """The end of the run, by tolerance."""
    return {
        acting.name: run("DOP853", None, acting, rtol=1e-13, every="end")
        for acting in (pulls, pulls + drag)
    }


def errors(result, exact):
    return {part: abs(getattr(result, part)[-1] - getattr(exact, part)[-1]).max() for part in PARTS}


def orders(method, step, exact, acting=pulls):
    coarse, fine = (
        errors(run(method, h, acting, every="end"), exact[acting.name]) for h in (step, step / 2)
    )
    return {part: np.log2(coarse[part] / fine[part]) for part in PARTS}


@pytest.mark.parametrize(
    "method", ["NMB", "NMB-cay", "NMS", "SW", "SW1", "LIEMID[E1]", "LIEMID[E2]"]
)
def test_bodies_that_do_not_interact_move_as_if_alone(method):
    together = run(method, interaction=None)
    for i, body in enumerate(BODIES):
        given = {name: values[i] for name, values in MOTION.items()}
        alone = polhode.integrate(
            body, None, (0, 0.6), 0.05, method=method, compiled=False, **given
        )
        for part in PARTS:
            assert np.array_equal(getattr(together, part)[:, i], getattr(alone, part)), (i, part)


@pytest.mark.parametrize(
    ("method", "order", "step"),
    [
        ("NMB", 2, 0.05),
        ("NMS", 2, 0.05),
        ("SW", 2, 0.05),
        ("SW1", 2, 0.025),
        ("LIEMID[E1]", 1, 0.02),
        ("taylor1", 1, 0.02),
        ("taylor2", 2, 0.05),
        ("taylor3", 3, 0.05),
        ("taylor4", 4, 0.1),
        ("taylor6", 6, 0.2),
        ("LP2+ep", 2, 0.05),
        ("taylor3+ep", 3, 0.05),
        ("taylor4+ep", 4, 0.1),
    ],
)
def test_order(exact, method, order, step):
    """Of attitude and angular velocity; places may gain an order, since the forces are known better."""
    found = orders(method, step, exact)
    for part in ("quaternion", "omega"):
        assert found[part] == pytest.approx(order, abs=0.35), part
    assert min(found.values()) > order - 0.35


@pytest.mark.parametrize(
    ("method", "order"), [("NMB", 2), ("SW", 2), ("taylor3", 3), ("taylor4", 4)]
)
def test_order_where_velocities_are_felt(exact, method, order):
    assert min(orders(method, 0.05, exact, pulls + drag).values()) > order - 0.35


@pytest.mark.parametrize(
    "method",
    [
        "NMB",
        "taylor2+ep",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("SW", "taylor3", "SW+ep")),
    ],
)
def test_machine_code_agrees_with_python(method):
    compiled, python = (run(method, compiled=flag) for flag in (True, False))
    assert compiled.mode == "compiled"
    for part in PARTS:  # a user's own functions are compiled with other rounding
        assert abs(getattr(compiled, part) - getattr(python, part)).max() < 1e-13, part


@pytest.mark.parametrize("method", ["NMB", "SW", "LP2+ep", "NMB+ep", *BUSS, "taylor3+ep"])
def test_what_is_conserved(method):
    """Linear momentum always; angular momentum by Simo and Wong's method and by kicks, and not by
    Newmark's method or Taylor series, whose papers do not claim it; energy with +ep."""
    result = run(method, 0.05)
    P, L = result.linear_momentum, result.angular_momentum
    assert abs(P - P[0]).max() < 1e-14
    exactly = method in ("SW", "LP2+ep")
    assert (abs(L - L[0]).max() < 1e-13) == exactly
    energy = result.total_energy
    assert (abs(energy - energy[0]).max() < 1e-13 * abs(energy[0])) == method.endswith("+ep")


def test_energy_restored_changes_no_momentum():
    free, kept = run("taylor1", 0.05), run("taylor1+ep", 0.05)
    assert abs(free.linear_momentum[-1] - kept.linear_momentum[-1]).max() < 1e-14
    first = free.angular_momentum[1] - kept.angular_momentum[1]
    assert abs(first).max() < 1e-14  # after one step both are in the same places


def test_energy_that_is_not_known_is_not_restored():
    assert (
        "no energy was restored: the interaction 'drag'" in run("LP2+ep", interaction=drag).message
    )
    assert "do not interact" in run("LP2+ep", interaction=None).message
    swelling = polhode.interaction(
        lambda t, x, R: (np.cos(t) * x, 0.0 * x),
        potential=lambda t, x, R: -0.5 * np.cos(t) * np.sum(x * x),
        external=True,
    )
    assert "may depend on time" in run("LP2+ep", interaction=swelling).message


def test_steps_that_are_beyond_repair_are_left_alone_and_told():
    with pytest.warns(RuntimeWarning, match="the step does not resolve the motion there"):
        result = run("LP2+ep", 2.0, t1=4.0)
    assert "the energy was not restored after 2 steps" in result.message


def test_energy_with_a_fixed_body_and_with_something_outside():
    outside = polhode.interaction(
        lambda t, x, R: (-x, np.zeros_like(x)),
        potential=lambda t, x, R: 0.5 * np.sum(x * x),
        external=True,
    )
    result = run("SW+ep", interaction=outside)
    assert np.ptp(result.total_energy) < 1e-13
    system = System(BODIES, pulls, fixed=[2])
    speeds = np.array(MOTION["velocity0"]) * [[1], [1], [0]]
    result = polhode.integrate(
        system,
        None,
        (0, 0.6),
        0.05,
        method="NMB+ep",
        compiled=False,
        **{**MOTION, "velocity0": speeds},
    )
    assert np.ptp(result.total_energy) < 1e-13
    assert np.ptp(result.position[:, 2], axis=0).max() == 0.0


def test_evaluations_are_those_declared():
    calls = []

    @polhode.interaction
    def counted(t, x, R):
        calls.append(t)
        return np.zeros_like(x), np.zeros_like(x)

    for method, each in (("NMB", 1), ("SW", 1), ("taylor3", 2), ("taylor4", 5)):
        calls.clear()
        result = run(method, 0.1, counted, t1=1.0)
        assert len(calls) - 10 * each <= 3, method  # looks at the start
        assert abs(result.nfev - 10 * each) <= 1, method


def test_methods_that_do_not_run_with_systems_say_why():
    with pytest.raises(InputError, match="an equation that it solves for one body"):
        run("AKW")
    with pytest.raises(InputError, match="asks for the torque on one body 4 times"):
        run("RKMK4")
    with pytest.raises(InputError, match="use DOP853 or DP5 with rtol"):
        run("taylor", None, rtol=1e-9)
