"""The command `polhode`: finds its subcommands and turns their errors into exit codes.

A subcommand is imported when it is used, and the library when it runs, so that `polhode --help` and
`polhode --version` are quick.
"""

import importlib
import inspect
import pkgutil
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import polhode
import polhode.cli.commands as commands
from polhode.cli.encoding import write_any_character
from polhode.cli.error_exits import exit_on_error
from polhode.cli.exit_codes import EXIT_CODES, INTERRUPTED
from polhode.cli.signals import TerminationSignal

GROUPS = ("First steps", "Methods", "Many bodies", "Papers", "Files")  # their order in the help


class _Flags:
    """A command whose help shows no type beside an option that takes no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class CommandWithFlags(_Flags, TyperCommand):
    """A subcommand."""


@dataclass(frozen=True)
class Command:
    """A subcommand, from its module in `polhode.cli.commands`."""

    name: str
    group: str
    function: Callable[..., None]

    @classmethod
    def load(cls, name: str) -> "Command":
        """Import the module of a command."""
        module_name = name.replace("-", "_")
        module = importlib.import_module(f"{commands.__name__}.{module_name}")
        return cls(name, module.GROUP, getattr(module, module_name))

    def make_entry(self) -> TyperCommand:
        """Return the command as the help lists it: without parameters, which take time to make."""
        text = inspect.getdoc(self.function)
        return TyperCommand(self.name, help=text, rich_help_panel=self.group)

    def make(self) -> Any:
        """Return the command as typer runs it."""
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(self.name, cls=CommandWithFlags, rich_help_panel=self.group)(self.function)
        return typer.main.get_command(alone)


@cache
def command_names() -> tuple[str, ...]:
    """Return the names of all commands."""
    modules = pkgutil.iter_modules(commands.__path__)
    return tuple(module.name.replace("_", "-") for module in modules)


def load_commands() -> list[Command]:
    """Import all commands, in the order of the help."""

    def place(command: Command) -> tuple[int, str]:
        known = command.group in GROUPS
        return GROUPS.index(command.group) if known else len(GROUPS), command.name

    return sorted(map(Command.load, command_names()), key=place)


class CommandGroup(_Flags, TyperGroup):
    """Finds the commands, and handles their errors and warnings."""

    typed: tuple[str, ...] = ()  # the command line

    def list_commands(self, ctx: Any) -> list[str]:
        return [command.name for command in load_commands()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands and cmd_name in command_names():
            self.commands[cmd_name] = Command.load(cmd_name).make()
        return self.commands.get(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.commands = {command.name: command.make_entry() for command in load_commands()}
        super().format_help(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in command_names() and not ctx.resilient_parsing:  # that is completion
            from polhode.errors import unknown

            raise unknown("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        self.typed = tuple(args)
        with exit_on_error():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        try:
            with exit_on_error(), warnings.catch_warnings():
                warnings.showwarning = _show_warning  # type: ignore[assignment]
                return super().invoke(ctx)
        except typer.Exit as ending:
            if ending.exit_code == INTERRUPTED and TerminationSignal.received is not None:
                raise typer.Exit(128 + TerminationSignal.received) from None
            raise


def _show_warning(message: Warning | str, *_: object) -> None:
    from polhode.cli.terminal import print_warning

    print_warning(message)


app = typer.Typer(
    cls=CommandGroup,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Simulate rotating rigid bodies with compiled and measured integrators.",
    epilog="\n\n".join(["Exit codes:", *(f"{code}  {what}" for code, what in EXIT_CODES.items())]),
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"polhode {polhode.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def print_help(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Print the help where no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line."""
    write_any_character(sys.stdout, sys.stderr)
    TerminationSignal.install_handlers()
    app(prog_name="polhode")
