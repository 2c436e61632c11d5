"""The section [torque], and the torque file that may stand in its place."""

import numpy as np

from polhode import rotations
from polhode.errors import InputError, closest
from polhode.io.scenario import schema
from polhode.io.scenario.messages import as_toml
from polhode.loads import torques, user_file

# keys with which a file might try to run code
CODE = ("file", "path", "python", "code", "function", "module", "source", "torque_file")
NEVER = "a scenario holds data and never runs code, got"
TORQUE_FILE = "drop it here, and name the file on the command line: --torque-file FILE.py:NAME"


def read_torque(data, body, problem, step, faults):
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
        faults.add(("torque",), "is an empty list; leave it out for a body without torque")
    if not terms or any(term is None for term in terms):
        return None
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def torque_from_file(data, torque_file, faults):
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
        faults.add(path, f"{NEVER} {as_toml(code)}; {TORQUE_FILE}")
        return None
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        faults.add(
            path,
            f'needs a name, got {as_toml(given)!s:.60}; write name = "heavy_top"; valid: '
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
    for key, source in torques.supplied_parameters(make).items():
        if options.get(key) is None:
            options[key] = body if source is torques.Source.BODY else step
        if options[key] is None:
            return None  # the error in its section is already reported
        if isinstance(options[key], list):
            faults.add(
                (*path, key),
                f"is missing, and the steps of this run are not of one size; write {key} = 0.01",
            )
            return None
    with faults.at(*path):
        try:
            return make(**options)
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            raise InputError(f"cannot be made from these values: {error}; correct them") from None
    return None


def _code(given):
    """The code that a torque's section names, or None."""
    if not isinstance(given, dict):
        return given if isinstance(given, str) and user_file.is_target(given) else None
    named = given.get("name")
    code = next((given[key] for key in CODE if key in given), None)
    return named if code is None and isinstance(named, str) and user_file.is_target(named) else code


def try_torque(torque, t0, rotation0, omega0, faults):
    """Call the torque once where the run begins: a parameter of the wrong shape or a singular
    attitude shows here."""
    try:
        value = torque(t0, rotations.matrices(rotation0), omega0)
    except (ArithmeticError, TypeError, ValueError, IndexError) as error:
        faults.add(
            ("torque",),
            f"cannot be evaluated at the start of the run: {error}; change its parameters or [initial]",
        )
        return
    if value.shape != (3,) or not np.isfinite(value).all():
        faults.add(
            ("torque",),
            f"is {value.tolist()} at the start of the run; change its parameters or [initial]",
        )
