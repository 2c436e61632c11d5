"""The operations of a torque, found by running its own arithmetic on symbols.

A torque in tuple form is made of + - * /, square roots, sines and cosines.  Called with symbols in place of numbers it leaves a
graph of the operations that lead to its value.  A torque that compares numbers, or calls what knows no symbols, cannot be traced.
"""

import math
from types import SimpleNamespace

from polhode.core.loops.adaptive_motion import slope, slope_flight
from polhode.core.fma import fma, product_and_sum
from polhode.core.rebind import Rebinder
from polhode.core.loops.fixed import Body
from polhode.core.scalars import sincos
from polhode.core.vec import attitude, matrix


class Untraceable(Exception):
    """The value of a symbol was asked for."""


def _operator(operation):
    """The methods of an operator: symbol on the left, symbol on the right."""

    def left(self, other):
        if getattr(other, "shape", ()):
            return NotImplemented  # the array takes its entries one by one
        return self.graph.apply(operation, self, other)

    def right(self, other):
        return self.graph.apply(operation, other, self)

    return left, right


class Symbol:
    """A number that is constant over a step (`text` says which), or a series (node `index` of the
    graph)."""

    def __init__(self, graph, text=None, index=None):
        self.graph, self.text, self.index = graph, text, index

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("sub")
    __mul__, __rmul__ = _operator("mul")
    __truediv__, __rtruediv__ = _operator("div")

    def __neg__(self):
        return -1.0 * self

    def __pow__(self, other):
        if other not in (2, 3):
            raise Untraceable("it takes a power other than a square or a cube")
        return self * self if other == 2 else self * self * self

    # under these names NumPy's functions find them
    def sqrt(self):
        return traced_sqrt(self)

    def sin(self):
        return traced_sincos(self)[0]

    def cos(self):
        return traced_sincos(self)[1]

    def _compared(self, *_):
        raise Untraceable("it compares numbers to choose a branch")

    def _valued(self, *_):
        raise Untraceable(
            "it puts numbers into a NumPy array, or calls a function, where symbols cannot go"
        )

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __abs__ = _compared
    __float__ = __int__ = __round__ = _valued


class Single(Symbol):
    """One that does not go into arrays: their operations are not traced."""

    __array__ = Symbol._valued


SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


class Graph:
    """The operations that lead from the motion to its slope."""

    kind: type[Symbol] = Single  # of symbols

    def __init__(self):
        self.nodes = []  # (operation, arguments): symbols
        self.known = {}

    def symbol(self, value):
        return value if isinstance(value, Symbol) else self.kind(self, repr(float(value)))

    def node(self, operation, *arguments):
        key = operation, tuple(one.text if one.index is None else one.index for one in arguments)
        if key not in self.known:
            self.known[key] = len(self.nodes)
            self.nodes.append((operation, arguments))
        return self.kind(self, index=self.known[key])

    def apply(self, operation, a, b):
        a, b = self.symbol(a), self.symbol(b)
        if a.index is None and b.index is None:
            return self.kind(self, f"({a.text} {SIGNS[operation]} {b.text})")
        zero, one = repr(0.0), repr(1.0)
        if operation in ("add", "sub") and b.text == zero:
            return a
        if (operation == "mul" and zero in (a.text, b.text)) or (
            operation == "div" and a.text == zero
        ):
            return self.symbol(0.0)
        if (operation == "mul" and a.text == one) or (operation == "add" and a.text == zero):
            return b
        return self.node(operation, a, b)


def traced_sqrt(x):
    if not isinstance(x, Symbol):
        return math.sqrt(x)
    return (
        x.graph.kind(x.graph, f"math.sqrt({x.text})")
        if x.index is None
        else x.graph.node("sqrt", x)
    )


def traced_sincos(x):
    if not isinstance(x, Symbol):
        return sincos(x)
    if x.index is None:
        return tuple(x.graph.kind(x.graph, f"math.{name}({x.text})") for name in ("sin", "cos"))
    s = x.graph.node("sin", x)
    return s, x.graph.node("cos", x, s)


# what torques find under the name math
traced_math = SimpleNamespace(
    pi=math.pi,
    e=math.e,
    tau=math.tau,
    inf=math.inf,
    nan=math.nan,
    sqrt=traced_sqrt,
    sin=lambda x: traced_sincos(x)[0],
    cos=lambda x: traced_sincos(x)[1],
)


class Tracer(Rebinder):
    """Copies functions so that they take symbols."""

    def __call__(self, obj):
        return traced_math if obj is math else super().__call__(obj)

    def _clone(self, function, options=None):
        clone, fill = super()._clone(function, options)
        clone.__globals__["float"] = same  # numbers stay what they are
        return clone, fill


def same(x):
    return x


def symbols_of(value, path, graph):
    """A nested tuple of numbers as symbols that say where in `path` they stand."""
    if not isinstance(value, tuple):
        return graph.kind(graph, path)
    parts = [symbols_of(part, f"{path}[{i}]", graph) for i, part in enumerate(value)]
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def trace(load, p, flight=False):
    """(graph, slope of the motion as symbols): the first nodes, seven or in flight thirteen, are the
    motion, and the next is the time."""
    graph = Graph()
    y = tuple(graph.node(f"motion{i}") for i in range(13 if flight else 7))
    t = graph.node("time")
    one = (1.0, 1.0, 1.0)
    tracer = Tracer(lambda copy: copy, replace=[(sincos, traced_sincos), (fma, product_and_sum)])
    tracer.done[attitude] = tracer(matrix)  # the motion itself keeps |q| = 1
    body = symbols_of(Body(one, one), "body", graph)
    return graph, tuple(
        map(
            graph.symbol,
            tracer(slope_flight if flight else slope)(
                t, y, body, tracer(load), symbols_of(p, "p", graph)
            ),
        )
    )
