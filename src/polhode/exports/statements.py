"""Statements of Python as those of `polhode.exports.ir`: one function, for certain types of arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from polhode.exports.calls import Calls
from polhode.exports.expressions import Needed
from polhode.exports.ir import (
    INT,
    REAL,
    Break,
    Cond,
    Expr,
    For,
    Function,
    If,
    Known,
    Make,
    Number,
    Record,
    Return,
    Set,
    Statement,
    Type,
    Unpack,
    Var,
    While,
    has_numbers,
    parts,
)
from polhode.exports.source import Untranslatable, definition, place
from polhode.exports.tidy import tidy
from polhode.exports.trees import is_plain, item, known, reads, statements

# names of functions that other things have too
CALLED = {
    "<lambda>": "function",
    "body": "torque_in_body",
    "spatial": "torque_in_space",
    "at": "torque_at",
    "near": "torque_near",
}
LONGEST = 64  # rounds of a loop that has to be written out


class Body(Calls):
    """The translation of one function."""

    def __init__(self, translator: Any, python: Callable[..., Any], types: tuple[Type, ...]):
        self.node = definition(python)
        super().__init__(translator, python)
        arguments = self.node.args
        given = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        more = range(len(types) - len(given)) if arguments.vararg else ()
        rest = [f"{arguments.vararg.arg}{i + 1}" for i in more]
        self.types: dict[str, Type] = {}  # of variables
        self.env: dict[str, Expr] = {}
        self.lost: set[str] = set()  # names that loops give values to, and nothing before them
        self.depth = 0  # of loops and branches that are left for the program to take
        self.params = list(zip([*given, *rest], types, strict=False))
        for name, kind in self.params:
            self.types[name] = kind
            self.env[name] = Var(name, kind) if has_numbers(kind) else known(kind)
        defaults = getattr(python, "__defaults__", None) or ()
        for name, value in zip(given[::-1], defaults[::-1], strict=False):
            self.env.setdefault(name, self.wrapped(value, name))
        if len(types) > len(self.params) or set(given) - set(self.env) or arguments.kwonlyargs:
            self.fail(self.node, "it has other arguments than those it is called with")
        if arguments.vararg:
            self.env[arguments.vararg.arg] = self.row(tuple(self.env[name] for name in rest))

    def fail(self, node: Any, what: str) -> Any:
        way_out = "" if ";" in what else "; write it with tuples of numbers, + - * / and sqrt"
        raise Untranslatable(f"{place(self.python, node or self.node)}: {what}{way_out}")

    def translated(self) -> Function:
        """The function."""
        is_def = isinstance(self.node, ast.FunctionDef)
        lines = self.node.body
        if not is_def:
            lines = [ast.copy_location(ast.Return(self.node.body), self.node)]
        try:
            block = self.block(lines)
        except Needed as error:  # outside a loop
            self.fail(self.node, f"{error}, and has to be known")
        if not returns(block):
            self.fail(self.node, "it may come to its end without `return`; return numbers there")
        made = Function(
            CALLED.get(self.python.__name__, self.python.__name__.lstrip("_") or "function"),
            [pair for pair in self.params if has_numbers(pair[1])],
            self._result(block),
            block,
            (is_def and ast.get_docstring(self.node)) or "",
            self.python,
            types=self.types,
        )
        return tidy(made, [name for name, _ in self.params])

    def _result(self, block: list[Statement]) -> Type:
        """The type of the result, to which all returned values are brought."""
        found = [one for one in statements(block) if isinstance(one, Return)]
        if not found:
            self.fail(self.node, "it returns nothing; return numbers")
        first = found[0].value
        for other in found[1:]:
            first, _ = self.alike(first, other.value, self.node)
        for one in found:
            one.value, _ = self.alike(one.value, first, self.node)
        if self.translator.zeros:
            self._known_items(found)
        return found[0].value.type

    def _known_items(self, found: list[Return]) -> None:
        """Let what is the same number in all returned tuples, such as a residual of 0, be known."""
        made = [one.value for one in found if isinstance(one.value, Make)]
        if len(made) < len(found) or getattr(made[0].type, "kind", made) is not None:
            return
        columns = [
            [Known(items[0].value)] * len(made)
            if isinstance(items[0], Number) and items[0].type == REAL and len(set(items)) == 1
            else items
            for items in zip(*(one.items for one in made), strict=True)
        ]
        for one, items in zip(found, zip(*columns, strict=True), strict=True):
            one.value = Make(Record(None, tuple(item.type for item in items)), items)

    # --- statements -------------------------------------------------------------------------------

    def block(self, lines: list[Any]) -> list[Statement]:
        """A block of statements; what follows one that returns is left out."""
        outer, self.out = self.out, []
        for line in lines:
            if self.out and isinstance(self.out[-1], (Return, Break)):
                break
            handler: Any = getattr(self, f"_{type(line).__name__}", None)
            if handler is None:
                shown = ast.unparse(line).splitlines()[0]
                self.fail(
                    line, f"`{shown}` has no counterpart; write assignments, loops and returns"
                )
            handler(line)
        made, self.out = self.out, outer
        return made

    def _Expr(self, node: Any) -> None:
        if not isinstance(node.value, ast.Constant):
            self.fail(node, "a value that is not used does nothing; assign it")

    def _Pass(self, node: Any) -> None:
        pass

    def _Return(self, node: Any) -> None:
        if node.value is None:
            self.fail(node, "it returns nothing; return numbers")
        self.out.append(Return(self.value(node.value)))

    def _Raise(self, node: Any) -> None:
        shown = f", `{ast.unparse(node.exc)}`," if node.exc else ""
        self.fail(
            node, f"it raises an error{shown} and exported code has none; return numbers, or NaN"
        )

    def _Break(self, node: Any) -> None:
        self.out.append(Break())

    def _Assign(self, node: Any) -> None:
        value = self.value(node.value)
        if len(node.targets) > 1 and not is_plain(value):
            value = self.held(value, "value")
        for target in node.targets:
            self.assign(target, value)

    def _AnnAssign(self, node: Any) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value))

    def _AugAssign(self, node: Any) -> None:
        if not isinstance(node.target, ast.Name):
            self.fail(node, f"`{ast.unparse(node.target)}` is assigned to; give the value a name")
        left = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        whole = ast.copy_location(ast.BinOp(left, node.op, node.value), node)
        self.assign(node.target, self.value(whole))

    def assign(self, target: Any, value: Expr) -> None:
        """Give a value to a name, or to a tuple of names."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value)
        else:
            self.fail(target, f"`{ast.unparse(target)}` is assigned to; give the value a name")

    def bind(self, name: str, value: Expr) -> None:
        """Let a name stand for a value; numbers go into a variable."""
        if self.depth and isinstance(value, Known):
            value = self.counted(value)
        if has_numbers(value.type):
            held = self.local(name, value.type)
            self.out.append(Set(held, value))
            value = Var(held, value.type)
        self.env[name] = value

    def local(self, name: str, kind: Type) -> str:
        """The variable for a name; another one where the name had a value of another type."""
        held, n = name, 1
        while self.types.setdefault(held, kind) != kind:
            n += 1
            held = f"{name}{n}"
        return held

    def unused(self, name: str, kind: Type) -> str:
        """A new variable."""
        held, n = name, 1
        while held in self.types or held in self.env:
            n += 1
            held = f"{name}{n}"
        self.types[held] = kind
        return held

    def held(self, value: Expr, name: str) -> Expr:
        held = self.unused(name, value.type)
        self.out.append(Set(held, value))
        return Var(held, value.type)

    def unpack(self, target: Any, value: Expr) -> None:
        """Give the items of a value to several names."""
        names = target.elts
        if isinstance(value, Known) and isinstance(value.value, tuple):
            value = Make(value.type, self.items(value, target))
        if isinstance(value, Cond) and isinstance(value.a, Make) and isinstance(value.b, Make):
            test = value.test if is_plain(value.test) else self.held(value.test, "choice")
            pairs = zip(value.a.items, value.b.items, strict=True)
            value = Make(value.type, tuple(self.chosen(test, a, b, target) for a, b in pairs))
        count = len(value.items) if isinstance(value, Make) else len(parts(value.type) or ())
        if count != len(names) or any(isinstance(one, ast.Starred) for one in names):
            self.fail(target, f"`{ast.unparse(target)}`: as many names as values are needed")
        if isinstance(value, Make):
            return self._at_once(names, value.items)
        if not all(isinstance(one, ast.Name) for one in names):
            value = value if is_plain(value) else self.held(value, "value")
            return self._at_once(names, tuple(item(value, i) for i in range(count)))
        taken: list[str | None] = []
        for one, kind in zip(names, parts(value.type) or (), strict=True):
            taken.append(self.local(one.id, kind) if has_numbers(kind) and one.id != "_" else None)
            self.env[one.id] = (
                known(kind) if taken[-1] is None and one.id != "_" else Var(taken[-1] or "_", kind)
            )
        self.out.append(Unpack(tuple(taken), value))
        return None

    def _at_once(self, targets: list[Any], items: tuple[Expr, ...]) -> None:
        """Assign one by one what Python assigns at once."""
        late = []
        for i, (target, value) in enumerate(zip(targets, items, strict=True)):
            names = sorted(one.id for one in ast.walk(target) if isinstance(one, ast.Name))
            before = [self.env.get(name) for name in names]
            after = set().union(*(reads(one) for one in items[i + 1 :]), set())
            if {one.name for one in before if isinstance(one, Var)} & after:
                late.append((target, self.held(value, f"new_{names[0]}")))
            elif names != ["_"]:
                self.assign(target, value)
        for target, value in late:
            self.assign(target, value)

    # --- branches and loops -----------------------------------------------------------------------

    def _variables(self, names: set[str]) -> None:
        """Counts and truth values that a loop or a branch changes become variables."""
        self.depth += 1
        for name in sorted(names & set(self.env)):
            if isinstance(self.env[name], Known):
                self.bind(name, self.env[name])
        self.depth -= 1

    def _If(self, node: Any) -> None:
        test = self.truth(self.value(node.test), node.test)
        if isinstance(test, Known):
            self.out += self.block(node.body if test.value else node.orelse)
            return
        self._variables(assigned([*node.body, *node.orelse]))
        before = dict(self.env)
        self.depth += 1
        body, after_body = self.block(node.body), self.env
        self.env = dict(before)
        orelse, after_else = self.block(node.orelse), self.env
        self.depth -= 1
        self.out.append(If(test, body, orelse))
        if body and isinstance(body[-1], (Return, Break)):
            self.env = after_else
        elif orelse and isinstance(orelse[-1], (Return, Break)):
            self.env = after_body
        else:
            self.env = {name: after_body[name] for name in after_body.keys() & after_else.keys()}
            for name, value in self.env.items():
                if value != after_else[name]:
                    self.fail(
                        node, f"{name!r} has different types in the two branches; use two names"
                    )

    def _loop(self, lines: list[Any]) -> list[Statement]:
        """The body of a loop, in which every variable keeps its type."""
        before = dict(self.env)
        self.depth += 1
        body = self.block(lines)
        self.depth -= 1
        for name in assigned(lines) & before.keys():
            if isinstance(before[name], Var) and self.env.get(name) != before[name]:
                raise Needed(f"{name!r} changes its type in a loop; use another name")
        self.lost |= self.env.keys() - before.keys()
        self.env = {name: value for name, value in self.env.items() if name in before}
        return body

    def _While(self, node: Any) -> None:
        self._variables(assigned(node.body))
        count = len(self.out)
        test = self.truth(self.value(node.test), node.test)
        if isinstance(test, Known) or len(self.out) > count or node.orelse:
            self.fail(
                node.test, "a loop needs a condition that is a comparison of numbers, and no else"
            )
        try:
            self.out.append(While(test, self._loop(node.body)))
        except Needed as error:
            self.fail(node, str(error))

    def _For(self, node: Any) -> None:
        if node.orelse:
            self.fail(node, "a loop has `else`; write it after the loop")
        over = self.value(node.iter)
        turns = over.value if isinstance(over, Known) else None
        if not isinstance(turns, range):
            return self._written_out(node, self.items(over, node))
        if (turns.start, turns.step) != (0, 1):
            return self._written_out(node, tuple(map(Known, turns)))
        env, out, types, depth = dict(self.env), list(self.out), dict(self.types), self.depth
        try:
            if not isinstance(node.target, ast.Name) or node.target.id in assigned(node.body):
                raise Needed("the counter of a loop changes in it")
            self._variables(assigned(node.body))
            counter = self.unused("i" if node.target.id == "_" else node.target.id, INT)
            self.env[node.target.id] = Var(counter, INT)
            self.out.append(For(counter, len(turns), self._loop(node.body)))
            self._counted(node.target.id, node, turns)
        except Needed:
            self.env, self.out, self.types, self.depth = env, out, types, depth
            self._written_out(node, tuple(map(Known, turns)))
        return None

    def _counted(self, name: str, node: Any, turns: range) -> None:
        """What the name of the counter stands for after its loop: the last count, if it is known."""
        del self.env[name]
        self.lost.add(name)
        if turns and not any(isinstance(one, ast.Break) for one in ast.walk(node)):
            self.env[name] = Known(turns[-1])

    def _written_out(self, node: Any, items: tuple[Expr, ...]) -> None:
        if len(items) > LONGEST or any(isinstance(one, ast.Break) for one in ast.walk(node)):
            self.fail(
                node, f"the loop has to be written out, but has `break` or over {LONGEST} rounds"
            )
        for one in items:
            self.assign(node.target, one)
            self.out += self.block(node.body)


def returns(block: list[Statement]) -> bool:
    """Whether a block always comes to a `return`."""
    last = block[-1] if block else None
    if isinstance(last, If):
        return returns(last.body) and returns(last.orelse)
    return isinstance(last, Return)


def assigned(lines: list[Any]) -> set[str]:
    """The names that statements assign to."""
    return {
        one.id
        for line in lines
        for one in ast.walk(line)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
