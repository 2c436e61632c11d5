"""
Energy in the long run
======================

Bou-Rabee, Ortolan and Saccon's stress test: a body in a potential with an attractor, thousands of
close encounters.  Both methods below are of second order, symmetric, and cost one evaluation of the
torque per step.  Lie-Newmark (``NMB-cay``) is not symplectic, and its energy wanders off for ever;
the Lie-Verlet method (``VLV``) is, and its energy stays.
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
# Where the body goes: its third axis, for a thousandth of the run.

path = plots.sphere({"VLV": stress.integrate("VLV", t_span=(0, 150), step=0.05)})
