"""The papers' problems have the energies, momenta and end states that were checked elsewhere."""

import numpy as np
import pytest

from polhode import problems
from polhode.errors import InputError
from polhode.rotations import matrices

ENERGY = {
    "krysl/free-body": 0.470636810,
    "krysl/coulomb-wall": 1.634921234445,
    "bou-rabee/stress": 0.67024538,
    "buss/prism": 1560 / 19,
    "krysl/fast-top": 1250 + 20 * np.cos(0.3),
    "krysl/slow-top": 12.5 + 20 * np.cos(0.05),
}


@pytest.mark.parametrize("name", problems.names())
def test_a_problem_runs_and_describes_itself(name):
    problem = problems.get(name)
    run = problem.integrate("LP2", t_span=(0.0, 10 * problem.step))
    assert run.status == "finished" and run.steps == 10
    if name in ENERGY:
        assert run.total_energy[0] == pytest.approx(ENERGY[name], rel=2e-9)
    described = problem.describe()
    assert described["name"] == name and described["step"] == problem.step and described["source"]


def test_names_may_be_short_and_typos_are_explained():
    assert (
        problems.get("slow-top") is problems.get("krysl/slow-top") is problems.get("KRYSL/Slow-Top")
    )
    with pytest.raises(InputError, match="did you mean 'krysl/slow-top'"):
        problems.get("krysl/slowtop")


def test_momentum_after_the_toss_is_exact():
    run = problems.get("book-toss").integrate("SW")
    after = run.t > 2.051
    np.testing.assert_allclose(
        run.momentum_spatial[after], np.tile([40, 0.2, 0], (after.sum(), 1)), atol=1e-12
    )


@pytest.mark.parametrize(
    "name, R, Pi",
    [
        (
            "krysl/free-body",
            [
                [0.937982391275661, -0.115578181224405, -0.326849686678245],
                [0.286162107043545, 0.790329174729660, 0.541748137111293],
                [0.195704578764061, -0.601682208143158, 0.774388945075286],
            ],
            (0.661568603852798, 0.634130709038771, 0.400024770879447),
        ),
        (
            "krysl/fast-top",
            [
                [-0.749215586933407, 0.602598914163208, -0.274864608390057],
                [-0.653039598593952, -0.741346305274037, 0.154741521010736],
                [-0.110522789343550, 0.295432233017806, 0.948949160245125],
            ],
            (-0.825255618261355, 0.772281645922445, 50),
        ),
        (
            "krysl/slow-top",
            [None, None, [0.04775808446281386, 0.04061263806466103, 0.9980329548656384]],
            (-0.198972321437881, 0.322290429863362, 5),
        ),
    ],
)
def test_the_end_states_by_an_independent_integrator(name, R, Pi):
    """scipy's DOP853 on the quaternion and the body momentum, from the problem's own data."""
    from scipy.integrate import solve_ivp

    problem = problems.get(name)
    torque, I = problem.torque(), problem.body.moments

    def rate(t, y):
        q, P = y[:4], y[4:]
        A = matrices(q / np.linalg.norm(q))
        om = P / I
        x, v, z, w = q
        turned = 0.5 * np.array(
            [
                w * om[0] + v * om[2] - z * om[1],
                w * om[1] + z * om[0] - x * om[2],
                w * om[2] + x * om[1] - v * om[0],
                -(x * om[0] + v * om[1] + z * om[2]),
            ]
        )
        T = torque(t, A)
        return np.concatenate(
            [turned, np.cross(P, om) + (T if torque.frame == "body" else A.T @ T)]
        )

    start = np.concatenate([problem.rotation0, I * problem.omega0])
    end = solve_ivp(rate, problem.t_span, start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    attitude = matrices(end[:4] / np.linalg.norm(end[:4]))
    for row, expected in zip(attitude, R, strict=True):
        if expected is not None:
            np.testing.assert_allclose(row, expected, atol=5e-10)
    np.testing.assert_allclose(end[4:], Pi, atol=5e-10)
