"""Descriptions of files: what a run, an ensemble, a sweep or an unfinished run contains, and its
provenance."""

from os import PathLike
from typing import Any

import numpy as np

from polhode.engine import checkpoint_files
from polhode.errors import InputError
from polhode.io import read, read_ensemble
from polhode.io.ensemble import STATUS
from polhode.io.formats import format_to_read, zarr
from polhode.results._trajectory import Trajectory
from polhode.studies.sweep.sweep_store import Store
from polhode.support.regular import file_path

_RUN_FACTS = (
    "title",
    "method",
    "step",
    "tolerance",
    "torque",
    "interaction",
    "torque_mode",
    "interaction_mode",
    "steps",
    "torque_evaluations",
    "interaction_evaluations",
    "status",
    "message",
)


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """Describe a file that polhode wrote, as plain data that includes its provenance.

    Parameters
    ----------
    path : str or Path
        A stored run, ensemble or sweep, or an unfinished run (its folder, or the file it was to
        become).

    Returns
    -------
    dict
    """
    path = file_path(path)
    folder = path if checkpoint_files.is_checkpoint(path) else path.with_name(path.name + ".part")
    if not (path.exists() and path is not folder) and checkpoint_files.is_checkpoint(folder):
        return {
            "file": str(folder),
            "kind": "unfinished run",
            "bytes": _bytes(folder),
            **_describe_unfinished(folder),
        }
    if path.is_dir() and not zarr.is_store(path):
        raise InputError(
            f"{str(path)!r} is a folder, and neither a Zarr store nor an unfinished run; give a file that polhode "
            "wrote"
        )
    if "polhode_sweep" in (zarr.attributes_of(path) or {}):
        kind, details = "sweep", _describe_sweep(path)
    else:
        arrays, facts = read.contents(path)
        of_run = "run of a system" if "interaction_terms" in facts else "run"
        kind = "ensemble" if "end_time" in arrays else of_run
        details = (_describe_ensemble if kind == "ensemble" else _describe_run)(path, arrays, facts)
    return {
        "file": str(path),
        "kind": kind,
        "format": format_to_read(path).suffix,
        "bytes": _bytes(path),
        **details,
    }


def _bytes(path):
    return sum(
        one.stat().st_size
        for one in ([path] if path.is_file() else path.rglob("*"))
        if one.is_file()
    )


def _describe_run(path, arrays, facts):
    run = read.as_trajectory(path, arrays, facts)
    return {
        **_run_facts(facts),
        **(_describe_body(run) if isinstance(run, Trajectory) else _describe_bodies(run)),
        "points": len(run),
        "t_first": _number(run.t[:1]),
        "t_last": _number(run.t[-1:]),
        "energy": "kinetic" if run.potential_energy is None else "total",
        **_range("energy", run.total_energy),
        "provenance": facts,
    }


def _describe_body(run):
    body = run.body
    force = {} if run.force is None else {"force": repr(run.force)}
    about = {"name": body.name, "mass": body.mass, "moments": body.moments.tolist()}
    return {**force, "body": about}


def _describe_bodies(run):
    system = run.body
    linear, angular = run.linear_momentum[0].tolist(), run.angular_momentum[0].tolist()
    return {
        "bodies": len(system),
        "mass": system.mass,
        "names": system.names,
        "fixed": np.flatnonzero(system.fixed).tolist(),
        "momentum_first": linear,
        "angular_momentum_first": angular,
    }


def _describe_ensemble(path, arrays, facts):
    run = read_ensemble.as_ensemble(path, arrays, facts)
    return {
        **_run_facts(facts),
        "bodies": run.n,
        **{kind: int(np.sum(run.status == kind)) for kind in STATUS},
        "samples": 0 if run.times is None else len(run.times),
        "t_last": float(run.end_times.max()),
        "error_estimate": facts.get("error_estimate"),
        **_range("energy", run.energy),
        "provenance": facts,
    }


def _describe_sweep(path):
    store = Store(path, mode="r")
    identity, attributes = store.identity, zarr.attributes_of(path)
    return {
        "title": attributes.get("title", ""),
        "method": ", ".join(identity["code"]),  # all that the sweep runs
        "bodies": store.n,
        "shape": list(store.shape),
        "varies": {key: value for key, value in identity["sweep"].items() if "." in key},
        "chunks": len(store.boxes),
        "chunks_done": store.done(),
        **store.counts(),
        "provenance": {
            "polhode_version": identity["polhode_version"],
            "digest": attributes.get("digest"),
            **identity,
        },
    }


def _describe_unfinished(folder):
    held = checkpoint_files.read_run(folder)
    identity, about = held["identity"], held["about"]
    states = checkpoint_files.saved_states(folder)
    state = next((one for one in states if one is not None), None) or {
        "done": 0,
        "points": 0,
        "t": identity["t_span"][0],
    }
    damaged = sum(one is None for one in states)
    return {
        "title": about.get("title", ""),
        "method": identity["method"],
        "step": identity.get("step"),
        "tolerance": identity.get("tolerance"),
        **{key: identity[key] for key in ("torque", "interaction") if key in identity},
        **{key: identity[key] for key in ("torque_mode", "interaction_mode") if key in identity},
        "steps": state["done"],
        "steps_in_all": state.get("of"),
        "points": state["points"],
        "t": state["t"],
        "t_end": identity["t_span"][1],
        "checkpoints": len(states),
        "checkpoints_damaged": damaged,
        "resume": about.get("resume", "make the same call of polhode.integrate again"),
        "provenance": identity,
    }


def _run_facts(facts):
    return {key: facts[key] for key in _RUN_FACTS if facts.get(key) is not None}


def _range(name, values):
    finite = values[np.isfinite(values)]
    if not len(finite):
        return {}
    return {
        f"{name}_first": _number(values[:1]),
        f"{name}_min": float(finite.min()),
        f"{name}_max": float(finite.max()),
    }


def _number(values):
    """The one number in an array of one; None for an empty one."""
    return float(values[0]) if len(values) else None
