"""How what is wrong with a section reads: pydantic's errors in plain words."""

from polhode.errors import nearest

SECTIONS = (
    "body",
    "initial",
    "torque",
    "load",
    "interaction",
    "run",
    "output",
    "ensemble",
    "units",
)
TOP = ("title", "problem", *SECTIONS)
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
    "position": "[7000.0, 0.0, 0.0]",
    "velocity": "[0.0, 7.5, 0.0]",
    "fixed": "true",
    "line": "[1.0, 0.0, 0.0]",
    "ring": "2.0",
    "axis": "[0.0, 0.0, 1.0]",
    "lattice": "3.0",
    "cells": "[6, 6, 6]",
    "velocity_spread": "0.1",
    "links": '[[0, 1], [1, 2]], "chain" or "ring"',
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
    "arm": "[0.0, 0.0, 1.0]",
    "up": "[0.0, 0.0, 1.0]",
    "rate": "0.001",
    "coefficient": "0.1",
    "mu": "398600.4",
    "stiffness": "10.0",
    "strength": "1.0",
    "gain": "0.1",
    "kp": "1.0",
    "kd": "0.1",
    "force": "[0.0, 0.0, 1.0]",
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
    "string_too_short": ("at least one character long", '"..."'),
}


def complaint(error, keys, section):
    """(path, message) of one of pydantic's errors in a section, of this name, that has these
    keys."""
    *outer, last = error["loc"] or ("#",)
    # "#" begins the names of alternatives; a key that is not known may begin with it too
    kept = [last] if error["type"] == "extra_forbidden" or not str(last).startswith("#") else []
    path = (*(part for part in outer if not str(part).startswith("#")), *kept)
    return path, _message(
        error["type"], error["msg"], error["input"], error.get("ctx") or {}, path, keys, section
    )


def _message(kind, text, value, context, path, keys, section):
    got = f"got {' '.join(as_toml(value).split()):.60}"
    rule, sample = _KINDS.get(kind, (None, "..."))
    way_out = f"write a line [{section}] and its keys below that"
    if path:
        way_out = f"write {path[0]} = {EXAMPLES.get(path[0], sample)}"
    if kind == "value_error":  # raised by polhode itself, and says it all
        return str(context["error"])
    if kind == "missing":
        return f"is missing; {way_out}, for example"
    if kind == "extra_forbidden":
        return unknown_key(path[-1], keys)
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


def as_toml(value):
    """A value as a scenario has it."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def unknown_key(key, keys):
    """What to say of a key that does not belong where it stands."""
    hint = nearest(key, keys)
    if not hint and key in TOP:
        hint = " here; put it at the top of the file, before the first [section]"
    return f"unknown key{hint}; valid: {', '.join(keys)}"
