"""RigidBody: what it accepts, what it refuses and says, and its algebra; and the errors module."""

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polhode import errors
from polhode.bodies._body import RigidBody
from polhode.errors import ConvergenceError, InputError, IntegrationError, PolhodeError, TorqueError

ANGLES = st.tuples(*[st.floats(-3.0, 3.0)] * 3)
LENGTH = st.floats(0.05, 5.0)


def turn(vector):
    """Rotation matrix of a rotation vector, by Rodrigues' formula, apart from the library."""
    x = np.asarray(vector, float)
    a = np.linalg.norm(x)
    K = np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
    return np.eye(3) if a == 0 else np.eye(3) + np.sin(a) / a * K + (1 - np.cos(a)) / a**2 * K @ K


def refused(*words, call=RigidBody, args=(), **kwargs):
    with pytest.raises(InputError) as caught:
        call(*args, **kwargs)
    for word in words:
        assert word in str(caught.value), f"{word!r} not in {caught.value}"


# ---- what is accepted ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inertia", [[3.0, 1.0, 2.5], np.diag([3.0, 1.0, 2.5]), (3, 1, 2.5), np.float32([3, 1, 2.5])]
)
def test_principal_input_keeps_its_order_exactly(inertia):
    body = RigidBody(inertia)
    assert body.moments.tolist() == [3.0, 1.0, 2.5]
    assert np.array_equal(body.axes, np.eye(3)) and body.is_principal is True
    assert np.array_equal(body.inertia, np.diag([3.0, 1.0, 2.5]))
    assert (body.mass, body.name, body.shape) == (1.0, None, None)


def test_integers_of_any_size():
    assert RigidBody([10**30, 10**30, 10**30], 10**25).moments.tolist() == [1e30] * 3
    refused("inertia", "float64", "units", args=([10**400, 1, 1],))


@settings(max_examples=200, deadline=None)
@given(ANGLES, LENGTH, LENGTH, LENGTH, st.integers(-500, 500))
def test_full_tensor_is_split(angles, a, b, c, exponent):
    # second moments of mass: every triangle inequality holds
    R, second = turn(angles), np.array([a, b, c]) ** 2
    tensor = R @ np.diag(second.sum() - second) @ R.T
    tensor = np.ldexp((tensor + tensor.T) / 2, exponent)
    body = RigidBody(tensor)
    scale = np.abs(tensor).max()
    again = body.axes @ np.diag(body.moments) @ body.axes.T
    assert np.abs(again - tensor).max() <= 1e-14 * scale
    assert (
        abs(np.linalg.det(body.axes) - 1) < 1e-14
        and np.abs(body.axes.T @ body.axes - np.eye(3)).max() < 1e-14
    )
    assert np.array_equal(body.inertia, tensor)
    assert np.allclose(
        np.sort(body.moments), np.ldexp(np.sort(second.sum() - second), exponent), rtol=1e-10
    )


@settings(max_examples=100, deadline=None)
@given(st.permutations([1.0, 2.0, 2.7]), st.tuples(*[st.floats(-0.3, 0.3)] * 3))
def test_axes_are_the_nearest_to_the_users(moments, tilt):
    # a small tilt: order and signs are those of the user's axes, whatever order eigh gives
    R = turn(tilt)
    tensor = R @ np.diag(moments) @ R.T
    body = RigidBody((tensor + tensor.T) / 2)
    assert np.allclose(body.moments, moments, rtol=1e-12) and np.allclose(body.axes, R, atol=1e-12)


def test_rounding_asymmetry_is_removed():
    body = RigidBody([[2, 0.1, 0], [0.1 + 1e-13, 3, 0], [0, 0, 4]])
    assert np.array_equal(body.inertia, body.inertia.T) and not body.is_principal
    assert body.inertia[0, 1] == pytest.approx(0.1 + 5e-14, rel=1e-15)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_any_scale(scale):
    tensor = scale * np.array([[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 4.0]])
    body = RigidBody(tensor)
    assert np.allclose(
        body.axes * (body.moments / scale) @ body.axes.T, tensor / scale, rtol=1e-14, atol=1e-15
    )
    refused("triangle", args=([scale, 3 * scale, scale],))
    refused("symmetric", args=([[scale, scale / 4, 0], [0, scale, 0], [0, 0, scale]],))


