"""The exceptions, by what failed.

``except PolhodeError`` catches all of them; `InputError` is also a ``ValueError`` and
`IntegrationError` also a ``RuntimeError``, so that code that knows nothing of polhode can still catch
them.
"""

from __future__ import annotations

import re
from typing import Any

UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: object) -> str:
    r"""Return text in which no character is a command to a terminal: those are written as escapes.

    Examples
    --------
    >>> print(printable("a \x1b[31mred\x1b[0m title"))
    a \x1b[31mred\x1b[0m title
    """
    return UNPRINTABLE.sub(
        lambda found: found[0].encode("unicode_escape").decode("ascii"), str(text)
    )


class PolhodeError(Exception):
    """Base of every error that polhode raises on purpose; its message is safe to print, whatever it
    quotes.

    Attributes
    ----------
    trajectory : Trajectory or None
        What a run had computed when the error ended it.
    """

    trajectory: Any = None

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))


class InputError(PolhodeError, ValueError):
    """An argument is wrong; the message names the value, the rule and the fix."""


class IntegrationError(PolhodeError, RuntimeError):
    """A run failed numerically.

    Parameters
    ----------
    message : str
        What happened, where, and what to try.
    t : float, optional
        Time at the start of the step that failed.
    step_index : int, optional
        Number of that step, from 0.
    state : optional
        State at the start of that step.
    trajectory : Trajectory, optional
        What was computed before the failure, or None.

    Examples
    --------
    >>> error = IntegrationError("omega is not finite", t=0.5, step_index=50)
    >>> error.t, error.step_index, error.trajectory
    (0.5, 50, None)
    """

    # Every argument after the message has a default: pickle rebuilds an exception as cls(*args),
    # then its __dict__.
    def __init__(
        self,
        message: str,
        *,
        t: float | None = None,
        step_index: int | None = None,
        state: Any = None,
        trajectory: Any = None,
    ) -> None:
        super().__init__(message)
        self.t = t
        self.step_index = step_index
        self.state = state
        self.trajectory = trajectory


class ConvergenceError(IntegrationError):
    """The implicit equation of a step was not solved to round-off.

    Parameters
    ----------
    residual : float, optional
        What was left of the equation after the last iteration.
    largest_step : float, optional
        An estimate of the largest step that would have converged there.
    message, t, step_index, state, trajectory
        As in `IntegrationError`.
    """

    def __init__(
        self,
        message: str,
        *,
        residual: float | None = None,
        largest_step: float | None = None,
        t: float | None = None,
        step_index: int | None = None,
        state: Any = None,
        trajectory: Any = None,
    ) -> None:
        super().__init__(message, t=t, step_index=step_index, state=state, trajectory=trajectory)
        self.residual = residual
        self.largest_step = largest_step


class TorqueError(IntegrationError):
    """The torque raised, or returned a wrong shape or a value that is not finite; raised ``from``
    the original."""


class EventError(IntegrationError):
    """An event raised, or returned something other than one finite number; raised ``from`` the
    original."""


class ClusterError(PolhodeError, RuntimeError):
    """A cluster was lost or has no workers; what it had finished is stored, and the same call goes
    on from there."""
