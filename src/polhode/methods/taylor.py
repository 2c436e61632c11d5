"""Taylor series methods for rotation.  Buss 2001, sections 3 and 5; orders 5 and 6 from his series.

R' = R exp(h Z), where Z depends on the body angular velocity nu and its derivatives V_k = nu^(k), with [a, b] = a x b:

    Z = sum_n Y_n h^n / (n+1)!
    Y0 = V0,   Y1 = V1,   Y2 = V2 - 1/2 [V1,V0],   Y3 = V3 - [V2,V0]
    Y4 = V4 - 3/2 [V3,V0] - [V2,V1] + 1/2 [V1,V1,V0] - 1/6 [V0,V2,V0] + 1/6 [V0,V0,V1,V0]
    Y5 = V5 - 2 [V4,V0] - 5/2 [V3,V1] + 2 [V2,V1,V0] + 1/2 [V1,V2,V0] - 1/2 [V0,V3,V0] + 1/2 [V0,V0,V2,V0] + [V0,V1,V1,V0]

The paper uses the spatial frame, omega = R nu, with the opposite sign before every term with an odd
number of brackets.  The rotation is the same, and the body frame is much cheaper.  If a method omits
brackets, the frame matters and the paper's frame is used, with omega' = R V1 and omega'' = R A2,
A2 = V2 + [V0,V1].

Misprints: eq. (9) begins 2 w x w''; the last two terms of the 4th-order box are h^3/24 w''' +
h^3/24 (w'' x w); the slides' series has an extra term, -h^5/1440 [W0,W0,W1,W0], which reduces the
order by one.  How torques enter, and what they cost, is described in _taylor.py: orders 5 and 6
hold with torque too.
"""

from polhode.core.jit import jit
from polhode.core.vec import add, axpy, cross, scale
from polhode.methods._registry import register
from polhode.methods._taylor import taylor_method


@jit
def first(h, W):
    return scale(h, W[0])


@jit
def second(h, W):
    return scale(h, axpy(h / 2.0, W[1], W[0]))


@jit
def spatial_second(W):
    """A2: the second derivative of the spatial velocity, seen from the body."""
    return add(W[2], cross(W[0], W[1]))


@jit
def false_third(h, W):
    return scale(h, axpy(h * h / 6.0, spatial_second(W), axpy(h / 2.0, W[1], W[0])))


@jit
def augmented_second(h, W):
    return scale(h, axpy(h * h / 12.0, cross(W[1], W[0]), axpy(h / 2.0, W[1], W[0])))


@jit
def third(h, W):
    """With h^3/36 w'' x w added: it helps on nearly symmetric bodies."""
    A = spatial_second(W)
    return scale(
        h,
        axpy(
            h * h / 12.0,
            cross(axpy(h / 3.0, A, W[1]), W[0]),
            axpy(h * h / 6.0, A, axpy(h / 2.0, W[1], W[0])),
        ),
    )


@jit
def third_plain(h, W):
    Y2 = axpy(-0.5, cross(W[1], W[0]), W[2])
    return scale(h, axpy(h * h / 6.0, Y2, axpy(h / 2.0, W[1], W[0])))


@jit
def fourth(h, W):
    Y3 = add(W[3], cross(W[0], W[2]))
    return axpy(h * h * h * h / 24.0, Y3, third_plain(h, W))


@jit
def fifth(h, W):
    V0, V1, V2, V3, V4 = W[:5]
    b = cross(V1, V0)
    brackets = axpy(1.5, cross(V0, V3), add(cross(V1, V2), axpy(0.5, cross(V1, b), V4)))
    double = cross(V0, axpy(-1.0, cross(V2, V0), cross(V0, b)))
    return axpy(h * h * h * h * h / 120.0, axpy(1.0 / 6.0, double, brackets), fourth(h, W))


@jit
def sixth(h, W):
    V0, V1, V2, V3, V4, V5 = W
    b, c = cross(V1, V0), cross(V2, V0)
    single = axpy(2.0, cross(V0, V4), axpy(2.5, cross(V1, V3), V5))
    double = axpy(
        2.0, cross(V2, b), axpy(0.5, cross(V1, c), axpy(-0.5, cross(V0, cross(V3, V0)), single))
    )
    triple = cross(V0, axpy(0.5, cross(V0, c), cross(V1, b)))
    return axpy(h * h * h * h * h * h / 720.0, add(double, triple), fifth(h, W))


FALSE_THIRD = "it leaves out the brackets: order 2, not 3; use taylor3"

for name, order, rotation, terms, summary, flaw in (
    ("taylor1", 1, first, 1, "First-order: the angular velocity at the start of the step", ""),
    ("taylor2", 2, second, 2, "Second-order: with the angular acceleration", ""),
    (
        "taylor3-false",
        2,
        false_third,
        3,
        "False third-order: Taylor series without brackets",
        FALSE_THIRD,
    ),
    (
        "taylor2-augmented",
        2,
        augmented_second,
        2,
        "Augmented second-order: the first bracket, without the derivative",
        "",
    ),
    ("taylor3", 3, third, 3, "Third-order, with the paper's extra term", ""),
    ("taylor3-plain", 3, third_plain, 3, "Third-order, without the paper's extra term", ""),
    ("taylor4", 4, fourth, 4, "Fourth-order Taylor series in the exponential", ""),
    ("taylor5", 5, fifth, 5, "Fifth-order Taylor series in the exponential", ""),
    ("taylor6", 6, sixth, 6, "Sixth-order Taylor series in the exponential", ""),
):
    register(taylor_method(name, order, rotation, terms, summary=summary, flaw=flaw))