def test_very_anisotropic():
    assert RigidBody([1e-150, 1e150, 1e150]).moments.tolist() == [1e-150, 1e150, 1e150]
    assert RigidBody([1e300, 1e-300, 1e300]).omega([1e300, 1e-300, 0]).tolist() == [1.0, 1.0, 0.0]
    # a tilted rod thinner than rounding cannot be told from one without thickness
    R = turn([0.3, 0.4, 0.5])
    rod = R @ np.diag([1e-18, 1.0, 1.0]) @ R.T
    refused(
        "positive definite",
        "not positive beyond rounding",
        "principal moments",
        args=((rod + rod.T) / 2,),
    )
    for k in range(50):  # whichever sign the rounding has
        R = turn([0.3, 0.4, 0.02 * k])
        rod = R @ np.diag([1e-18, 1.0, 1.0]) @ R.T
        refused("not positive beyond rounding", args=((rod + rod.T) / 2,))
    refused("units", args=([[1.7e308, 1e307, 0], [1e307, 1.79e308, 1e307], [0, 1e307, 1.79e308]],))


# ---- what is refused, and what is said -----------------------------------------------------------


@pytest.mark.parametrize(
    "inertia, words",
    [
        ([1, 2], ["inertia", "3 principal moments", "3x3", "shape (2,)"]),
        (np.ones((2, 3, 3)), ["inertia", "shape (2, 3, 3)"]),
        (5.0, ["inertia", "shape ()"]),
        ([1, np.nan, 1], ["inertia[1] = nan", "finite", "replace"]),
        ([[1, 0, 0], [0, 1, np.inf], [0, 0, 1]], ["inertia[1, 2] = inf", "finite"]),
        (
            [[2, 0.5, 0], [0.4, 3, 0], [0, 0, 4]],
            [
                "symmetric",
                "inertia[0, 1] = 0.5",
                "inertia[1, 0] = 0.4",
                "0.1 apart",
                "(inertia + inertia.T) / 2",
            ],
        ),
        ([1, 1, 0], ["I3 = 0", "(1, 1, 0)", "positive"]),
        ([1, -2, 1], ["I2 = -2", "(1, -2, 1)", "positive"]),
        ([0, 0, 0], ["I1 = 0", "positive"]),
        ([[1, 2, 0], [2, 1, 0], [0, 0, 1]], ["positive definite", "= -1 ", "off-diagonal"]),
        (
            [5, 10, 1],
            [
                "moments (5, 10, 1)",
                "I2 = 10 > I1 + I3 = 6",
                "triangle",
                "no distribution of mass",
                "check_triangle=False",
            ],
        ),
        ([1, 1, 2 + 1e-11], ["I3 = 2.00000000001 > I1 + I2 = 2"]),
        ([1j, 1, 1], ["inertia", "real numbers", "complex", "convert"]),
        (["1", "2", "2"], ["inertia", "real numbers", "text"]),
        ([True, True, True], ["inertia", "booleans"]),
        ([True, 1.0, 1.0], ["inertia", "booleans"]),
        (np.ones(3, bool), ["inertia", "booleans"]),
        ([None, 1, 1], ["inertia", "None"]),
        ({1, 2, 3}, ["inertia", "{1, 2, 3}"]),
        ([[1, 2, 3], [1, 2]], ["inertia", "array of real numbers"]),
        (np.ma.array([1.0, 1.0, 1.0], mask=[0, 1, 0]), ["inertia", "masked"]),
    ],
)
def test_bad_inertia(inertia, words):
    refused(*words, args=(inertia,))


