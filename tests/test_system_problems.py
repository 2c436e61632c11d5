"""The test problems of several bodies: what is known of their motion."""

import numpy as np
import polhode
import pytest
from polhode import RigidBody, System, interactions, problems
from polhode.errors import InputError
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

DAY = 86400.0


@pytest.fixture(scope="module")
def didymos():
    return problems.didymos()


def equations(system, G):
    """Two bodies to second degree, written from MacCullagh's formula with NumPy alone."""
    (m, M), (I, J) = system.masses, [np.diag(one) for one in system.moments]

    def slope(t, y):
        x, v, w = y[0:6].reshape(2, 3), y[6:12].reshape(2, 3), y[20:26].reshape(2, 3)
        R = Rotation.from_quat(y[12:20].reshape(2, 4)).as_matrix()
        r = x[1] - x[0]
        d = np.linalg.norm(r)
        n = r / d
        A, B = R[0] @ I @ R[0].T, R[1] @ J @ R[1].T
        F = G * m * M / d**2 * n
        for mass, C in ((m, B), (M, A)):
            F = F + 1.5 * G * mass / d**4 * ((np.trace(C) - 5.0 * n @ C @ n) * n + 2.0 * C @ n)
        N = [3.0 * G * mass / d**3 * np.cross(n, C @ n) for mass, C in ((M, A), (m, B))]
        turned = []
        spin = np.empty((2, 4))
        for k, C in enumerate((I, J)):
            turned.append(np.linalg.solve(C, R[k].T @ N[k] - np.cross(w[k], C @ w[k])))
            q = y[12 + 4 * k : 16 + 4 * k]
            spin[k, :3] = 0.5 * (q[3] * w[k] + np.cross(q[:3], w[k]))
            spin[k, 3] = -0.5 * q[:3] @ w[k]
        return np.concatenate([v.ravel(), F / m, -F / M, spin.ravel(), *turned])

    return slope


def test_didymos_agrees_with_another_integrator_of_other_equations(didymos):
    start = (didymos.position0, didymos.velocity0, didymos.rotation0, didymos.omega0)
    y0 = np.concatenate([np.ravel(one) for one in start])
    slope = equations(didymos.system, 6.67408e-11)
    scale = np.repeat([1e3, 0.1, 1.0, 1e-3], [6, 6, 8, 6])
    theirs = solve_ivp(slope, (0, DAY), y0, "DOP853", rtol=1e-13, atol=1e-14 * scale).y[:, -1]
    ours = didymos.integrate("EXACT-RKN6", 200.0, (0, DAY), every="end")
    x, q = theirs[:6].reshape(2, 3), theirs[12:20].reshape(2, 4)
    r, other = (one[1] - one[0] for one in (ours.position[-1], x))
    assert abs(r - other).max() < 1e-10 * 1180.0
    ours_q = ours.quaternion[-1]
    assert abs(ours_q * np.sign((ours_q * q).sum(axis=1))[:, None] - q).max() < 1e-10
    assert abs(ours.omega[-1] - theirs[20:].reshape(2, 3)).max() < 1e-10 * 7.7e-4


@pytest.mark.parametrize(
    ("method", "order", "step"), [("EXACT-RKN4", 4, 400.0), ("EXACT-RKN6", 6, 1600.0)]
)
def test_order_on_didymos(didymos, method, order, step):
    exact = didymos.integrate("EXACT-RKN6", 100.0, (0, DAY), every="end")
    ends = [didymos.integrate(method, h, (0, DAY), every="end") for h in (step, step / 2)]
    coarse, fine = (abs(end.motion[-1] - exact.motion[-1]).max() for end in ends)
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.4)


def angle_between(run):
    """The angle that the line between two bodies has turned."""
    d = run.position[:, 1] - run.position[:, 0]
    angle = np.unwrap(np.arctan2(d[:, 1], d[:, 0]))
    return angle - angle[0]


def test_periods_of_didymos(didymos):
    """11.92 hours are the period of point masses at these distance and speed; the flattening of Didymos makes
    the mean period 11.81 hours."""
    run = didymos.integrate("EXACT-RKN6", 400.0, (0, 20 * DAY))
    assert 2 * np.pi * run.t[-1] / angle_between(run)[-1] == pytest.approx(
        11.814 * 3600.0, rel=1e-3
    )
    r = np.linalg.norm(didymos.position0[1] - didymos.position0[0])
    v = np.linalg.norm(didymos.velocity0[1] - didymos.velocity0[0])
    assert 2 * np.pi * r / v == pytest.approx(11.92 * 3600.0, rel=1e-6)


