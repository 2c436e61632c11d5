"""Newton's method for the three unknowns of an implicit step.

The same few iterations are taken in every loop, so that lanes of a tile stay together; they reach round-off while the body
turns less than about half a radian per step.  `polish` goes on where they do not.  A tile loop replaces `polish` by nothing
and does the lanes that need it one by one; the numbers are the same either way.
"""

from polhode.core.jit import jit
from polhode.core.vec import solve, sub

ITERATIONS = 3
POLISH = 40
ROUND_OFF = 2.0e-14   # |F| over the size of its terms


@jit
def size(a):
    """|a1| + |a2| + |a3|."""
    return abs(a[0]) + abs(a[1]) + abs(a[2])


@jit
def polish(equation, x, data, residual):
    """Go on until the residual is at round-off, or the iterations are spent."""
    k = 0
    while residual > ROUND_OFF and k < POLISH:
        F, DF, terms = equation(x, data)
        x = sub(x, solve(DF, F))
        F, DF, terms = equation(x, data)
        residual = size(F) / (terms + 1e-300)
        k += 1
    return x, residual


@jit
def newton(equation, x, data):
    """Solve F(x) = 0, with `equation(x, data) -> (F, DF, size of F's terms)`; gives x and the relative residual."""
    for _ in range(ITERATIONS):
        F, DF, terms = equation(x, data)
        x = sub(x, solve(DF, F))
    F, DF, terms = equation(x, data)
    return polish(equation, x, data, size(F) / (terms + 1e-300))


@jit
def newton_near(near, equation, x, data):
    """The same with two iterations on `near`, a cheap form of the equation that holds while the step is small.

    For a guess that is good to the third order of the step; the equation itself has the last word.
    """
    F, DF, terms = near(x, data)
    x = sub(x, solve(DF, F))
    F, DF, terms = near(x, data)
    x = sub(x, solve(DF, F))
    F, DF, terms = equation(x, data)
    return polish(equation, x, data, size(F) / (terms + 1e-300))
