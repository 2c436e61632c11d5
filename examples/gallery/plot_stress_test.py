"""
Energy in the long run
======================

Bou-Rabee, Ortolan and Saccon's stress test: a body in a potential with an attractor, which it passes
closely thousands of times.  Both methods below are symmetric, of second order, and need one torque
evaluation per step.  Lie-Newmark (``NMB-cay``) is not symplectic, and its energy drifts; Lie-Verlet
(``VLV``) is symplectic, and its energy does not.
"""

import polhode
from polhode import plots

stress = polhode.problem("bou-rabee/stress")
runs = [stress.integrate(method, every=4) for method in ("NMB-cay", "VLV")]
figure = plots.drift(runs)

# %%
for run in runs:
    energy = run.total_energy
    print(
        f"{run.method.name:>8}: energy {energy[0]:.4f} at the start, {energy[-2000:].mean():.4f} on average at the end"
    )

# %%
# The path of the body's third axis, for a hundredth of the run.

path = plots.sphere({"VLV": stress.integrate("VLV", t_span=(0, 150), step=0.05)})