def test_triangle_at_equality_and_switched_off():
    assert RigidBody([1, 1, 2]).is_symmetric()
    assert RigidBody([0.1, 0.2, 0.1 + 0.2]).moments[2] == 0.1 + 0.2
    RigidBody([1, 1, 2 + 1e-12])
    body = RigidBody([5, 10, 1], check_triangle=False)
    assert body.moments.tolist() == [5, 10, 1] and RigidBody.from_dict(body.to_dict()) == body
    refused("check_triangle", "'no'", args=([5, 10, 1],), check_triangle="no")


@pytest.mark.parametrize(
    "mass, words",
    [
        (0, ["mass must be positive", "got 0.0", "above zero"]),
        (-1, ["mass must be positive", "-1.0"]),
        (np.inf, ["mass", "finite", "inf"]),
        (np.nan, ["mass", "finite", "nan"]),
        ("1", ["mass", "real numbers", "'1'"]),
        (True, ["mass", "booleans", "True"]),
        (1j, ["mass", "1j"]),
        ([1.0], ["mass must be one number", "shape (1,)"]),
        (None, ["mass", "None"]),
    ],
)
def test_bad_mass(mass, words):
    refused(*words, args=([1, 1, 1], mass))


def test_bad_name_and_shape():
    refused("name", "3", "put it in quotes", args=([1, 1, 1],), name=3)
    refused("shape", "kind", "'box'", args=([1, 1, 1],), shape={"size": 3})
    refused("shape", "object", args=([1, 1, 1],), shape={"kind": "mesh", "vertices": object()})


# ---- shapes --------------------------------------------------------------------------------------


def lattice(n):
    s = (np.arange(n) + 0.5) / n - 0.5
    return np.stack(np.meshgrid(s, s, s, indexing="ij"), -1).reshape(-1, 3)


def test_box_is_the_limit_of_a_lattice():
    n, size = 12, np.array([1.0, 2.0, 3.0])
    points = RigidBody.point_masses(np.full(n**3, 6.0 / n**3), lattice(n) * size + [5.0, -7.0, 3.0])
    box = RigidBody.box(*size, mass=6.0)
    # the midpoint rule is exact for x^2 up to the factor 1 - 1/n^2
    assert points.is_principal and np.allclose(
        points.moments, box.moments * (1 - 1 / n**2), rtol=1e-12
    )
    assert points.mass == pytest.approx(6.0) and np.allclose(
        box.moments, [6.5, 5.0, 2.5], rtol=1e-15
    )


def test_round_bodies_are_limits_of_lattices():
    u = lattice(60) * 2
    ball = u[np.sum(u * u, axis=1) < 1] * [1.0, 2.0, 0.5]
    body = RigidBody.point_masses(np.full(len(ball), 3 / len(ball)), ball)
    assert np.allclose(body.moments, RigidBody.ellipsoid(1, 2, 0.5, mass=3).moments, rtol=3e-3)
    rod = u[np.sum(u[:, :2] ** 2, axis=1) < 1] * [0.7, 0.7, 1.5]
    body = RigidBody.point_masses(np.full(len(rod), 2 / len(rod)), rod)
    assert np.allclose(body.moments, RigidBody.cylinder(0.7, 3.0, mass=2).moments, rtol=3e-3)


def test_spheres():
    solid = RigidBody.sphere(2.0, density=3.0)
    assert solid == RigidBody.sphere(2.0, mass=4 / 3 * np.pi * 8 * 3)
    assert np.allclose(solid.moments, RigidBody.ellipsoid(2, 2, 2, density=3.0).moments, rtol=1e-15)
    # a shell is the difference quotient of two balls of one density
    d = 1e-5
    outer, inner = RigidBody.sphere(1 + d, density=1.0), RigidBody.sphere(1 - d, density=1.0)
    shell = RigidBody.sphere(1.0, mass=outer.mass - inner.mass, hollow=True)
    assert np.allclose(shell.moments, outer.moments - inner.moments, rtol=1e-8)


