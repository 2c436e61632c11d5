"""What a scenario file may say: one flat pydantic model for each section, and how their complaints read."""

import inspect
from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, create_model

from polhode.errors import InputError, nearest
from polhode.grid import span
from polhode.methods import get
from polhode.rotations import as_quaternion


class Section(BaseModel):
    """Nothing is converted: text is not a number, and a key that is not known is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


Positive = Annotated[float, Field(gt=0)]
Vector = Annotated[list[float], Field(min_length=3, max_length=3)]
Sizes = Annotated[list[Positive], Field(min_length=3, max_length=3)]
Matrix = Annotated[list[Vector], Field(min_length=3, max_length=3)]


def _either(one, many, is_many):
    """One of two types, chosen by the look of the value, so that complaints are about that one alone."""
    return Annotated[Annotated[one, Tag("#one")] | Annotated[many, Tag("#many")],
                     Discriminator(lambda value: "#many" if is_many(value) else "#one")]


def _is_list(value):
    return isinstance(value, list)


def _is_nested(value):
    return _is_list(value) and any(map(_is_list, value))


def _how_often(value):
    if value != "end" and (type(value) is not int or value < 1):
        raise InputError(f"must be a whole number of steps, at least 1, or 'end', got {value!r}")
    return value


Numbers = _either(float, list[float], _is_list)


class Inertia(Section):
    inertia: _either(Sizes, Matrix, _is_nested)
    mass: Positive = 1.0
    check_triangle: bool = True
    name: str | None = None


class _Uniform(Section):
    shape: str
    mass: Positive | None = None
    density: Positive | None = None
    name: str | None = None


class Box(_Uniform):
    size: Sizes


class Ellipsoid(_Uniform):
    semi_axes: Sizes


class Cylinder(_Uniform):
    radius: Positive
    height: Positive


class Sphere(_Uniform):
    radius: Positive
    hollow: bool = False


class PointMasses(Section):
    shape: str
    masses: list[Positive]
    positions: list[Vector]
    name: str | None = None


SHAPES = {"box": Box, "ellipsoid": Ellipsoid, "cylinder": Cylinder, "sphere": Sphere, "point_masses": PointMasses}


class Initial(Section):
    rotation: Literal["identity"] | None = None
    rotation_vector: Annotated[Vector, AfterValidator(as_quaternion)] | None = None
    quaternion: Annotated[list[float], Field(min_length=4, max_length=4), AfterValidator(as_quaternion)] | None = None
    matrix: Annotated[Matrix, AfterValidator(as_quaternion)] | None = None
    omega: Vector | None = None
    momentum: Vector | None = None


class Run(Section):
    method: Annotated[str, AfterValidator(get)] | None = None
    step: _either(Positive, list[float], _is_list) | None = None
    rtol: Positive | None = None
    atol: Annotated[float, Field(ge=0)] | None = None
    max_step: Positive | None = None
    t_span: Annotated[list[float], Field(min_length=2, max_length=2), AfterValidator(span)] | None = None
    every: Annotated[int | str, BeforeValidator(_how_often)] = 1
    t_eval: list[float] | None = None
    breaks: Numbers | None = None


class Output(Section):
    file: Annotated[str, Field(min_length=1)]
    format: str | None = None


def _count(value):
    if type(value) is not int or value < 1:
        raise InputError(f"must be a whole number of bodies, at least 1, got {value!r}")
    return value


Spread = Annotated[float, Field(ge=0)]


class Ensemble(Section):
    n: Annotated[int, BeforeValidator(_count)] = 1000
    seed: Annotated[int, Field(ge=0)] = 0
    rotation: Literal["random", "same"] = "random"
    omega_spread: _either(Spread, Annotated[list[Spread], Field(min_length=3, max_length=3)], _is_list) = 0.0
    inertia_spread: Spread = 0.0
    parameter_spread: dict[str, _either(Spread, list[Spread], _is_list)] = {}


SECTIONS = ("body", "initial", "torque", "run", "output", "ensemble")
TOP = ("title", "problem", *SECTIONS)


@cache
def torque_model(name, function):
    """The keys of a torque's section: the parameters of the function that makes it.  The body and the step are supplied."""
    fields = {"name": (str, ...)}
    for key, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        kind = {str: str, tuple: Vector, float: float, int: float}.get(type(default), Numbers)
        if key == "step":
            fields[key] = (Positive | None, None)
        elif key != "body":
            fields[key] = (kind, ... if default is parameter.empty else default)
    return create_model(name, __base__=Section, **fields)


# --- how a complaint reads -----------------------------------------------------------------------------------------------

_KINDS = {"float_type": "a number", "int_type": "a whole number", "string_type": "text", "bool_type": "true or false",
          "list_type": "a list", "finite_number": "finite", "model_type": "a section"}


def complaint(error, keys):
    """(path, message) of one of pydantic's errors in a section that has these keys."""
    path = tuple(part for part in error["loc"] if not str(part).startswith("#"))
    return path, _message(error["type"], error["msg"], error["input"], error.get("ctx") or {}, path, keys)


def _message(kind, text, value, context, path, keys):
    shown = f"got {' '.join(repr(value).split()):.60}"
    if kind == "value_error":   # raised by polhode itself, and says it all
        return str(context["error"])
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return misplaced(path[-1], keys)
    if kind in _KINDS:
        return f"must be {_KINDS[kind]}, {shown}"
    if kind == "greater_than" and context["gt"] == 0:
        return f"must be positive, {shown}"
    if kind in ("too_long", "too_short"):
        return f"must have {context.get('max_length', context.get('min_length'))} entries, got {context['actual_length']}"
    return f"{text[0].lower()}{text[1:]}, {shown}".replace("input should be", "must be")


def misplaced(key, keys):
    """What to say of a key that does not belong where it stands."""
    hint = nearest(key, keys)
    if not hint and key in TOP:
        hint = " here; it goes to the top of the file, before the first [section]"
    return f"unknown key{hint}; valid: {', '.join(keys)}"
