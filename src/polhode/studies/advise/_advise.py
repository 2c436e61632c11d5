"""Advice: which method, and which step, for a motion, an error and a price of the torque.

    advise("my.toml", error=1e-6)
    advise([1, 2, 3], torque, (0, 10), omega0=..., error=1e-6, torque_cost="2ms")

Short pilot runs with the user's own body, torque and span, against the truth, find for each of a
short list of methods the longest step that is accurate enough.  A run costs what its steps take,
with torque evaluations at their own price or at the one given; the cheapest is recommended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Never

from numpy.typing import ArrayLike

from polhode.bodies._body import RigidBody
from polhode.core.motions import ROTATION
from polhode.errors import (
    InputError,
    IntegrationError,
    check_options,
    flag,
    number,
    reporter,
    shows_options,
)
from polhode.io.scenario._load import Scenario
from polhode.loads._system import System
from polhode.loads._torque import Torque
from polhode.loads.force import Force
from polhode.loads.load import Load
from polhode.problems import Problem, SystemProblem
from polhode.studies.advise import candidates
from polhode.studies.advise.advice import Advice, exact_solution, explanation
from polhode.studies.advise.cost import Price, seconds
from polhode.studies.advise.pilot import Pilot, Trial
from polhode.studies.compare._compare import check_error
from polhode.studies.compare.entries import Entry
from polhode.studies.compare.as_task import as_task
from polhode.studies.compare.task import Task

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

BUDGET = 10.0  # seconds of torque evaluations


@shows_options()
def advise(
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
    error: float = 1e-6,
    torque_cost: float | str | None = None,
    long: bool = False,
    symplectic: bool = False,
    explicit: bool = False,
    symmetric: bool = False,
    one_torque: bool = False,
    order: int | None = None,
    methods: Sequence[str] | str | None = None,
    until: float | None = None,
    budget: float = BUDGET,
    rotation0: Rotation | ArrayLike | None = None,
    scalar_first: bool | None = None,
    omega0: ArrayLike | None = None,
    momentum0: ArrayLike | None = None,
    force: Force | Callable[..., Any] | None = None,
    position0: ArrayLike | None = None,
    velocity0: ArrayLike | None = None,
    breaks: ArrayLike | None = None,
    progress: Callable[[int, int, str], Any] | None = None,
    **misspelt: Never,
) -> Advice:
    """Recommend a method and a step.

    Parameters
    ----------
    problem : name of a problem, path of a scenario (.toml), Problem, SystemProblem, Scenario, a body or a System
        With a body, `torque`, `t_span`, `rotation0`, `scalar_first`, `omega0` or `momentum0`,
        `force`, `position0`, `velocity0` and `breaks` are those of `integrate`; a system has what
        acts in it.
    error : float
        The error that is allowed at any time of the run: of the attitude in radians, and of the
        other parts of the motion, relative to the largest; see `compare`.
    torque_cost : float or str, optional
        Seconds of one torque evaluation, or text such as "2ms", if it differs from the cost measured
        here.
    long : bool
        For a run so long that its phase does not matter: only methods without energy drift are
        tried, and `error` is that of the energy.
    symplectic, explicit, symmetric, one_torque : bool
        Required properties of the method; `one_torque` means one torque evaluation per step.
    order : int, optional
        The lowest order allowed.
    methods : list of names, optional
        Try these instead of the short list.
    until : float, optional
        End the span earlier.
    budget : float
        About how many seconds pilot runs may spend on torque evaluations; ten times as many until
        one method has reached the error.  If that is too little for the whole span, they cover a
        part of it, and the growth of errors is measured and extrapolated.
    progress : function, optional
        Called as progress(done, total, name).

    Returns
    -------
    Advice
        With `.method`, `.step` (or `.rtol`), `.error`, `.seconds`, `.why`, `.runner_up`,
        `.to_dict()` and `.integrate()`.

    Examples
    --------
    >>> advice = advise("krysl/slow-top", error=1e-4, methods=["NMB", "MR4-123"])
    >>> advice.method, advice.error < 1e-4
    ('MR4-123', True)
    """
    check_options(advise, misspelt)
    error = check_error(number("error", error))
    long = flag("long", long)
    tell = reporter(progress, "progress(done, total, name)")
    given = None if torque_cost is None else seconds("torque_cost", torque_cost)
    made = candidates.demands(symplectic, explicit, symmetric, one_torque, order)
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
    chosen, notes = methods_to_try(task, made, methods, long, symplectic)
    price = Price(task, given)
    pilot = Pilot(task, price, error, long, number("budget", budget, positive=True))
    trials = sorted(pilot.try_all(chosen, tell), key=lambda trial: trial.cost)
    closed = exact_solution(task) if methods is None else None
    if closed is None and trials[0].point is None:
        raise IntegrationError(none_accurate_enough(error, trials))
    if closed is None:
        best = pilot.verified(trials[0])
        verified = best is not None
        trials[0] = best or trials[0]
    else:
        verified, trials = True, [closed, *trials]
    return Advice(
        task,
        trials,
        error,
        long,
        verified,
        pilot.truth.origin,
        pilot.task.t_span,
        int(pilot.spent),
        price,
        explanation(trials, error, price, task, long, pilot),
        notes,
    )


def methods_to_try(
    task: Task,
    made: list[candidates.Demand],
    methods: Sequence[str] | str | None,
    long: bool,
    symplectic: bool,
) -> tuple[list[Entry], list[str]]:
    """The entries to try, and notes about them."""
    felt = task.speeds_felt
    if symplectic and felt:
        raise InputError(f"no method is symplectic with {felt}; drop that requirement")
    notes = [f"No method is symplectic with {felt}."] if felt else []
    if long and not task.conservative:
        acting = "The torque" if task.kind is ROTATION else "What acts"
        notes.append(
            f"{acting} does not come from a potential: the energy is compared with that of the reference."
        )
    chosen = candidates.shortlist(made, methods, long and task.conservative, task)
    lowered = [entry.name for entry in chosen if entry.lowered(task)]
    if lowered:
        notes.append(
            f"{', '.join(lowered)} {'has' if len(lowered) == 1 else 'have'} a lower order with it."
        )
    if task.energy_unknown and any(entry.method.restores_energy for entry in chosen):
        notes.append(f"+ep restores no energy here: {task.energy_unknown}.")
    return chosen, notes


def none_accurate_enough(error: float, trials: list[Trial]) -> str:
    """The message where no candidate reaches the error."""
    notes = "; ".join(f"{trial.name}: {trial.note}" for trial in trials[:4])
    return (
        f"none of {len(trials)} methods reached an error of {error:g} on this span ({notes}); ask for a larger error, end "
        "the span earlier, or name the times at which the torque jumps (breaks)"
    )
