"""The keys of scenario files, from the models that check them."""

import inspect
import json
import re
import typing

from restructured import code, escaped, literal, prose, table, title

from polhode import flight, interactions, torques
from polhode.io.scenario import schema
from polhode.studies.sweep import axes

INTRODUCTION = """
A scenario is a TOML file that describes a run.  ``polhode run`` and ``polhode ensemble`` read it, ``polhode sweep`` varies its
keys, and ``polhode compare`` and ``polhode advise`` use it as their task.  The whole file is checked before anything starts. All
errors are reported together, each with the path of its key, and for a misspelt key the nearest valid one is suggested. A
scenario contains data and names, never code.  Several ``[[body]]`` with an ``[[interaction]]`` are a system of bodies.

``polhode run`` also accepts the name of a problem instead of a file.  Options override the file: ``--method``, ``--step``,
``--rtol``, and ``--set KEY=VALUE`` for any key below, by its path.  A number in the path counts from 0 and selects an entry of a
list, and one of several torques or loads is selected by its name: ``polhode run slow-top --step 0.01 --set
initial.omega.2=50 --set torque.moment=10``.  What is not set stays as it is, for a problem too.  Values are written as in the
file, but text needs no quotes, and they are checked like the file.  A step replaces a tolerance, and a tolerance replaces a step.

The folder ``examples`` has scenarios to start from; this is ``flip.toml``:
"""
TOP = (
    ("title", "text", "the file's name", "A title for tables, figures and pages."),
    (
        "problem",
        "text",
        "–",
        "A problem by name (``polhode problems`` lists them): it supplies body, torque, initial motion, "
        "step and span; the sections below replace what they name.  A problem of two bodies takes [run] and [output] alone.",
    ),
)
NAMES = {
    "float": "number",
    "int": "whole number",
    "str": "text",
    "bool": "true or false",
    "NoneType": "",
    "Any": "number or lists of numbers",
}


def pages(docs):
    example = (docs.parent / "examples" / "flip.toml").read_text("utf-8")
    parts = [
        title("Scenario files"),
        INTRODUCTION,
        code(example, "toml"),
        "\n",
        title("Top of the file", "-"),
        table(
            ("key", "type", "default", "meaning"),
            [(literal(key), *rest) for key, *rest in TOP],
            "18 22 15 45",
        ),
    ]
    parts += [
        title("[body]", "-"),
        "Given by its inertia, by ``shape``, or by ``mesh``; the keys depend on which.\n",
    ]
    for shape, model in {"": schema.Inertia, **schema.SHAPES}.items():
        parts += [title(f'shape = "{shape}"' if shape else "by inertia", "~"), section(model)]
    parts += [title("by mesh", "~"), section(schema.Mesh)]
    parts += [title("[[body.rotors]]", "-"), section(schema.Rotor)]
    parts += [title("[[body]] of a system", "-"), BODIES, code(chain(docs), "toml")]
    parts += ["\n", PLACED, section(schema.Placement), title("[[interaction]]", "-"), INTERACTION]
    parts += named("interactions", interactions.BUILT_IN)
    parts += [title("[initial]", "-"), section(schema.Initial), title("[torque]", "-"), TORQUE]
    parts += named("torques", torques.BUILT_IN)
    parts += [title("[load]", "-"), LOAD, *named("flight", flight.BUILT_IN)]
    parts += [
        title("[run]", "-"),
        section(schema.Run),
        title("[output]", "-"),
        section(schema.Output),
        title("[ensemble]", "-"),
        section(schema.Ensemble),
        title("[units]", "-"),
        section(schema.Units),
        title("[sweep]", "-"),
        sweep(),
    ]
    return {"reference/scenario.rst": "\n".join(parts)}


TORQUE = """Without this section there is no torque, or that of the problem.  ``name`` selects one of the torques below; the
other keys are its parameters.  Write several torques, which are added, as ``[[torque]]``.  Give a torque of your own, in Python,
on the command line.
"""


LOAD = """What acts on a body in flight: force, torque or both.  A body is in flight if it has this section, or a position or
velocity in ``[initial]``; the translation of its centre of mass is then followed too.  ``name`` selects one of the loads below;
the other keys are its parameters, and the body supplies its mass and inertia.  Write several loads, which are added, as
``[[load]]``; a ``[torque]`` is added to them.  Give a load of your own, in Python, on the command line, with ``--torque-file``.
"""


