"""The sections [torque] and [load], and the torque file that may stand in place of [torque]."""

import numpy as np

from polhode import rotations
from polhode.errors import InputError, closest
from polhode.io.scenario import schema
from polhode.io.scenario.messages import as_toml
from polhode.loads import flight, torques, user_file
from polhode.loads.load import Load
from polhode.loads.named import Source, find, supplied_parameters

# keys with which a file might try to run code
CODE = ("file", "path", "python", "code", "function", "module", "source", "torque_file")
NEVER = "a scenario holds data and never runs code, got"
EXAMPLES = {"torque": "heavy_top", "load": "gravity", "interaction": "springs"}  # names
TORQUE_FILE = "drop it here, and name the file on the command line: --torque-file FILE.py:NAME"


def read_torque(data, body, problem, step, faults):
    """The sum of the torques given, or the problem's, or none."""
    if "torque" not in data:
        return (
            problem.torque(step if isinstance(step, float) else None) if problem else torques.free()
        )
    terms = _terms(data, "torque", torques.BUILT_IN, body, step, faults)
    if terms is None:
        return None
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def read_load(data, body, step, faults):
    """The sum of the loads given, or None."""
    terms = _terms(data, "load", flight.BUILT_IN, body, step, faults) if "load" in data else None
    return terms and sum(terms, Load())


def _terms(data, key, table, body, step, faults):
    """The loads of a section, or of several; None if anything is wrong with them."""
    given = data[key]
    several = isinstance(given, list)
    terms = [
        _term(item, (key, i) if several else (key,), table, body, step, faults)
        for i, item in enumerate(given if several else [given])
    ]
    if not terms:
        faults.add((key,), f"is an empty list; leave it out for a body without {key}")
    return None if not terms or any(term is None for term in terms) else terms


def torque_from_file(data, torque_file, faults):
    """The torque or load of a Python file, where the scenario has no torque of its own."""
    if "torque" in data:
        faults.add(
            ("torque",),
            f"is given here and by the torque file {str(torque_file)!r}; drop one of the two",
        )
        return None
    return user_file.torque(torque_file)


def named_section(given, path, table, model, faults):
    """The function that makes what a section names, and the section checked by `model(name, function)`;
    None where it has a fault."""
    code = _code(given)
    if code is not None:
        faults.add(path, f"{NEVER} {as_toml(code)}; {TORQUE_FILE}")
        return None, None
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        faults.add(
            path,
            f'needs a name, got {as_toml(given)!s:.60}; write name = "{EXAMPLES[path[0]]}"; valid: '
            f"{', '.join(table)}",
        )
        return None, None
    make = None
    with faults.at(*path, "name"):
        make = find(path[0], given["name"], table)
    # its parameters are checked all the same
    meant = make is None and closest(given["name"], table)
    if meant:
        faults.check(model(meant, table[meant]), given, *path)
    return make, make and faults.check(model(given["name"], make), given, *path)


def _term(given, path, table, body, step, faults):
    make, section = named_section(given, path, table, schema.torque_model, faults)
    if section is None:
        return None
    options = {key: value for key, value in section if key != "name"}
    supplies = {Source.BODY: body, Source.MASS: body and body.mass, Source.STEP: step}
    for key, source in supplied_parameters(make).items():
        if options.get(key) is None:
            options[key] = supplies[source]
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


def try_load(load, t0, motion, key, faults):
    """Call force and torque once where the run begins, with attitude, angular velocity, position and
    velocity: a parameter of the wrong shape or a singular attitude shows here."""
    rotation, *rest = motion
    matrix = rotations.matrices(rotation)
    try:
        values = [part(t0, matrix, *rest) for part in (load.torque, load.force)]
    except (ArithmeticError, TypeError, ValueError, IndexError) as error:
        faults.add(
            (key,),
            f"cannot be evaluated at the start of the run: {error}; change its parameters or [initial]",
        )
        return
    for value in values:
        if value.shape != (3,) or not np.isfinite(value).all():
            faults.add(
                (key,),
                f"is {value.tolist()} at the start of the run; change its parameters or [initial]",
            )
