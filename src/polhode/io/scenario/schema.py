"""What a scenario file may say: one flat pydantic model for each section."""

import inspect
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

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
from polhode.errors import InputError
from polhode.engine.schedule import span
from polhode.io.scenario.messages import as_toml
from polhode.loads.named import Source, supplied_parameters
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


# One of two types: which of them is decided by the value, so that an error message is about that one alone.
One = TypeVar("One")
Many = TypeVar("Many")
Either = Annotated[One, Tag("#one")] | Annotated[Many, Tag("#many")]


def _by_list(value):
    return "#many" if isinstance(value, list) else "#one"


def _by_nesting(value):
    return (
        "#many" if isinstance(value, list) and any(isinstance(x, list) for x in value) else "#one"
    )


def _by_text(value):
    return "#one" if isinstance(value, str) else "#many"


OneOrList = Annotated[Either[One, Many], Discriminator(_by_list)]


def _how_often(value):
    if value != "end" and (type(value) is not int or value < 1):
        raise InputError(
            f"must be a whole number of steps, at least 1, or 'end', got {as_toml(value)!s:.60}; write every = 10, "
            "for example"
        )
    return value


Numbers = OneOrList[float, list[float]]
End = int | str  # of a link: the number of a body, or its name
Links = OneOrList[
    Literal["chain", "ring"], list[Annotated[list[End], Field(min_length=2, max_length=2)]]
]


class Inertia(Section):
    """A body by its inertia."""

    inertia: Annotated[Either[Sizes, Matrix], Discriminator(_by_nesting)]
    """Principal moments, or the whole matrix in any body frame."""
    mass: Positive = 1.0
    """Mass; not needed for rotation."""
    check_triangle: bool = True
    """Reject moments that no real body has, where one exceeds the sum of the others."""
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
    units: Annotated[Either[str, Positive], Discriminator(_by_text)] = "m"
    """Of its coordinates: "m", "cm", "mm", "um", "nm", "km", "in", "ft", or the length of one in metres."""
    name: str | None = None
    """A name for tables and figures."""


class Rotor(Section):
    """A wheel inside the body, which the inertia includes: held at its speed, or free but for torque and
    damping where one of these or the momentum is given.  Write several as several ``[[body.rotors]]``."""

    axis: Vector
    """Direction of the axle in body axes."""
    inertia: Positive
    """Moment of inertia about the axle."""
    speed: float | None = None
    """Angular velocity relative to the body, held or at the start."""
    momentum: float | None = None
    """In place of the speed: the rotor's whole angular momentum about its axle at the start."""
    torque: float | None = None
    """Torque of the motor on the rotor; 0 for a rotor that turns freely."""
    damping: float | None = None
    """Viscous friction in the bearing, over the speed."""


SHAPES = {name: _shape_model(shape) for name, shape in shapes.SHAPES.items()}
BODY_KEYS = tuple(
    dict.fromkeys(
        key for section in (Inertia, Mesh, *SHAPES.values()) for key in section.model_fields
    )
)


def _attitude(value):
    """From a rotation vector or a matrix; of one argument, as pydantic 2.7 wants it."""
    return as_quaternion(value)


def _quaternion(value, info):
    return as_quaternion(value, scalar_first=info.data.get("scalar_first"))


class Initial(Section):
    """Where the motion begins: the attitude in one of four ways, the identity when none is given,
    how the body turns, and, of a body in flight, where it is and how it moves."""

    rotation: Literal["identity"] | None = None
    """The attitude: body axes along those of space."""
    rotation_vector: Annotated[Vector, AfterValidator(_attitude)] | None = None
    """The attitude: axis times angle, in radians."""
    scalar_first: bool | None = None
    """Whether the quaternion is written (w, x, y, z); (x, y, z, w) by default."""
    quaternion: (
        Annotated[list[float], Field(min_length=4, max_length=4), AfterValidator(_quaternion)]
        | None
    ) = None
    """The attitude: a quaternion, scalar last unless the key above says otherwise, of length 1 to a few digits."""
    matrix: Annotated[Matrix, AfterValidator(_attitude)] | None = None
    """The attitude: the rotation matrix from body to space, row by row."""
    omega: Vector | None = None
    """Angular velocity in body axes; this or the momentum."""
    momentum: Vector | None = None
    """Angular momentum in body axes."""
    position: Vector | None = None
    """Position of the centre of mass, of a body in flight."""
    velocity: Vector | None = None
    """Velocity of the centre of mass, of a body in flight."""


def _count(value):
    if type(value) is not int or value < 1:
        raise InputError(
            f"must be a whole number of bodies, at least 1, got {as_toml(value)!s:.60}; write 1000, for example"
        )
    return value


Spread = Annotated[float, Field(ge=0)]


Spreads = OneOrList[Spread, Annotated[list[Spread], Field(min_length=3, max_length=3)]]


