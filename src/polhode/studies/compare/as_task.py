"""What a user gives to `compare` and `advise`, as a `Task`."""

from __future__ import annotations

from pathlib import Path

from polhode import problems
from polhode.engine.one_body import OneBody
from polhode.engine.one_system import OneSystem, refuse_beside_system
from polhode.engine.schedule import break_times, span
from polhode.errors import InputError, brief
from polhode.io.scenario._load import Scenario, is_scenario_file, load
from polhode.loads._system import System
from polhode.studies.compare.body_task import BodyTask
from polhode.studies.compare.system_task import SystemTask
from polhode.studies.compare.task import Task, times_inside

ANY = "LP2"  # a method that flies and takes rotors and systems: its steps are not used


def as_task(
    problem,
    torque=None,
    t_span=None,
    *,
    rotation0=None,
    scalar_first=None,
    omega0=None,
    momentum0=None,
    force=None,
    position0=None,
    velocity0=None,
    breaks=None,
    torque_file=None,
):
    """A Task from a problem, its name, a scenario, its file (`torque_file` is that of `load`), or a
    body or a system with the arguments of `integrate`."""
    given = {
        "torque": torque,
        "t_span": t_span,
        "rotation0": rotation0,
        "scalar_first": scalar_first,
        "omega0": omega0,
        "momentum0": momentum0,
        "force": force,
        "position0": position0,
        "velocity0": velocity0,
        "breaks": breaks,
    }
    if isinstance(problem, Task):
        return problem
    if isinstance(problem, (str, Path, problems.Problem, problems.SystemProblem, Scenario)):
        extra = next((name for name, value in given.items() if value is not None), None)
        if extra:
            raise InputError(
                f"{extra} belongs to the problem or scenario; give a body first to choose {extra} yourself"
            )
        return _task_of_problem(problem, torque_file)
    if t_span is None:
        raise InputError("t_span is missing; give (t0, t1)")
    rotation = rotation0, omega0, momentum0, scalar_first
    place = force, position0, velocity0
    return _task("", problem, torque, rotation, place, span(t_span), breaks)


def _task_of_problem(problem, torque_file):
    recipe = {"torque_file": torque_file}
    problem = str(problem) if isinstance(problem, Path) else problem
    if isinstance(problem, str) and is_scenario_file(Path(problem)):
        recipe["problem"] = problem
        problem = load(problem, torque_file)
    elif torque_file is not None:
        raise InputError(
            f"a torque file goes with a scenario, and {brief(problem)} is not one; give a SCENARIO.toml, or drop it"
        )
    if isinstance(problem, Scenario):
        title, torque, t_span = problem.title, problem.torque, problem.t_span
        breaks, place = problem.breaks, (problem.force, problem.position0, problem.velocity0)
    else:
        problem = problems.get(problem)
        recipe["problem"] = title = problem.name
        end = problem.t_span[1] if problem.comparable is None else problem.comparable
        torque, t_span, breaks = problem.torque(), (problem.t_span[0], end), None
        place = None, problem.position0, problem.velocity0
    rotation = problem.rotation0, problem.omega0, None, False
    return _task(title, problem.body, torque, rotation, place, t_span, breaks, recipe)


def _task(title, body, torque, rotation, place, t_span, breaks, recipe=None):
    jumps, common = break_times(breaks).tolist(), {"t_span": tuple(t_span), "recipe": recipe or {}}
    if isinstance(body, System):
        force, *place = place
        refuse_beside_system(torque=torque, force=force)
        run = OneSystem(body, ANY, *rotation, *place)
        return SystemTask(
            title=title or f"{len(body)} bodies",
            body=body,
            motion=run.motion,
            kind=run.kind,
            jumps=times_inside(jumps, t_span),
            **common,
        )
    one, unit = OneBody(body, torque, ANY, *rotation, *place), None
    for term in one.torque.terms:
        if term.unit is not None:
            unit, jumps = term.unit, term.jumps
    return BodyTask(
        title=title or one.body.name or "a body",
        body=one.body,
        torque=one.torque,
        motion=one.motion,
        jumps=times_inside(jumps, t_span),
        unit=unit,
        force=one.force,
        kind=one.kind,
        **common,
    )
