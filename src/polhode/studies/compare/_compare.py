"""Work against precision: what every method costs, in torque evaluations, steps and seconds, for
the error it makes.

    compare("krysl/slow-top")                        the default methods on a problem of the papers
    compare("my.toml", methods=["NMB", "VLV"])       on a scenario
    compare([1, 2, 3], torque, (0, 10), omega0=...)  on anything that `integrate` takes, also on
                                                     bodies in flight and with rotors
    compare(System(...), t_span=(0, 10), ...)        and on systems of bodies

The truth is the closed solution of the free body and of the symmetric heavy top, and a reference of
order 16 for other motions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Never

from numpy.typing import ArrayLike

from polhode.problems import Problem, SystemProblem
from polhode.loads._system import System
from polhode.loads._torque import Torque
from polhode.loads.force import Force
from polhode.loads.load import Load
from polhode.io.scenario._load import Scenario
from polhode.bodies._body import RigidBody
from polhode.studies.compare import entries
from polhode.studies.compare.comparison import Comparison, MethodCurve
from polhode.studies.compare.search import Curve
from polhode.studies.processes import run_in_processes
from polhode.studies.compare.as_task import as_task
from polhode.studies.compare.task import Task
from polhode.studies.compare.truth import Truth, truth
from polhode.errors import (
    InputError,
    PolhodeError,
    brief,
    floats,
    check_options,
    reporter,
    shows_options,
    whole,
)

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

ERRORS = (1e-3, 1e-6, 1e-9)
PATIENCE = 0.5  # seconds that the longest run of a method may take, about
SMALLEST = 1e-13  # errors below this are round-off


@shows_options()
def compare(
    problem: str
    | PathLike[str]
    | Problem
    | SystemProblem
    | Scenario
    | RigidBody
    | System
    | ArrayLike,
    torque: Torque | Load | Callable[..., Any] | str | None = None,
    t_span: tuple[float, float] | ArrayLike | None = None,
    *,
    methods: Sequence[str] | str | None = None,
    family: str | None = None,
    errors: float | Iterable[float] = ERRORS,
    until: float | None = None,
    rotation0: Rotation | ArrayLike | None = None,
    scalar_first: bool | None = None,
    omega0: ArrayLike | None = None,
    momentum0: ArrayLike | None = None,
    force: Force | Callable[..., Any] | None = None,
    position0: ArrayLike | None = None,
    velocity0: ArrayLike | None = None,
    breaks: ArrayLike | None = None,
    processes: int = 1,
    progress: Callable[[int, int, str], Any] | None = None,
    **misspelt: Never,
) -> Comparison:
    """Compare methods: their errors and costs at many step sizes.

    Parameters
    ----------
    problem : name of a problem, path of a scenario (.toml), Problem, SystemProblem, Scenario, a body or a System
        With a body, `torque`, `t_span`, `rotation0`, `scalar_first`, `omega0` or `momentum0`,
        `force`, `position0`, `velocity0` and `breaks` are those of `integrate`; a system has what
        acts in it.
    methods : list of names, "all" or None
        None: a representative set.  `NAME@rtol` runs a method with a tolerance instead of a step.
        A method that cannot follow the motion (a flight, or rotors) is left out, or if it is named
        has the reason as its note.
    family : str, optional
        All methods of a family instead.
    errors : numbers
        The errors for which costs are found: the largest during the run of any part of the motion.
        That of the attitude is an angle in radians.  Those of the others are relative to the
        largest size of the part during the run: angular velocity, in flight position (its distance
        from the origin) and velocity; speeds of rotors, to the largest of all rotors and the body.
        In a system an error is the largest of any body, relative to the largest angular velocity,
        the size of the system (the largest distance from the middle) and likewise its speed.
    until : float, optional
        End the span earlier.
    processes : int
        Number of processes in which methods are measured; more than one needs a problem or a
        scenario file.
    progress : function, optional
        Called as progress(done, total, name): before each method, or after it with several
        processes.

    Returns
    -------
    Comparison
        With `.table`, `.to_dict()`, `.to_xarray()`, `.figure(path)` and `.html(path)`.

    Raises
    ------
    PolhodeError, KeyboardInterrupt
        Ctrl-C, and an error in `progress`, have the finished methods as their attribute
        `comparison`.

    Examples
    --------
    >>> found = compare("krysl/slow-top", methods=["NMB", "LP2"], errors=[1e-4])
    >>> [round(curve.slope) for curve in found.curves]
    [2, 2]
    """
    check_options(compare, misspelt)
    entries.select(methods, family)  # what is wrong with them shows first
    errors = check_errors(errors)
    task = as_task(
        problem,
        torque,
        t_span,
        rotation0=rotation0,
        scalar_first=scalar_first,
        omega0=omega0,
        momentum0=momentum0,
        force=force,
        position0=position0,
        velocity0=velocity0,
        breaks=breaks,
    ).until(until)
    chosen = {entry.name: entry for entry in entries.select_for(task, methods, family)}
    processes = whole("processes", processes, 1, "write processes=4")
    if processes > 1 and not task.recipe.get("problem"):
        raise InputError(
            f"processes = {processes} is for a problem's name or a scenario file, which another process can make "
            f"again, got {brief(problem)}; leave processes out"
        )
    found = Comparison(task.title, task.acting, task.t_span, truth(task), errors)
    tell = reporter(progress, "progress(done, total, name)")
    curves = {}

    def keep(name, curve):
        curves[name] = curve
        tell(len(curves), len(chosen), name)

    try:
        if processes > 1:
            made = task.recipe, task.t_span[1]
            work = {name: (*made, found.truth, name, errors) for name in chosen}
            run_in_processes(_measure_in_process, work, keep, processes)
        else:
            for done, (name, entry) in enumerate(chosen.items()):
                tell(done, len(chosen), name)
                curves[name] = method_curve(task, found.truth, entry, errors)
    except BaseException as error:  # Ctrl-C, or an error of `progress`
        found.interrupted = True
        error.comparison = found  # type: ignore[attr-defined]
        raise
    finally:
        found.curves.extend(curves[name] for name in chosen if name in curves)
    return found


def _measure_in_process(
    recipe: dict[str, Any],
    until: float,
    known: Truth,
    name: str,
    errors: tuple[float, ...],
) -> MethodCurve:
    """The curve of one method, in a process that makes the task again from its recipe."""
    return method_curve(as_task(**recipe).until(until), known, entries.find(name), errors)


def method_curve(
    task: Task,
    known: Truth,
    entry: entries.Entry,
    errors: tuple[float, ...],
    patience: float = PATIENCE,
) -> MethodCurve:
    """The curve of one method, and the cost of reaching each of the errors."""
    try:
        runner = entry.runner(task, known).compile()
        curve = Curve(runner, worth=lambda point: point.seconds < 0.5 * patience)
        answers = {error: curve.reach(error) for error in sorted(errors, reverse=True)}
    except PolhodeError as problem:
        return MethodCurve(entry.name, {}, "", [], None, dict.fromkeys(errors), str(problem))
    return MethodCurve(
        entry.name,
        entry.facts(task),
        runner.knob,
        curve.points,
        curve.slope,
        answers,
        entry.lowered(task),
    )


def check_errors(errors: float | Iterable[float]) -> tuple[float, ...]:
    """The errors asked for, checked."""
    values = floats("errors", [errors] if isinstance(errors, (int, float)) else errors)
    if values.ndim != 1 or not len(values):
        raise InputError(
            f"errors must be a list of numbers, got {brief(errors)}; write errors=[1e-3, 1e-6]"
        )
    for value in values:
        check_error(value)
    return tuple(sorted({float(value) for value in values}, reverse=True))


def check_error(value: float) -> float:
    """An error that double precision can tell from none."""
    if not (math.isfinite(value) and SMALLEST <= value < 1.0):
        raise InputError(
            f"an error must be at least {SMALLEST:g}, about what double precision leaves of a motion, and below 1 "
            f"(it is an angle in radians and a relative velocity); got {float(value):g}"
        )
    return float(value)