class Placement(Initial):
    """Where a body of a system is at the start and how it moves, beside the keys of its shape; `count` of them are placed on a
    line, a ring or a lattice."""

    rotation: Literal["identity", "random"] | None = None  # type: ignore[assignment]
    """The attitude: body axes along those of space, or any, drawn for each."""
    fixed: bool = False
    """Whether it turns about a fixed point, its position, about which its inertia is."""
    count: Annotated[int, BeforeValidator(_count)] = 1
    """How many there are of it."""
    line: Vector | None = None
    """Of several: the way from each to the next; the first is at the position."""
    ring: Positive | None = None
    """Of several: the radius of a ring about the position, on which each is turned by its angle; the first is in the direction
    of the first axis."""
    axis: Vector = [0.0, 0.0, 1.0]
    """The axis of the ring."""
    lattice: OneOrList[Positive, Sizes] | None = None
    """Of several: the spacings of a lattice about the position."""
    cells: Annotated[list[int], Field(min_length=3, max_length=3)] | None = None
    """How many the lattice has along each axis; by default those of the smallest cube with room for all."""
    omega_spread: Spreads = 0.0
    """Standard deviation of the angular velocity about omega, one for all components or one for each."""
    velocity_spread: Spreads = 0.0
    """Standard deviation of the velocity; the mean of those drawn is subtracted, so that they have no momentum."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of the random draws."""


@cache
def placed(model):
    """The section of a body of a system: that of its inertia, shape or mesh, and its placement."""
    return create_model(model.__name__, __base__=(model, Placement))


class Run(Section):
    """The method, the steps, and what is kept of them."""

    method: Annotated[str, AfterValidator(get)] | None = None
    """The name of a method; the default is that of `polhode.integrate`."""
    step: OneOrList[Positive, list[float]] | None = None
    """The size of a step, or the times of all steps."""
    rtol: Positive | None = None
    """A relative tolerance instead of a step: the method chooses its steps."""
    atol: Annotated[float, Field(ge=0)] | None = None
    """An absolute tolerance, in addition to `rtol`."""
    max_step: Positive | None = None
    """The largest step with a tolerance."""
    t_span: (
        Annotated[list[float], Field(min_length=2, max_length=2), AfterValidator(span)] | None
    ) = None
    """First and last time; a last time before the first runs backwards."""
    every: Annotated[int | str, BeforeValidator(_how_often)] = 1
    """Store every n-th step, or "end" for the last only."""
    t_eval: list[float] | None = None
    """Store the motion at these times, interpolated, instead of `every`."""
    breaks: Numbers | None = None
    """Times at which the torque jumps: a step ends there and a new one begins."""


class Output(Section):
    """Where the motion is written when the command line says nothing else."""

    file: Annotated[str, Field(min_length=1)]
    """The file."""
    format: str | None = None
    """The format, such as "nc", if the suffix of the file does not determine it."""


class Units(Section):
    """The units of the numbers in this file, for labels of figures, pages and files; nothing is converted.  `units = "SI"`
    at the top of the file is short for those of the SI."""

    length: str | None = None
    """Of lengths, such as "mm"."""
    mass: str | None = None
    """Of masses, such as "g"."""
    time: str | None = None
    """Of times, such as "s"."""


class Ensemble(Section):
    """How the bodies of `polhode ensemble` differ from one another."""

    n: Annotated[int, BeforeValidator(_count)] = 1000
    """How many bodies."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of the random draws: the same seed, the same bodies."""
    rotation: Literal["random", "same"] = "random"
    """Attitudes distributed uniformly over all rotations, or that of `[initial]` for every body."""
    rotation_spread: Spread = 0.0
    """With `rotation = "same"`: standard deviation, in radians, of a turn away from it about each body axis."""
    omega_spread: Spreads = 0.0
    """Standard deviation of the angular velocity about that of `[initial]`, one for all components or one for each."""
    position_spread: Spreads = 0.0
    """Of bodies in flight: standard deviation of the position about that of `[initial]`."""
    velocity_spread: Spreads = 0.0
    """Of bodies in flight: standard deviation of the velocity about that of `[initial]`."""
    inertia_spread: Spread = 0.0
    """Relative spread of the body's extent along each principal axis, so that every body drawn is physically possible."""
    parameter_spread: dict[str, OneOrList[Spread, list[Spread]]] = {}
    """Standard deviations of the parameters of torque and loads about the values of `[torque]` and `[load]`, by their names."""


def _is_nested(value):
    """Whether this is a number, or lists of numbers to any depth."""
    if isinstance(value, list):
        return all(map(_is_nested, value))
    return type(value) in (int, float) and abs(value) < float("inf")


def _numbers(value):
    if not all(map(_is_nested, value.values() if isinstance(value, dict) else [value])):
        raise InputError(
            f"must be a number, lists of numbers, or a table of them by the names of bodies, got {as_toml(value)!s:.60}; "
            "write 1.0, [1.0, 2.0] or { moon = 1.0, earth = 81.3 }, for example"
        )
    return value


@cache
def interaction_model(name, function):
    """The keys of the section of an interaction: the parameters of the function that makes it, but the bodies."""
    fields = {"name": (str, ...)}
    numbers = Annotated[Any, BeforeValidator(_numbers)]
    for key, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        kind = {str: str, bool: bool}.get(type(default), numbers)
        kind = Links if key == "links" else kind
        if key not in supplied_parameters(function):
            fields[key] = (kind, ... if default is parameter.empty else default)
    return create_model(name, __base__=Section, **fields)


@cache
def torque_model(name, function):
    """The keys of the section of a torque or load: the parameters of the function that makes it.  The
    body is that of the scenario, and the step is that of the run unless the section says otherwise."""
    fields, supplied = {"name": (str, ...)}, supplied_parameters(function)
    for key, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        other = float if str(parameter.annotation).startswith("float") else Numbers
        kind = {str: str, tuple: Vector, float: float, int: float}.get(type(default), other)
        if supplied.get(key) is Source.STEP:
            fields[key] = (Positive | None, None)
        elif key not in supplied:
            fields[key] = (kind, ... if default is parameter.empty else default)
    return create_model(name, __base__=Section, **fields)
