"""C++11: a header with a namespace; the torque is a template parameter, so that it can be inlined."""

from __future__ import annotations

from polhode.core import vec
from polhode.exports.acting import VECTOR
from polhode.exports.calls import UsersFunction
from polhode.exports.ir import USER, Ask, Call, Const, Expr, Function, Item, Type, Var, has_user
from polhode.exports.languages import c
from polhode.exports.languages.c import EXAMPLE
from polhode.exports.module import Root
from polhode.exports.naming import Names
from polhode.exports.outside import MOTORS
from polhode.exports.phrases import LEVELS, Phrases, constant_key
from polhode.exports.text import closed, folded
from polhode.exports.trees import reads

KEYWORDS = """
alignas alignof and and_eq asm bitand bitor catch char16_t char32_t class compl constexpr const_cast decltype delete
dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
public reinterpret_cast static_assert static_cast template this thread_local throw try typeid typename using virtual wchar_t
xor xor_eq std
"""
OPERATORS = {vec.add: "+", vec.sub: "-", vec.scale: "*"}


class Language(c.Language):
    """C++."""

    suffix = ".hpp"
    prefixed = False
    attitude = "s.q"
    keywords = c.Language.keywords | frozenset(KEYWORDS.split())
    reserved = c.Language.reserved | keywords

    # --- the file ---------------------------------------------------------------------------------

    def text(self) -> str:
        return f"{super().text()}\n}}  // namespace {self.module.prefix}\n\n#endif\n"

    def preamble(self) -> str:
        guard = f"POLHODE_{self.module.prefix}_HPP"
        includes = c.PREAMBLE.replace("<float.h>", "<cfloat>").replace("<math.h>", "<cmath>")
        lines = includes.replace("#include <stdbool.h>\n", "")
        return f"#ifndef {guard}\n#define {guard}\n\n{lines}\n\nnamespace {self.module.prefix} {{"

    # --- names and types --------------------------------------------------------------------------

    own = ""  # a namespace has them

    def public_name(self, name: str) -> str:
        return name if name in c.PUBLIC else name.capitalize()

    def plain_name(self, kind: Type) -> str:
        return self._callable() if kind == USER else super().plain_name(kind)

    def constant_name(self, name: str) -> str:
        """FAR is kFar: words in capitals are macros in headers."""
        return "k" + "".join(one.capitalize() for one in Names.constant_name(self, name).split("_"))

    def of_type(self, kind: Type) -> str:
        if kind == USER:
            return f"const {self._callable()} &"
        name = super().of_type(kind)
        return f"{name}<{self._callable()}>" if has_user(kind) else name

    def _callable(self) -> str:
        """The type of the user's function, a template parameter."""
        return self.acting.capitalize()

    def declared(self, kind: Type) -> str:
        text = super().declared(kind)
        if kind == USER or not has_user(kind):
            return text
        return "\n".join([*self._template([("", kind)]), text.replace("& ", "&")])

    def structure(self, name: str, fields: str) -> str:
        return f"struct {name} {{ {fields} }};"

    def _users(self) -> str:
        def call(one: UsersFunction, own: str) -> str:
            given = ", ".join(f"{self.of_type(kind)} {name}" for name, kind in one.params)
            return f"{own}({given}) and returns a {self.names[one.result]}"

        asked, motors = self.module.asked, self.module.motors
        head = f"{self.users_doc()}  {self._callable()} below is its type:"
        if not motors:
            return self.comment(f"{head} anything that is called with {call(asked, '')}.")
        return self.comment(
            f"{head} an object that is called with {call(asked, f'.{asked.name}')}, and with {call(motors, '.motors')}.  {MOTORS}"
        )

    # --- declarations -----------------------------------------------------------------------------

    def constants_text(self) -> str:
        return super().constants_text().replace("static const ", "constexpr ")

    def constant(self, one: Const) -> str:
        text, name = self.nested(one.value, one.type), self.names[constant_key(one)]
        return "\n".join(folded(f"constexpr {self.declared_as(name, text, one.type, False)};"))

    def opened(self, function: Function) -> list[str]:
        given = [f"{self.of_type(kind)} {self.local[name]}" for name, kind in function.params]
        operator = self._operator(function)
        name = f"operator{operator}" if operator else self.names[function]
        head = f"inline {self.of_type(function.result)} {name}({', '.join(given)}) {{"
        return [*self._template(function.params), *folded(head.replace("& ", "&"))]

    def _template(self, params: list[tuple[str, Type]]) -> list[str]:
        if any(has_user(kind) for _, kind in params):
            return [f"template <class {self._callable()}>"]
        return []

    def _operator(self, function: Function) -> str:
        """The operator that a function is; "" for others."""
        kinds = [kind for _, kind in function.params]
        return OPERATORS.get(function.python, "") if VECTOR in kinds and len(kinds) == 2 else ""

    def declared_as(self, name: str, value: str, kind: Type, fixed: bool) -> str:
        own = self.of_type(kind)
        value = value.removeprefix(own) if is_made(own, value) else value
        if kind == USER:
            return f"{own}{name} = {value}"
        return f"{'const ' if fixed else ''}{own} {name} = {value}"

    # --- expressions ------------------------------------------------------------------------------

    def written(self, expr: Expr) -> tuple[str, int]:
        operator = self._operator(expr.function) if isinstance(expr, Call) else ""
        if not isinstance(expr, Call) or not operator:
            return super().written(expr)
        level = LEVELS[operator]
        left, right = self.expression(expr.args[0], level), self.expression(expr.args[1], level + 1)
        return f"{left} {operator} {f'({right})' if right.startswith('-') else right}", level

    def made(self, kind: Type, items: list[str]) -> str:
        inside = ", ".join(items)
        return f"{self.of_type(kind)}{{{inside if self.field_names(kind) else f'{{{inside}}}'}}}"

    def special(self, value: float) -> str:
        text = super().special(value).removeprefix("(double)")
        return text if self.precision == "float" else f"double({text})"

    def called(self, name: str, args: list[str]) -> str:
        return f"std::{'fabs' if name == 'abs' else name}({', '.join(args)})"

    def converted(self, text: str) -> str:
        return f"{self.precision}({text})"

    def asked(self, expr: Ask) -> str:
        user = self.expression(expr.user) + f".{expr.name}" * bool(self.module.motors)
        return f"{user}({self.arguments(expr.args)})"

    # --- what the user calls ----------------------------------------------------------------------

    def variable(self, expr: Var) -> str:
        return self.local.get(expr.name, expr.name)

    def item(self, expr: Item) -> str:
        return Phrases.item(self, expr)

    def _outer(self, name: str, doc: str, root: Root) -> str:
        state = self.module.state
        steps = root.value.type == state and any(one == "s" for one, _ in root.params)
        given: list[str] = []
        for one, kind in root.params:
            word = self.of_type(kind)
            if one == "s":
                given.insert(0, f"{'' if steps else 'const '}{word} &s")
            else:
                name_here = self.called_here(one)
                given.append(f"const {word} &body" if one == "body" else f"{word} {name_here}")
        result = "void" if steps else self.of_type(root.value.type)
        head = f"inline {result} {name}({', '.join(given)}) {{".replace("& ", "&")
        unused = [name for name, _ in root.params if name not in reads(root.value) and name != "s"]
        quiet = ["    " + " ".join(f"(void){name};" for name in unused)] if unused else []
        lines = folded(f"{'s =' if steps else 'return'} {self.expression(root.value)};", "    ")
        whole = closed([*folded(head), *quiet, *lines, "}"])
        before = [c.FLATTEN] if root is self.module.step else []
        return "\n".join([self.comment(doc), *self._template(root.params), *before, *whole])

    def example(self) -> str:
        name, load = self.module.prefix, f", {self.acting}" if self.users else ""
        body = ", ".join(self._sample(*pair) for pair in self.module.make_body.params)
        first = [
            EXAMPLE.get(one) or self._sample(one, kind)
            for one, kind in self.module.start.params
            if one in self._given_first()
        ]
        real = self.precision
        return "\n".join(
            [
                "Use (g++ -std=c++11 -O2 -ffp-contract=off, with -mfma where the processor has it):\n",
                f'    #include "{name}.hpp"',
                "    int main() {",
                *self._mine(),
                f"        const {real} h = {self.number(0.01)};",
                *folded(f"const {name}::Body body = {name}::make_body({body});", "        "),
                *folded(
                    f"{name}::State s = {name}::start({', '.join(first)}, body{load});", "        "
                ),
                f"        for (int k = 0; k < 1000; k++) {{ {name}::step(s, h, k * h, body{load}); }}",
                "    }",
            ]
        )

    def _sample(self, name: str, kind: Type) -> str:
        return self.nested(self.module.sample[name], kind)

    def _mine(self) -> list[str]:
        """Functions of the user that do nothing."""
        lines = []
        for one in self.users:
            given = ", ".join(self._qualified(kind) for _, kind in one.params)
            result = self._qualified(one.result)
            lines.append((one.name, f"({given})", f"{{ return {result}{{}}; }}", result))
        if self.module.motors:
            inside = [f"{kind} {own}{given} const {does}" for own, given, does, kind in lines]
            return [
                "        struct {",
                *(f"            {one}" for one in inside),
                f"        }} {self.acting};",
            ]
        return [
            line
            for own, given, does, _ in lines
            for line in folded(f"auto {own} = []{given} {does};", "        ")
        ]

    def _qualified(self, kind: Type) -> str:
        """A type outside the namespace."""
        text = self.of_type(kind)
        return text if text == self.precision else f"{self.module.prefix}::{text}"


def is_made(kind: str, value: str) -> bool:
    """Whether a value is nothing but one of this type, made of its items: kind{...}."""
    return value.startswith(f"{kind}{{") and c.closes_last(value[len(kind) :])
