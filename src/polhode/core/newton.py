"""Newton's method for the three unknowns of an implicit step.

The same few corrections are made in every loop, so that lanes of a tile stay together: two, then
the residual is measured, then a last one, after which the residual is of the size of its square.
That is round-off while the body turns less than about a third of a radian per step.  `polish` goes
on where it is not.  A tile loop replaces `polish` by nothing and does the lanes that need it one by
one; the numbers are the same either way.

The last correction matters: stopping at a residual just below a threshold leaves a bias that adds
up over a long run.
"""

from collections.abc import Callable

from polhode.core.constant import Constant
from polhode.core.jit import jit
from polhode.core.vec import add, solve, sub, times

CORRECTIONS = 40
NEARLY = Constant(1e-9, single=5e-4)  # |F| over the size of its terms, before the last correction
# the same after it, for those who look at the result
ROUND_OFF = Constant(2.0e-14, single=1e-5)


def solver(function: Callable) -> Callable:
    """Mark a function that solves one nonlinear equation in each call: `polhode.facts.solver_calls`
    counts these calls.

    Examples
    --------
    >>> from polhode.core.jit import jit
    >>> @solver
    ... @jit
    ... def bisection(equation, low, high):
    ...     "The zero of a function between two numbers."
    ...     for _ in range(60):
    ...         middle = 0.5 * (low + high)
    ...         low, high = (middle, high) if equation(middle) * equation(low) > 0.0 else (low, middle)
    ...     return middle
    """
    function.__solver__ = True  # type: ignore[attr-defined]
    return function


@jit
def size(a):
    """|a1| + |a2| + |a3|."""
    return abs(a[0]) + abs(a[1]) + abs(a[2])


@jit
def correction(equation, x, data):
    """x corrected once, and the relative residual before."""
    F, DF, terms = equation(x, data)
    return sub(x, solve(DF, F)), size(F) / (terms + 1e-300)


@jit
def polish(equation, x, data, residual):
    """Go on until the residual was small before the last correction, or the corrections are
    spent."""
    k = 0
    while residual > NEARLY and k < CORRECTIONS:
        x, residual = correction(equation, x, data)
        k += 1
    # an iteration that ran away, to NaN even, has not solved anything
    left = residual if residual < 1.0 else 1.0
    return x, residual * residual if residual <= NEARLY else left


@solver
@jit
def newton(equation, x, data):
    """Solve F(x) = 0, with `equation(x, data) -> (F, DF, size of F's terms)`; gives x and its
    relative residual."""
    for _ in range(2):
        x, residual = correction(equation, x, data)
    x, residual = correction(equation, x, data)
    return polish(equation, x, data, residual)


@solver
@jit
def newton_near(near, equation, x, data):
    """The same for a guess good to the third order of the step: two corrections by `near`, a cheap
    form of the equation.

    Where that form no longer holds it gives its terms as zero: then no residual is small, and
    `polish` does the work.
    """
    x, residual = correction(near, x, data)
    x, residual = correction(near, x, data)
    return polish(equation, x, data, residual)


@solver
@jit
def newton_after(equation, x, guess, data):
    """The same from an x that rounds of a cheap iteration made of a guess: two corrections.

    Where they led astray, at more than a radian per step, `polish` begins with the guess.
    """
    x, residual = correction(equation, x, data)
    x, residual = correction(equation, x, data)
    near = residual < 0.01
    return polish(
        equation,
        (x[0] if near else guess[0], x[1] if near else guess[1], x[2] if near else guess[2]),
        data,
        residual,
    )


# --- Euler's equations over part of a step --------------------------------------------------------


@jit
def differences(I):
    """g = (I3 - I2, I1 - I3, I2 - I1): in principal axes w x I w = g (w2 w3, w3 w1, w1 w2)."""
    return I[2] - I[1], I[0] - I[2], I[1] - I[0]


@jit
def products(w):
    """(w2 w3, w3 w1, w1 w2)."""
    return w[1] * w[2], w[2] * w[0], w[0] * w[1]


@jit
def gyroscopic_tangent(D, g, w):
    """The tangent of diag(D) w + g (w2 w3, w3 w1, w1 w2)."""
    return (
        (D[0], g[0] * w[2], g[0] * w[1]),
        (g[1] * w[2], D[1], g[1] * w[0]),
        (g[2] * w[1], g[2] * w[0], D[2]),
    )


@jit
def gyroscopic_equation(w, data):
    """F(w) = w + k (w2 w3, w3 w1, w1 w2) - b, its tangent, and the size of its terms."""
    k, b = data
    kx = times(k, products(w))
    return (
        sub(add(w, kx), b),
        gyroscopic_tangent((1.0, 1.0, 1.0), k, w),
        size(w) + size(kx) + size(b),
    )


@jit
def gyroscopic(k, b, guess):
    """w with w1 + k1 w2 w3 = b1, and so on round: Euler's equations over part of a step.  Gives w and its relative residual.

    k is of the size of the step and the guess off by its square, so that three rounds of w = b - k
    (w2 w3, w3 w1, w1 w2), which cost next to nothing, leave its fifth power to Newton's method.
    """
    w = guess
    for _ in range(3):
        w = sub(b, times(k, products(w)))
    return newton_after(gyroscopic_equation, w, guess, (k, b))
