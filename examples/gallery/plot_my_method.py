"""
A method of your own
====================

A method is one function of tuples, from the motion at one time to the motion one step later.  This is
Heun's method on the rotation group, in ten lines.  It is compiled, runs like every other method, and
its declared properties can be measured.
"""

import polhode
from polhode import plots
from polhode.core.vec import add, axpy, cross, matrix, qexp, qmul, renormalise, scale, sub, times
from polhode.methods import Motion


@polhode.method(
    "heun",
    order=2,
    torques=2,
    symmetric=False,
    symplectic=False,
    summary="Heun's rule on the rotation group.",
)
def step(h, t, s, body, torque, p):
    """The mean of the slopes at the start and at the end of an Euler step."""
    T = torque.body(t, matrix(s.q), s.Om, p)
    A = times(body.Iinv, sub(T, cross(s.Om, times(body.I, s.Om))))
    Om = axpy(h, A, s.Om)
    q = qmul(s.q, qexp(scale(h, s.Om)))
    T = torque.body(t + h, matrix(q), Om, p)
    B = times(body.Iinv, sub(T, cross(Om, times(body.I, Om))))
    mean = scale(0.5, add(s.Om, Om))
    return Motion(renormalise(qmul(s.q, qexp(scale(h, mean)))), axpy(0.5 * h, add(A, B), s.Om))


# %%
# Its certificate: it has second order, as declared, but conserves nothing, and the energy drifts in a
# long run.

certificate = polhode.certify("heun")
figure = plots.certificate(certificate)

# %%
# It is used like any other method, here for a longer run of the slow top:

top = polhode.problem("krysl/slow-top")
for method in ("heun", "LP2"):
    run = top.integrate(method, step=0.01, t_span=(0, 200))
    print(
        f"{method:>5}: energy changed by {abs(run.total_energy - run.total_energy[0]).max() / run.total_energy[0]:.1e}"
    )
