"""What polhode raises, and the checks every door of the library shares.

Every message names the value that was given, the rule it broke and what to do about it.
"""

from polhode.errors.checks import (
    as_path,
    called_as,
    choice,
    flag,
    floats,
    label,
    check_options,
    number,
    one_given,
    reporter,
    shows_options,
    whole,
)
from polhode.errors.exceptions import (
    ClusterError,
    ConvergenceError,
    EventError,
    InputError,
    IntegrationError,
    PolhodeError,
    TorqueError,
    printable,
)
from polhode.errors.wording import brief, closest, difference, disk_advice, nearest, unknown, warn

__all__ = [
    "ClusterError",
    "ConvergenceError",
    "EventError",
    "InputError",
    "IntegrationError",
    "PolhodeError",
    "TorqueError",
    "as_path",
    "brief",
    "called_as",
    "check_options",
    "choice",
    "closest",
    "difference",
    "disk_advice",
    "flag",
    "floats",
    "label",
    "nearest",
    "number",
    "one_given",
    "printable",
    "reporter",
    "shows_options",
    "unknown",
    "warn",
    "whole",
]
