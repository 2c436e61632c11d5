"""Principal axes: against arithmetic of forty digits, where moments agree, in all units, and on
every kernel of BLAS.

That bits do not depend on the kernel is seen by running `bits.py` in processes of their own, as
OPENBLAS_CORETYPE tells them.
"""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from polhode import RigidBody, rotations
from polhode.errors import InputError

EPS = np.finfo(float).eps
VECTOR = st.tuples(*[st.floats(-3.0, 3.0)] * 3)
SIZE = st.integers(-166, 166)  # powers of two, 1e-50 to 1e50
KERNELS = "Haswell", "Prescott", "SkylakeX", "Nehalem"


def exactly(matrix):
    return mpmath.matrix(np.asarray(matrix).tolist())


def tensor_of(moments, turn, size=0):
    """R diag(moments) R^T of a rotation vector, to forty digits, then rounded once."""
    with mpmath.workdps(40):
        x, y, z = map(mpmath.mpf, turn)
        K, a = (
            mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]]),
            mpmath.sqrt(x * x + y * y + z * z),
        )
        R = mpmath.eye(3) + (
            mpmath.sin(a) / a * K + (1 - mpmath.cos(a)) / a**2 * K * K if a else 0 * K
        )
        full = R * mpmath.diag(list(map(mpmath.mpf, moments))) * R.T
        return np.ldexp(
            [[float(full[min(i, j), max(i, j)]) for j in range(3)] for i in range(3)], size
        ), R


def off(matrix):
    return float(max(abs(matrix[i, j]) for i in range(3) for j in range(3)))


def check(tensor, body):
    """A rotation that diagonalises the tensor, no other order or sign of its columns being nearer
    to the identity."""
    with mpmath.workdps(40):
        A, V, m = exactly(tensor), exactly(body.axes), exactly(np.diag(body.moments))
        largest = float(np.abs(tensor).max())
        assert off(A * V - V * m) <= 24 * EPS * largest
        assert off(V.T * V - mpmath.eye(3)) <= 4 * EPS and mpmath.det(V) > 0.5
    best = max(
        sum(abs(body.axes[i, k]) for i, k in enumerate(order))
        for order in itertools.permutations(range(3))
    )
    assert np.trace(body.axes) >= best - 1e-8


@settings(max_examples=60, deadline=None)
@given(st.tuples(*[st.floats(1.0, 1.99)] * 3), VECTOR, SIZE)
@example((1.0, 1.5, 1.7), (0.0, 0.0, np.pi / 4), 0)
@example((1.0, 1.5, 1.7), (1.0, 1e-160, 0.0), -166)
def test_any_tensor(moments, turn, size):
    tensor, _ = tensor_of(moments, turn, size)
    body = RigidBody(tensor)
    check(tensor, body)
    assert np.allclose(
        np.sort(body.moments), np.ldexp(np.sort(moments), size), rtol=16 * EPS, atol=0.0
    )
    assert np.array_equal(body.axes, RigidBody(np.ldexp(tensor, -size)).axes), (
        "units change nothing"
    )


@settings(max_examples=60, deadline=None)
@given(st.floats(1.0, 1.99), st.floats(1.0, 1.99), VECTOR, SIZE)
@example(1.0, 1.5, (2 * np.pi / 3 / np.sqrt(3),) * 3, 0)
def test_two_moments_that_agree(a, b, turn, size):
    """They are made equal, and the axes turn the user's by the shortest way: not about the axis of
    symmetry."""
    tensor, R = tensor_of((a, a, b), turn, size)
    body = RigidBody(tensor)
    check(tensor, body)
    if abs(a - b) < 1e-6:  # a sphere, or nearly: no axis to speak of
        return
    assert len(set(body.moments.tolist())) == 2
    k = next(k for k in range(3) if body.moments[k - 1] == body.moments[k - 2])
    n = np.array([float(R[i, 2]) for i in range(3)])
    assert abs(abs(n @ body.axes[:, k]) - 1.0) < 1e-14
    assert abs(n[k]) >= np.abs(n).max() - 1e-8
    vector = rotations.log(rotations.as_quaternion(body.axes))
    assert abs(vector @ n) < 1e-8 and abs(vector[k]) < 1e-8, "no turn about the axis"


@settings(max_examples=40, deadline=None)
@given(VECTOR, st.sampled_from([0.0, EPS, -EPS, 3 * EPS]))
def test_rounding_of_a_symmetric_tensor_does_not_turn_its_axes(turn, noise):
    """A last bit more or less in any entry: with LAPACK the axes of such tensors were as far apart
    as can be."""
    tensor, _ = tensor_of((1.2, 1.2, 1.9), turn)
    other = tensor.copy()
    other[0, 1] += noise
    other[1, 0] = other[0, 1]
    one, two = RigidBody(tensor), RigidBody(other)
    assert np.abs(one.axes - two.axes).max() <= 1e-13


@settings(max_examples=40, deadline=None)
@given(VECTOR, st.floats(-15.0, -6.0), SIZE)
def test_moments_that_nearly_agree(turn, digits, size):
    tensor, _ = tensor_of((1.2, 1.2 * (1.0 + 10.0**digits), 1.9), turn, size)
    check(tensor, RigidBody(tensor))


