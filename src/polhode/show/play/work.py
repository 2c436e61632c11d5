"""What the page asks for: checked field by field before any work, and run by the library.

A `Request` holds what `integrate` takes.  `checked` makes one from the page's JSON or raises
`Refused` with a sentence for each field that is wrong; `computed` runs it, tells how far it is, and
gives plain data back.
"""

import math
import time
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.engine._integrate import integrate
from polhode.results.conserved import energy, is_free, momentum
from polhode.errors import InputError, IntegrationError, PolhodeError, floats, number, unknown
from polhode.show.play import catalogue, start
from polhode.show.play.code import as_python
from polhode.show.play.lessons import LESSONS
from polhode.show.view._page import encode
from polhode.problems import Problem

FIELDS = (
    "problem",
    "body",
    "omega0",
    "tilt",
    "wheel",
    "weight",
    "damping",
    "second",
    "method",
    "compare",
    "step",
    "span",
)
START = ("body", "omega0", "tilt")  # what a second body has of its own
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


class Start(NamedTuple):
    """A body and its motion at the start."""

    body: RigidBody
    omega0: np.ndarray
    rotation0: np.ndarray


class Request(NamedTuple):
    """What is to be run: one body or two, by one method or by two."""

    problem: Problem
    starts: tuple
    methods: tuple
    weight: float
    damping: float
    step: float
    span: float

    @property
    def torque(self):
        return start.torque(self.problem, self.step, self.weight, self.damping)

    def launch(self, body):
        """What else `integrate` takes for a body that is thrown."""
        return start.launch(LESSONS.get(self.problem.name), body.mass)

    @property
    def runs(self):
        """(field of the page, start, method) of each run: what is given once holds for both."""
        fields = ("method", "compare" if len(self.methods) > 1 else "second")
        both = zip_longest(self.starts, self.methods)
        return [
            (field, body or self.starts[0], method or self.methods[0])
            for field, (body, method) in zip(fields, both, strict=False)
        ]


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
        "tilt": _tilt,
        "wheel": lambda value: _number("the speed of the wheel", value, "rad/s", signed=True),
        "weight": lambda value: _number("the weight", value, "N m"),
        "damping": lambda value: _number("the damping", value, "N m s"),
        "second": _second,
        "method": catalogue.method,
        "compare": lambda name: None if name is None else catalogue.method(name),
        "step": lambda value: _number("the step", value, "seconds", positive=True),
        "span": lambda value: _number("the span", value, "seconds", positive=True),
    }
    asked = {**_own(asked.get("problem")), **asked}
    for field, read in readers.items():
        try:
            good[field] = read(asked.get(field))
        except InputError as error:
            wrong[field] = str(error)
    if not {"step", "span"} & set(wrong):
        wrong |= _too_much(good["step"], good["span"])
    if wrong:
        raise Refused(wrong)
    problem, starts = good["problem"], []
    first = {field: good[field] for field in START}
    for field, one in (("body", first), ("second", good["second"])):
        if one is None:
            continue
        try:
            body = start.with_rotors(one["body"], problem, good["wheel"])
        except InputError as error:
            raise Refused({field: str(error)}) from error
        turn = start.rotation0(problem, math.radians(one["tilt"]))
        starts.append(Start(body, one["omega0"], turn))
    return Request(
        problem,
        tuple(starts),
        tuple(filter(None, (good["method"], good["compare"]))),
        *(good[field] for field in ("weight", "damping", "step", "span")),
    )


def _own(name):
    """What a problem has where a request is silent."""
    known = catalogue.PROBLEMS.get(name) if isinstance(name, str) else None
    own = {"tilt": 0.0, "wheel": 0.0, "weight": 0.0, "damping": 0.0}
    if known is None:
        return own
    return own | {
        "tilt": math.degrees(start.tilt(known)),
        "wheel": start.wheel(known) or 0.0,
        "weight": start.weight(known),
    }


def _second(data):
    """The fields of a second body; None if there is none."""
    if data is None:
        return None
    if not isinstance(data, dict) or set(data) != set(START):
        raise InputError(
            f"the second body must be an object with the keys {', '.join(START)}, got {data!r}; give these"
        )
    return {
        "body": _body(data["body"]),
        "omega0": _omega(data["omega0"]),
        "tilt": _tilt(data["tilt"]),
    }


def _tilt(value):
    angle = _number("the tilt", value, "degrees")
    if angle > 180.0:
        raise InputError(f"the tilt must be at most 180 degrees, got {angle:g}; give a smaller one")
    return angle


def _number(what, value, unit, positive=False, signed=False):
    if value is None:
        raise InputError(f"{what} is missing; give a number of {unit}")
    value = number(what, value, positive=positive)
    if value < 0.0 and not signed:
        raise InputError(f"{what} must not be negative, got {value:g}; give 0 or more {unit}")
    return value


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
            "step": f"the step {step:g} s is longer than the span of {span:g} s; use a smaller one"
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
            f"shorten the span to {MOST_STEPS * step:.3g} s or less, or use {longer}"
        }
    return {}


# --- running --------------------------------------------------------------------------------------


def computed(request, tell):
    """The runs as the page shows them, a verdict for each, and the code.  `tell(state, method,
    share)` may raise to end it."""
    runs, verdicts, wrong = [], [], {}
    for field, body, method in request.runs:
        tell("preparing", method.name, 0.0)
        try:
            run, message = _run(request, body, method, tell)
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
    shown = encode(runs)
    if len(request.starts) > 1:
        for one, verdict, which in zip(shown, verdicts, ("first", "second"), strict=True):
            one["label"], one["detail"] = f"{which} body", verdict["method"]
    return {
        "runs": shown,
        "verdicts": verdicts,
        "code": as_python(request),
    }


def _run(request, body, method, tell):
    """The trajectory, whole or not, and what there is to say about it."""
    started = None

    def progress(done, total):
        nonlocal started
        now = time.monotonic()
        started = now if started is None else started  # the first chunk has been compiled by now
        if now - started > MOST_SECONDS:
            raise InputError(
                f"{method.name} took {done} of {total} steps in {MOST_SECONDS:g} s, which is as long as the "
                "playground waits; use a longer step or a shorter span"
            )
        tell("running", method.name, done / total)

    begin = request.problem.t_span[0]
    try:
        run = integrate(
            body.body,
            request.torque,
            (begin, begin + request.span),
            request.step,
            method,
            rotation0=body.rotation0,
            scalar_first=False,
            omega0=body.omega0,
            progress=progress,
            **request.launch(body.body),
        )
    except IntegrationError as error:
        if error.trajectory is None:
            raise
        return error.trajectory, str(error)
    return run, "" if run.success else run.message


def _verdict(run, message):
    """What came out, in numbers that JSON has: largest errors, evaluations, time."""
    strays = {"energy": energy(run), "momentum": momentum(run)}
    largest = {key: float(np.nanmax(np.abs(stray.values))) for key, stray in strays.items()}
    return {
        "method": run.method.name,
        "steps": int(run.steps),
        "evaluations": None if is_free(run) else int(run.nfev),
        "seconds": run.elapsed,
        "message": message,
        "causes": {key: stray.cause for key, stray in strays.items()},
        **{key: value if math.isfinite(value) else None for key, value in largest.items()},
    }
