"""Scenario files: a run described in TOML, checked as a whole before anything starts.

    problem = "krysl/slow-top"        # or the three sections [body], [initial] and [torque]

    [run]
    method = "NMB"
    step = 0.0125
    t_span = [0, 10]

A section beside a problem replaces that part of it: [body] its body, [torque] its torque, and each
key of [initial] and [run] what it says.  Every error in the file is reported at once, with the path
of its key.  A scenario holds data and names, never code: a torque in Python is given beside it, by
--torque-file.
"""

from __future__ import annotations

import contextlib
import datetime
import inspect
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from polhode import problems, rotations
from polhode.loads import torques, user_file
from polhode.bodies._body import RigidBody
from polhode.bodies.shapes import SHAPES
from polhode.errors import InputError, as_path, closest, unknown
from polhode.support.file_names import from_text, readable
from polhode.engine.one_body import check_control
from polhode.engine.schedule import segments, stretches
from polhode.engine._integrate import BY_TOLERANCE, STANDARD, integrate
from polhode.engine.ensemble.inputs import check_parameters
from polhode.io import schema, store
from polhode.support.regular import LARGEST_TEXT, check_regular
from polhode.support.limits import check_moments, check_rates, check_step, check_times
from polhode.methods import get

if TYPE_CHECKING:
    from polhode.engine.checkpoint import Checkpoint
    from polhode.results._trajectory import Trajectory

DEEPEST = 100  # tables and lists inside each other
# keys of those who hope to run code
CODE = ("file", "path", "python", "code", "function", "module", "source", "torque_file")
NEVER = "a scenario holds data and never runs code, got"
TORQUE_FILE = "drop it here, and name the file on the command line: --torque-file FILE.py:NAME"
MISSING = {
    "step": "the size of a step, such as step = 0.01, or a tolerance, such as rtol = 1e-9",
    "t_span": "two times, such as t_span = [0, 10]",
}


@dataclass(frozen=True)
class Scenario:
    """A run, ready to go.  `load` makes one from a file; the attributes are the arguments of
    `polhode.integrate`."""

    title: str
    body: RigidBody
    torque: Any
    rotation0: np.ndarray
    omega0: np.ndarray
    method: Any
    step: float | list | None
    t_span: tuple
    rtol: float | None = None
    atol: float | None = None
    max_step: float | None = None
    every: int | str = 1
    t_eval: list | None = None
    breaks: list | float | None = None
    output: Path | None = None
    format: str | None = None
    ensemble: schema.Ensemble | None = None

    def integrate(
        self,
        progress: Callable[[int, int], Any] | None = None,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
    ) -> Trajectory:
        """Run it; `progress` and `checkpoint` are those of `polhode.integrate`."""
        return integrate(
            self.body,
            self.torque,
            self.t_span,
            self.step,
            self.method,
            rotation0=self.rotation0,
            omega0=self.omega0,
            rtol=self.rtol,
            atol=self.atol,
            max_step=self.max_step,
            every=self.every,
            t_eval=self.t_eval,
            breaks=self.breaks,
            progress=progress,
            checkpoint=checkpoint,
            title=self.title,
        )


