"""What the page asks for: checked field by field before any work, run by the library, and written
down as Python.

A `Request` holds what `integrate` takes.  `checked` makes one from the page's JSON or raises
`Refused` with a sentence for each field that is wrong; `computed` runs it, tells how far it is, and
gives plain data back.
"""

import math
import time
from typing import NamedTuple

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.engine._integrate import integrate
from polhode.results.conserved import energy, momentum
from polhode.errors import InputError, IntegrationError, PolhodeError, floats, number, unknown
from polhode.io.read import record
from polhode.show.play import catalogue
from polhode.show.view._page import encode
from polhode.problems import Problem

FIELDS = ("problem", "body", "omega0", "method", "compare", "step", "span")
BODIES = {"box": RigidBody.box, "ellipsoid": RigidBody.ellipsoid, "moments": RigidBody}
NAMES = {
    "box": [f"edge {name}" for name in "abc"],
    "ellipsoid": [f"semi-axis {name}" for name in "abc"],
    "moments": ["J₁", "J₂", "J₃"],
}  # of the three numbers, as the page writes them
MOST_STEPS = 400_000
# the largest moment of inertia by the smallest: a needle beyond it spins too fast for any step
# offered
MOST_APART = 1e6
MOST_SECONDS = 10.0  # for one method, compiling not counted


class Refused(PolhodeError):
    """The page asked for something that cannot be; `fields` says what is wrong, field by field."""

    def __init__(self, fields):
        super().__init__("; ".join(fields.values()))
        self.fields = fields


class Request(NamedTuple):
    """What is to be run, by one method or by two."""

    problem: Problem
    body: RigidBody
    omega0: np.ndarray
    methods: tuple
    step: float
    span: float


# --- checking -------------------------------------------------------------------------------------


def check_request(asked):
    """The Request, or every field that is wrong at once."""
    if not isinstance(asked, dict):
        raise Refused(
            {
                "": f"the request must be an object with the keys {', '.join(FIELDS)}, got {type(asked).__name__}"
            }
        )
    strange = [key for key in asked if key not in FIELDS]
    if strange:
        raise Refused({"": str(unknown("key of the request", strange[0], FIELDS))})
    wrong, good = {}, {}
    readers = {
        "problem": catalogue.problem,
        "body": _body,
        "omega0": _omega,
        "method": catalogue.method,
        "compare": lambda name: None if name is None else catalogue.method(name),
        "step": lambda value: _number("the step", value),
        "span": lambda value: _number("the span", value),
    }
    for field, read in readers.items():
        try:
            good[field] = read(asked.get(field))
        except InputError as error:
            wrong[field] = str(error)
    if not {"step", "span"} & set(wrong):
        wrong |= _too_much(good["step"], good["span"])
    if wrong:
        raise Refused(wrong)
    methods = (good["method"],) if good["compare"] is None else (good["method"], good["compare"])
    return Request(
        good["problem"], good["body"], good["omega0"], methods, good["step"], good["span"]
    )


def _number(what, value):
    if value is None:
        raise InputError(f"{what} is missing; give a number of seconds")
    return number(what, value, positive=True)


def _omega(values):
    omega = floats("omega0", _filled("omega0", values, ("Ω₁", "Ω₂", "Ω₃")))
    if omega.shape != (3,):
        raise InputError(f"omega0 must be three numbers, got shape {omega.shape}; give three")
    return omega


def _filled(what, values, names):
    if not isinstance(values, list):
        raise InputError(f"{what} must be a list of three numbers, got {values!r}; give three")
    missing = [name for name, value in zip(names, values, strict=False) if value is None]
    if missing:
        raise InputError(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; give a number"
        )
    return values


def _body(data):
    keys = ("kind", "values", "unphysical")
    if not isinstance(data, dict) or "kind" not in data:
        raise InputError(
            f"the body must be an object with the keys {', '.join(keys)}, got {data!r}; give these"
        )
    strange = [key for key in data if key not in keys]
    if strange:
        raise unknown("key of the body", strange[0], keys)
    kind = data["kind"]
    if kind not in tuple(BODIES):
        raise unknown("kind of body", kind, BODIES)
    values = _filled("the body", data.get("values"), NAMES[kind])
    if len(values) != 3:
        raise InputError(f"the body takes three numbers, got {len(values)}; give three")
    physical = data.get("unphysical") is not True
    made = (
        RigidBody(values, check_triangle=physical) if kind == "moments" else BODIES[kind](*values)
    )
    return _stout(
        made.with_units("SI"),
        NAMES[kind],
    )


def _stout(body, names):
    """The body, unless it is so thin that no method could follow it in steps that the page
    offers."""
    least, most = body.moments.min(), body.moments.max()
    if most > MOST_APART * least:
        raise InputError(
            f"the moments of inertia reach from {least:.2g} to {most:.2g} kg m², and the playground takes bodies "
            f"whose largest is at most {MOST_APART:g} times the smallest; bring {', '.join(names)} closer together"
        )
    return body


