"""Every place in the source that makes an error, and which of them have been reached."""

import ast
import contextlib
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import polhode
from polhode.errors import PolhodeError
from polhode.io.scenario.faults import Faults

SOURCE = Path(polhode.__file__).parent
MAKERS = {"InputError", "IntegrationError", "ConvergenceError", "TorqueError", "ClusterError", "unknown"}


class Site(NamedTuple):
    """A call that makes an error."""

    file: str
    function: str
    first: int
    last: int
    text: str

    @property
    def place(self):
        """The function it is in."""
        return f"{self.file} {self.function}"

    def __str__(self):
        return f"{self.file}:{self.first} in {self.function}: {self.text[:120]}"


@cache
def sites():
    """All of them, in the order of the files."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        _visit(ast.parse(path.read_text("utf-8")), path.relative_to(SOURCE).as_posix(), "-", found)
    return found


def _visit(node, file, function, found):
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else function
        if isinstance(child, ast.Call) and _makes_an_error(child):
            found.append(Site(file, function, child.lineno, child.end_lineno, " ".join(ast.unparse(child).split())))
        _visit(child, file, inside, found)


def _makes_an_error(call):
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    called = ast.unparse(call.func)
    return (name in MAKERS and not called.startswith("self.")) or called in ("faults.add", "memory.fits")


@contextlib.contextmanager
def watched(reached):
    """Note in the set `reached` the lines (file, line) that were being executed whenever an error was made."""
    make, add = PolhodeError.__new__, Faults.add

    def noting(cls, *args, **options):
        _note(reached)
        return Exception.__new__(cls, *args)

    def adding(self, path, message):
        _note(reached)
        return add(self, path, message)

    PolhodeError.__new__, Faults.add = noting, adding
    try:
        yield
    finally:
        Faults.add = add
        if make is Exception.__new__:
            del PolhodeError.__new__
        else:
            PolhodeError.__new__ = make


def _note(reached):
    frame = sys._getframe(2)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(SOURCE):
            reached.add((path.relative_to(SOURCE).as_posix(), frame.f_lineno))
        frame = frame.f_back


def is_reached(site, reached):
    """Whether an error was made there."""
    return any((site.file, line) in reached for line in range(site.first, site.last + 1))
