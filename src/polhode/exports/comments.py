"""Comments of functions: their docstrings, but where those have numbers of double precision."""

from __future__ import annotations

from typing import Any

from polhode.core.reads import python_function
from polhode.core.scalars import nearest, sincos
from polhode.exports.ir import Function

SINGLE: dict[Any, str] = {
    python_function(
        nearest
    ): "x rounded to the nearest integer, ties to even, |x| < 2^22; safe for NaN and free of branches.",
    python_function(
        sincos
    ): "(sin x, cos x) to 9e-8 for |x| <= 262144, without fma to ulp(x) beyond 3000; then NaN: x = n pi/2 + r, |r| <= pi/4.",
}


def comment(function: Function, precision: str) -> str:
    """What a function is, in a file of this precision."""
    return (precision == "float" and SINGLE.get(function.python)) or function.doc
