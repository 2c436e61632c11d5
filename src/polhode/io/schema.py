"""What a scenario file may say: one flat pydantic model for each section, and how their complaints
read."""

import inspect
from functools import cache
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    create_model,
)

from polhode.bodies import shapes
from polhode.errors import InputError, nearest
from polhode.engine.schedule import span
from polhode.methods import get
from polhode.rotations import as_quaternion


class Section(BaseModel):
    """Nothing is converted: text is not a number, and a key that is not known is an error.  What a
    key means is said below it."""

    model_config = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


Positive = Annotated[float, Field(gt=0)]
Vector = Annotated[list[float], Field(min_length=3, max_length=3)]
Sizes = Annotated[list[Positive], Field(min_length=3, max_length=3)]
Matrix = Annotated[list[Vector], Field(min_length=3, max_length=3)]


def _either(one, many, is_many):
    """One of two types, chosen by the look of the value, so that complaints are about that one
    alone."""
    return Annotated[
        Annotated[one, Tag("#one")] | Annotated[many, Tag("#many")],
        Discriminator(lambda value: "#many" if is_many(value) else "#one"),
    ]


def _is_list(value):
    return isinstance(value, list)


def _is_nested(value):
    return _is_list(value) and any(map(_is_list, value))


def _how_often(value):
    if value != "end" and (type(value) is not int or value < 1):
        raise InputError(
            f"must be a whole number of steps, at least 1, or 'end', got {shown(value)!s:.60}; write every = 10, "
            "for example"
        )
    return value


Numbers = _either(float, list[float], _is_list)


class Inertia(Section):
    """A body by its inertia."""

    inertia: _either(Sizes, Matrix, _is_nested)
    """Principal moments, or the whole matrix in any body frame."""
    mass: Positive = 1.0
    """Mass; rotation does not ask for it."""
    check_triangle: bool = True
    """Refuse moments that no real body has, where one exceeds the sum of the others."""
    name: str | None = None
    """A name for tables and figures."""


HOLDS = {  # what the keys of a shape hold, and the default of those that may be left out
    "length": (Positive, ...),
    "lengths": (Sizes, ...),
    "flag": (bool, False),
    "masses": (list[Positive], ...),
    "positions": (list[Vector], ...),
}


def _shape_model(shape):
    """The section of a body by its shape."""

    def key(holds, default, meaning):
        return holds, Field(default, description=meaning)

    keys = {name: key(*HOLDS[one.holds], one.meaning) for name, one in shape.keys.items()}
    mass = "Mass; give this or the density, or neither for a mass of 1."
    weighed = {
        "mass": key(Positive | None, None, mass),
        "density": key(Positive | None, None, "Mass per volume."),
    }
    name = key(str | None, None, "A name for tables and figures.")
    fields = {"shape": key(str, ..., "The shape.")}
    if shape.uniform:
        fields |= {**weighed, "name": name, **keys}
    else:
        fields |= {**keys, "name": name}
    return create_model("Shape", __base__=Section, __doc__=shape.summary, **fields)


class Mesh(Section):
    """The uniform solid inside a closed surface."""

    mesh: Annotated[str, Field(min_length=1)]
    """An .stl, .obj, .ply or .glb file; a relative path begins in the folder of the scenario."""
    mass: Positive | None = None
    """Mass in kg; give this or the density."""
    density: Positive | None = None
    """Mass per volume, in kg/m^3."""
    units: _either(str, Positive, lambda value: not isinstance(value, str)) = "m"
    """Of its coordinates: "m", "cm", "mm", "um", "nm", "km", "in", "ft", or the length of one in metres."""
    name: str | None = None
    """A name for tables and figures."""


SHAPES = {name: _shape_model(shape) for name, shape in shapes.SHAPES.items()}
BODY_KEYS = tuple(
    dict.fromkeys(
        key for section in (Inertia, Mesh, *SHAPES.values()) for key in section.model_fields
    )
)


