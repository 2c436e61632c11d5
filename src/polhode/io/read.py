"""Stored runs and ensembles read back, with their provenance.

Nothing that is read is ever executed: no pickle, no code.
"""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.core.motions import KINDS, ROTATION, of_bodies, with_rotors
from polhode.errors import InputError, PolhodeError, brief, as_path
from polhode.io.formats import format_to_read
from polhode.io.read_ensemble import FACTS, as_ensemble
from polhode.loads._system import System
from polhode.loads.recorded import Recorded, RecordedInteraction
from polhode.methods._method import recorded
from polhode.results import columns
from polhode.results._ensemble_result import Ensemble
from polhode.results._system_trajectory import SystemTrajectory
from polhode.results._trajectory import Trajectory
from polhode.results.motion import PARTS, row
from polhode.support.regular import check_regular

Result = TypeVar("Result", Trajectory, SystemTrajectory, Ensemble)
_HOLDS: dict[type, str] = {
    Trajectory: "the run of one body",
    SystemTrajectory: "the run of a system",
    Ensemble: "an ensemble",
}
_LARGEST = 1e150  # limit for the numbers of a run: figures and pages square them
_NEEDED = ("t", "quaternion", "omega", "kinetic_energy")
_SYSTEM_FACTS = ("method", "body", "interaction")


def as_run(run: Trajectory | str | PathLike[str]) -> Trajectory:
    """A trajectory as it is, or the stored run of one body that a path leads to."""
    found = as_any_run(run)
    if isinstance(found, SystemTrajectory):
        raise InputError(
            f"this is drawn for one body, got a run of {len(found.body)}; draw systems with run.plot() and run.view(), "
            "or integrate one of its bodies alone"
        )
    return found


def as_any_run(run: Any) -> Trajectory | SystemTrajectory:
    """The same for runs of a body and of systems."""
    if isinstance(run, (Trajectory, SystemTrajectory)):
        return run
    if isinstance(run, (str, os.PathLike)):
        path = as_path("path", run)
        if path.suffix.lower() in (".html", ".htm"):
            raise InputError(
                f"a run is shown beside others by its file, such as run.nc, got {str(path)!r}, a page; write "
                f"run.view().save({str(path)!r}) to make one"
            )
        return _read(path, (Trajectory, SystemTrajectory))
    if isinstance(run, Ensemble):
        raise InputError(
            f"figures and pages of runs show one body, got {brief(run)}; integrate one of its bodies alone, "
            "or draw all with plots.sphere(many.momentum_spatial, dots=True)"
        )
    raise InputError(
        f"a run must be a Trajectory or the path of a stored one, got {brief(run)}; give one of them"
    )


@overload
def read(path: str | PathLike[str], kind: None = None) -> Trajectory | Any: ...


@overload
def read(path: str | PathLike[str], kind: type[Result]) -> Result: ...


def read(path: str | PathLike[str], kind: Any = None) -> Any:
    """Read a stored run or ensemble: what `save` or `polhode run -o` wrote, bit for bit.

    Nothing in the file is executed, and no pickle is loaded.

    Parameters
    ----------
    path : str or Path
        A file in any of the formats that `polhode.io.save` writes.
    kind : Trajectory, SystemTrajectory or Ensemble, optional
        What the file must hold.  Type checkers then know what is returned.

    Returns
    -------
    Trajectory, SystemTrajectory or Ensemble
        Whichever the file holds.  Their descriptions say which attributes a file does not keep.

    Raises
    ------
    InputError
        When there is no such file, when it is not a run that polhode stored, or when it is damaged:
        the checksums in .nc, .npz and .zarr files show that, and the message says where.

    Examples
    --------
    >>> import polhode
    >>> run = polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 1), step=0.01, omega0=(0.01, 1.0, 0.0))
    >>> stored = polhode.read(run.save("flip.nc"))
    >>> bool((stored.omega == run.omega).all()), stored.body == run.body, stored.method.name
    (True, True, 'LP2')
    """
    path = as_path("path", path)
    if kind is not None and kind not in tuple(_HOLDS):
        names = " or ".join(f"polhode.{one.__name__}" for one in _HOLDS)
        raise InputError(
            f"kind must be {names}, got {brief(kind)}; give one of them, or leave it out"
        )
    return _read(path, tuple(_HOLDS) if kind is None else (kind,))


def _read(path: Any, kinds: tuple[type, ...]) -> Any:
    """What a file holds, which must be of one of these kinds."""
    arrays, facts = contents(path)
    of_run = SystemTrajectory if "interaction_terms" in facts else Trajectory
    held = Ensemble if "end_time" in arrays else of_run
    if held not in kinds:
        raise InputError(
            f"{str(path)!r} holds {_HOLDS[held]}, but {_HOLDS[kinds[0]]} was requested; read it with polhode.read, or see "
            f"`polhode info {path}`"
        )
    return (as_ensemble if held is Ensemble else as_trajectory)(path, arrays, facts)