BODIES = """Several bodies that act on each other are written as several ``[[body]]``, each with the keys of its inertia,
shape or mesh, its own place and motion, and an ``[[interaction]]`` between them; a system has no ``[initial]``, ``[torque]`` or
``[load]``.  This is ``chain.toml``:
"""
PLACED = """``polhode run chain.toml --set body.head.velocity.1=3`` selects a body by its name, or by the number of its table,
from 0.  The keys beside those of the body:
"""
INTERACTION = """What acts between the bodies.  ``name`` selects one of the interactions below; the other keys are its parameters,
and the bodies are those of the file.  Write several interactions, which are added, as several ``[[interaction]]``.  ``links`` are
pairs of bodies by number, from 0, or by name; ``links = "chain"`` connects each to the next, and ``links = "ring"`` also the last
to the first.  A parameter with a value for each body may be a table by their names: ``moments = { needle = [0.0, 1.0, 0.0] }``.
Give an interaction of your own, in Python, on the command line, with ``--torque-file``.
"""


def chain(docs):
    return (docs.parent / "examples" / "chain.toml").read_text("utf-8")


def section(model):
    """A model in words and as a table of its keys."""
    rows = [
        (literal(field.alias or key), kind(field), default(field), escaped(field.description or ""))
        for key, field in model.model_fields.items()
    ]
    own = inspect.getdoc(model) if "__doc__" in vars(model) and model.__doc__ else ""
    return f"{escaped(own)}\n\n" + table(("key", "type", "default", "meaning"), rows, "18 22 15 45")


def default(field):
    if field.is_required():
        return "*required*"
    value = field.get_default(call_default_factory=True)
    if value is None or value == {}:
        return "–"
    return literal(json.dumps(value))  # TOML writes these as JSON does


def kind(field):
    """The type of a key in words."""
    return words(field.annotation, field.metadata)


def words(annotation, metadata=()):
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return words(arguments[0], arguments[1:])
    if origin is typing.Literal:
        return " or ".join(literal(f'"{one}"') for one in arguments)
    if origin is list:
        return listed(arguments[0], metadata)
    if origin is dict:
        return f"table of {words(arguments[1])}"
    if arguments:  # a union
        return " or ".join(dict.fromkeys(filter(None, (words(one) for one in arguments))))
    return bounded(NAMES.get(annotation.__name__, annotation.__name__), metadata)


def constraint(metadata, name):
    """A bound such as gt or min_length, wherever pydantic keeps it."""
    for one in metadata:
        for holder in (one, *getattr(one, "metadata", ())):
            if (value := getattr(holder, name, None)) is not None:
                return value
    return None


def bounded(name, metadata):
    if constraint(metadata, "gt") == 0:
        return f"positive {name}"
    least = constraint(metadata, "ge")
    return name if least is None else f"{name}, at least {least:g}"


def listed(entry, metadata):
    length = constraint(metadata, "max_length")
    plural = re.sub(r"\b(number|list)\b", r"\1s", words(entry))
    return f"list of {length} {plural}" if length else f"list of {plural}"


def named(module, table):
    """The torques, loads or interactions of a module, by name."""
    return [
        part
        for name, make in table.items()
        for part in (title(f'name = "{name}"', "~"), load(module, name, make))
    ]


def load(module, name, make):
    """A torque, load or interaction: what it is, and its parameters."""
    models = {"interactions": schema.interaction_model}
    model = models.get(module, schema.torque_model)(name, make)
    rows = [
        (literal(key), kind(field), default(field))
        for key, field in model.model_fields.items()
        if key != "name"
    ]
    text = f"{escaped(inspect.getdoc(make).splitlines()[0])}  See `polhode.{module}.{make.__name__}`.\n\n"
    return text + (table(("key", "type", "default"), rows, "25 40 35") if rows else "")


def sweep():
    example = inspect.getdoc(axes)
    rows = [
        (literal(key), kind(field), default(field))
        for key, field in axes.Options.model_fields.items()
    ]
    return (
        prose(example.partition("\n\n")[2])
        + "\n\nNext to the axes:\n\n"
        + table(("key", "type", "default"), rows, "25 40 35")
    )