def load(path: str | PathLike[str], torque_file: str | PathLike[str] | None = None) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path : str or Path
    torque_file : str or Path, optional
        "FILE.py" or "FILE.py:NAME": a torque in Python, in place of a [torque] section.  The file is run, which no
        scenario can ask for.

    Returns
    -------
    Scenario

    Raises
    ------
    InputError
        When the file cannot be read or anything in it is wrong; the message lists every fault.

    Examples
    --------
    >>> load("flip.toml").method.name   # the file of that name in the folder examples
    'VLV'
    """
    path = as_path("path", path)
    return scenario(parse(path), path, torque_file)


def scenario(
    data: dict[str, Any], path: str | PathLike[str], torque_file: str | PathLike[str] | None = None
) -> Scenario:
    """A Scenario from the contents of a file; `path` is for the messages and the title, and a mesh
    is looked for beside it."""
    faults = Faults()
    parts = _read(data, faults, torque_file, Path(path).parent)
    faults.report(path)
    return Scenario(title=data.get("title", readable(Path(path).stem)), **parts)


def check_depth(data, path):
    """Refuse tables and lists inside each other so deep that whoever walks through them loses the
    way."""
    level, depth = [data], 0
    while level:
        if depth > DEEPEST:
            raise InputError(
                f"{path}: tables and lists lie more than {DEEPEST} deep inside each other; that is not a scenario, "
                "take some away"
            )
        inside = [list(one.values()) if isinstance(one, dict) else one for one in level]
        level, depth = (
            [item for one in inside for item in one if isinstance(item, (dict, list))],
            depth + 1,
        )


def parse(path):
    """The contents of a TOML file."""
    try:
        text = check_regular(path, "a scenario", LARGEST_TEXT).read_bytes().decode("utf-8-sig")
        data = tomllib.loads(text)
    except InputError:
        raise
    except OSError as error:
        raise InputError(
            f"cannot read the scenario {str(path)!r}: {error.strerror or error}; give a TOML file"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: a scenario is UTF-8 text, but byte {error.start} is not; save it as UTF-8"
        ) from None
    except RecursionError:
        raise InputError(
            f"{path}: not valid TOML: brackets are nested too deeply; take some away"
        ) from None
    except tomllib.TOMLDecodeError as error:  # names line and column
        raise InputError(
            f"{path}: not valid TOML: {error}{_line(text, str(error))}; correct it there: text goes in quotes, true "
            "and false are in lower case, lists are in brackets"
        ) from None
    except ValueError:  # of Python's int
        raise InputError(
            f"{path}: not valid TOML: a whole number has thousands of digits; write fewer"
        ) from None
    check_depth(data, path)
    faults = Faults()
    _refuse_dates(data, (), faults)
    faults.report(path)
    return data


def _line(text, error):
    """The line that an error of TOML speaks of."""
    found = re.search(r"at line (\d+)", error)
    lines = text.splitlines()
    return (
        f", {lines[int(found[1]) - 1].strip()[:60]!r}"
        if found and int(found[1]) <= len(lines)
        else ""
    )


def _refuse_dates(value, path, faults):
    """TOML has dates, for which a scenario has no use: 1979-05-27 is one where somebody meant text
    or a number."""
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            _refuse_dates(inner, (*path, key), faults)
    elif isinstance(value, (datetime.date, datetime.time)):
        faults.add(
            path,
            f"is a date or a time, got {value.isoformat()}; write a number of seconds, or text in quotes",
        )


class Faults(list):
    """Collects what is wrong, so that all of it can be said at once."""

    def add(self, path, message):
        self.append(f"{'.'.join(map(str, path))}: {message}")

    @contextlib.contextmanager
    def at(self, *path):
        """Errors raised inside are noted under this path."""
        try:
            yield
        except InputError as error:
            self.add(path, error)

    def report(self, path):
        """Raise what has been collected about a file, if anything."""
        if self:
            head = f"{path}: " if len(self) == 1 else f"{path} has {len(self)} errors:\n  "
            raise InputError(head + "\n  ".join(self))

    def check(self, model, value, *path):
        """The value as a section, or None when it is none."""
        try:
            return model.model_validate(value)
        except ValidationError as errors:
            for error in errors.errors():
                place, message = schema.complaint(error, list(model.model_fields), path[0])
                self.add((*path, *place), message)
        return None


def _read(data, faults, torque_file, folder):
    """The arguments of Scenario from the sections; what is wrong goes to `faults`."""
    for key in data:
        if key == "sweep":
            faults.add(
                (key,),
                "makes many runs of one; give the file to `polhode sweep`, or drop the section",
            )
        elif key in ("torque_file", "torque-file"):
            faults.add((key,), f"{NEVER} {schema.shown(data[key])}; {TORQUE_FILE}")
        elif key not in schema.TOP:
            faults.add((key,), schema.misplaced(key, schema.TOP))
    if not isinstance(data.get("title", ""), str):
        faults.add(("title",), f"must be text, got {schema.shown(data['title'])}; put it in quotes")
    problem = None
    if "problem" in data:
        with faults.at("problem"):
            problem = problems.get(data["problem"])
    known = "problem" in data  # what a misspelt problem would have supplied is not missing
    run = faults.check(schema.Run, data.get("run", {}), "run")
    times = _times(run, problem, known, faults) if run else {}
    body = _body(data, problem, known, folder, faults)
    rotation0, omega0 = _initial(data, body, problem, known, faults)
    if torque_file is None:
        torque = _torque(data, body, problem, [] if "rtol" in times else times.get("step"), faults)
    else:
        torque = _from_file(data, torque_file, faults)
    if torque is not None and not faults:
        _try_torque(torque, times["t_span"][0], rotation0, omega0, faults)
    return {
        "body": body,
        "torque": torque,
        "rotation0": rotation0,
        "omega0": omega0,
        **times,
        **_output(data, faults),
        **_ensemble(data, torque, faults),
    }


# --- sections -------------------------------------------------------------------------------------


def _body(data, problem, known, folder, faults):
    if "body" not in data:
        if not known:
            faults.add(
                ("body",),
                'is missing; write a [body] section, or name a problem at the top: problem = "..."',
            )
        return problem and problem.body
    given = data["body"]
    shape = given.get("shape") if isinstance(given, dict) else None
    # what is no text cannot be looked up
    if shape is not None and shape not in tuple(schema.SHAPES):
        with faults.at("body", "shape"):
            raise unknown("shape", shape, schema.SHAPES)
        # the rest of the section is checked as if that had been written
        meant = closest(shape, schema.SHAPES)
        if meant:
            faults.check(schema.SHAPES[meant], {**given, "shape": meant}, "body")
        return None
    is_mesh = shape is None and isinstance(given, dict) and "mesh" in given
    if shape is None and isinstance(given, dict) and not is_mesh and "inertia" not in given:
        misspelt = next(
            (
                key
                for key in given
                if key not in schema.BODY_KEYS and closest(key, schema.BODY_KEYS)
            ),
            None,
        )
        if misspelt is not None:
            with faults.at("body"):
                raise unknown("key", misspelt, schema.BODY_KEYS)
            return None
        faults.add(
            ("body",),
            f"has neither inertia nor shape nor mesh; write inertia = {schema.EXAMPLES['inertia']}, a shape "
            f'({", ".join(schema.SHAPES)}), or mesh = "FILE.stl"',
        )
        return None
    section = faults.check(
        schema.Mesh if is_mesh else schema.SHAPES.get(shape, schema.Inertia), given, "body"
    )
    body = None
    with faults.at("body"):
        body = section and _made(section, folder)
    if body is not None:
        with faults.at("body", *(key for key in ("inertia", "mesh") if key in given)):
            check_moments(body.moments)
    return body


def _made(section, folder):
    """The RigidBody of a checked section."""
    options = {key: value for key, value in section if key != "shape" and value is not None}
    if isinstance(section, schema.Inertia):
        return RigidBody(options.pop("inertia"), **options)
    if isinstance(section, schema.Mesh):
        return RigidBody.from_mesh(folder / from_text(options.pop("mesh")), **options)
    keys = SHAPES[section.shape].keys
    several = [name for name, key in keys.items() if key.holds == "lengths"]
    lengths = [length for name in several for length in options.pop(name)]
    return getattr(RigidBody, section.shape)(*lengths, **options)


def _initial(data, body, problem, known, faults):
    """Attitude and angular velocity; what the section leaves out is the problem's."""
    given = data.get("initial", {})
    section = faults.check(schema.Initial, given, "initial")
    forms = [
        key
        for key in ("rotation", "rotation_vector", "quaternion", "matrix")
        if isinstance(given, dict) and key in given
    ]
    if len(forms) > 1:
        faults.add(("initial",), f"give the attitude once, got {' and '.join(forms)}; drop one")
    rotation0, omega0 = (
        (problem.rotation0, problem.omega0) if problem else (rotations.as_quaternion(), None)
    )
    if section is None:
        return rotation0, omega0
    if len(forms) == 1:
        attitude = getattr(section, forms[0])
        rotation0 = rotations.as_quaternion() if isinstance(attitude, str) else attitude
    if section.omega is not None and section.momentum is not None:
        faults.add(("initial",), "give omega or momentum, got both; drop one")
    elif section.omega is not None:
        omega0 = np.array(section.omega)
        with faults.at("initial", "omega"):
            check_rates(omega0, "the angular velocity")
    elif section.momentum is not None:
        with faults.at("initial", "momentum"):
            omega0 = body and check_rates(
                body.omega(section.momentum), "the angular velocity of this momentum"
            )
    elif not known:
        faults.add(
            ("initial",),
            f"has neither omega nor momentum; write omega = {schema.EXAMPLES['omega']}, in the body frame",
        )
    return rotation0, omega0


