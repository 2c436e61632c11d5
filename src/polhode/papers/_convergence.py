"""What the convergence figures of the papers share: errors at the end of a run, their fitted
slopes, the two panels.

Attitude errors are |R - R*| in the 2-norm, momentum errors |Pi - Pi*| in the body frame, as Krysl &
Endres measure them; the exact motion R*, Pi* is a closed solution where there is one and
`exact.reference` elsewhere.
"""

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from polhode import exact, problems
from polhode.errors import IntegrationError
from polhode.papers._results import Cell, Series
from polhode.papers._style import look
from polhode.studies.compare.truth import is_upright_top

FINEST = 4  # a slope is fitted to so many of the finest points
FLOOR, CEILING = 2e-11, 0.3  # below it round-off shows, above it nothing is asymptotic
INDEPENDENT = (
    "The paper prints no numbers for its curves: the numbers beside ours come from an independent computation, and "
    "agree within 2 % in the asymptotic range, 5 % for drift slopes and 10 % at coarse steps."
)


@lru_cache(maxsize=128)
def run(problem, method, step, t_end=None, every=1):
    """The Trajectory of a problem, to the end of its own span or to `t_end`."""
    problem = problems.get(problem)
    t0, t1 = problem.t_span
    return problem.integrate(
        method, step=step, t_span=(t0, t1 if t_end is None else t_end), every=every
    )


@cache
def exact_motion(problem, t):
    """(R, Pi, Om) at time t: elliptic functions, theta functions, or the reference of order 16."""
    problem = problems.get(problem)
    torque, start = problem.torque(), (problem.rotation0, problem.omega0)
    if not torque.acts:
        found = exact.free_body(problem.body, *start, t)
        return found.matrix, found.momentum, found.omega
    if is_upright_top(torque, problem.body):
        found = exact.lagrange_top(problem.body, torque.params.moment, *start, t)
        return found.matrix, problem.body.momentum(found.omega), found.omega
    found = exact.reference(problem, (problem.t_span[0], t))
    return found.matrix[-1], found.momentum[-1], found.omega[-1]


@cache
def errors(problem, method, step, t_end=None):
    """Errors of attitude and body momentum at the end; not a number where the method fails or blows
    up."""
    t_end = problems.get(problem).t_span[1] if t_end is None else t_end
    try:
        end = run(problem, method, step, t_end, "end")
    except IntegrationError:
        return np.nan, np.nan
    if not end.success:
        return np.nan, np.nan
    R, Pi, _ = exact_motion(problem, t_end)
    return float(np.linalg.norm(end.matrix[-1] - R, 2)), float(
        np.linalg.norm(end.momentum[-1] - Pi)
    )


def slope(steps, found):
    """The slope of log error over log step, least squares over the finest points clear of
    round-off; NaN with fewer than two."""
    steps, found = np.asarray(steps), np.asarray(found)
    good = np.flatnonzero((found > FLOOR) & (found < CEILING))
    good = good[np.argsort(steps[good])][:FINEST]
    return (
        float(np.polyfit(np.log(steps[good]), np.log(found[good]), 1)[0])
        if len(good) > 1
        else np.nan
    )


@dataclass(frozen=True)
class Ladder:
    """Errors of several methods at several step sizes: `attitude[method]` and `momentum[method]`
    are arrays over `steps`."""

    steps: np.ndarray
    attitude: dict
    momentum: dict

    def curves(self, kind, names=None, thick=()):
        """The curves of "attitude" or "momentum" as Series, the fitted slope in the label."""
        found = getattr(self, kind)
        return [
            Series(
                f"{method}, {kind}",
                self.steps,
                found[method],
                look=look(
                    method,
                    label=f"{method} {slope(self.steps, found[method]):.2f}",
                    linewidth=2.2 if method in thick else 1.2,
                ),
            )
            for method in names or found
        ]

    def slopes(self, kind, orders=None):
        """One Cell for the fitted slope of each method; `orders` are the orders that the paper
        claims, to within 0.1."""
        return [
            slope_cell(method, kind, self.steps, found, (orders or {}).get(method))
            for method, found in getattr(self, kind).items()
        ]


def slope_cell(method, kind, steps, found, order=None):
    """A fitted slope beside the claimed order, which it matches to within 0.1."""
    value = slope(steps, found)
    match = None if order is None else bool(abs(value - order) < 0.1)
    return Cell(method, f"fitted slope, {kind}", order, round(value, 3), match)


def ladder(work, problem, methods, steps, t_end=None):
    """Run every method at every step."""
    steps = np.array(sorted(steps, reverse=True))
    found = {
        method: np.array([errors(problem, method, float(h), t_end) for h in steps]).T
        for method in work.each(methods)
    }
    return Ladder(steps, {m: e[0] for m, e in found.items()}, {m: e[1] for m, e in found.items()})


def halvings(largest, count):
    """largest, largest/2, ...: `count` of them."""
    return [largest / 2**k for k in range(count)]


def loglog(axes, curves, ylabel, xlabel="time step Δt"):
    """Convergence curves on logarithmic axes."""
    for curve in curves:
        axes.loglog(curve.x, curve.y, **curve.look)
    axes.set(xlabel=xlabel, ylabel=ylabel)


def two_panels(
    panels,
    left,
    right,
    labels=("‖Π − Π converged‖", "‖R − R converged‖₂"),
    titles=("body-frame momentum", "attitude matrix"),
    xlabel="time step Δt",
):
    """Two convergence plots side by side, each with its legend of methods and fitted slopes."""
    for axes, curves, label, title in zip(panels, (left, right), labels, titles, strict=True):
        loglog(axes, curves, label, xlabel)
        axes.set_title(title)
        axes.legend(
            fontsize=7.5,
            loc="lower right",
            handlelength=2.6,
            title="method, fitted slope",
            title_fontsize=7.5,
        )
