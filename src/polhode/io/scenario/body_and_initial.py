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


def read_body(data, problem, known, folder, faults):
    if "body" not in data:
        if not known:
            faults.add(
                ("body",),
                'is missing; write a [body] section, or name a problem at the top: problem = "..."',
            )
        return problem and problem.body
    given = data["body"]
    wheels = given.get("rotors", []) if isinstance(given, dict) else []
    if wheels:
        given = {key: value for key, value in given.items() if key != "rotors"}
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
            f"has neither inertia nor shape nor mesh; write inertia = {EXAMPLES['inertia']}, a shape "
            f'({", ".join(schema.SHAPES)}), or mesh = "FILE.stl"',
        )
        return None
    section = faults.check(
        schema.Mesh if is_mesh else schema.SHAPES.get(shape, schema.Inertia), given, "body"
    )
    body = None
    with faults.at("body"):
        body = section and _make_body(section, folder)
    if body is not None:
        with faults.at("body", *(key for key in ("inertia", "mesh") if key in given)):
            check_moments(body.moments)
    return _with_rotors(body, wheels, faults) if wheels else body


def _with_rotors(body, given, faults):
    """The body with the rotors of [[body.rotors]]."""
    if not isinstance(given, list):
        faults.add(
            ("body", "rotors"),
            f"must be a list of tables, got {brief(given)}; write [[body.rotors]] and its keys below that",
        )
        return body
    sections = [faults.check(schema.Rotor, one, "body", "rotors", i) for i, one in enumerate(given)]
    with faults.at("body", "rotors"):
        if body is not None and all(sections):
            rotors = [
                Rotor(**{key: value for key, value in section if value is not None})
                for section in sections
            ]
            return body.with_rotors(rotors)
    return body


def _make_body(section, folder):
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


def read_initial(data, body, problem, known, faults):
    """Where the motion begins, as arguments of `polhode.integrate`; attitude and angular velocity that
    the section leaves out are the problem's."""
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
        return {"rotation0": rotation0, "omega0": omega0}
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
            f"has neither omega nor momentum; write omega = {EXAMPLES['omega']}, in the body frame",
        )
    return {
        "rotation0": rotation0,
        "omega0": omega0,
        "position0": section.position,
        "velocity0": section.velocity,
    }
