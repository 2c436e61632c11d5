"""Scenario files: a run described in TOML, checked as a whole before anything starts.

    problem = "krysl/slow-top"        # or the three sections [body], [initial] and [torque], or several [[body]]

    [run]
    method = "NMB"
    step = 0.0125
    t_span = [0, 10]

A section beside a problem replaces that part of it: [body] its body, [torque] its torque, and each
key of [initial] and [run] what it says.  A body with a [load], or a position or velocity in
[initial], is in flight.  Every error in the file is reported at once, with the path
of its key.  A scenario holds data and names, never code: a torque in Python is given beside it, by
--torque-file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import problems
from polhode.engine._integrate import integrate
from polhode.engine.flight import check_flight
from polhode.engine.ensemble.parameters import check_parameters
from polhode.errors import InputError, as_path
from polhode.io.formats import formats, suffix_of
from polhode.io.scenario import schema
from polhode.io.scenario.faults import Faults
from polhode.io.scenario.messages import TOP, as_toml, unknown_key
from polhode.io.scenario.body_and_initial import read_body, read_initial
from polhode.io.scenario.run_section import read_run
from polhode.io.scenario.settings import apply_settings
from polhode.io.scenario.systems import is_system, read_system, read_system_problem
from polhode.io.scenario.toml import parse
from polhode.io.scenario.torque import (
    NEVER,
    TORQUE_FILE,
    read_load,
    read_torque,
    torque_from_file,
    try_load,
)
from polhode.loads._system import System
from polhode.loads._torque import ZERO
from polhode.loads.load import as_load
from polhode.support.units import as_units
from polhode.support.file_names import from_text, readable

if TYPE_CHECKING:
    from polhode.engine.checkpoint import Checkpoint
    from polhode.loads.force import Force
    from polhode.results._system_trajectory import SystemTrajectory
    from polhode.results._trajectory import Trajectory

PLACE = ("position0", "velocity0")


@dataclass(frozen=True)
class Scenario:
    """A run that is ready to start.  `load` makes one from a file; the attributes are the arguments of
    `polhode.integrate`."""

    title: str
    body: Any  # a RigidBody or a System
    torque: Any
    rotation0: np.ndarray
    omega0: np.ndarray
    method: Any
    step: float | list | None
    t_span: tuple
    rtol: float | None = None
    atol: float | None = None
    max_step: float | None = None
    every: int | str = 1
    t_eval: list | None = None
    breaks: list | float | None = None
    output: Path | None = None
    format: str | None = None
    ensemble: schema.Ensemble | None = None
    force: Force | None = None
    position0: Any = None
    velocity0: Any = None

    @property
    def in_flight(self) -> bool:
        """Whether the translation is followed too."""
        return isinstance(self.body, System) or not (
            self.force is None and self.position0 is None and self.velocity0 is None
        )

    def integrate(
        self,
        progress: Callable[[int, int], Any] | None = None,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
    ) -> Trajectory | SystemTrajectory:
        """Run it; `progress` and `checkpoint` are those of `polhode.integrate`."""
        return integrate(
            self.body,
            self.torque,
            self.t_span,
            self.step,
            self.method,
            rotation0=self.rotation0,
            scalar_first=False,
            omega0=self.omega0,
            force=self.force,
            position0=self.position0,
            velocity0=self.velocity0,
            rtol=self.rtol,
            atol=self.atol,
            max_step=self.max_step,
            every=self.every,
            t_eval=self.t_eval,
            breaks=self.breaks,
            progress=progress,
            checkpoint=checkpoint,
            title=self.title,
        )


def load(path: str | PathLike[str], torque_file: str | PathLike[str] | None = None) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path : str or Path
    torque_file : str or Path, optional
        "FILE.py" or "FILE.py:NAME": a torque or load in Python, instead of a [torque] section, or the interaction of a
        system, instead of [[interaction]].  The file is executed; a scenario itself cannot name code.

    Returns
    -------
    Scenario

    Raises
    ------
    InputError
        If the file cannot be read or contains errors; the message lists all of them.

    Examples
    --------
    >>> load("flip.toml").method.name   # the file of that name in the folder examples
    'VLV'
    """
    path = as_path("path", path)
    return make_scenario(parse(path), path, torque_file)


def is_scenario_file(path: Path) -> bool:
    """Whether a path is that of a scenario; otherwise it is the name of a problem."""
    return path.suffix == ".toml" or os.path.exists(path)


def read_source(source: str | PathLike[str]) -> tuple[dict[str, Any], Path]:
    """The contents of a scenario, from a file or the name of a problem, and its path."""
    path = as_path("path", source)
    if is_scenario_file(path):
        return parse(path), path
    try:
        problem = problems.get(os.fspath(source))
    except InputError as error:
        raise InputError(f"{error}; or give a scenario file, FILE.toml") from None
    return {"title": problem.name, "problem": problem.name}, Path(path.name)


