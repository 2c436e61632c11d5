"""How large and how small the numbers of a run may be.

Methods take powers of what they are given: the moments up to the third, the momentum up to the
fourth, the velocity as high as their order.  Within these limits none of them leaves the range of a
double, which tests/engine/test_extremes.py checks for every method: a body and a torque scaled by a
power of two, or a clock that runs faster, give the same motion bit for bit.  Molecules and planets
lie within them, in the units of the SI.
"""

import numpy as np

from polhode.errors import InputError

LEAST_MOMENT, LARGEST_MOMENT = 1e-50, 1e50
LARGEST_RATE = 1e25  # there is no least: a body that turns less than it can show does not turn
LARGEST_TIME = 1e25
LEAST_STEP = 1e-300


def check_moments(moments, what="moments"):
    """Principal moments (..., 3), or an InputError."""
    if moments.ndim == 1:
        a, b, c = moments.tolist()
        if min(a, b, c) >= LEAST_MOMENT and max(a, b, c) <= LARGEST_MOMENT:
            return moments
    wrong = ~((moments >= LEAST_MOMENT) & (moments <= LARGEST_MOMENT))
    if np.any(wrong):
        raise InputError(
            f"{what} must lie between {LEAST_MOMENT:g} and {LARGEST_MOMENT:g}, where no method's arithmetic leaves "
            f"the range of a double, got {float(moments[wrong].flat[0])!r}; choose other units of mass or length"
        )
    return moments


def check_rates(omega, what="omega0"):
    """Angular velocities (..., 3), or an InputError; NaN is let through."""
    if omega.ndim == 1:
        a, b, c = omega.tolist()
        if abs(a) <= LARGEST_RATE and abs(b) <= LARGEST_RATE and abs(c) <= LARGEST_RATE:
            return omega
    wrong = np.abs(omega) > LARGEST_RATE
    if np.any(wrong):
        raise InputError(
            f"{what} must be at most {LARGEST_RATE:g} in size, where no method's arithmetic leaves the range of a "
            f"double, got {float(omega[wrong].flat[0])!r}; choose another unit of time"
        )
    return omega


def check_times(times, what="t_span"):
    """Times, or an InputError."""
    if times.size == 2:
        first, last = times.tolist()
        if abs(first) <= LARGEST_TIME and abs(last) <= LARGEST_TIME:
            return times
    wrong = ~(np.abs(times) <= LARGEST_TIME)
    if np.any(wrong):
        raise InputError(
            f"{what} must lie within {LARGEST_TIME:g} of zero, got {float(times[wrong].flat[0])!r}; choose another "
            "unit of time"
        )
    return times


def check_step(h, what="step"):
    """The size of a step, or an InputError."""
    if h != h:
        raise InputError(f"{what} must be a number, got nan; check how it was computed")
    if not LEAST_STEP <= abs(h) <= LARGEST_TIME:
        raise InputError(
            f"{what} must be at least {LEAST_STEP:g} and at most {LARGEST_TIME:g} in size, got {h!r}; choose "
            "another unit of time"
        )
    return h
