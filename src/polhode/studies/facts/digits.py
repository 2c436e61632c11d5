"""Numbers of forty digits, and copies of functions that compute with them.

A step is made of + - * /, comparisons and a few elementary functions.  `Precise` copies its functions so that they compute with
`Real` numbers: the code is the same, `math` and `sincos` are replaced.  The round-off that is left is that of the method's own
constants, which stay the doubles they are unless made `with_digits`.  A `Real` refuses to become a float, so that no function
loses digits unnoticed.
"""

import math
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from types import BuiltinFunctionType, SimpleNamespace
from typing import Any

from polhode.core.fma import fma, product_and_sum
from polhode.core.constant import Constant, maker_of
from polhode.core.rebind import Rebinder
from polhode.core.scalars import nearest, sincos

DIGITS = 40
TURN = Decimal("6.28318530717958647692528676655900576839433879875021")  # 2 pi
HALVINGS = 8  # of an angle, before its series is summed
# nothing raises: a division by zero gives inf, what is undefined NaN
CONTEXT = Context(prec=DIGITS, traps=[])


def forty_digits():
    """The context in which numbers have forty digits: `with forty_digits(): ...`."""
    return localcontext(CONTEXT)


class Real:
    """A number of forty digits; the other operand may be a float or an integer."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = Decimal(value)

    def __float__(self):
        raise TypeError("a number of forty digits must not become a float")

    def __repr__(self):
        return f"Real('{self.value}')"

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self):
        return Real(-self.value)

    def __abs__(self):
        return Real(abs(self.value))

    def __bool__(self):
        return bool(self.value)


_of_float = lru_cache(10_000)(Decimal)  # a step's constants


def _decimal(number):
    return number.value if type(number) is Real else _of_float(number)


def _operator(name):
    """An operator of Decimal, from both sides."""
    operator, new = getattr(Decimal, f"__{name}__"), object.__new__

    def forward(self, other):
        result = new(Real)
        result.value = operator(
            self.value, other.value if type(other) is Real else _of_float(other)
        )
        return result

    def backward(self, other):
        result = new(Real)
        result.value = operator(_of_float(other), self.value)
        return result

    setattr(Real, f"__{name}__", forward)
    setattr(Real, f"__r{name}__", backward)


def _comparison(name):
    compare = getattr(Decimal, f"__{name}__")
    setattr(Real, f"__{name}__", lambda self, other: compare(self.value, _decimal(other)))


for one in ("add", "sub", "mul", "truediv", "pow"):
    _operator(one)
for one in ("lt", "le", "gt", "ge", "eq", "ne"):
    _comparison(one)


# --- elementary functions -------------------------------------------------------------------------


def _sincos(x):
    """(sin x, cos x) of a Decimal: the series of a 256th of it, then eight doublings of sin x and 1
    - cos x."""
    x = (x - TURN * (x / TURN).to_integral_value()) / 2**HALVINGS
    sine = term = x
    n = 1
    while abs(term) > abs(sine).scaleb(-DIGITS):
        n += 2
        term *= -x * x / (n * (n - 1))
        sine += term
    versine = sine * sine / (1 + (1 - sine * sine).sqrt())
    for _ in range(HALVINGS):
        sine, versine = 2 * sine * (1 - versine), 2 * versine * (2 - versine)
    return sine, 1 - versine


def _atan2(y, x):
    """The angle of the doubles, corrected by what it misses, of which the sine is known."""
    angle = Decimal(math.atan2(y, x))
    s, c = _sincos(angle)
    missed = (y * c - x * s) / (x * x + y * y).sqrt()
    return angle + missed + missed**3 / 6


def precise_sincos(x):
    """`polhode.core.scalars.sincos` of numbers of forty digits."""
    return tuple(map(Real, _sincos(_decimal(x))))


def precise_nearest(x):
    """`polhode.core.scalars.nearest`, which in doubles rests on their length."""
    return Real(_decimal(x).to_integral_value())


# what functions find under the name math; a function that is missing here cannot be used
precise_math: Any = SimpleNamespace(
    e=math.e,
    tau=math.tau,
    inf=math.inf,
    nan=math.nan,
    pi=math.pi,
    sin=lambda x: precise_sincos(x)[0],
    cos=lambda x: precise_sincos(x)[1],
    tan=lambda x: precise_math.sin(x) / precise_math.cos(x),
    sqrt=lambda x: Real(_decimal(x).sqrt()),
    exp=lambda x: Real(_decimal(x).exp()),
    log=lambda x: Real(_decimal(x).ln()),
    fabs=abs,
    isfinite=lambda x: _decimal(x).is_finite(),
    isnan=lambda x: _decimal(x).is_nan(),
    frexp=lambda x: math.frexp(_decimal(x)),
    ldexp=lambda x, k: x * 2.0**k,
    hypot=lambda *x: precise_math.sqrt(sum(a * a for a in x)),
    copysign=lambda x, y: Real(_decimal(x).copy_sign(_decimal(y))),
    atan2=lambda y, x: Real(_atan2(_decimal(y), _decimal(x))),
    atan=lambda x: precise_math.atan2(x, 1.0),
    asin=lambda x: precise_math.atan2(x, precise_math.sqrt(1.0 - x * x)),
    acos=lambda x: precise_math.atan2(precise_math.sqrt(1.0 - x * x), x),
)


def same(x):
    return x


def keeping_digits(function):
    """The function with a `float` that leaves numbers as they are."""
    function.__globals__["float"] = same
    return function


class Precise(Rebinder):
    """Copies functions so that they compute with forty digits."""

    def __init__(self):
        super().__init__(
            keeping_digits,
            replace=[(sincos, precise_sincos), (nearest, precise_nearest), (fma, product_and_sum)],
        )

    def __call__(self, obj):
        if obj is math:
            return precise_math
        if isinstance(obj, BuiltinFunctionType) and obj.__module__ == "math":
            return getattr(precise_math, obj.__name__, obj)
        make = maker_of(obj)
        if make is not None:
            return make(Real)
        return super().__call__(obj)

    def number(self, constant: Constant) -> float:
        """What counts as round-off where a step solves an equation: 1e-15 is 1e-36 here."""
        value = super().number(constant)
        return value**2.4 if value < 1e-8 else value


def mapped(function, value):
    """A nested tuple with the function applied to each number in it."""
    if not isinstance(value, tuple):
        return function(value)
    parts = [mapped(function, part) for part in value]
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
