"""A page for each command of the command line: usage, arguments, options, from the functions that
are the commands."""

import inspect
import types
import typing
from dataclasses import dataclass

from restructured import code, escaped, literal, title, toctree
from typer.models import ArgumentInfo

from polhode.cli.application import load_commands

INTRODUCTION = """
``polhode COMMAND --help`` prints the same information.  With ``--json`` a command prints data for programs.  Existing files are
overwritten only with ``--force``.  The :doc:`exit codes <../exit-codes>` report what happened.  ``polhode --version`` prints the
version, and ``python -m polhode`` is the same as ``polhode``.

The Tab key completes commands, options, scenario files and the names of methods and problems, once ``polhode
--install-completion`` has been run in your shell (bash, zsh, fish or PowerShell).  A line in the shell's start-up file has the
same effect:

.. code-block:: shell

   eval "$(_POLHODE_COMPLETE=source_bash polhode)"      # in ~/.bashrc
   eval "$(_POLHODE_COMPLETE=source_zsh polhode)"       # in ~/.zshrc, after compinit
   _POLHODE_COMPLETE=source_fish polhode | source       # in ~/.config/fish/config.fish
"""


TAKES = {"Path": "FILE", "float": "NUMBER", "int": "N", "str": "TEXT"}


@dataclass
class Parameter:
    """An argument or option of a command, as its function declares it."""

    name: str
    kind: type
    many: bool
    default: object
    info: object

    @classmethod
    def of(cls, parameter):
        plain, info = typing.get_args(parameter.annotation)
        if isinstance(plain, types.UnionType):
            plain = next(one for one in plain.__args__ if one is not type(None))
        many = typing.get_origin(plain) is list
        return cls(
            parameter.name,
            typing.get_args(plain)[0] if many else plain,
            many,
            parameter.default,
            info,
        )

    @property
    def is_argument(self):
        return isinstance(self.info, ArgumentInfo)

    @property
    def placed(self):
        """An argument as the usage line has it."""
        shown = (self.info.metavar or self.name.upper()) + (" ..." if self.many else "")
        return shown if self.default is inspect.Parameter.empty else f"[{shown}]"

    @property
    def names(self):
        """An option as it is given, with what it takes."""
        # typer takes the first name for a default
        given = [self.info.default] if isinstance(self.info.default, str) else []
        names = "/".join(
            [*given, *(self.info.param_decls or ())] or [f"--{self.name.replace('_', '-')}"]
        ).split("/")
        takes = "" if self.kind is bool else f" {self.info.metavar or TAKES[self.kind.__name__]}"
        return ", ".join(name + takes for name in names)

    @property
    def text(self):
        text = plain(self.info.help or "")
        if self.is_argument or self.kind is bool or self.default is None:
            return text
        return f"{text}  Default: {literal(self.default)}."


def pages(docs):
    commands = load_commands()
    texts = {f"reference/commands/{command.name}.rst": page(command) for command in commands}
    return texts | {"reference/commands/index.rst": index(commands)}


def index(commands):
    parts = [title("Commands"), INTRODUCTION]
    for group in dict.fromkeys(command.group for command in commands):
        members = [command for command in commands if command.group == group]
        entries = (
            f":doc:`polhode {command.name} <{command.name}>`\n   {description(command)[0]}\n"
            for command in members
        )
        parts += [
            title(group, "-"),
            *entries,
            toctree([command.name for command in members], hidden=""),
        ]
    return "\n".join(parts)


def description(command):
    """The paragraphs of a command's help."""
    return [plain(paragraph) for paragraph in inspect.getdoc(command.function).split("\n\n")]


def plain(text):
    """Help text without the escapes that rich needs."""
    return escaped(" ".join(text.replace("\\[", "[").split()))


def page(command):
    parameters = [
        Parameter.of(one) for one in inspect.signature(command.function).parameters.values()
    ]
    arguments = [one for one in parameters if one.is_argument]
    options = [one for one in parameters if not one.is_argument]
    usage = " ".join(
        [
            "polhode",
            command.name,
            *(one.placed for one in arguments),
            *(["[OPTIONS]"] if options else []),
        ]
    )
    parts = [
        title(f"polhode {command.name}"),
        "\n\n".join(description(command)),
        "\n",
        code(usage, "text"),
        f"\n.. program:: polhode {command.name}\n",
    ]
    if arguments:
        parts += [
            title("Arguments", "-"),
            *(f"{literal(one.placed.strip('[]'))}\n   {one.text}\n" for one in arguments),
        ]
    if options:
        parts += [
            title("Options", "-"),
            *(f".. option:: {one.names}\n\n   {one.text}\n" for one in options),
        ]
    return "\n".join(parts)
