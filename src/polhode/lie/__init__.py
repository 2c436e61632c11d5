"""Linear equations on matrix Lie groups: y' = W(t) y with W in a Lie algebra.  Buss 2001, section
5.

An algebra is its bracket and its exponential.  y(t + h) = exp(Y(h)) y(t) with the series (W_k the k-th derivative of W at t,
[a,b,c] = [a,[b,c]])

    Y = sum_n Y_n h^(n+1)/(n+1)!
    Y0 = W0        Y1 = W1        Y2 = W2 + 1/2 [W1,W0]        Y3 = W3 + [W2,W0]
    Y4 = W4 + 3/2 [W3,W0] + [W2,W1] + 1/2 [W1,W1,W0] - 1/6 [W0,W2,W0] - 1/6 [W0,W0,W1,W0]
    Y5 = W5 + 2 [W4,W0] + 5/2 [W3,W1] + 2 [W2,W1,W0] + 1/2 [W1,W2,W0] - 1/2 [W0,W3,W0] - 1/2 [W0,W0,W2,W0] - [W0,W1,W1,W0]

written out for orders 1 to 6 and by the recursion Y' = sum_q B_q/q! ad_Y^q W for any other.  (The
slides have a spurious -h^5/1440 [W0,W0,W1,W0].)  With y' = y W every bracket changes its sign.  For
W that looks at y too there are RKMK4 (Munthe-Kaas 1999) and CF4 (Celledoni, Marthinsen & Owren
2003), both of order 4.

    >>> import numpy as np
    >>> run = solve(so3, lambda t: np.array([0.0, 0.0, 1.0]), np.eye(3), (0.0, np.pi / 2), 10)
    >>> np.round(run.y[-1] @ [1.0, 0.0, 0.0], 12) + 0.0
    array([0., 1., 0.])
"""

from polhode.lie._solve import Solution, solve
from polhode.lie.algebras import Algebra, gl, se3, sl, so, so3, su2
from polhode.lie.steps import series

__all__ = ["Algebra", "Solution", "gl", "se3", "series", "sl", "so", "so3", "solve", "su2"]


def __dir__() -> list[str]:
    return __all__  # what completion offers
