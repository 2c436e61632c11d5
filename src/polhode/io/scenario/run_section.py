"""The section [run]: the method, its steps or tolerances, and what is stored."""

import numpy as np

from polhode.engine._integrate import BY_TOLERANCE, STANDARD
from polhode.engine.one_run import check_control
from polhode.engine.schedule import segments, stretches
from polhode.methods import get
from polhode.support.limits import check_step, check_times

MISSING = {
    "step": "the size of a step, such as step = 0.01, or a tolerance, such as rtol = 1e-9",
    "t_span": "two times, such as t_span = [0, 10]",
}


def read_run(run, problem, known, faults):
    """Method, steps or tolerances, and what to store: arguments of `polhode.integrate`."""
    tolerances = {key: getattr(run, key) for key in ("rtol", "atol", "max_step")}
    by_tolerance = any(value is not None for value in tolerances.values())
    step = run.step if run.step is not None or by_tolerance else problem and problem.step
    method = run.method or get(BY_TOLERANCE if by_tolerance else STANDARD)
    t_span = run.t_span or (problem and problem.t_span)
    if isinstance(step, list) and t_span is None and len(step) > 1:
        t_span = [step[0], step[-1]]
    for key, value in (("step", by_tolerance or step), ("t_span", t_span)):
        if value is None and not known:
            faults.add(("run", key), f"is missing; give {MISSING[key]}")
    if run.t_eval is not None and run.every != 1:
        faults.add(("run",), "give t_eval or every, not both; drop one")
    if by_tolerance:
        with faults.at("run"):
            check_control(method, run.step, **tolerances)
            if t_span is not None:
                stretches(t_span, run.breaks)
    elif step is not None and t_span is not None:
        with faults.at("run", "step"):
            if isinstance(step, list):
                check_times(np.array(step), "an array of times")
            else:
                check_step(step)
            with faults.at("run"):  # span and breaks have a say in the rest
                segments(t_span, step, run.breaks, method.multistep, f"method {method.name}")
    return {
        "method": method,
        "step": None if by_tolerance else step,
        "t_span": t_span and tuple(t_span),
        "every": run.every,
        "t_eval": run.t_eval,
        "breaks": run.breaks,
        **(tolerances if by_tolerance else {}),
    }
