"""A scenario of several bodies: [[body]], each with its place and motion, and [[interaction]].

[[body]]
name = "magnet"
shape = "cylinder"
radius = 0.1
height = 0.3
count = 8               # on a ring, a line or a lattice
ring = 2.0

[[interaction]]
name = "dipoles"
moments = { magnet = [0.0, 0.0, 1.0] }
"""

import numpy as np
from scipy import stats

from polhode import rotations
from polhode.engine.ensemble.inputs import check_bodies_fit, draw_values
from polhode.errors import InputError, unknown
from polhode.io.scenario import schema
from polhode.io.scenario.body_and_initial import attitude_form, made_body, read_section
from polhode.io.scenario.messages import EXAMPLES, as_toml
from polhode.io.scenario.torque import named_section
from polhode.loads import interactions, user_file
from polhode.loads._system import System
from polhode.loads.named import Source, supplied_parameters
from polhode.support.limits import check_rates

WAYS = ("line", "ring", "lattice")  # in which several are placed
ONE_BODY = {  # sections that go with one body, and what stands in their place
    "problem": "write its body as one of the [[body]]",
    "initial": "give each [[body]] its own position, velocity, rotation and omega",
    "torque": "write an [[interaction]]",
    "load": "write an [[interaction]]",
    "ensemble": "drop it, or write one [body]",
}
FIXED = ("body", "interaction", *(key for key in ONE_BODY if key != "problem"), "units")
PARTS = ("rotation0", "omega0", "position0", "velocity0")


def is_system(data):
    """Whether the scenario has several bodies."""
    return isinstance(data.get("body"), list)


def read_system(data, interaction_file, folder, in_units, faults):
    """System and initial motion of [[body]] and [[interaction]], as arguments of
    `polhode.integrate`."""
    for key, fix in ONE_BODY.items():
        if key in data:
            faults.add((key,), f"goes with one body, and there are several [[body]]; {fix}")
    if not data["body"]:
        faults.add(("body",), "is an empty list; write a [[body]] for each body")
    _check_names(data["body"], faults)
    bodies, fixed, starts = [], [], []
    for i, given in enumerate(data["body"]):
        path = ("body", i)
        section = read_section(given, path, faults, schema.placed)
        body = in_units(made_body(section, given, folder, faults, path))
        if section is None or body is None:
            continue
        if len(data["body"]) > 1 and section.position is None:
            faults.add((*path, "position"), f"is missing; write position = {EXAMPLES['position']}")
        with faults.at(*path):
            starts.append(_placed(section, given, body, i, faults))
        bodies += [body] * section.count
        fixed += [section.fixed] * section.count
    if faults:
        _terms(data, [], faults)
        return {"body": None}
    system = None
    with faults.at("body"):
        system = System(bodies, fixed=fixed)
    acting = _interaction(data, bodies, interaction_file, faults)
    if not faults:
        with faults.at("interaction"):
            system = System(bodies, acting, fixed=fixed)
    return {"body": system, "torque": None, **_joined(starts)}


def _check_names(tables, faults):
    """Links, tables by name and --set take a name for one [[body]]."""
    names = [one.get("name") if isinstance(one, dict) else None for one in tables]
    for i, name in enumerate(names):
        if isinstance(name, str) and name in names[:i]:
            faults.add(
                ("body", i, "name"),
                f"must be its own, and body {names.index(name)} is {as_toml(name)} too; give another, or a count in one [[body]]",
            )


def read_system_problem(data, problem, interaction_file, faults):
    """The same of a problem of several bodies, which is taken as it is."""
    fix = "drop it, or write several [[body]] and [[interaction]] in place of the problem"
    for key in FIXED:
        if key in data:
            faults.add(
                (key,),
                f"does not go with {problem.name!r}, a problem of {len(problem.system)} bodies; {fix}",
            )
    if interaction_file is not None:
        faults.add(
            ("problem",),
            f"{problem.name!r} has its own interaction, got the file {interaction_file!r}; {fix}",
        )
    return {"body": problem.system, "torque": None} | {
        name: getattr(problem, name) for name in PARTS
    }


def _joined(starts):
    """The motions of all bodies together."""
    return {name: np.concatenate([one[name] for one in starts]) for name in PARTS}


# --- bodies ---------------------------------------------------------------------------------------


def _placed(section, given, body, number, faults):
    """Attitudes, angular velocities, positions and velocities of the bodies of a table."""
    n, path = section.count, ("body", number)
    check_bodies_fit(n)
    shifts, turns = _arranged(section, n)

    def drawn(what, sigma):
        law = stats.norm(0.0, 1.0)
        return np.asarray(sigma) * draw_values(f"{what} {number}", law, (3,), section.seed, 0, n)

    form = attitude_form(given, path, faults)
    attitude = "identity" if form is None else getattr(section, form)
    if isinstance(attitude, str):
        attitude = (
            draw_values(f"rotation {number}", "random", (4,), section.seed, 0, n)
            if attitude == "random"
            else rotations.as_quaternion()
        )
    if section.omega is not None and section.momentum is not None:
        faults.add(path, "give omega or momentum, got both; drop one")
    omega = section.omega if section.omega is not None else (0.0, 0.0, 0.0)
    if section.momentum is not None:
        omega = body.omega(section.momentum)
    rates = np.array(omega) + (drawn("omega", section.omega_spread))
    check_rates(rates, "the angular velocity")
    shaken = drawn("velocity", section.velocity_spread)
    q = np.broadcast_to(np.asarray(attitude, dtype=float), (n, 4))
    return {
        "rotation0": rotations.qmul(turns, q) if section.ring else q,
        "omega0": rates,
        "position0": np.array(section.position or (0.0, 0.0, 0.0)) + shifts,
        "velocity0": np.array(section.velocity or (0.0, 0.0, 0.0)) + shaken - shaken.mean(axis=0),
    }