@given(VECTOR)
@settings(max_examples=20, deadline=None)
def test_a_sphere_keeps_the_axes(turn):
    noisy = 1.3 * np.eye(3) + 1e-16 * np.array([[0, 1, 2], [1, 0, -1], [2, -1, 0]])
    body = RigidBody(noisy)
    assert np.array_equal(body.axes, np.eye(3)) and len(set(body.moments.tolist())) == 1
    tensor, _ = tensor_of((1.3, 1.3, 1.3), turn)
    assert np.array_equal(RigidBody(tensor).axes, np.eye(3))


@given(st.permutations([1.0, 1.5, 2.25]), SIZE)
def test_principal_axes_stay_exactly(moments, size):
    moments = np.ldexp(moments, size)
    for body in (RigidBody(moments), RigidBody(np.diag(moments))):
        assert (
            body.is_principal
            and np.array_equal(body.axes, np.eye(3))
            and np.array_equal(body.moments, moments)
        )
    tensor = np.diag(moments)
    tensor[0, 1] = tensor[1, 0] = 0.1 * moments.min()
    body = RigidBody(tensor)  # an axis that is principal already stays so, exactly
    assert np.array_equal(body.axes[2], [0, 0, 1]) and np.array_equal(body.axes[:, 2], [0, 0, 1])
    assert body.moments[2] == moments[2]


def test_entries_of_all_sizes():
    """Off-diagonal entries down to the smallest double neither raise nor are taken for more than
    they are."""
    for small in (1e-300, 5e-324, 1e-20):
        body = RigidBody([[1.0, small, 0.0], [small, 1.5, small], [0.0, small, 2.0]])
        assert np.abs(body.axes - np.eye(3)).max() <= 3e-20 and body.moments.tolist() == [
            1.0,
            1.5,
            2.0,
        ]
    flat = RigidBody(tensor_of((1e-9, 1.0, 1.0 + 1e-9), (0.3, 0.2, 0.1))[0])
    assert np.allclose(flat.moments, [1e-9, 1.0, 1.0 + 1e-9], rtol=0.0, atol=4 * EPS)


@settings(max_examples=60, deadline=None)
@given(VECTOR, st.tuples(*[st.floats(-2e-7, 2e-7)] * 9))
def test_the_nearest_rotation_to_a_matrix(turn, noise):
    """To forty digits it is the orthogonal factor of the polar decomposition, M (M^T M)^-1/2."""
    _, R = tensor_of((1.0, 1.0, 1.0), turn)
    with mpmath.workdps(40):
        M = exactly([[float(R[i, j]) for j in range(3)] for i in range(3)]) + exactly(
            np.reshape(noise, (3, 3))
        )
        M = exactly([[float(M[i, j]) for j in range(3)] for i in range(3)])
        values, vectors = mpmath.eigsy(M.T * M)
        nearest = M * vectors * mpmath.diag([1 / mpmath.sqrt(v) for v in values]) * vectors.T
        found = exactly(
            rotations.matrices(
                rotations.as_quaternion([[float(M[i, j]) for j in range(3)] for i in range(3)])
            )
        )
        assert off(found - nearest) <= 8 * EPS


def test_matrices_far_from_a_rotation_are_refused():
    for wrong in (np.eye(3) * 1e200, np.eye(3) * 1e-200, np.diag([1.0, 1.0, 1.0 + 1e-5])):
        with pytest.raises(InputError, match="is not orthogonal"):
            rotations.as_quaternion(wrong)


# --- kernels of BLAS ------------------------------------------------------------------------------


def on(kernel, *command):
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        env=os.environ | {"OPENBLAS_CORETYPE": kernel},
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finished(process):
    _, err = process.communicate()
    assert process.returncode == 0, err


def same_bits(folder, kernels):
    """Each kernel computes everything, then goes on where the first left off; all get what the
    first got."""
    script = Path(__file__).parents[1] / "bits.py"
    for kernel in kernels:
        (folder / kernel).mkdir()
    finished(on(kernels[0], script, folder / kernels[0]))
    others = [on(kernel, script, folder / kernel, folder / kernels[0]) for kernel in kernels[1:]]
    for process in others:
        finished(process)
    first, *rest = (json.loads((folder / kernel / "bits.json").read_text()) for kernel in kernels)
    as_first = {"resumed": "run", "restored": "stepper"}
    return {
        (kernel, name): bits == first[as_first.get(name, name)]
        for kernel, found in zip(kernels[1:], rest, strict=True)
        for name, bits in found.items()
    }


def test_two_kernels_give_the_same_bits(tmp_path):
    same = same_bits(tmp_path, KERNELS[:2])
    assert len(same) == 13 and all(same.values()), [
        name for name, is_same in same.items() if not is_same
    ]


@pytest.mark.slow
def test_all_kernels_give_the_same_bits(tmp_path):
    same = same_bits(tmp_path, KERNELS)
    assert len(same) == 39 and all(same.values()), [
        name for name, is_same in same.items() if not is_same
    ]
