"""The command line.

`commands` holds one file for each command, and `application` finds them there.  The other modules
are what commands share; they import no command.
"""

from polhode.cli.application import app, main

__all__ = ["app", "main"]