def test_density_and_geometry():
    box, rod = (
        RigidBody.box(1, 2, 3, density=2.0, name="brick"),
        RigidBody.cylinder(1, 2, density=0.5),
    )
    assert (
        box.mass == 12.0
        and box.shape == {"kind": "box", "size": (1.0, 2.0, 3.0)}
        and box.name == "brick"
    )
    assert rod.mass == pytest.approx(np.pi) and rod.shape == {
        "kind": "cylinder",
        "radius": 1.0,
        "height": 2.0,
    }
    assert RigidBody.ellipsoid(1, 2, 3).shape == {"kind": "ellipsoid", "semi_axes": (1.0, 2.0, 3.0)}
    assert RigidBody.ellipsoid(1, 2, 3, density=1).mass == pytest.approx(8 * np.pi)
    assert RigidBody.sphere(1).shape == {"kind": "sphere", "radius": 1.0, "hollow": False}
    # a plate: equality in the triangle up to rounding
    assert RigidBody.box(1e-9, 1, 1).moments[0] > 0


def test_bad_shapes():
    refused("box edge b", "positive", "-2.0", call=RigidBody.box, args=(1, -2, 3))
    refused("ellipsoid semi-axis c", "positive", "0.0", call=RigidBody.ellipsoid, args=(1, 2, 0))
    refused("cylinder height", "finite", "nan", call=RigidBody.cylinder, args=(1, np.nan))
    refused("cylinder radius", "'2'", call=RigidBody.cylinder, args=("2", 1))
    refused("sphere radius", "one number", call=RigidBody.sphere, args=([1, 2],))
    refused(
        "mass or density, not both",
        "2",
        "3",
        "drop one",
        call=RigidBody.box,
        args=(1, 1, 1),
        mass=2,
        density=3,
    )
    refused("density", "positive", "-1.0", call=RigidBody.box, args=(1, 1, 1), density=-1)
    refused("mass", "positive", call=RigidBody.sphere, args=(1,), mass=0)
    refused(
        "density = 2",
        "shell",
        "pass mass",
        call=RigidBody.sphere,
        args=(1,),
        density=2,
        hollow=True,
    )
    refused("hollow", "1", call=RigidBody.sphere, args=(1,), hollow=1)
    refused("box", "range of float64", "units", call=RigidBody.box, args=(1e200, 1, 1))
    refused("sphere", "range of float64", "units", call=RigidBody.sphere, args=(1e-200,))


# ---- point masses --------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 20))
def test_point_masses_against_the_definition(seed, n):
    rng = np.random.default_rng(seed)
    m, x = rng.uniform(0.1, 2, n), rng.normal(size=(n, 3)) + rng.normal(size=3) * 10
    body = RigidBody.point_masses(m, x)
    r = x - (m[:, None] * x).sum(0) / m.sum()
    tensor = sum(mi * (ri @ ri * np.eye(3) - np.outer(ri, ri)) for mi, ri in zip(m, r, strict=True))
    assert np.allclose(body.inertia, tensor, rtol=1e-12, atol=1e-13 * np.abs(tensor).max())
    assert np.allclose(body.shape["positions"], r, atol=1e-13) and np.allclose(
        body.shape["masses"], m, rtol=1e-15
    )
    assert np.isclose(body.mass, m.sum())


@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
def test_point_masses_at_any_scale(scale):
    points = np.array([[1, 0, 0], [-1, 0, 0], [0, 2, 0], [0, -2, 0]]) * scale
    assert np.allclose(
        RigidBody.point_masses(np.ones(4), points).moments / scale**2, [8, 2, 10], rtol=1e-15
    )


