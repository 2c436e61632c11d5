"""Taylor coefficients of a motion, from the operations of its torque (_trace.py).

Each operation has a rule for the k-th coefficient of its result from those before:

    c = a b        c_k = sum_j a_j b_(k-j)
    c = a / b      c_k = (a_k - sum_(j<k) c_j b_(k-j)) / b_0
    c = sqrt(a)    c_k = (a_k - sum_(0<j<k) c_j c_(k-j)) / (2 c_0)
    s, c = sin a, cos a     s_k = sum_j j a_j c_(k-j) / k,   c_k = -sum_j j a_j s_(k-j) / k

and the equation of motion y' = f gives y_(k+1) = f_k / (k + 1).  Sums are written where they are used; products, quotients and
roots are kept, and those of the same depth share a loop, so that their sums run side by side.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

from polhode.core.generated import generated
from polhode.core.loops.taylor_steps import FLIGHT_HEAD, FLIGHT_NAMES, HEAD, follow
from polhode.core.scalars import sincos
from polhode.errors import InputError
from polhode.methods._trace import SIGNS, Symbol, Untraceable, trace

LARGEST = 24  # beyond it round-off eats what another order would gain


class SeriesWriter:
    """Writes `series(t, y, n, W, body, p)` for a graph; the coefficients of the i-th node that is
    kept begin at W[i (n + 1)]."""

    def __init__(self, graph, slopes):
        self.graph, self.slopes = graph, slopes
        self.width = len(slopes)  # of the motion: its nodes are the first, and then comes the time
        self.kept = {}  # node -> its number in W
        for i in range(len(graph.nodes)):
            if not self.linear(i):
                used = [one.index for one in graph.nodes[i][1] if one.index is not None]
                for node in (*used, i):
                    self.kept.setdefault(node, len(self.kept))

    def linear(self, i):
        """Whether the coefficients are those of the arguments, added or scaled."""
        operation, arguments = self.graph.nodes[i]
        if operation in ("mul", "div"):
            return arguments[1].index is None or (operation == "mul" and arguments[0].index is None)
        return operation in ("add", "sub")

    def text(self, symbol, k, whole=False):
        """The k-th coefficient as source text ("0", or "k" for a later one); `whole` writes out a
        kept sum."""
        if symbol.index is None:
            return symbol.text if k == "0" else "0.0"
        i = symbol.index
        if i in self.kept and not (whole and self.linear(i) and i > self.width):
            return f"W[o{self.kept[i]} + {k}]"
        operation, (a, b) = self.graph.nodes[i]
        if operation in ("mul", "div"):  # by a constant
            parts = [one.text if one.index is None else self.text(one, k) for one in (a, b)]
            return f"({parts[0]} {SIGNS[operation]} {parts[1]})"
        parts = [self.text(one, k) for one in (a, b)]
        if parts[1] == "0.0":
            return parts[0]
        return f"({parts[0]} {SIGNS[operation]} {parts[1]})"

    def depth(self, i, memo):
        if i not in memo:
            arguments = self.graph.nodes[i][1]
            memo[i] = 1 + max(
                (self.depth(one.index, memo) for one in arguments if one.index is not None),
                default=-1,
            )
        return memo[i]

    def beginnings(self):
        """The coefficients of order 0."""
        forms = {
            "mul": "{0} * {1}",
            "div": "{0} / {1}",
            "sqrt": "math.sqrt({0})",
            "sin": "sincos({0})[0]",
            "cos": "sincos({0})[1]",
        }
        time = self.width
        lines = [f"W[o{i}] = y[{i}]" for i in range(time)] + [f"W[o{time}] = t"]
        for i in sorted(set(self.kept) - set(range(self.width + 1))):
            operation, arguments = self.graph.nodes[i]
            me = Symbol(self.graph, index=i)
            value = (
                self.text(me, "0", whole=True)
                if self.linear(i)
                else forms[operation].format(*(self.text(one, "0") for one in arguments))
            )
            lines.append(f"W[o{self.kept[i]}] = {value}")
        return lines

    def later(self):
        """The coefficients of order k from those before, depth by depth."""
        memo = {}
        depths = {}
        for i in sorted(set(self.kept) - set(range(self.width + 1))):
            depths.setdefault(self.depth(i, memo), []).append(i)
        lines = []
        for _, nodes in sorted(depths.items()):
            sums = [i for i in nodes if not self.linear(i)]
            first, loop, after = zip(*map(self.rule, sums), strict=True) if sums else ((), (), ())
            lines += first
            if any(loop):
                lines += ["for j in range(1, k):", *(f"    {line}" for line in loop)]
            lines += after
            lines += [
                f"W[o{self.kept[i]} + k] = {self.text(Symbol(self.graph, index=i), 'k', whole=True)}"
                for i in nodes
                if self.linear(i)
            ]
        return lines

    def rule(self, i):
        """(first term, further terms, result) of the k-th coefficient of a product, a quotient, a
        root, a sine or a cosine."""
        operation, arguments = self.graph.nodes[i]
        me, s = f"o{self.kept[i]}", f"s{self.kept[i]}"
        a, b = (
            [f"o{self.kept[one.index]}" if one.index is not None else None for one in arguments]
            + [None]
        )[:2]
        now = self.text(arguments[0], "k")
        if operation == "mul":
            return (
                f"{s} = W[{a}] * W[{b} + k] + W[{a} + k] * W[{b}]",
                f"{s} += W[{a} + j] * W[{b} + k - j]",
                f"W[{me} + k] = {s}",
            )
        if operation == "div":
            return (
                f"{s} = {now} - W[{me}] * W[{b} + k]",
                f"{s} -= W[{me} + j] * W[{b} + k - j]",
                f"W[{me} + k] = {s} / W[{b}]",
            )
        if operation == "sqrt":
            return (
                f"{s} = {now}",
                f"{s} -= W[{me} + j] * W[{me} + k - j]",
                f"W[{me} + k] = {s} / (2.0 * W[{me}])",
            )
        other = (
            self.graph.known["cos", (arguments[0].index, i)]
            if operation == "sin"
            else arguments[1].index
        )
        c, sign = f"o{self.kept[other]}", "" if operation == "sin" else "-"
        return (
            f"{s} = k * W[{a} + k] * W[{c}]",
            f"{s} += j * W[{a} + j] * W[{c} + k - j]",
            f"W[{me} + k] = {sign}{s} / k",
        )

    def lines(self):
        lines = [
            "m = n + 1",
            *(f"o{i} = {i} * m" for i in range(len(self.kept))),
            *self.beginnings(),
        ]
        lines += [f"W[o{i} + 1] = {self.text(one, '0')}" for i, one in enumerate(self.slopes)]
        time = self.width
        lines += [
            f"W[o{time} + 1] = 1.0",
            "for k in range(2, n + 1):",
            f"    W[o{time} + k] = 0.0",
        ]
        inner = self.later() + [
            f"W[o{i} + k + 1] = {self.text(one, 'k')} / (k + 1.0)"
            for i, one in enumerate(self.slopes)
        ]
        lines += ["for k in range(1, n):", *(f"    {line}" for line in inner)]
        return tuple(lines)


# --- what a run by tolerance needs ----------------------------------------------------------------


@dataclass(frozen=True)
class TaylorSeries:
    """The recursion of a torque, and the order."""

    series: Callable
    nodes: int
    terms: int
    flight: bool = False
    loop: ClassVar[Callable] = staticmethod(follow)
    powers: ClassVar[bool] = True  # the continuous extension is a sum of powers

    @property
    def names(self):
        """What the loop sees."""
        return {"series": self.series, **(FLIGHT_NAMES if self.flight else {})}

    def blank(self):
        """The numbers the loop starts with."""
        head = FLIGHT_HEAD if self.flight else HEAD
        return [0.0] * (head - 1) + [float(self.terms)] + [0.0] * (self.nodes * (self.terms + 1))


class Recursion(NamedTuple):
    """Taylor series of some order, or of the order that is best for a tolerance: Jorba & Zou
    2005."""

    order: int | None
    flight: bool = False

    def suited(self, program, rtol):
        """The recursion of a program's torque."""
        order = self.order or min(LARGEST, max(4, math.ceil(1.0 - 0.5 * math.log(rtol))))
        acting = [one for one in (program.torque, program.force) if one is not None]
        terms = [term for one in acting for term in one.terms]
        arrays = [term.name for term in terms if getattr(term, "form", None) == "array"]
        obstacles = (one.obstacle() for one in acting)
        why = program.note if program.mode == "callback" else next(filter(None, obstacles), None)
        if arrays:
            why = f'{arrays[0]!r} is written for NumPy arrays (form="array", the default)'
        if why is None:
            try:
                graph, slopes = trace(
                    program.names["torque"],
                    program.names["load_parameters"](program.parameters, 0),
                    self.flight,
                )
            except (Untraceable, TypeError, AttributeError, ValueError) as error:
                why = str(error)
            else:
                writer = SeriesWriter(graph, slopes)
                made = recursion_function(writer.lines())
                return TaylorSeries(made, len(writer.kept), order, self.flight)
        raise InputError(
            f"Taylor series cannot be made for the torque {program.torque.name!r}: {why}.  They need a torque in "
            "tuple form made of + - * /, square roots, sines and cosines; use DOP853 for others"
        )


@lru_cache(64)
def recursion_function(lines):
    """The function that computes the coefficients."""
    return generated(__name__, "series", "t, y, n, W, body, p", lines, math=math, sincos=sincos)
