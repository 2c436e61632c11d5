"""
Third order that behaves like fourth
====================================

Buss's third-order Taylor method, with and without his correction that restores the energy after each
step.  The method conserves the angular momentum of a free body anyway.  With the right energy as well
the body stays on the right polhode, and the remaining error is along this curve.
"""

import numpy as np
from matplotlib.ticker import NullLocator

import polhode
from polhode import plots

prism = polhode.problem("buss/prism")
methods = ("taylor3", "taylor3+ep")
steps = np.array([0.008, 0.004, 0.002, 0.001])

errors = {}
for method in methods:
    found = []
    for step in steps:
        run = prism.integrate(method, step=step, t_span=(0, 4), every="end")
        exact = polhode.exact.free_body(prism.body, prism.rotation0, prism.omega0, run.t[-1])
        found.append((exact.rotation.inv() * run.rotation[-1]).magnitude()[0])
    errors[method] = np.array(found)
runs = {method: prism.integrate(method, step=0.01) for method in methods}

with plots.styled():
    figure = plots.new_figure(10.5, 4.4)
    left, right = figure.subplots(1, 2)
    for method, colour in zip(methods, (plots.PALETTE[1], plots.PALETTE[0]), strict=True):
        energy = runs[method].kinetic_energy
        left.plot(runs[method].t, energy / energy[0] - 1.0, color=colour, lw=1.6, label=method)
        order = np.polyfit(np.log(steps), np.log(errors[method]), 1)[0]
        right.loglog(
            steps,
            errors[method],
            "o-",
            color=colour,
            ms=6,
            mec="white",
            label=f"{method}: order {order:.2f}",
        )
    left.set(xlabel="time [s]", ylabel="(E − E₀)/E₀", xlim=prism.t_span)
    left.set_title("Energy with steps of 0.01 s")
    left.legend()
    right.set(xticks=steps, xlabel="step [s]", ylabel="error of the attitude after 4 s [rad]")
    right.xaxis.set_major_formatter("{x:g}")
    right.xaxis.set_minor_locator(NullLocator())
    right.set_title("Convergence")
    right.legend()