def contents(path: str | PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, provenance) of a stored run or ensemble; what it must contain is checked later."""
    path = Path(path)
    if not path.exists():
        raise InputError(
            f"there is no file {str(path)!r}; write one with `polhode run SCENARIO.toml -o FILE.nc`"
        )
    check_regular(path, "a stored run")
    try:
        arrays, facts = format_to_read(path).read(path)
        columns.check_facts(facts)
    except InputError:
        raise
    except Exception as error:  # the libraries behind the readers raise all kinds of errors
        raise InputError(
            f"{str(path)!r} is not a run that polhode stored, or it is damaged: {_reason(error)}; run the scenario "
            "again with -o"
        ) from error
    if "time" in arrays:
        arrays["t"] = arrays.pop("time")
    # runs are stored only up to their last finite point; a Zarr store shows NaN for lost chunks
    for name in ("t", "quaternion", "omega", "position", "velocity"):
        if "end_time" not in arrays and name in arrays and not np.isfinite(arrays[name]).all():
            raise InputError(
                f"{str(path)!r}: {name} is not finite everywhere, so part of it is lost; run the scenario again "
                "with -o"
            )
    return arrays, facts


def _reason(error):
    """The message of a library about a file, in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:157] + "..."


def as_trajectory(
    path: str | PathLike[str], arrays: dict[str, np.ndarray], facts: dict[str, Any]
) -> Trajectory | SystemTrajectory:
    """The run in the contents of a file."""
    of_system = "interaction_terms" in facts
    missing = [name for name in _NEEDED if name not in arrays]
    missing += [name for name in (_SYSTEM_FACTS if of_system else FACTS) if name not in facts]
    if missing:
        raise InputError(
            f"{str(path)!r} lacks {', '.join(missing)}: it is not a run that polhode stored; run the scenario again "
            "with -o"
        )
    if arrays["t"].ndim != 1:
        raise InputError(
            f"{str(path)!r}: time has shape {arrays['t'].shape}, expected one number a point; the file is damaged"
        )
    make = _of_system if of_system else _of_body
    try:
        body, kind, what = make(arrays, facts)
    except (PolhodeError, TypeError) as error:
        raise InputError(f"{str(path)!r} holds a body that cannot be read: {error}") from error
    lost = [PARTS[part].name for part in kind.slices if PARTS[part].name not in arrays]
    if lost:
        raise InputError(f"{str(path)!r} lacks {', '.join(lost)}; the file is damaged")
    _check_arrays(path, arrays, kind.bodies)
    t, potential, tolerance = arrays["t"], arrays.get("potential_energy"), facts.get("tolerance")
    motion = row(kind, *(arrays[PARTS[part].name] for part in kind.slices))
    run = (SystemTrajectory if of_system else Trajectory)(
        t=t,
        motion=motion,
        ends=((float(t[0]), motion[0]), (float(t[-1]), motion[-1])),
        residuals=arrays.get("residual", np.zeros(len(t))),
        body=body,
        method=recorded(facts["method"], facts.get("method_facts") or {}),
        step=facts.get("step"),
        status=facts.get("status") or "unknown",
        message=facts.get("message") or "",
        nfev=facts.get("interaction_evaluations" if of_system else "torque_evaluations") or 0,
        steps=facts.get("steps") or 0,
        mode=facts.get("interaction_mode" if of_system else "torque_mode") or "",
        kind=kind,
        tolerance=None if tolerance is None else (tolerance[0], tolerance[1]),
        elapsed=float("nan"),
        source=facts.get("source_digest") or "",
        torque_source=facts.get("torque_digest") or "",
        title=facts.get("title") or "",
        recorded=facts,
        **what,
    )
    run.potential_energy = potential
    return run


def _of_body(arrays, facts):
    """Body, kind of motion and loads of the run of a body."""
    body, potential = RigidBody.from_dict(facts["body"]), arrays.get("potential_energy")
    kind = max(
        (
            kind
            for kind in (with_rotors(one, len(body.rotors)) for one in KINDS.values())
            if all(PARTS[part].name in arrays for part in kind.slices)
        ),
        key=lambda kind: kind.width,
        default=with_rotors(ROTATION, len(body.rotors)),
    )
    torque = Recorded(facts.get("torque") or "", facts["torque_terms"], potential is not None)
    return body, kind, {"torque": torque, "force": _force(facts, potential)}


def _of_system(arrays, facts):
    """The same for a system."""
    terms, known = facts["interaction_terms"], "potential_energy" in arrays
    interaction = RecordedInteraction(facts.get("interaction") or "", terms, known)
    system = System.from_dict(facts["body"], interaction)
    return system, of_bodies(len(system)), {"interaction": interaction}


def _force(facts, potential):
    """What the file records of the force on a body in flight, None where it records none."""
    terms = facts.get("force_terms")
    text = " + ".join(term["name"] for term in terms or [])
    return None if terms is None else Recorded(text, terms, potential is not None)


def _check_arrays(path, arrays, bodies):
    """Check the shapes of the arrays and the size of their numbers."""
    n = len(arrays["t"])
    if n == 0:
        raise InputError(f"{str(path)!r} holds no points; run the scenario again with -o")
    each = (bodies,) if bodies else ()
    shapes = {
        **dict.fromkeys(
            ("t", "kinetic_energy", "potential_energy", "total_energy", "residual"), (n,)
        ),
        **{one.name: (n, *each, *one.shape) for one in PARTS.values()},
    }
    for name, shape in shapes.items():
        if name in arrays and arrays[name].shape != shape:
            raise InputError(
                f"{str(path)!r}: {name} has shape {arrays[name].shape}, expected {shape}; the file is damaged"
            )
        if name in arrays and np.abs(arrays[name]).max(initial=0.0) > _LARGEST:
            raise InputError(
                f"{str(path)!r}: {name} is larger than {_LARGEST:g}, which no run reaches; the file is damaged"
            )
