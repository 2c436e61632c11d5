"""Weight on an arm, for a body that turns about a fixed point: T = -moment arm x g with g = R^T up, and
its time derivatives.  `upright` is the case of arm and up along the third axis."""

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.vec import add, apply, apply_t, cross, dot, scale
from polhode.loads._torque import Torque

UP = (0.0, 0.0, 1.0)


def upright(t, R, p):
    return (p.moment * R[2][1], -p.moment * R[2][0], 0.0)


def upright_potential(t, R, p):
    return p.moment * R[2][2]


def upright_at(t, q, p):
    a, b, c, d = q
    return (2.0 * p.moment * fma(b, c, a * d), 2.0 * p.moment * fma(b, d, -a * c), 0.0)


def armed(t, R, p):
    return _weight(p, apply_t(R, p.up))


def armed_potential(t, R, p):
    return p.moment * dot(p.up, apply(R, p.arm))


@jit
def _weight(p, g):
    return scale(-p.moment, cross(p.arm, g))


# upwards seen from the body, g = R^T up, moves by g' = g x W_0, where W_0, W_1, ... are the body velocity and its derivatives


@jit
def _first(g, W):
    return cross(g, W[0])


@jit
def _second(g, W):
    return add(cross(g, W[1]), cross(_first(g, W), W[0]))


@jit
def _third(g, W):
    return add(
        add(cross(g, W[2]), scale(2.0, cross(_first(g, W), W[1]))), cross(_second(g, W), W[0])
    )


@jit
def _upright_weight(p, g):
    return (p.moment * g[1], -p.moment * g[0], 0.0)


def upright_1(t, R, W, p):
    return _upright_weight(p, _first(R[2], W))


def upright_2(t, R, W, p):
    return _upright_weight(p, _second(R[2], W))


def upright_3(t, R, W, p):
    return _upright_weight(p, _third(R[2], W))


def armed_1(t, R, W, p):
    return _weight(p, _first(apply_t(R, p.up), W))


def armed_2(t, R, W, p):
    return _weight(p, _second(apply_t(R, p.up), W))


def armed_3(t, R, W, p):
    return _weight(p, _third(apply_t(R, p.up), W))


class HeavyTop(Torque):
    """Weight on an arm: nothing acts about the vertical."""

    @property
    def arm(self) -> tuple[float, float, float]:  # type: ignore[override]
        return getattr(self.params, "arm", UP)

    @property
    def up(self) -> tuple[float, float, float]:  # type: ignore[override]
        return getattr(self.params, "up", UP)
