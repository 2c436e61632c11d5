"""The command that writes a file, for the comment at its top: it gives the same file again."""

from __future__ import annotations

import json
import shlex
from typing import Any, NamedTuple

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.core.digest import digest
from polhode.errors import PolhodeError
from polhode.loads import torques
from polhode.loads._torque import Torque
from polhode.methods._method import Method


class Typed(NamedTuple):
    """What was typed for the parts of a file that words can name in a file alone."""

    method: str = ""
    torque: tuple[str, ...] = ()
    body: tuple[str, ...] = ()


class Options(NamedTuple):
    """What a file is written with, beside method, torque and body."""

    language: str
    precision: str
    frame: str
    flight: bool
    fma: bool
    measure: bool
    target: str | None

    def words(self) -> list[str]:
        """As words of a command."""
        found = ["--language", self.language, "--precision", self.precision]
        found += ["--flight"] * self.flight + ["--frame", "body"] * (self.frame == "body")
        found += ["--no-fma"] * (not self.fma) + ["--no-measure"] * (not self.measure)
        return found + (["--target", self.target] if self.target else [])

    def arguments(self) -> dict[str, Any]:
        """As arguments of `polhode.export`, those that are not the usual ones."""
        usual = self._replace(frame="spatial", flight=False, fma=True, measure=False, target=None)
        pairs = zip(self._fields, self, usual, strict=True)
        return {name: a for name, a, b in pairs if name == "precision" or a != b}


def command(method: Method, torque: Any, body: Any, options: Options, typed: Typed) -> list[str]:
    """The words of the command, or the call in Python where no command says the same."""
    acting = torque_words(torque) or list(typed.torque)
    given = body_words(body) or list(typed.body)
    if (torque is not None and not acting) or (body is not None and not given):
        return [call(method, torque, body, options)]
    name = shlex.quote(typed.method) if typed.method else method.name
    words = map(shlex.quote, [*options.words(), *acting, *given])
    return ["polhode", "export", name, *words]


def call(method: Method, torque: Any, body: Any, options: Options) -> str:
    """A call in Python; what has no name there is shown by its own."""
    words = [json.dumps(method.name), json.dumps(options.language)]
    if torque is not None:
        name = getattr(torque, "name", None) or getattr(torque, "__name__", "torque")
        words.append(f"torque={json.dumps(torque) if isinstance(torque, str) else name}")
    words += [f"body={body!r}"] if body is not None else []
    words += [f"{name}={value!r}" for name, value in options.arguments().items()]
    return f"polhode.export({', '.join(words)})"


def torque_words(given: Any) -> list[str] | None:
    """A torque that has a name, with its parameters; None for any other."""
    if isinstance(given, str):
        return ["--torque", given]
    if not isinstance(given, Torque) or given.name not in torques.BUILT_IN:
        return None
    params = {} if given.params is None else given.params._asdict()
    try:
        again = torques.by_name(given.name)(**params)
        same = digest(again.kernel()) == digest(given.kernel()) and again.values == given.values
    except (PolhodeError, TypeError):
        return None
    words = [("--set", f"{name}={toml(value)}") for name, value in params.items()]
    return ["--torque", given.name, *(one for pair in words for one in pair)] if same else None


def toml(value: Any) -> str:
    """Numbers as a command has them."""
    return json.dumps(np.asarray(value, dtype=float).tolist())


def body_words(given: Any) -> list[str] | None:
    """A body of which only the moments matter; None for any other."""
    if given is None or (isinstance(given, RigidBody) and (given.rotors or given.mass != 1.0)):
        return None
    moments = given.moments if isinstance(given, RigidBody) else np.asarray(given, dtype=float)
    try:
        RigidBody(moments)
    except PolhodeError:  # such as those that violate the triangle inequality
        return None
    words = ",".join(repr(float(one)) for one in moments)
    return ["--moments", words] if moments.shape == (3,) else None