def test_bad_point_masses():
    call = RigidBody.point_masses
    line = np.linspace(0, 1, 7)[:, None] * [1.0, 2.0, -3.0] + [0.3, 0.1, 9.0]
    refused("7 points", "one line", "not collinear", call=call, args=(np.ones(7), line))
    refused("2 points", "at least 3", call=call, args=([1, 1], [[0, 0, 0], [1, 0, 0]]))
    refused("4 points", "one place", call=call, args=(np.ones(4), np.ones((4, 3))))
    refused("0 points", "at least 3", call=call, args=([], np.zeros((0, 3))))
    refused("masses[1] = -1.0", "positive", "drop", call=call, args=([1, -1, 1], np.eye(3)))
    refused("(n, 3)", "(3,) and (2, 3)", call=call, args=([1, 1, 1], np.ones((2, 3))))
    refused(
        "positions[0, 2] = nan", call=call, args=([1, 1, 1], [[0, 0, np.nan], [0, 1, 0], [1, 0, 0]])
    )
    refused(
        "range of float64", "units", call=call, args=(np.ones(4), lattice(2)[[0, 3, 5, 6]] * 1e200)
    )


# ---- algebra -------------------------------------------------------------------------------------

TILTED = [[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 4.0]]


@pytest.mark.parametrize("inertia", [[1.0, 2.0, 2.5], TILTED])
@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 4, 3), (0, 3)])
def test_momentum_energy_and_back(inertia, shape):
    body = RigidBody(inertia)
    w = np.random.default_rng(1).normal(size=shape)
    L = body.momentum(w)
    assert L.shape == shape and np.allclose(
        L, np.einsum("ij,...j->...i", body.inertia, w), rtol=1e-14, atol=1e-15
    )
    assert np.allclose(body.omega(L), w, rtol=1e-13, atol=1e-14)
    energy = body.kinetic_energy(w)
    assert energy.shape == shape[:-1]
    assert np.allclose(energy, np.einsum("...i,ij,...j->...", w, body.inertia, w) / 2, rtol=1e-14)


def test_bad_vectors():
    body = RigidBody([1, 1, 1])
    refused("omega", "3 numbers", "shape (2,)", call=body.momentum, args=([1, 2],))
    refused("momentum", "shape (3, 4)", call=body.omega, args=(np.ones((3, 4)),))
    refused("omega", "shape ()", call=body.kinetic_energy, args=(1.0,))
    assert np.isnan(body.momentum([np.nan, 0, 0])[0])  # a failed run may hold NaN


def test_is_symmetric():
    assert RigidBody([2, 2, 1]).is_symmetric() and RigidBody([1, 2, 2]).is_symmetric()
    assert RigidBody([2, 1, 2]).is_symmetric() and RigidBody.sphere(1).is_symmetric(rtol=0)
    assert not RigidBody([2, 2.001, 1]).is_symmetric() and RigidBody([2, 2.001, 1]).is_symmetric(
        rtol=1e-3
    )


# ---- identity ------------------------------------------------------------------------------------


def test_immutable_also_after_copy_and_pickle():
    original = RigidBody(
        TILTED, 2.0, name="x", shape={"kind": "mesh", "v": np.ones((2, 3)), "n": {"a": 1}}
    )
    for body in (
        original,
        copy.copy(original),
        copy.deepcopy(original),
        pickle.loads(pickle.dumps(original)),
    ):
        assert body == original and hash(body) == hash(original)
        for array in (body.inertia, body.moments, body.axes):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
        with pytest.raises(AttributeError, match=r"cannot be changed.*'mass'.*new one"):
            body.mass = 3.0
        with pytest.raises(AttributeError, match=r"delete 'name'"):
            del body.name
        body.shape["n"]["a"] = 5
        assert body.shape["n"] == {"a": 1} and body.shape["v"] == ((1.0,) * 3,) * 2


def test_input_array_is_not_kept():
    given = np.array([1.0, 2.0, 2.5])
    tensor = np.array(TILTED)
    a, b = RigidBody(given), RigidBody(tensor)
    given[:] = tensor[:] = 0
    assert (
        a.moments.tolist() == [1, 2, 2.5] and b.inertia.tolist() == TILTED and given.flags.writeable
    )