class Initial(Section):
    """Where the motion begins: the attitude in one of four ways, the identity when none is given,
    and how the body turns."""

    rotation: Literal["identity"] | None = None
    """The attitude: body axes along those of space."""
    rotation_vector: Annotated[Vector, AfterValidator(as_quaternion)] | None = None
    """The attitude: axis times angle, in radians."""
    quaternion: (
        Annotated[list[float], Field(min_length=4, max_length=4), AfterValidator(as_quaternion)]
        | None
    ) = None
    """The attitude: a quaternion, scalar last, of length 1 to a few digits."""
    matrix: Annotated[Matrix, AfterValidator(as_quaternion)] | None = None
    """The attitude: the rotation matrix from body to space, row by row."""
    omega: Vector | None = None
    """Angular velocity in body axes; this or the momentum."""
    momentum: Vector | None = None
    """Angular momentum in body axes."""


class Run(Section):
    """The method, the steps, and what is kept of them."""

    method: Annotated[str, AfterValidator(get)] | None = None
    """The name of a method; left out, the standard one, which `polhode.integrate` takes too."""
    step: _either(Positive, list[float], _is_list) | None = None
    """The size of a step, or the times of all steps."""
    rtol: Positive | None = None
    """A relative tolerance in place of a step: the method chooses its steps."""
    atol: Annotated[float, Field(ge=0)] | None = None
    """An absolute tolerance, next to `rtol`."""
    max_step: Positive | None = None
    """The largest step that a tolerance may lead to."""
    t_span: (
        Annotated[list[float], Field(min_length=2, max_length=2), AfterValidator(span)] | None
    ) = None
    """First and last time; a last time before the first runs backwards."""
    every: Annotated[int | str, BeforeValidator(_how_often)] = 1
    """Keep every so many steps, or "end" for the last alone."""
    t_eval: list[float] | None = None
    """Keep the motion at these times, interpolated, in place of `every`."""
    breaks: Numbers | None = None
    """Times at which the torque jumps: a step ends there and a new one begins."""


class Output(Section):
    """Where the motion is written when the command line says nothing else."""

    file: Annotated[str, Field(min_length=1)]
    """The file."""
    format: str | None = None
    """nc, npz or csv, where the ending of the file does not say."""


def _count(value):
    if type(value) is not int or value < 1:
        raise InputError(
            f"must be a whole number of bodies, at least 1, got {shown(value)!s:.60}; write n = 1000, for example"
        )
    return value


Spread = Annotated[float, Field(ge=0)]


class Ensemble(Section):
    """How the bodies of `polhode ensemble` differ from one another."""

    n: Annotated[int, BeforeValidator(_count)] = 1000
    """How many bodies."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of the random draws: the same seed, the same bodies."""
    rotation: Literal["random", "same"] = "random"
    """Attitudes spread evenly over all there are, or that of `[initial]` for every body."""
    omega_spread: _either(
        Spread, Annotated[list[Spread], Field(min_length=3, max_length=3)], _is_list
    ) = 0.0
    """Standard deviation of the angular velocity about that of `[initial]`, one for all components or one for each."""
    inertia_spread: Spread = 0.0
    """Relative spread of the body's extent along each principal axis, so that every body drawn is a possible one."""
    parameter_spread: dict[str, _either(Spread, list[Spread], _is_list)] = {}
    """Standard deviations of the torque's parameters about the values of `[torque]`, by their names."""


SECTIONS = ("body", "initial", "torque", "run", "output", "ensemble")
TOP = ("title", "problem", *SECTIONS)


@cache
def torque_model(name, function):
    """The keys of a torque's section: the parameters of the function that makes it.  The body and
    the step are supplied."""
    fields = {"name": (str, ...)}
    for key, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        kind = {str: str, tuple: Vector, float: float, int: float}.get(type(default), Numbers)
        if key == "step":
            fields[key] = (Positive | None, None)
        elif key != "body":
            fields[key] = (kind, ... if default is parameter.empty else default)
    return create_model(name, __base__=Section, **fields)


# --- how a complaint reads ------------------------------------------------------------------------

