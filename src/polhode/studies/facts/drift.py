"""Facts of a certificate about the energy in long runs, and about what else a problem conserves."""

import math

import numpy as np

from polhode import problems
import polhode.studies.facts.conserve as conserve
import polhode.studies.facts.long_run as long_run
from polhode.studies.facts.certificate import Fact
from polhode.errors import InputError

NO_DRIFT = 1e-9  # of the energy per unit time, in the stress test: no drift
LITTLE_DRIFT = 1e-7  # no drift either, if its uncertainty is as large
POINTS = 500  # of an energy curve in the figure: pairs of the least and the largest


def energy_facts(method, problem, curves):
    """Slopes at h and h/2, over runs from neighbouring starts, and their ratio; for a problem other
    than the stress test also the changes of what its motion conserves."""
    chosen = problems.of_one_body(problem or long_run.STRESS)
    kept = conserve.invariants(chosen)
    if "energy" not in kept:
        raise InputError(
            f"problem {chosen.name!r} does not keep its energy, so there is no drift to measure; choose another"
        )
    compiled = long_run.obstacle(method, chosen) is None
    stress = chosen is problems.get(long_run.STRESS)
    drifts, curves["energy"] = [], []
    for number, step in enumerate((chosen.step, 0.5 * chosen.step)):
        run = long_run.long_run(method, step, problem=chosen, compiled=compiled)
        drift = long_run.energy_drift(run, method, step, problem=chosen, compiled=compiled)
        drifts.append(drift)
        curves["energy"].append((step, *_envelope(run.t, run.total_energy, drift.blow_up)))
        yield drift_fact(
            "drift_half" if number else "drift", step, drift, stress and method.symplectic is True
        )
        if number == 0 and not stress:
            yield from kept_facts(run, kept)
    yield ratio_fact(*drifts)


def drift_fact(name, step, drift, steady):
    stays, doubt = drift.blow_up == math.inf, finite(drift.doubt)
    allowed = max(NO_DRIFT, min(long_run.SURE * (doubt or 0.0), LITTLE_DRIFT))
    # below NO_DRIFT the scatter does not matter
    chaotic = drift.chaotic and long_run.SURE * doubt > NO_DRIFT
    measured = None if chaotic else finite(drift.slope)
    if not stays:
        shown, short = f"energy lost at t = {drift.blow_up:g}", f"lost at {drift.blow_up:.0f}"
    elif chaotic:
        shown, short = f"chaotic: no drift resolved, ± {doubt:.0e}", "chaotic"
    else:
        shown = f"{drift.slope:+.3e}" + (f" ± {doubt:.0e}" if doubt else "")
        short = "-" if measured is None else f"{measured:+.1e}"
    ok = None if not steady or chaotic else stays and abs(drift.slope) < allowed
    details = {
        "step": step,
        "scatter": finite(drift.scatter),
        "error": finite(drift.error),
        "slopes": list(map(finite, drift.slopes)),
        "chaotic": chaotic,
        "blow_up": finite(drift.blow_up),
    }
    return Fact(
        name,
        f"energy drift, slope at h = {step:g}",
        0.0 if steady else None,
        measured,
        ok,
        shown,
        details,
        short=short,
        claim="none" if steady else "",
    )


def finite(value):
    return value if math.isfinite(value) else None


def ratio_fact(coarse, fine):
    stays = coarse.blow_up == fine.blow_up == math.inf
    ratio = coarse.slope / fine.slope if stays and coarse.resolved and fine.resolved else None
    return Fact(
        "drift_ratio",
        "drift at h over drift at h/2",
        None,
        ratio,
        None,
        f"{ratio:.2f}" if ratio is not None else "no drift to compare" if stays else "-",
    )


def kept_facts(run, kept):
    titles = {
        "energy": "largest change of energy",
        "momentum": "largest change of spatial momentum",
        "size": "largest change of |Pi|",
        "axis_space": "largest change of vertical momentum",
        "axis_body": "largest change of the top's own momentum",
    }
    for name, change in conserve.changes(run, kept).items():
        yield Fact(
            f"problem_{name}",
            titles[name],
            None,
            change,
            None,
            f"{change:.1e} at h = {run.step:g}",
            {"step": run.step},
        )


def _envelope(t, energy, end):
    """The least and the largest value in each of POINTS intervals, in the order of time."""
    inside = t <= end
    t, energy = t[inside], energy[inside]
    parts = np.array_split(np.arange(len(t)), min(POINTS, len(t)))
    keep = sorted(
        {
            i
            for part in parts
            for i in (part[np.argmin(energy[part])], part[np.argmax(energy[part])])
        }
    )
    return t[keep], energy[keep] - energy[0]