def _too_much(step, span):
    steps = span / step
    if steps < 1.0 - 1e-9:
        return {
            "step": f"the step {step:g} s is longer than the span of {span:g} s; take a smaller one"
        }
    if steps > MOST_STEPS:
        shortest = span / MOST_STEPS
        field, longer = (
            ("span", "a longer step")
            if shortest > 1.0
            else ("step", f"a step of {shortest:.2g} s or more")
        )
        return {
            field: f"{span:g} s in steps of {step:g} s are {steps:.3g} steps, and the playground takes at most {MOST_STEPS}; "
            f"shorten the span to {MOST_STEPS * step:.3g} s or less, or take {longer}"
        }
    return {}


# --- running --------------------------------------------------------------------------------------


def computed(request, tell):
    """The runs as the page shows them, a verdict for each, and the code.  `tell(state, method,
    share)` may raise to end it."""
    runs, verdicts, wrong = [], [], {}
    for field, method in zip(("method", "compare"), request.methods, strict=False):
        tell("preparing", method.name, 0.0)
        try:
            run, message = _run(request, method, tell)
        except PolhodeError as error:
            wrong[field] = str(error)
            continue
        # it failed at once
        if len(run) < 2 or not np.isfinite([*run.quaternion[1], *run.omega[1]]).all():
            wrong[field] = message
            continue
        runs.append(run)
        verdicts.append(_verdict(run, message))
    if wrong:
        raise Refused(wrong)
    return {
        "runs": encode([record(run) for run in runs]),
        "verdicts": verdicts,
        "code": code(request),
    }


def _run(request, method, tell):
    """The trajectory, whole or not, and what there is to say about it."""
    started = None

    def progress(done, total):
        nonlocal started
        now = time.monotonic()
        started = now if started is None else started  # the first chunk has been compiled by now
        if now - started > MOST_SECONDS:
            raise InputError(
                f"{method.name} took {done} of {total} steps in {MOST_SECONDS:g} s, which is as long as the "
                "playground waits; take a longer step or a shorter span"
            )
        tell("running", method.name, done / total)

    start = request.problem.t_span[0]
    try:
        run = integrate(
            request.body,
            request.problem.torque(request.step),
            (start, start + request.span),
            request.step,
            method,
            rotation0=request.problem.rotation0,
            scalar_first=False,
            omega0=request.omega0,
            progress=progress,
        )
    except IntegrationError as error:
        if error.trajectory is None:
            raise
        return error.trajectory, str(error)
    return run, "" if run.success else run.message


def _verdict(run, message):
    """What came out, in numbers that JSON has: largest errors, evaluations, time."""
    kept = record(run)
    strays = {"energy": energy(kept), "momentum": momentum(kept)}
    largest = {key: float(np.nanmax(np.abs(stray.values))) for key, stray in strays.items()}
    return {
        "method": run.method.name,
        "steps": int(run.steps),
        "evaluations": None if kept.free else int(run.nfev),
        "seconds": run.elapsed,
        "message": message,
        "by_right": {key: bool(stray.by_right) for key, stray in strays.items()},
        **{key: value if math.isfinite(value) else None for key, value in largest.items()},
    }


# --- as Python ------------------------------------------------------------------------------------


def code(request):
    """The same in Python, for the reader to take along."""
    body, named = request.body, request.problem.name != catalogue.BOX.name
    size = (body.shape or {}).get("size") or (body.shape or {}).get("semi_axes")
    if size:
        made = f"polhode.RigidBody.{body.shape['kind']}({_format_numbers(size)})"
    else:
        rule = "" if body.to_dict()["check_triangle"] else ", check_triangle=False"
        made = f"polhode.RigidBody([{_format_numbers(body.moments)}]{rule})"
    torque, attitude = (
        (f"problem.torque({request.step!r})", "rotation0=problem.rotation0, ")
        if named
        else ("None", "")
    )
    start = float(request.problem.t_span[0])
    runs = [
        f"{name} = polhode.integrate(\n"
        f'    body, {torque}, ({start!r}, {start + request.span!r}), {request.step!r}, "{method.name}",\n'
        f"    {attitude}omega0=({_format_numbers(request.omega0)}))"
        for name, method in zip(("run", "other"), request.methods, strict=False)
    ]
    show = "run.view().open()" if len(runs) == 1 else "run.view(compare=other).open()"
    problem = [f'problem = polhode.problem("{request.problem.name}")'] if named else []
    return "\n".join(["import polhode", "", *problem, f"body = {made}", *runs, show, ""])


def _format_numbers(values):
    return ", ".join(repr(float(value)) for value in values)
