"""How an error ends a command: one line on stderr and an exit code, never a traceback."""

import contextlib
import errno
import os
from collections.abc import Iterator

import typer

from polhode.cli.exit_codes import (
    BAD_INPUT,
    BUG,
    CLUSTER_LOST,
    INTERRUPTED,
    NUMERICAL_FAILURE,
)
from polhode.cli.usage import usage_message


@contextlib.contextmanager
def exit_on_error() -> Iterator[None]:
    """Print an error raised inside and turn it into an exit code."""
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except KeyboardInterrupt:
        raise _exit(INTERRUPTED, "interrupted") from None
    except Exception as error:
        ending = exit_code_and_message(error)
        if ending is None:
            raise
        raise _exit(*ending) from None


def _exit(code: int, message: str) -> typer.Exit:
    from polhode.cli.terminal import print_error

    print_error(message)
    return typer.Exit(code)


def exit_code_and_message(error: Exception) -> tuple[int, str] | None:
    """Return how an error ends the command; None if it is to be raised as it is.

    That is the case for a closed pipe, which typer handles, and for a bug when POLHODE_DEBUG is
    set.
    """
    from polhode.errors import ClusterError, IntegrationError, PolhodeError

    if isinstance(error, IntegrationError):
        return NUMERICAL_FAILURE, str(error)
    if isinstance(error, ClusterError):
        return CLUSTER_LOST, str(error)
    if isinstance(error, PolhodeError):
        return BAD_INPUT, str(error)
    if hasattr(error, "format_message"):  # a wrong command line
        return BAD_INPUT, usage_message(error)
    if getattr(error, "errno", None) == errno.EPIPE or os.environ.get("POLHODE_DEBUG"):
        return None
    if isinstance(error, MemoryError):
        lack = error or "none left"
        return BAD_INPUT, f"this needs more memory than there is ({lack}); store less (every, --n)"
    if isinstance(error, OSError) and error.filename is not None:
        path = os.fsdecode(error.filename)
        return (
            BAD_INPUT,
            f"{error.strerror} ({path!r}); free some space or change the permissions, or choose another file",
        )
    return BUG, (
        f"this is a bug in polhode, {type(error).__name__}: {error}.  Please report it with the "
        "command and what it prints when POLHODE_DEBUG=1 is set"
    )