def _arranged(section, n):
    """Where several are about the position, and how they are turned."""
    ways = [way for way in WAYS if getattr(section, way) is not None]
    if len(ways) > 1 or (n > 1 and not ways):
        raise InputError(
            f"{n} bodies are placed on a line, a ring or a lattice, got {' and '.join(ways) or 'none of them'}; give one: "
            "write line = [1.0, 0.0, 0.0], ring = 2.0 or lattice = 3.0"
        )
    still = np.zeros((n, 3)), np.broadcast_to(rotations.as_quaternion(), (n, 4))
    if not ways:
        return still
    if section.line is not None:
        return np.arange(n)[:, None] * np.array(section.line), still[1]
    if section.ring is not None:
        return _on_ring(section.ring, section.axis, n)
    return _on_lattice(section.lattice, section.cells, n), still[1]


def _on_ring(radius, axis, n):
    """Places on a ring about an axis, and the turns about it."""
    length = np.linalg.norm(axis)
    if not length > 0.0:
        raise InputError(f"axis must have a length, got {list(axis)}; give a direction")
    normal = np.array(axis) / length
    turns = rotations.exp(2.0 * np.pi / n * np.arange(n)[:, None] * normal)
    first = np.eye(3)[0] - normal[0] * normal
    if np.linalg.norm(first) < 1e-3:  # the ring is about the first axis
        first = np.eye(3)[1]
    return rotations.rotate(turns, radius * first / np.linalg.norm(first)), turns


def _on_lattice(spacing, cells, n):
    """Places of a lattice about the origin, filled along the last axis first."""
    side = next(side for side in range(1, n + 1) if side**3 >= n)
    cells = [side] * 3 if cells is None else cells
    if min(cells) < 1 or np.prod(cells, dtype=float) < n:
        raise InputError(
            f"cells = {cells} has no room for {n} bodies; give three numbers whose product is at least {n}"
        )
    places = np.stack(np.unravel_index(np.arange(n), cells), axis=1)
    return (places - 0.5 * (np.array(cells) - 1)) * np.array(spacing)


# --- interactions ---------------------------------------------------------------------------------


def _interaction(data, bodies, interaction_file, faults):
    """The sum of the interactions given, or none."""
    if interaction_file is not None:
        if "interaction" in data:
            faults.add(
                ("interaction",),
                f"is given here and by the interaction file {str(interaction_file)!r}; drop one of the two",
            )
            return None
        return user_file.interaction(interaction_file)
    terms = _terms(data, bodies, faults)
    return None if faults else terms


def _terms(data, bodies, faults):
    """The interactions given; without bodies their sections are checked alone."""
    given = data.get("interaction", [])
    several = isinstance(given, list)
    return [
        _term(item, ("interaction", i) if several else ("interaction",), bodies, faults)
        for i, item in enumerate(given if several else [given])
    ]


def _term(given, path, bodies, faults):
    table = interactions.BUILT_IN
    make, section = named_section(given, path, table, schema.interaction_model, faults)
    if section is None or not bodies:
        return None
    options, before = {key: value for key, value in section if key != "name"}, len(faults)
    if "links" in options:
        with faults.at(*path, "links"):
            options["links"] = _links(options["links"], bodies)
    for key, value in options.items():
        if isinstance(value, dict):
            with faults.at(*path, key):
                options[key] = _for_each(value, bodies)
    if len(faults) > before:
        return None
    options |= {
        key: bodies for key, one in supplied_parameters(make).items() if one is Source.BODIES
    }
    with faults.at(*path):
        try:
            return make(**options)
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            raise InputError(f"cannot be made from these values: {error}; correct them") from None
    return None


def _links(given, bodies):
    """Pairs of numbers of bodies."""
    n = len(bodies)
    if isinstance(given, str):
        return [(i, i + 1) for i in range(n - 1)] + [(n - 1, 0)] * (given == "ring" and n > 2)
    return [[_number_of(end, bodies) for end in pair] for pair in given]


def _number_of(end, bodies):
    """The number of a body, which may be given by its name."""
    if isinstance(end, int):
        return end
    names = [body.name for body in bodies]
    if names.count(end) > 1:
        raise InputError(f"there are {names.count(end)} bodies {end!r}; give the number of one")
    if end not in names:
        raise unknown("body", end, dict.fromkeys(filter(None, names)))
    return names.index(end)


def _for_each(given, bodies):
    """A value for each body, from a table of them by name."""
    names = list(dict.fromkeys(body.name for body in bodies))
    for name in given:
        if name not in names:
            raise unknown("body", name, list(filter(None, names)))
    missing = next((name for name in names if name not in given), None)
    if None in names or missing is not None:
        lacking = "bodies without a name" if None in names else f"the body {missing!r}"
        raise InputError(f"has no value for {lacking}; give one for each")
    return [given[body.name] for body in bodies]