def make_scenario(
    data: dict[str, Any],
    path: str | PathLike[str],
    torque_file: str | PathLike[str] | None = None,
    settings: Iterable[Sequence[str]] = (),
) -> Scenario:
    """A Scenario from the contents of a file; `path` is for the messages and the title, and a mesh
    is looked for beside it.  Settings, (option, text), take the place of what the file says."""
    data, options = apply_settings(data, settings)
    faults = Faults(options)
    parts = _read(data, faults, torque_file, Path(path).parent)
    faults.report(path)
    return Scenario(title=data.get("title", readable(Path(path).stem)), **parts)


def _read(data, faults, torque_file, folder):
    """The arguments of Scenario from the sections; what is wrong goes to `faults`."""
    for key in data:
        if key == "sweep":
            faults.add(
                (key,),
                "defines many runs; give the file to `polhode sweep`, or drop the section",
            )
        elif key in ("torque_file", "torque-file"):
            faults.add((key,), f"{NEVER} {as_toml(data[key])}; {TORQUE_FILE}")
        elif key not in TOP:
            faults.add((key,), unknown_key(key, TOP))
    if not isinstance(data.get("title", ""), str):
        faults.add(("title",), f"must be text, got {as_toml(data['title'])}; put it in quotes")
    problem = None
    if "problem" in data:
        with faults.at("problem"):
            problem = problems.get(data["problem"])
    known = "problem" in data  # what a misspelt problem would have supplied is not missing
    run = faults.check(schema.Run, data.get("run", {}), "run")
    times = read_run(run, problem, known, faults) if run else {}
    if is_system(data):
        system = read_system(
            data, torque_file, folder, lambda body: _in_units(body, data, faults), faults
        )
        return {**system, **times, **_output(data, faults)}
    if isinstance(problem, problems.SystemProblem):
        return {
            **read_system_problem(data, problem, torque_file, faults),
            **times,
            **_output(data, faults),
        }
    if "interaction" in data:
        faults.add(
            ("interaction",), "is between bodies; write several [[body]], or a [torque] or [load]"
        )
    body = _in_units(read_body(data, problem, known, folder, faults), data, faults)
    start = read_initial(data, body, problem, known, faults)
    step = [] if "rtol" in times else times.get("step")
    if torque_file is None:
        torque = read_torque(data, body, problem, step, faults)
    else:
        torque = torque_from_file(data, torque_file, faults)
    load = None if torque is None else as_load(torque)
    more = read_load(data, body, step, faults)
    if not faults:
        load = _together(load, more, start, times, faults)
        if load.force.acts or more is not None:
            start["force"] = load.force
    return {
        "body": body,
        "torque": load and load.torque,
        **start,
        **times,
        **_output(data, faults),
        **_ensemble(data, load, start, faults),
    }


def _together(load, more, start, times, faults):
    """Everything that acts, tried where the run begins."""
    motion = start["rotation0"], start["omega0"], *(start[key] or ZERO for key in PLACE)
    for key, one in (("torque", load), ("load", more)):
        if one is not None:
            try_load(one, times["t_span"][0], motion, key, faults)
    load = load if more is None else load + more
    if load.force.acts or more is not None or any(start[key] is not None for key in PLACE):
        with faults.at("run", "method"):
            check_flight(times["method"], load.torque, "rtol" in times)
    return load


def _in_units(body, data, faults):
    """The body with the units that the file names."""
    given = data.get("units")
    if isinstance(given, dict):
        section = faults.check(schema.Units, given, "units")
        given = section and dict(section)
    with faults.at("units"):
        units = as_units(given)
        return body if given is None or body is None else body.with_units(units)
    return body


def _output(data, faults):
    section = faults.check(schema.Output, data["output"], "output") if "output" in data else None
    if section is None:
        return {}
    with faults.at("output", "format" if section.format else "file"):
        suffix_of(section.file, formats(), section.format)
    return {"output": Path(from_text(section.file)), "format": section.format}


def _ensemble(data, load, start, faults):
    section = (
        faults.check(schema.Ensemble, data["ensemble"], "ensemble") if "ensemble" in data else None
    )
    if section is None:
        return {}
    if load is not None:
        with faults.at("ensemble", "parameter_spread"):
            check_parameters(load.torque, section.parameter_spread, start.get("force"))
    if not any(start.get(key) is not None for key in ("force", *PLACE)):
        for key in ("position_spread", "velocity_spread"):
            if np.any(getattr(section, key)):
                faults.add(
                    ("ensemble", key),
                    f"is for bodies in flight, got {getattr(section, key)!r}; give a [load], or a position in [initial]",
                )
    return {"ensemble": section}
