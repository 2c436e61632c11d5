"""Kernels written for a user's own body axes, made into kernels for the principal axes in which methods
work: the parameters become (axes, parameters)."""

from polhode.core.jit import jit
from polhode.core.vec import apply, apply_t, matmul, transpose
from polhode.loads.kernels import GROUND, second


def in_axes(f, frame, setting):
    """A kernel written for the user's body axes, for use in the principal ones; parameters become
    (axes, parameters)."""
    inner, around = setting.inner, setting.around
    back = apply_t if frame == "body" else second

    @jit
    def kernel(t, R, Om, p):
        axes, rest = inner(p)
        return back(axes, f(t, matmul(R, transpose(axes)), apply(axes, Om), around(rest, p)))

    return kernel


def derivatives_in_axes(derivatives, frame):
    """Torque derivatives written for the user's body axes, for use in the principal ones."""
    return tuple(_derivative_in_axes(d, _turned(k), frame) for k, d in enumerate(derivatives, 1))


def _turned(k):
    """`turned(axes, W)`: the first k vectors of W, each turned by the axes."""
    if k == 1:

        @jit
        def turned(axes, W):
            return (apply(axes, W[0]),)
    else:
        fewer = _turned(k - 1)

        @jit
        def turned(axes, W):
            return (*fewer(axes, W), apply(axes, W[k - 1]))

    return turned


def _derivative_in_axes(d, turned, frame):
    if frame == "body":

        @jit
        def kernel(t, R, W, p):
            axes, inner = p
            return apply_t(axes, d(t, matmul(R, transpose(axes)), turned(axes, W), inner))
    else:

        @jit
        def kernel(t, R, W, p):
            axes, inner = p
            return d(t, matmul(R, transpose(axes)), turned(axes, W), inner)

    return kernel


def potential_in_axes(f, setting=GROUND):
    """A potential written for the user's body axes, for use in the principal ones."""
    inner, around = setting.inner, setting.around

    @jit
    def kernel(t, R, p):
        axes, rest = inner(p)
        return f(t, matmul(R, transpose(axes)), around(rest, p))

    return kernel
