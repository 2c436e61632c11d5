"""Curves of runs whose steps are long: points between them."""

import numpy as np

from polhode.results.motion import interpolated

FINE = 1500  # points of which a smooth curve consists


def smooth(run):
    """A run by tolerance with points between its steps, by Hermite's cubics on SO(3): for curves, not for
    errors.  Any other is as it was."""
    n = len(run)
    if run.tolerance is None or n != run.steps + 1 or not 2 <= n < FINE:
        return run
    s = np.arange(-(-FINE // (n - 1))) / -(-FINE // (n - 1))
    steps, s = np.repeat(np.arange(n - 1), len(s)), np.tile(s, n - 1)
    h = np.diff(run.t)[steps]
    between = interpolated(run.motion[steps], run.motion[steps + 1], h, s, run.kind)
    t = np.append(run.t[steps] + s * h, run.t[-1])
    found = run._piece(slice(None), t, np.vstack([between, run.motion[-1:]]), np.zeros(len(t)))
    found.__dict__.pop("potential_energy", None)
    return found
