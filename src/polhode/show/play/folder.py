"""The playground as a page for any web server, which computes in the browser: the methods in JavaScript
are in it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import polhode
from polhode import methods
from polhode.errors import InputError
from polhode.exports.bundle import bundle
from polhode.exports.module import export_obstacle
from polhode.loads import torques
from polhode.loads._torque import Torque
from polhode.loads.force import weight
from polhode.loads.named import supplied_parameters
from polhode.problems import Problem
from polhode.rotations import as_quaternion
from polhode.show.html import render
from polhode.show.play import work
from polhode.show.play.catalogue import PROBLEMS, catalogue
from polhode.show.play.lessons import LESSONS
from polhode.show.play.start import other_terms
from polhode.show.view.runs import ALL_FRAMES, FRAMES
from polhode.support.atomic import write_text
from polhode.support.regular import file_path

FILE = "index.html"


def write(folder: str | PathLike[str], force: bool = False) -> Path:
    """Write the playground into a folder, which is made if need be, and return the path of the page;
    an existing one is kept unless `force`."""
    folder = file_path(folder)
    path = folder / FILE
    if path.exists() and not force:
        raise InputError(f"'{path}' exists; write to another folder, or overwrite it with --force")
    text = page()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"'{folder}' cannot be made: {error.strerror or error}; choose another folder"
        ) from error
    write_text(path, text)
    return path


def page() -> str:
    """The page."""
    return render(
        "show/templates/play_static.html",
        title="polhode playground",
        catalogue=offered(),
        steps=bundle(exported(), acting().values()),
    )


def offered() -> dict[str, Any]:
    """The catalogue of the page, with what the library knows by itself when it computes."""
    offer = catalogue()
    for one in offer["methods"]:
        entry = methods.get(one["name"])
        facts = entry.facts()
        names = ("order", "symplectic", "symmetric", "implicit", "multistep", "summary")
        one |= {name: facts[name] for name in names} | {"obstacle": export_obstacle(entry)}
    for one in offer["problems"]:
        problem, lesson = PROBLEMS[one["name"]], LESSONS.get(one["name"])
        other = other_terms(problem, problem.step)
        one |= {
            "obstacle": _obstacle(problem),
            "thrown": None if lesson is None else lesson.thrown,
            "begin": float(problem.t_span[0]),
            "rotation0": as_quaternion(problem.rotation0).tolist(),
            "acting": [
                {key: record[key] for key in ("name", "parameters")}
                for record in ([] if other is None else other.record())
            ],
        }
    offer["torques"] = {name: _facts(torque) for name, torque in acting().items()}
    offer["limits"] = {
        "steps": work.MOST_STEPS,
        "apart": work.MOST_APART,
        "seconds": work.MOST_SECONDS,
        "frames": FRAMES,
        "allFrames": ALL_FRAMES,
    }
    offer["gravity"] = weight(1.0).params.g
    offer["version"] = polhode.__version__
    return offer


def _obstacle(problem: Problem) -> str:
    """What the methods in JavaScript do not follow yet."""
    return "it has a rotor" if problem.body.rotors else ""


def exported() -> list[Any]:
    return [one for one in methods.everything() if not export_obstacle(one)]


def acting() -> dict[str, Torque]:
    """The torques that act in the problems, and those that the page adds, by name."""
    found = [other_terms(one, one.step) for one in PROBLEMS.values()]
    terms = [term for torque in found if torque is not None for term in torque.terms]
    return {term.name: term for term in [torques.heavy_top(1.0), torques.damping(1.0), *terms]}


def _facts(torque: Torque) -> dict[str, Any]:
    record = torque.record()[0]
    return {
        "frame": torque.frame,
        "conserves": record["conservative"] and record["steady"],
        "up": record["up"],
        "arm": record["arm"],
        "supplied": list(supplied_parameters(torques.by_name(torque.name))),
    }
