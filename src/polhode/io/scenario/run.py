"""The section [run]: the method, its steps or tolerances, and what is stored."""

import numpy as np

from polhode.engine._integrate import BY_TOLERANCE, STANDARD
from polhode.engine.one_body import check_control
from polhode.engine.schedule import segments, stretches
from polhode.methods import get
from polhode.support.limits import check_step, check_times

MISSING = {
    "step": "the size of a step, such as step = 0.01, or a tolerance, such as rtol = 1e-9",
    "t_span": "two times, such as t_span = [0, 10]",
}


def read_run(run, problem, known, faults):
    """Method, steps and what to store."""
    if (run.rtol, run.atol, run.max_step) != (None, None, None):
        return _tolerances(run, problem, known, faults)
    step = run.step if run.step is not None else problem and problem.step
    method = run.method or get(STANDARD)
    t_span = run.t_span or (problem and problem.t_span)
    if isinstance(step, list) and t_span is None and len(step) > 1:
        t_span = [step[0], step[-1]]
    missing = [
        key for key, value in (("step", step), ("t_span", t_span)) if value is None and not known
    ]
    for key in missing:
        faults.add(("run", key), f"is missing; give {MISSING[key]}")
    if run.t_eval is not None and run.every != 1:
        faults.add(("run",), "give t_eval or every, not both; drop one")
    if step is not None and t_span is not None:
        with faults.at("run", "step"):
            check_times(np.array(step), "an array of times") if isinstance(
                step, list
            ) else check_step(step)
            with faults.at("run"):  # span and breaks have a say in the rest
                segments(t_span, step, run.breaks, method.multistep, f"method {method.name}")
    return {
        "method": method,
        "step": step,
        "t_span": t_span and tuple(t_span),
        "every": run.every,
        "t_eval": run.t_eval,
        "breaks": run.breaks,
    }


def _tolerances(run, problem, known, faults):
    """The same where a tolerance decides the steps."""
    method, t_span = run.method or get(BY_TOLERANCE), run.t_span or (problem and problem.t_span)
    if t_span is None and not known:
        faults.add(("run", "t_span"), f"is missing; give {MISSING['t_span']}")
    if run.t_eval is not None and run.every != 1:
        faults.add(("run",), "give t_eval or every, not both; drop one")
    with faults.at("run"):
        check_control(method, run.step, run.rtol, run.atol, run.max_step)
        if t_span is not None:
            stretches(t_span, run.breaks)
    return {
        "method": method,
        "step": None,
        "t_span": t_span and tuple(t_span),
        "every": run.every,
        "t_eval": run.t_eval,
        "breaks": run.breaks,
        "rtol": run.rtol,
        "atol": run.atol,
        "max_step": run.max_step,
    }
