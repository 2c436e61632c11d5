"""Many methods in one file of JavaScript, with torques: what the playground computes with in the browser.

    methods[NAME].start(h, t, q, Om, body, torque), .step(h, t, s, body, torque), .omega(s, body)
    torques[NAME].torque(t, R, Om, p) in its own frame, .potential(t, R, p), if it is known

Functions that several methods call are there once.  It is a script, for any worker; with
`export { makeBody, methods, torques };` behind it, a module.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from polhode.core.loops.fixed import body_of
from polhode.exports.ir import REAL, Array, Function, Record, Static, Type
from polhode.exports.languages.javascript import Language
from polhode.exports.long_steps import REPLACED
from polhode.exports.acting import MATRIX, VECTOR
from polhode.exports.module import Root, functions_of, module_of, root_of
from polhode.exports.translate import Translator
from polhode.loads._torque import Torque
from polhode.methods._method import Method

Roots = dict[str, Root]


class Bundle:
    """What a printer writes in place of a `Module`."""

    state = body = motors = None  # each method has its own

    def __init__(self, methods: Iterable[Method], torques: Iterable[Torque]) -> None:
        translator = Translator(REPLACED)
        self.make_body = root_of(translator, body_of, ("I", VECTOR))
        self.methods: dict[str, Roots] = {}
        for method in methods:
            made = module_of(method, None, None, "body", False, translator)
            self.asked = made.asked
            self.methods[method.name] = {
                "start": made.start,
                "step": made.step,
                "omega": made.omega,
            }
        self.torques = {torque.name: _torque(translator, torque) for torque in torques}
        groups = [*self.methods.values(), *self.torques.values()]
        roots = [root for group in groups for root in group.values()]
        self.functions: list[Function] = functions_of([self.make_body, *roots])

    def public_types(self) -> list[Type]:
        """None are described."""
        return []


def _torque(translator: Translator, torque: Torque) -> Roots:
    """A torque and its potential, functions of its parameters."""
    times, load = (("t", REAL), ("R", MATRIX)), ("p", _parameters(torque))
    made = {"torque": root_of(translator, torque.kernel(), *times, ("Om", VECTOR), load)}
    potential = torque.potential_kernel()
    if potential is not None:
        made["potential"] = root_of(translator, potential, *times, load)
    return made


def _parameters(torque: Torque) -> Type:
    """The type of the parameters, numbers and rows of them."""
    if torque.params is None:
        return Static(())
    kinds = [Array(REAL, len(one)) if isinstance(one, tuple) else REAL for one in torque.params]
    return Record(type(torque.params), tuple(kinds))


class _Printer(Language):
    """The file, without comments."""

    def text(self) -> str:
        functions = "\n".join(map(self.function, self.functions))
        return "\n".join([self.preamble(), self.constants_text(), functions, self.public()])

    def comment(self, text: str) -> str:
        return ""

    def public(self) -> str:
        groups = {"methods": self.module.methods, "torques": self.module.torques}
        lines = [f"const makeBody = {self._arrow(self.module.make_body)};"]
        for name, group in groups.items():
            lines.append(f"const {name} = {{")
            for key, roots in group.items():
                inside = ", ".join(f"{part}: {self._arrow(root)}" for part, root in roots.items())
                lines.append(f"    {json.dumps(key)}: {{ {inside} }},")
            lines.append("};")
        return "\n".join(lines) + "\n"

    def _arrow(self, root: Root) -> str:
        self.local = {}
        text = self.expression(root.value)
        text = f"({text})" if text.startswith("{") else text  # an object, not a block
        return f"({', '.join(name for name, _ in root.params)}) => {text}"


def bundle(methods: Iterable[Method], torques: Iterable[Torque]) -> str:
    """The text of the file; without fused multiplication and addition, which is slow in JavaScript."""
    return _Printer(Bundle(methods, torques), fma=False).text()