EXAMPLES = {  # how each key is written
    "inertia": "[1.0, 2.0, 2.5]",
    "mass": "1.0",
    "density": "1000.0",
    "check_triangle": "false",
    "shape": '"box"',
    "radius": "0.5",
    "size": "[0.3, 0.2, 0.1]",
    "semi_axes": "[0.3, 0.2, 0.1]",
    "height": "1.0",
    "hollow": "true",
    "masses": "[1.0, 1.0, 2.0]",
    "positions": "[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]",
    "mesh": '"FILE.stl"',
    "units": '"mm"',
    "name": '"box"',
    "rotation": '"identity"',
    "rotation_vector": "[0.1, 0.0, 0.0]",
    "quaternion": "[0.0, 0.0, 0.0, 1.0]",
    "matrix": "[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]",
    "omega": "[0.1, 1.0, 0.0]",
    "momentum": "[0.1, 1.0, 0.0]",
    "method": '"NMB"',
    "step": "0.01",
    "rtol": "1e-9",
    "atol": "1e-12",
    "max_step": "0.1",
    "t_span": "[0.0, 10.0]",
    "every": "10",
    "t_eval": "[0.0, 0.5, 1.0]",
    "breaks": "[0.5]",
    "file": '"motion.nc"',
    "format": '"nc"',
    "n": "1000",
    "seed": "1",
    "omega_spread": "0.1",
    "inertia_spread": "0.05",
    "parameter_spread": "{ moment = 0.5 }",
    "value": "[0.0, 0.0, 1.0]",
    "rate": "0.001",
    "coefficient": "0.1",
    "from": "0.1",
    "to": "1.0",
    "count": "10",
    "scale": '"log"',
    "samples": "100",
    "device": '"cpu"',
    "dtype": '"float64"',
    "normal": "[0.0, 1.0]",
    "uniform": "[0.0, 1.0]",
    "loguniform": "[0.1, 1.0]",
}
_KINDS = {
    "float_type": ("a number", "1.0"),
    "int_type": ("a whole number", "1"),
    "string_type": ("text", '"..."'),
    "bool_type": ("true or false", "true"),
    "list_type": ("a list", "[1.0, 2.0, 3.0]"),
    "dict_type": ("a table", "{ }"),
    "finite_number": ("finite", "1.0"),
    "model_type": ("a section", None),
    "int_from_float": ("a whole number", "1"),
    "string_too_short": ("more than nothing", '"..."'),
}


def complaint(error, keys, section):
    """(path, message) of one of pydantic's errors in a section, of this name, that has these
    keys."""
    path = tuple(part for part in error["loc"] if not str(part).startswith("#"))
    return path, _message(
        error["type"], error["msg"], error["input"], error.get("ctx") or {}, path, keys, section
    )


def _message(kind, text, value, context, path, keys, section):
    got = f"got {' '.join(shown(value).split()):.60}"
    rule, sample = _KINDS.get(kind, (None, "..."))
    way_out = f"write a line [{section}] and its keys below that"
    if path:
        way_out = f"write {path[0]} = {EXAMPLES.get(path[0], sample)}"
    if kind == "value_error":  # raised by polhode itself, and says it all
        return str(context["error"])
    if kind == "missing":
        return f"is missing; {way_out}, for example"
    if kind == "extra_forbidden":
        return misplaced(path[-1], keys)
    if kind == "literal_error":
        valid = context["expected"].replace("'", "").split(" or ")
        return f"must be {context['expected']}, {got}{nearest(value, valid)}; {way_out}"
    if kind in ("greater_than", "greater_than_equal"):
        least = context.get("gt", context.get("ge"))
        more = "be positive" if kind == "greater_than" and least == 0 else f"be at least {least:g}"
        return f"must {more}, {got}; give a value {'above' if kind == 'greater_than' else 'of at least'} {least:g}"
    if kind in ("too_long", "too_short"):
        count = context.get("max_length", context.get("min_length"))
        return f"must have {count} entries, {got}, which has {context['actual_length']}; give {count}: {way_out}, for example"
    rule = (
        f"must be {rule}"
        if rule
        else f"{text[0].lower()}{text[1:]}".replace("input should be", "must be")
    )
    return f"{rule}, {got}; {way_out}{', for example' if path else ''}"


def shown(value):
    """A value as a scenario has it."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def misplaced(key, keys):
    """What to say of a key that does not belong where it stands."""
    hint = nearest(key, keys)
    if not hint and key in TOP:
        hint = " here; it goes to the top of the file, before the first [section]"
    return f"unknown key{hint}; valid: {', '.join(keys)}"