def test_equality():
    a = RigidBody([1, 2, 2.5])
    assert a == RigidBody(np.diag([1, 2, 2.5])) and a != RigidBody([1, 2.5, 2]) and a != "a"
    assert a != RigidBody([1, 2, 2.5], 2.0) and a != RigidBody([1, 2, 2.5], name="a")
    assert a != RigidBody([1, 2, 2.5], shape={"kind": "box"})
    negative_zero = np.diag([1, 2, 2.5])
    negative_zero[0, 1] = negative_zero[1, 0] = -0.0
    assert RigidBody(negative_zero) == a and hash(RigidBody(negative_zero)) == hash(a)


def test_repr():
    assert repr(RigidBody([1, 2, 2.5])) == "RigidBody(moments=(1, 2, 2.5), mass=1)"
    ball = RigidBody.sphere(1, mass=5, name="b")
    assert repr(ball) == "RigidBody(moments=(2, 2, 2), mass=5, shape='sphere', name='b')"
    assert "axes=tilted" in repr(RigidBody(TILTED)) and len(repr(RigidBody(TILTED))) < 100


@pytest.mark.parametrize(
    "body",
    [
        RigidBody([0.1, 0.2, 0.3 - 1e-16]),
        RigidBody(TILTED, 1 / 3, name="tilted"),
        RigidBody.box(1, 2, 3),
        RigidBody.point_masses([1, 2, 3, 4], [[0, 0, 0], [1, 0, 0.1], [0, 1, 0.3], [0, 0.2, 1]]),
    ],
)
def test_json_round_trip_is_exact(body):
    again = RigidBody.from_dict(json.loads(json.dumps(body.to_dict())))
    assert (
        again == body
        and np.array_equal(again.axes, body.axes)
        and np.array_equal(again.moments, body.moments)
    )


def test_bad_dicts():
    refused(
        "'inertai'",
        "did you mean 'inertia'",
        "mass",
        call=RigidBody.from_dict,
        args=({"inertia": [1, 1, 1], "inertai": 1},),
    )
    refused("'inertia'", "{'mass': 1}", call=RigidBody.from_dict, args=({"mass": 1},))
    refused("dict", "[1, 2, 3]", call=RigidBody.from_dict, args=([1, 2, 3],))


# ---- errors --------------------------------------------------------------------------------------


def test_error_classes():
    assert issubclass(InputError, PolhodeError) and issubclass(InputError, ValueError)
    assert issubclass(IntegrationError, PolhodeError) and issubclass(IntegrationError, RuntimeError)
    assert issubclass(ConvergenceError, IntegrationError) and issubclass(
        TorqueError, IntegrationError
    )
    plain = IntegrationError("stopped")
    assert (plain.t, plain.step_index, plain.state, plain.trajectory) == (None,) * 4
    with pytest.raises(TypeError):
        IntegrationError("stopped", 0.5)


def test_errors_survive_pickling():  # they cross process borders in sweeps
    error = ConvergenceError(
        "no", t=0.5, step_index=3, state=(1.0,), trajectory=[2], residual=1e-3, largest_step=0.1
    )
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is ConvergenceError and str(again) == "no" and vars(again) == vars(error)
    assert (again.t, again.step_index, again.state, again.trajectory) == (0.5, 3, (1.0,), [2])
    assert (again.residual, again.largest_step) == (1e-3, 0.1)


def test_nearest_and_unknown():
    assert errors.nearest("liemid[ae]", ["LIEMID[EA]", "NMB"]) == " (did you mean 'LIEMID[EA]'?)"
    assert errors.nearest("LIEMID", ["liemid", "NMB"]) == " (did you mean 'liemid'?)"
    assert errors.nearest("zzz", ["NMB"]) == "" and errors.nearest(3, []) == ""
    error = errors.unknown("method", "nmd", ["NMB", "AKW"])
    assert isinstance(error, InputError) and "unknown method 'nmd' (did you mean 'NMB'?)" in str(
        error
    )
    many = str(errors.unknown("method", "q", (f"name{i}" for i in range(40))))
    assert "'name0'" in many and "'name30'" not in many and "(28 more)" in many
    assert str(errors.unknown("key", "a", [])).endswith("valid: none")


def test_scipy_is_not_imported():
    code = "import sys, polhode.bodies._body, polhode.rotations; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
