"""The sections [body] and [initial]: what turns, and how it begins."""

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.bodies.rotor import Rotor
from polhode.bodies.shapes import SHAPES
from polhode.errors import brief, closest, unknown
from polhode.io.scenario import schema
from polhode.io.scenario.messages import EXAMPLES
from polhode.support.file_names import from_text
from polhode.support.limits import check_moments, check_rates

ATTITUDES = ("rotation", "rotation_vector", "quaternion", "matrix")  # the keys that give one


def read_body(data, problem, known, folder, faults):
    if "body" not in data:
        if not known:
            faults.add(
                ("body",),
                'is missing; write a [body] section, or name a problem at the top: problem = "..."',
            )
        return problem and problem.body
    return made_body(read_section(data["body"], ("body",), faults), data["body"], folder, faults)


def read_section(given, path, faults, as_read=lambda model: model):
    """The checked section of a body, None if anything is wrong with it; `as_read` gives the model for
    that of an inertia, a shape or a mesh."""
    keys = tuple(as_read(schema.Inertia).model_fields) + schema.BODY_KEYS
    if isinstance(given, dict):
        given = {key: value for key, value in given.items() if key != "rotors"}
    shape = given.get("shape") if isinstance(given, dict) else None
    # what is no text cannot be looked up
    if shape is not None and shape not in tuple(schema.SHAPES):
        with faults.at(*path, "shape"):
            raise unknown("shape", shape, schema.SHAPES)
        # the rest of the section is checked as if that had been written
        meant = closest(shape, schema.SHAPES)
        if meant:
            faults.check(as_read(schema.SHAPES[meant]), {**given, "shape": meant}, *path)
        return None
    is_mesh = shape is None and isinstance(given, dict) and "mesh" in given
    if shape is None and isinstance(given, dict) and not is_mesh and "inertia" not in given:
        misspelt = next((key for key in given if key not in keys and closest(key, keys)), None)
        if misspelt is not None:
            with faults.at(*path):
                raise unknown("key", misspelt, dict.fromkeys(keys))
            return None
        faults.add(
            path,
            f"has neither inertia nor shape nor mesh; write inertia = {EXAMPLES['inertia']}, a shape "
            f'({", ".join(schema.SHAPES)}), or mesh = "FILE.stl"',
        )
        return None
    model = schema.Mesh if is_mesh else schema.SHAPES.get(shape, schema.Inertia)
    return faults.check(as_read(model), given, *path)


def made_body(section, given, folder, faults, path=("body",)):
    """The body of a checked section, with the rotors of [[body.rotors]]."""
    body = None
    with faults.at(*path):
        body = section and _make_body(section, folder)
    if body is not None:
        with faults.at(*path, *(key for key in ("inertia", "mesh") if key in given)):
            check_moments(body.moments)
    wheels = given.get("rotors", []) if isinstance(given, dict) else []
    return _with_rotors(body, wheels, path, faults) if wheels else body


def _with_rotors(body, given, path, faults):
    if not isinstance(given, list):
        faults.add(
            (*path, "rotors"),
            f"must be a list of tables, got {brief(given)}; write [[body.rotors]] and its keys below that",
        )
        return body
    sections = [faults.check(schema.Rotor, one, *path, "rotors", i) for i, one in enumerate(given)]
    with faults.at(*path, "rotors"):
        if body is not None and all(sections):
            rotors = [
                Rotor(**{key: value for key, value in section if value is not None})
                for section in sections
            ]
            return body.with_rotors(rotors)
    return body


def _make_body(section, folder):
    """The RigidBody of a checked section."""
    apart = ("shape", *schema.Placement.model_fields)
    options = {key: value for key, value in section if key not in apart and value is not None}
    if isinstance(section, schema.Inertia):
        return RigidBody(options.pop("inertia"), **options)
    if isinstance(section, schema.Mesh):
        return RigidBody.from_mesh(folder / from_text(options.pop("mesh")), **options)
    keys = SHAPES[section.shape].keys
    several = [name for name, key in keys.items() if key.holds == "lengths"]
    lengths = [length for name in several for length in options.pop(name)]
    return getattr(RigidBody, section.shape)(*lengths, **options)


def attitude_form(given, path, faults):
    """The key by which a table gives the attitude, or None."""
    found = [key for key in ATTITUDES if isinstance(given, dict) and key in given]
    if len(found) > 1:
        faults.add(path, f"give the attitude once, got {' and '.join(found)}; drop one")
    return found[0] if len(found) == 1 else None


def read_initial(data, body, problem, known, faults):
    """Where the motion begins, as arguments of `polhode.integrate`; attitude and angular velocity that
    the section leaves out are the problem's."""
    given = data.get("initial", {})
    section = faults.check(schema.Initial, given, "initial")
    rotation0, omega0 = (
        (problem.rotation0, problem.omega0) if problem else (rotations.as_quaternion(), None)
    )
    if section is None:
        return {"rotation0": rotation0, "omega0": omega0}
    form = attitude_form(given, ("initial",), faults)
    if form is not None:
        attitude = getattr(section, form)
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
            f"has neither omega nor momentum; write omega = {EXAMPLES['omega']}, in the body frame",
        )
    return {
        "rotation0": rotation0,
        "omega0": omega0,
        "position0": section.position,
        "velocity0": section.velocity,
    }
