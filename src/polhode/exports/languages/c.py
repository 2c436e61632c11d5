"""C99: structures by value; no allocation, no recursion, no library but sqrt and fma."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

from polhode.exports.ir import (
    BOOL,
    INT,
    REAL,
    USER,
    Array,
    Ask,
    Const,
    Function,
    Item,
    Scalar,
    Type,
    Var,
    has_numbers,
    parts,
)
from polhode.exports.calls import UsersFunction
from polhode.exports.module import Root
from polhode.exports.outside import MOTORS
from polhode.exports.phrases import constant_key
from polhode.exports.printer import Printer
from polhode.exports.sample import PARTS
from polhode.exports.text import closed, folded, grouped, packed, paragraphs
from polhode.exports.trees import reads

KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register restrict
return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false
"""
LIBRARY = """
abort abs atof atoi calloc div exit free index labs main malloc memcpy printf puts rand read time write acos asin atan atan2
cbrt ceil copysign cos cosh erf exp exp2 fabs fdim floor fma fmax fmin fmod frexp gamma hypot j0 j1 jn ldexp lgamma log log10
log2 logb modf nan nearbyint pow remainder rint round scalb signbit sin sinh sqrt tan tanh tgamma trunc y0 y1 yn isnan isinf
isfinite INFINITY NAN errno stdin stdout stderr assert NULL EOF BUFSIZ CLOCKS_PER_SEC
"""
FURTHER = "asm typeof nullptr constexpr alignas alignof static_assert thread_local i386"
# that headers define: <complex.h>, <windows.h>, and gcc itself
DEFINED = "I near far small huge interface min max pascal IN OUT unix linux"
# macros of the standard library, and what belongs to compilers
MACROS = re.compile(
    r"_[_A-Z]\w*|\w*__\w*|(FLT|DBL|LDBL|DEC|FP|M|MATH|HUGE|SEEK|EXIT|RAND|INT|UINT|LONG|CHAR|SIG)_\w+|\w+_(MAX|MIN)"
)
PREAMBLE = """\
#include <float.h>
#include <math.h>
#include <stdbool.h>
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(_M_FP_FAST)
#error "operations must be done as they are written: compile without -ffast-math, -Ofast or /fp:fast"
#elif FLT_EVAL_METHOD != 0
#error "numbers must be rounded to their type: compile with -msse2 -mfpmath=sse"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && __GNUC__ == 12    /* which fuses sums and products that it was told not to */
#pragma GCC optimize("no-tree-slp-vectorize")
#endif"""
# before a step: gcc would hand on structures in memory, which takes longer than the arithmetic
FLATTEN = """\
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE_SIZE__)
__attribute__((flatten))    /* what it calls becomes part of it */
#endif"""

SAFE = {one: f"{one}_" for one in DEFINED.split()}
PUBLIC = ("make_body", "start", "step", "omega", "residual", "calls", "unrestored", "speeds")

EXAMPLE = {"h": "h", "t": "0.0"}
UNSOLVED = "    after a step, `if (!({name}_residual(&s) <= {most}))` it was not solved"