def _torque(data, body, problem, step, faults):
    """The sum of the torques given, or the problem's, or none."""
    if "torque" not in data:
        return (
            problem.torque(step if isinstance(step, float) else None) if problem else torques.free()
        )
    given = data["torque"]
    several = isinstance(given, list)
    terms = [
        _term(item, ("torque", i) if several else ("torque",), body, step, faults)
        for i, item in enumerate(given if several else [given])
    ]
    if not terms:
        faults.add(("torque",), "is an empty list; leave it out when nothing acts")
    if not terms or any(term is None for term in terms):
        return None
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _from_file(data, torque_file, faults):
    """The torque of a Python file, where the scenario has none of its own."""
    if "torque" in data:
        faults.add(
            ("torque",),
            f"is given here and by the torque file {str(torque_file)!r}; drop one of the two",
        )
        return None
    return user_file.torque(torque_file)


def _term(given, path, body, step, faults):
    code = _code(given)
    if code is not None:
        faults.add(path, f"{NEVER} {schema.shown(code)}; {TORQUE_FILE}")
        return None
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        faults.add(
            path,
            f'needs a name, got {schema.shown(given)!s:.60}; write name = "heavy_top"; valid: '
            f"{', '.join(torques.BUILT_IN)}",
        )
        return None
    make = None
    with faults.at(*path, "name"):
        make = torques.by_name(given["name"])
    # its parameters are checked all the same
    meant = make is None and closest(given["name"], torques.BUILT_IN)
    if meant:
        faults.check(schema.torque_model(meant, torques.BUILT_IN[meant]), given, *path)
    section = make and faults.check(schema.torque_model(given["name"], make), given, *path)
    if section is None:
        return None
    options = {key: value for key, value in section if key != "name"}
    wants = inspect.signature(make).parameters
    if "body" in wants:
        options["body"] = body
    if "step" in wants and options["step"] is None:
        options["step"] = step
        if isinstance(step, list):
            faults.add(
                (*path, "step"),
                "is missing, and the steps of this run are not of one size; write step = 0.01",
            )
            return None
    if any(options[key] is None for key in ("body", "step") if key in wants):
        return None  # the section it comes from has been complained about
    with faults.at(*path):
        try:
            return make(**options)
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            raise InputError(f"cannot be made of these values: {error}; correct them") from None
    return None


