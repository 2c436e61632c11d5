"""Lie group methods: measured orders in several algebras, the series against the recursion, what is
refused."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

from polhode import InputError
from polhode.lie import Algebra, gl, se3, series, sl, so, so3, solve, su2
from polhode.lie.algebras import commutator
from polhode.lie.steps import by_recursion, written_out


def traceless(a):
    return a - np.trace(a) / len(a) * np.eye(len(a))


def skew(a):
    return 0.5 * (a - a.T)


def same(a):
    return a


# a user's own
heisenberg = Algebra("heisenberg", commutator, lambda a: np.eye(3) + a + a @ a / 2, (3, 3))
ALGEBRAS = {
    "so3": (so3, (3,), same, np.eye(3)),
    "se3": (se3, (6,), same, np.eye(4)),
    "sl3": (sl(3), (3, 3), traceless, np.eye(3)),
    "su2": (su2, (3,), same, np.eye(2, dtype=complex)),
    "so4": (so(4), (4, 4), skew, np.eye(4)),
    "own": (heisenberg, (3, 3), lambda a: np.triu(a, 1), np.eye(3)),
}


def path(shape, project):
    """An analytic W(t), and its derivatives."""
    rng = np.random.default_rng(5)
    A, B, C = (0.8 * project(rng.normal(size=shape)) for _ in range(3))

    def derivatives(t, n):
        return [
            A * (k == 0)
            + B * 1.3**k * np.sin(1.3 * t + k * np.pi / 2)
            + C * 0.7**k * np.cos(0.7 * t + k * np.pi / 2)
            for k in range(n)
        ]

    return lambda t: derivatives(t, 1)[0], derivatives


@cache
def exact(name):
    algebra, shape, project, y0 = ALGEBRAS[name]
    W, derivatives = path(shape, project)
    return solve(algebra, W, y0, (0.0, 2.0), 40, "taylor(12)", derivatives=derivatives).y[-1]


@pytest.mark.parametrize(
    ("method", "order", "offered"),
    [
        *((f"taylor{n}", n, offered) for n in range(1, 7) for offered in (False, True)),
        ("taylor(8)", 8, False),
        ("taylor(8)", 8, True),
        ("RKMK4", 4, False),
        ("CF4", 4, False),
    ],
)
@pytest.mark.parametrize("name", ALGEBRAS)
def test_order(name, method, order, offered):
    algebra, shape, project, y0 = ALGEBRAS[name]
    W, derivatives = path(shape, project)
    # few: a derivative that is taken by differences has a round-off of 1e-12
    counts = (4, 8) if order == 8 else (10, 20)
    errors = [
        np.abs(
            solve(
                algebra, W, y0, (0.0, 2.0), n, method, derivatives=derivatives if offered else None
            ).y[-1]
            - exact(name)
        ).max()
        for n in counts
    ]
    assert errors[1] > 5e-11
    assert np.log2(errors[0] / errors[1]) > order - 0.3
    if name != "own":  # nilpotent: some brackets vanish
        assert np.log2(errors[0] / errors[1]) < order + 0.7


def test_recursion_and_listed_series_agree():
    rng = np.random.default_rng(1)
    W = list(rng.normal(size=(6, 4, 4)))
    for a, b in zip(written_out(W, commutator), by_recursion(W, commutator), strict=True):
        assert np.abs(a - b).max() < 1e-14 * np.abs(a).max()
    assert np.allclose(series(W[:1], 0.1, commutator), 0.1 * W[0])


@pytest.mark.parametrize("method", ["RKMK4", "CF4", "taylor4"])
def test_body_frame_solves_the_transposed_equation(method):
    W, _ = path((3,), same)
    left = solve(so3, W, np.eye(3), (0, 1), 10, method, frame="body").y[-1]
    right = solve(so3, lambda t: -W(t), np.eye(3), (0, 1), 10, method).y[-1]
    assert np.abs(left - right.T).max() < 1e-14


@pytest.mark.parametrize(
    ("method", "frame"),
    [("RKMK4", "spatial"), ("CF4", "spatial"), ("RKMK4", "body"), ("CF4", "body")],
)
def test_order_when_the_field_looks_at_the_group(method, frame):
    """The free rigid body: spatial velocity R J^-1 R^T L, body velocity J^-1 R^T L."""
    J, L = np.array([2.0, 3.0, 4.5]), np.array([1.0, 2.0, -1.0])

    def W(t, R):
        return R @ (R.T @ L / J) if frame == "spatial" else R.T @ L / J

    ends = [solve(so3, W, np.eye(3), (0, 3), n, method, frame=frame).y[-1] for n in (20, 40, 640)]
    assert abs(np.log2(np.abs(ends[0] - ends[2]).max() / np.abs(ends[1] - ends[2]).max()) - 4) < 0.2


def test_exponentials_are_those_of_the_matrices():
    rng = np.random.default_rng(2)
    sigma = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
    for size in (1e-9, 0.3, 3.0):
        w, v = size * rng.normal(size=3), rng.normal(size=3)
        hat = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        twist = np.block([[hat, v[:, None]], [np.zeros((1, 4))]])
        assert np.abs(so3.exp(w) - expm(hat)).max() < 1e-14
        assert np.abs(se3.exp(np.concatenate([v, w])) - expm(twist)).max() < 1e-13
        assert np.abs(su2.exp(w) - expm(-0.5j * np.tensordot(w, sigma, 1))).max() < 1e-14


def test_group_is_not_left():
    W, _ = path((3, 3), traceless)
    assert abs(np.linalg.det(solve(sl(3), W, np.eye(3), (0, 2), 50, "taylor3").y[-1]) - 1) < 1e-12
    # acts on vectors too
    assert solve(gl(2), lambda t: np.eye(2), np.array([1.0, 2.0]), (0, 1), 3).y.shape == (4, 2)


def test_wrong_input():
    W, _ = path((3,), same)
    with pytest.raises(InputError, match="shape"):
        solve(se3, W, np.eye(4), (0, 1), 10)
    with pytest.raises(InputError, match="did you mean 'CF4'"):
        solve(so3, W, np.eye(3), (0, 1), 10, "CF5")
    with pytest.raises(InputError, match="function of time alone"):
        solve(so3, lambda t, y: np.zeros(3), np.eye(3), (0, 1), 10)
    with pytest.raises(InputError, match="steps"):
        solve(so3, W, np.eye(3), (0, 1), 0)
    with pytest.raises(InputError, match="frame"):
        solve(so3, W, np.eye(3), (0, 1), 10, frame="inner")


def test_the_example_runs():
    script = Path(__file__).parents[1] / "examples" / "camera_se3.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert "taylor6" in done.stdout