class Language(Printer):
    """C99."""

    suffix = ".c"
    keywords = frozenset(KEYWORDS.split()) | frozenset(DEFINED.split())
    reserved = keywords | frozenset(LIBRARY.split()) | frozenset(FURTHER.split())
    macros = MACROS
    prefixed = joined = True
    rows = ".v"
    attitude = "s->q"
    outside = False  # whether a public function is written, which gets state and body by pointers

    # --- types and declarations -------------------------------------------------------------------

    def of_type(self, kind: Type) -> str:
        if isinstance(kind, Scalar):
            return {REAL: self.precision, INT: "int", BOOL: "bool"}[kind]
        return self.names[kind]

    @property
    def own(self) -> str:
        """What the names of a file begin with, so that others can be included beside it."""
        return f"{self.module.prefix}_"

    def type_name(self, kind: Type) -> str:
        return self.own + self.plain_name(kind)

    def plain_name(self, kind: Type) -> str:
        return "load" if kind == USER else super().plain_name(kind).removeprefix(self.own)

    def constant_name(self, name: str) -> str:
        return self.own + super().constant_name(name)

    def function_name(self, name: str) -> str:
        return f"{self.own}{name}{'_' * (name in PUBLIC)}"

    def comment(self, text: str) -> str:
        first, *rest = paragraphs(text.replace("*/", "* /").replace("/*", "/ *"))
        return "\n".join([f"/* {first}", *(f"   {line}".rstrip() for line in rest)]) + " */"

    def preamble(self) -> str:
        return PREAMBLE

    def declared(self, kind: Type) -> str:
        if kind == USER:
            return self._users()
        names = self.field_names(kind)
        if isinstance(kind, Array):
            item = self.of_type(kind.item)
            fields = f"{item} {', '.join(names)};" if names else f"{item} v[{kind.count}];"
        else:
            pairs = zip(parts(kind) or (), names or (), strict=True)
            left = [(self.of_type(one), name) for one, name in pairs if has_numbers(one)]
            fields = " ".join(
                f"{one} {', '.join(name for _, name in group)};"
                for one, group in itertools.groupby(left, lambda pair: pair[0])
            )
        return "\n".join(folded(self.structure(self.names[kind], fields)))

    def structure(self, name: str, fields: str) -> str:
        """The declaration of a type with these fields."""
        return f"typedef struct {{ {fields} }} {name};"

    def _users(self) -> str:
        """What the user's function is called through."""
        prefix, asked, motors = self.module.prefix, self.module.asked, self.module.motors
        lines = [self.comment(self.users_doc("; context is yours")), *self._pointer(asked)]
        if motors:
            lines += [self.comment(MOTORS), *self._pointer(motors)]
        fields = " ".join(f"{prefix}_{one.name}_function {one.name};" for one in self.users)
        return "\n".join(
            [*lines, f"typedef struct {{ {fields} void *context; }} {self.names[USER]};"]
        )

    def _pointer(self, asked: UsersFunction) -> list[str]:
        """The type of a function of the user."""
        given = ", ".join(f"{self.of_type(kind)} {name}" for name, kind in asked.params)
        head = f"typedef {self.names[asked.result]} (*{self.module.prefix}_{asked.name}_function)"
        return folded(f"{head}({given}, void *context);")

    def constants_text(self) -> str:
        numbers = [one for one in self.constants if one.type == REAL]
        pairs = [f"{self.atom(one)} = {self.number(one.value)}" for one in numbers]
        lines = folded(f"static const {self.precision} {', '.join(pairs)};") if pairs else []
        return "\n".join(
            [*lines, *(self.constant(one) for one in self.constants if one.type != REAL)]
        )

    def constant(self, one: Const) -> str:
        text = self.nested(one.value, one.type)
        return "\n".join(
            folded(
                f"static {self.declared_as(self.names[constant_key(one)], text, one.type, True)};"
            )
        )

    def opened(self, function: Function) -> list[str]:
        given = [f"{self.of_type(kind)} {self.local[name]}" for name, kind in function.params]
        head = (
            f"{self.of_type(function.result)} {self.names[function]}({', '.join(given) or 'void'})"
        )
        return folded(f"static inline {head} {{")

    def declared_as(self, name: str, value: str, kind: Type, fixed: bool) -> str:
        cast = f"({self.of_type(kind)})"  # which an initialiser does not need
        value = value.removeprefix(cast) if value.startswith(f"{cast}{{") else value
        return f"{'const ' if fixed else ''}{self.of_type(kind)} {name} = {value}"

    def together(self, pairs: list[tuple[str, str]], kind: Type, depth: int) -> list[str]:
        if parts(kind) is not None or kind == USER:
            return super().together(pairs, kind, depth)
        listed = ", ".join(f"{name} = {value}" for name, value in pairs)
        return self.line(f"const {self.of_type(kind)} {listed}", depth)

    def declare(self, name: str, kind: Type) -> str:
        return f"{self.of_type(kind)} {name}"

    def nested(self, value: Any, kind: Type) -> str:
        if not isinstance(kind, Array):
            return super().nested(value, kind)
        inside = ", ".join(self.nested(one, kind.item) for one in value)
        return f"{{{inside}}}" if self.field_names(kind) else f"{{{{{inside}}}}}"

    # --- expressions ------------------------------------------------------------------------------

    def made(self, kind: Type, items: list[str]) -> str:
        inside = ", ".join(map(without_cast, items))
        return f"({self.of_type(kind)}){{{inside if self.field_names(kind) else f'{{{inside}}}'}}}"

    def special(self, value: float) -> str:
        text = "NAN" if math.isnan(value) else "INFINITY" if value > 0.0 else "-INFINITY"
        return text if self.precision == "float" else f"(double){text}"

    def literal(self, text: str) -> str:
        return f"{text}f" if self.precision == "float" else text

    def called(self, name: str, args: list[str]) -> str:
        name = "fabs" if name == "abs" else name
        return f"{name}{'f' if self.precision == 'float' else ''}({', '.join(args)})"

    def converted(self, text: str) -> str:
        return f"({self.precision}){text}"

    def asked(self, expr: Ask) -> str:
        user = self.expression(expr.user)
        return f"{user}.{expr.name}({self.arguments(expr.args)}, {user}.context)"

    # --- what the user calls ----------------------------------------------------------------------

    def variable(self, expr: Var) -> str:
        name = super().variable(expr)
        return f"*{name}" if self.outside and name in ("s", "body") else name

    def item(self, expr: Item) -> str:
        text = super().item(expr)
        return f"{text[1:].replace('.', '->', 1)}" if text.startswith("*") else text

    def public(self) -> str:
        self.outside, self.local = True, dict(SAFE)
        return grouped((self._outer(*one) for one in self.public_functions()), 8)

    def _head(self, name: str, root: Root) -> str:
        """The head of a public function."""
        given = []
        if root.value.type == self.module.state:
            given.append(f"{self.of_type(self.module.state)} *s")
        for one, kind in root.params:
            word = self.of_type(kind)
            if one == "body" or (one == "s" and not given):
                given.append(f"const {word} *{one}")
            elif one != "s":
                given.append(f"{word} {self.called_here(one)}")
        result = "void" if root.value.type == self.module.state else self.of_type(root.value.type)
        return f"{result} {self.public_name(name)}({', '.join(given)})"

    def _outer(self, name: str, doc: str, root: Root) -> str:
        head = self._head(name, root)
        unused = [name for name, _ in root.params if name not in reads(root.value) and name != "s"]
        quiet = "".join(f"(void){name}; " for name in unused)
        gives = "*s =" if head.startswith("void") else "return"
        lines = folded(f"{quiet}{gives} {self.expression(root.value)};", "    ")
        whole = closed([*folded(f"{head} {{"), *lines, "}"])
        before = [FLATTEN] if root is self.module.step else []
        return "\n".join([self.comment(doc), *before, *folded(f"{head};"), *whole])

    def example(self) -> str:
        name, load = self.module.prefix, ", load" if self.users else ""
        mine = ", ".join(f"my_{one.name}" for one in self.users)
        given = [f"{name}_load load = {{{mine}, 0}};"] if load else []
        body = ", ".join(self._sample(*pair) for pair in self.module.make_body.params)
        motion = [pair for pair in self.module.start.params if pair[0] in PARTS]
        k = "k" if self.precision == "double" else "(float)k"
        start = ", ".join(one if one in PARTS else EXAMPLE[one] for one in self._given_first())
        return "\n".join(
            [
                "Use (gcc -std=c99 -O2 -ffp-contract=off, with -mfma where the processor has it):",
                *(line for one in self.users for line in self._example_of(one)),
                "    int main(void) {",
                *packed(
                    [
                        f"const {self.precision} h = {self.number(0.01)};",
                        f"{name}_body body = {name}_make_body({body});",
                        *given,
                        *(self._declared_sample(*pair) for pair in motion),
                        f"{name}_state s;",
                        f"{name}_start(&s, {start}, &body{load});",
                        f"for (int k = 0; k < 1000; k++) {{ {name}_step(&s, h, {k} * h, &body{load}); }}",
                    ],
                    "        ",
                ),
                "    }",
                *(
                    [UNSOLVED.format(name=name, most=self.solved)]
                    * ("residual" in self.module.readings)
                ),
            ]
        )

    def _given_first(self) -> list[str]:
        """What a state begins with, before the body."""
        return [one for one, _ in self.module.start.params if one in PARTS or one in EXAMPLE]

    def _sample(self, name: str, kind: Type) -> str:
        """A value for a parameter."""
        return f"({self.of_type(kind)}){self.nested(self.module.sample[name], kind)}"

    def _declared_sample(self, name: str, kind: Type) -> str:
        return f"{self.of_type(kind)} {name} = {self.nested(self.module.sample[name], kind)};"

    def _example_of(self, one: UsersFunction) -> list[str]:
        """A function of the user that does nothing."""
        given = ", ".join(f"{self.of_type(kind)} {name}" for name, kind in one.params)
        result = self.of_type(one.result)
        head = f"static {result} my_{one.name}({given}, void *context)"
        return folded(f"{head} {{ return ({result}){{0}}; }}", "    ")


def without_cast(text: str) -> str:
    """A value inside another one: {x, y} for (vec2){x, y}, whose type is known there."""
    head, brace, inside = text.partition("){")
    is_whole = head.startswith("(") and head[1:].isidentifier() and closes_last(brace[1:] + inside)
    return brace[1:] + inside if is_whole else text


def closes_last(text: str) -> bool:
    """Whether the bracket with which a text begins is closed by its last letter."""
    depths = itertools.accumulate((letter == "{") - (letter == "}") for letter in text)
    return list(depths).index(0) == len(text) - 1