def _code(given):
    """What a torque's section hopes to have run, or None."""
    if not isinstance(given, dict):
        return given if isinstance(given, str) and user_file.is_target(given) else None
    named = given.get("name")
    hoped = next((given[key] for key in CODE if key in given), None)
    return (
        named if hoped is None and isinstance(named, str) and user_file.is_target(named) else hoped
    )


def _try_torque(torque, t0, rotation0, omega0, faults):
    """Call the torque once where the run begins: a parameter of the wrong shape or a singular
    attitude shows here."""
    try:
        value = torque(t0, rotations.matrices(rotation0), omega0)
    except (ArithmeticError, TypeError, ValueError, IndexError) as error:
        faults.add(
            ("torque",),
            f"cannot be evaluated where the run begins: {error}; change its parameters or [initial]",
        )
        return
    if value.shape != (3,) or not np.isfinite(value).all():
        faults.add(
            ("torque",),
            f"is {value.tolist()} where the run begins; change its parameters or [initial]",
        )


def _times(run, problem, known, faults):
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


def _output(data, faults):
    section = faults.check(schema.Output, data["output"], "output") if "output" in data else None
    if section is None:
        return {}
    with faults.at("output", "format" if section.format else "file"):
        store.chosen(section.file, section.format)
    return {"output": Path(from_text(section.file)), "format": section.format}


def _ensemble(data, torque, faults):
    section = (
        faults.check(schema.Ensemble, data["ensemble"], "ensemble") if "ensemble" in data else None
    )
    if section is None:
        return {}
    if torque is not None:
        with faults.at("ensemble", "parameter_spread"):
            check_parameters(torque, section.parameter_spread)
    return {"ensemble": section}