def test_spheres_move_on_an_ellipse_of_kepler():
    balls = [RigidBody.sphere(0.3, mass=2.0), RigidBody.sphere(0.2, mass=1.0)]
    system = System(balls, interactions.gravity(balls, G=1.0, degree=2))
    e, mu = 0.5, 3.0
    r, v = 1.0 - e, np.sqrt(mu * (1.0 + e) / (1.0 - e))  # at the periapsis; half axis 1
    period = 2.0 * np.pi / np.sqrt(mu)
    run = polhode.integrate(
        system,
        t_span=(0, 1.5 * period),
        step=period / 200,
        method="EXACT-RKN6",
        compiled=False,  # spheres have a step of their own, which would be compiled for this run alone
        position0=[[-r / 3, 0, 0], [2 * r / 3, 0, 0]],
        velocity0=[[0, -v / 3, 0], [0, 2 * v / 3, 0]],
        omega0=[[0.1, 0.2, 0.3], [0.0, 0.5, 0.0]],
    )
    d = run.position[:, 1] - run.position[:, 0]
    assert abs(d[-1] - [-(1.0 + e), 0.0, 0.0]).max() < 1e-9
    angle = np.arctan2(d[:, 1], d[:, 0])
    assert abs(np.linalg.norm(d, axis=1) * (1.0 + e * np.cos(angle)) - (1.0 - e * e)).max() < 1e-10
    assert abs(run.omega - run.omega[0]).max() < 1e-14


def test_symplectic_methods_do_not_drift(didymos):
    run = didymos.integrate("EXACT-RKN4", 1600.0, (0, 400 * DAY), every=4)
    E = run.total_energy / run.total_energy[0] - 1.0
    first, last = np.array_split(E, 4)[0], np.array_split(E, 4)[-1]
    assert abs(E).max() < 1e-8
    assert abs(last.mean() - first.mean()) < 0.02 * np.ptp(E)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["EXACT", "LP2"])
def test_momenta_after_a_million_steps(didymos, method):
    run = didymos.integrate(method, 100.0, (0, 1e8), every=1000)
    P, L, E = run.linear_momentum, run.angular_momentum, run.total_energy
    # a random walk of roundings, of 1e-16 in each step
    assert abs(L - L[0]).max() < 3e-13 * abs(L[0]).max()
    assert abs(P - P[0]).max() < 5e-13 * didymos.system.masses[1] * 0.17
    first, last = np.array_split(E, 4)[0], np.array_split(E, 4)[-1]
    assert abs(last.mean() - first.mean()) < 0.01 * np.ptp(E)


@pytest.mark.slow
def test_two_octahedra_beat_the_printed_runs():
    """Printed: mean |dE| 2.234e-9 and 1.928e-11 by their variational integrator with 100 000 and 1 000 000 evaluations,
    3.901e-12 by RKF7(8) with 2 368 912.  The mean of |E - E0| over the run, relative and in joules."""
    run = problems.octahedra().integrate("EXACT-RKN4", 1.3, every=10)
    E, L, P = run.total_energy, run.angular_momentum, run.linear_momentum
    assert run.nfev <= 200_000
    assert abs(E - E[0]).mean() < 1e-13 * abs(E[0])  # 3e-12 J
    assert abs(L - L[0]).max() < 1e-12 * abs(L[0]).max()
    assert abs(P - P[0]).max() < 1e-12 * 390.0 * 0.006


# --- by name --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", problems.SYSTEMS)
def test_a_problem_by_its_name(name):
    problem = polhode.problem(name.split("/")[1])
    assert problem is polhode.problem(name) is polhode.problem(problem)
    assert problem.name == name and name in problems.names()
    described = problem.describe()
    assert described["bodies"] == 2 and described["source"] and described["step"] == problem.step


def test_a_problem_by_its_name_in_a_scenario(didymos, tmp_path):
    path = tmp_path / "didymos.toml"
    path.write_text("problem = 'didymos'\n[run]\nmethod = 'EXACT-RKN4'\nt_span = [0, 4000]\n")
    run = polhode.io.load(path).integrate()
    assert np.array_equal(run.motion, didymos.integrate("EXACT-RKN4", t_span=(0, 4000)).motion)
    path.write_text("problem = 'didymos'\n[body]\nmass = 1.0\n[torque]\nname = 'free'\n")
    with pytest.raises(
        InputError, match=r"body: does not go with 'benchmark/didymos'(.|\n)*torque: does not"
    ):
        polhode.io.load(path)


@pytest.mark.slow
def test_methods_are_advised_for_a_problem_of_several_bodies():
    advice = polhode.advise("didymos", error=1e-3, methods=["EXACT-RKN4"], until=4000.0)
    assert advice.method == "EXACT-RKN4"


def test_what_works_with_one_body_refuses_a_problem_of_several():
    with pytest.raises(
        InputError, match=r"'benchmark/didymos' has 2 bodies(.|\n)*give one of krysl/free-body"
    ):
        polhode.certify("LP2", "didymos")
