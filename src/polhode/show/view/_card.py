"""A result as HTML for a notebook."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.engine._flow import Flow
from polhode.engine._stepper import Stepper
from polhode.engine._system_stepper import SystemStepper
from polhode.errors import InputError, brief
from polhode.loads._system import System
from polhode.problems import Problem, SystemProblem
from polhode.results._ensemble_result import Ensemble
from polhode.results._system_trajectory import SystemTrajectory
from polhode.results._trajectory import Trajectory
from polhode.show.html import render
from polhode.show.plots.motion_figures import overview
from polhode.show.plots.style import small_png
from polhode.show.view._comparison import COLUMNS, format_cell
from polhode.show.view.runs import describe_rotors, describe_run, whole
from polhode.studies.advise.advice import Advice
from polhode.studies.compare.comparison import Comparison
from polhode.studies.facts.certificate import Certificate
from polhode.studies.facts.report import rows as certificate_rows

MOST_ROWS = 30
MOST_POINTS = 1_000_000  # of a run that is drawn: more take seconds, or do not fit into memory
_DRAWN = 4000  # points of the picture


@singledispatch
def card(result: Any) -> str:
    """A result as HTML for a notebook: a small table and, for a run, a figure.

    Parameters
    ----------
    result : Trajectory, SystemTrajectory, System, Ensemble, Comparison, Advice, Certificate, RigidBody, Flow, Stepper,
        Problem or SystemProblem

    Returns
    -------
    str

    Examples
    --------
    >>> import polhode
    >>> "<td" in polhode.view.card(polhode.RigidBody.box(3, 2, 1))
    True
    """
    raise InputError(
        f"card takes a result, a body, a flow, a stepper or a problem, got {brief(result)}; give one of these"
    )


def _table(
    title: str,
    rows: Iterable[Sequence[Any]],
    header: Sequence[str] = (),
    text: str = "",
    picture: str = "",
) -> str:
    rows = list(rows)
    return render(
        "show/templates/card.html",
        title=title,
        text=text,
        header=header,
        rows=rows[:MOST_ROWS],
        left=max(len(rows) - MOST_ROWS, 0),
        picture=picture,
    )


def _facts(**facts: Any) -> list[tuple[str, str]]:
    """The facts that are known, as rows."""
    return [
        (name.replace("_", " "), str(value))
        for name, value in facts.items()
        if value not in (None, "")
    ]


def _numbers(values: Any) -> str:
    return ", ".join(f"{value:.6g}" for value in values)


@card.register
def _(run: Trajectory) -> str:
    about = {key: value for key, value in describe_run(run).items() if "digest" not in key}
    rows = [("points", f"{len(run)}, t = {run.ends[0][0]:g} to {run.ends[1][0]:g}"), *about.items()]
    return _table(run.title or "Trajectory", rows, picture=_picture(run))


@card.register
def _(run: SystemTrajectory) -> str:
    about = {key: value for key, value in describe_run(run).items() if "digest" not in key}
    rows = [("points", f"{len(run)}, t = {run.ends[0][0]:g} to {run.ends[1][0]:g}"), *about.items()]
    small = len(run) * len(run.body) <= MOST_POINTS
    return _table(run.title or "SystemTrajectory", rows, picture=_picture(run) if small else "")


@card.register
def _(system: System) -> str:
    interaction = system.interaction
    rows = _facts(
        bodies=f"{len(system)}: {system.names}",
        mass=system.units.value(f"{system.mass:g}", "kg"),
        fixed=", ".join(map(str, np.flatnonzero(system.fixed))),
        interaction=interaction.name,
        potential="known" if interaction.has_potential else "unknown",
    )
    return _table("System", rows)


def _picture(run):
    """The overview of a run as text, "" where there is too little or too much to draw."""
    if not 2 <= len(run) <= MOST_POINTS:
        return ""
    shown = run.part(slice(None, None, max(len(run) // _DRAWN, 1)))
    return base64.b64encode(small_png(overview(shown), 72)).decode("ascii")


@card.register
def _(many: Ensemble) -> str:
    label = many.units.label
    quantities = {
        label("energy", "J"): many.energy,
        label("kinetic energy", "J"): many.kinetic_energy,
        label("angular velocity", "rad/s"): np.linalg.norm(many.omega, axis=1),
        label("angular momentum", "kg m2/s"): np.linalg.norm(many.momentum, axis=1),
    }
    for i, speeds in enumerate(() if many.rotor_speeds is None else many.rotor_speeds.T, 1):
        quantities[label(f"speed of rotor {i}", "rad/s")] = speeds
    error = many.summary()["error_estimate"]
    text = (
        f"{many.method.name}, {many.steps} steps to t = {many.t:g}, torque {many.torque.name}, {many.device} "
        f"{many.dtype}; {many.message}{'' if error is None else f'; error about {error:.1g}'}"
    )
    rows = [
        (name, *(f"{find(values):.6g}" for find in (np.nanmin, np.nanmean, np.nanmax)))
        for name, values in quantities.items()
    ]
    title = many.title or f"Ensemble of {many.n} bodies"
    return _table(title, rows, ("at the end", "smallest", "mean", "largest"), text)


@card.register
def _(comparison: Comparison) -> str:
    rows = [[format_cell(row, key) for key in COLUMNS] for row in comparison.table]
    return _table(f"{comparison.title}: work against precision", rows, list(COLUMNS.values()))


@card.register
def _(advice: Advice) -> str:
    rows = [
        (
            trial.name,
            "–" if trial.point is None else f"{trial.knob} {trial.point.setting:.4g}".strip(),
            "–" if trial.point is None else f"{trial.point.error:.2g}",
            "–" if trial.point is None else f"{1e6 * trial.cost:.4g}",
            trial.note,
        )
        for trial in advice.trials
    ]
    header = ("method", "step or rtol", "error", "time [µs]", "")
    return _table(f"Take {advice.method}", rows, header, advice.why)


@card.register
def _(certificate: Certificate) -> str:
    header = ("fact", "declared", "measured", "verdict")
    return _table(
        f"{certificate.name}: {certificate.verdict}",
        certificate_rows(certificate),
        header,
        certificate.summary,
    )


@card.register
def _(body: RigidBody) -> str:
    shape = body.shape or {}
    size = {key: value for key, value in shape.items() if key != "kind" and _is_short(value)}
    rows = _facts(
        principal_moments=body.units.value(_numbers(whole(body).moments), "kg m2"),
        mass=body.units.value(f"{body.mass:.6g}", "kg"),
        shape=", ".join([shape.get("kind", ""), *(f"{key} {size[key]}" for key in size)]),
        principal_axes="" if body.is_principal else "tilted, see axes",
        **describe_rotors(body),
    )
    return _table(body.name or "RigidBody", rows)


def _is_short(value):
    return len(str(value)) < 60


@card.register
def _(flow: Flow) -> str:
    size = {"step": flow.step} if flow.tolerance is None else {"rtol": flow.tolerance[0]}
    rows = _facts(method=flow.method.name, **size, torque=flow.torque.name, body=repr(flow.body))
    return _table("Flow", rows)


@card.register
def _(stepper: Stepper) -> str:
    flying = {} if stepper.position is None else {"position": _numbers(stepper.position)}
    rows = _facts(
        time=f"{stepper.t:.6g}",
        attitude=_numbers(stepper.quaternion),
        angular_velocity=_numbers(stepper.omega),
        energy=f"{stepper.total_energy:.6g}",
        **flying,
        method=stepper.method.name,
        step=f"{stepper.dt:g}",
        torque=stepper.torque.name,
        body=repr(stepper.body),
    )
    return _table("Stepper", rows)


@card.register
def _(stepper: SystemStepper) -> str:
    rows = _facts(
        time=f"{stepper.t:.6g}",
        energy=f"{stepper.total_energy:.6g}",
        linear_momentum=_numbers(stepper.linear_momentum),
        angular_momentum=_numbers(stepper.angular_momentum),
        method=stepper.method.name,
        step=f"{stepper.dt:g}",
        interaction=stepper.interaction.name,
        system=repr(stepper.body),
    )
    return _table("Stepper", rows)


@card.register
def _(problem: Problem) -> str:
    about = problem.describe()
    title, about["moments"] = about.pop("title"), _numbers(about["moments"])
    about["omega0"] = _numbers(about["omega0"])
    about["rotation0"] = _numbers(about["rotation0"])
    return _table(title[0].upper() + title[1:], _facts(**about))


@card.register
def _(problem: SystemProblem) -> str:
    about = problem.describe()
    title, about["masses"] = about.pop("title"), _numbers(about["masses"])
    for long in ("moments", "position0", "velocity0", "rotation0", "omega0"):
        del about[long]
    return _table(title[0].upper() + title[1:], _facts(**about))
