"""How a measurement becomes a fact with a verdict: orders, and properties that hold or do not.

A property holds when its defect is below HELD and is broken when it is above BROKEN.  What lies between
is looked at again with a larger step, which makes what is broken worse and leaves what holds alone.
"""

import math

from polhode.studies.facts.certificate import Fact
from polhode.studies.facts.drift import finite
from polhode.studies.facts.trial import TROUBLE

HELD, BROKEN = 1e-11, 1e-9
# how far a measured order may be from the declared one, up to order 3; in proportion above
SLOPE = 0.1


def order_fact(name, title, declared, value, doubt, how):
    """A fact about an order."""
    details = {"doubt": finite(doubt), "from": how}
    if math.isnan(value):
        shown = "does not settle" + " in doubles" * (how == "doubles")
        return Fact(name, title, declared, None, None, shown, details)
    near = declared is not None and (
        value == declared or abs(value - declared) < SLOPE * max(1.0, declared / 3.0)
    )
    return Fact(
        name,
        title,
        declared,
        value,
        None if declared is None else near,
        "exact" if math.isinf(value) else f"{value:.2f}",
        details,
    )


def property_fact(name, title, declared, defect, steps):
    """A fact that holds to round-off or does not; `defect(step)` gives its size and the noise of
    that."""
    found = []
    for step in steps:
        try:
            value, noise = defect(step)
        except TROUBLE:
            break
        found.append((step, value, noise))
        if (value < HELD and declared is not False) or not value < max(BROKEN, 10.0 * noise):
            break
    if not found:
        return Fact(
            name,
            title,
            declared,
            None,
            False if declared else None,
            f"a step of {steps[0]:g} is too large",
        )
    _, last, noise = found[-1]
    holds = True if last < HELD else None if last < max(BROKEN, 10.0 * noise) else False
    ok = (
        None
        if declared is None
        else holds is True
        if declared
        else None
        if holds is None
        else not holds
    )
    step, value, noise = found[0]
    word = {True: "yes", False: "no", None: "unclear"}[holds]
    shown = f"{word}, {_format_defect(value)} at h = {step:g}"
    if holds is not True and len(found) > 1:
        shown += f", {_format_defect(last)} at {found[-1][0]:g}"
    if noise:
        shown += f", noise {_format_defect(found[0][2])}"
    return Fact(
        name,
        title,
        declared,
        holds,
        ok,
        shown,
        {
            "step": step,
            "defect": value,
            "noise": noise or None,
            "larger": [row[:2] for row in found[1:]],
        },
    )


def _format_defect(value):
    return "0" if value == 0.0 else f"{value:.1e}" if math.isfinite(value) else "not finite"
