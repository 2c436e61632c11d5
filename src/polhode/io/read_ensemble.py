"""An ensemble from the arrays of a file: the inverse of `polhode.io.ensemble`."""

from __future__ import annotations

import itertools
import re
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.core.motions import FLIGHT, KINDS, with_rotors
from polhode.engine.ensemble.bodies import Bodies
from polhode.engine.ensemble.keep import Statistic, Summary
from polhode.engine.ensemble.measure import Measure
from polhode.errors import InputError, PolhodeError
from polhode.io.ensemble import AXIS, FREE, MOMENT, PARAMETER, STATUS
from polhode.loads.force import as_force
from polhode.loads.recorded import Recorded
from polhode.loads.torques import free
from polhode.methods._method import recorded
from polhode.results._ensemble_result import Ensemble, Failure
from polhode.results._run import FAILED, INTERRUPTED
from polhode.results.ensemble_motions import Motions
from polhode.results.error_estimate import ErrorEstimate
from polhode.results.motion import PARTS
from polhode.support.units import as_units

_SHAPES = {  # n bodies, k times
    **dict.fromkeys(("status", "end_time", "energy"), ("n",)),
    **{part.name: ("n", *part.shape) for part in PARTS.values()},
    "moments": ("n", 3),
    "mass": ("n",),
    "principal_axes": ("n", 3, 3),
    **dict.fromkeys(("body", "failed_step", "failure_reason"), ("n",)),
    "t": ("k",),
    **{part.plural: ("k", "n", *part.shape) for part in PARTS.values()},
}
_NEEDED = ("quaternion", "omega", "energy", "status", "end_time")
FACTS = ("method", "body", "torque_terms")  # without which neither a run nor an ensemble is read
_STATISTIC = re.compile(r"(.+)_mean_over_time")


def as_ensemble(
    path: str | PathLike[str], arrays: dict[str, np.ndarray], facts: dict[str, Any]
) -> Ensemble:
    """The ensemble in the contents of a file."""
    _check(path, arrays, facts, _NEEDED, _SHAPES)
    status, end, bodies = arrays["status"], arrays["end_time"], _bodies(path, arrays, facts)
    spun = [PARTS[f"rotor_{i + 1}"] for i in range(bodies.spinning)]
    shapes = {one.name: ("n",) for one in spun} | {one.plural: ("k", "n") for one in spun}
    _check(path, arrays, facts, [one.name for one in spun], shapes)
    followed = [part for part in PARTS.values() if part.name in arrays]
    kind = next(one for one in KINDS.values() if len(one.slices) == len(followed))
    found = Ensemble(
        motions=None,
        kept=None,
        parameters={
            name.removeprefix(PARAMETER): values
            for name, values in arrays.items()
            if name.startswith(PARAMETER)
        },
        measure=partial(
            Measure, bodies, free(), {}, force=as_force(None) if kind is FLIGHT else None
        ),
        estimate=None,
        kind=with_rotors(kind, len(spun)),
        units=_units(path, facts, bodies),
        n=len(status),
        first=int(arrays["body"][0]) if "body" in arrays else 0,
        t=facts.get("t_final", float(end[np.argmax(np.abs(end))])),
        step=facts.get("step"),
        steps=facts.get("steps") or 0,
        elapsed=float("nan"),
        method=recorded(facts["method"], facts.get("method_facts") or {}),
        torque=Recorded(facts.get("torque") or "", facts["torque_terms"], False),
        bodies=bodies,
        seed=int(facts["seed"]) if str(facts.get("seed")).isdecimal() else None,
        times=arrays.get("t"),
        statistics=_statistics(arrays),
        failures=_failures(arrays, facts.get("failure_reasons") or []),
        interrupted=bool(np.any(status == STATUS.index(INTERRUPTED))),
        message=facts.get("message") or "",
        mode=facts.get("interaction_mode") or facts.get("torque_mode") or "",
        note="",
        device=facts.get("device") or "",
        dtype=facts.get("dtype") or "",
        threads=None,
        vectorised=False,
        source=facts.get("source_digest") or "",
        torque_source=facts.get("torque_digest") or "",
        title=facts.get("title") or "",
        recorded=facts,
    )
    if "error_sample" in facts:
        found.error_estimate = ErrorEstimate.from_dict(facts["error_sample"])
    found.energy = arrays["energy"]
    found._at_end = Motions(*(arrays[part.name] for part in followed))
    found._on_the_way = Motions(*(arrays.get(part.plural) for part in followed))
    if spun:
        found._at_end = found._at_end._replace(rotor_speeds=_together(arrays, spun, "name"))
        if spun[0].plural in arrays:
            along = _together(arrays, spun, "plural")
            found._on_the_way = found._on_the_way._replace(rotor_speeds=along)
    return found


def _units(path, facts, bodies):
    """The units of the file, or of the body in it."""
    try:
        return as_units(facts["units"]) if "units" in facts else bodies.one.units
    except InputError as error:
        raise InputError(
            f"{str(path)!r} holds units that cannot be read: {error}; run it again with -o"
        ) from error


def _together(arrays, spun, name):
    """The speeds of all rotors as one array."""
    return np.stack([arrays[getattr(one, name)] for one in spun], axis=-1)


def _check(path, arrays, facts, needed, shapes):
    """Check that the file holds an ensemble, and the shapes of its arrays."""
    missing = [name for name in needed if name not in arrays]
    missing += [name for name in FACTS if name not in facts]
    if missing:
        raise InputError(
            f"{str(path)!r} lacks {', '.join(missing)}: it is not an ensemble that polhode stored; run it again "
            "with -o"
        )
    sizes = {"n": arrays["status"].size, "k": arrays.get("t", np.empty(0)).size}
    for name, shape in shapes.items():
        expected = tuple(sizes.get(size, size) for size in shape)
        if name in arrays and (arrays[name].shape != expected or not sizes["n"]):
            raise InputError(
                f"{str(path)!r}: {name} has shape {arrays[name].shape}, expected {expected} for {sizes['n']} bodies; "
                "the file is damaged"
            )


def _bodies(path, arrays, facts):
    """One body for all, or the moments and axes of each."""
    try:
        if "moments" not in arrays:
            one = Bodies(RigidBody.from_dict(facts["body"]))
            return one.with_masses(arrays["mass"]) if "mass" in arrays else one
        names = ("moments", "principal_axes", "mass")
        return Bodies.stored(*map(arrays.get, names), _rotors(path, arrays, facts))
    except (PolhodeError, TypeError) as error:
        raise InputError(
            f"{str(path)!r} holds bodies that cannot be read: {error}; run it again with -o"
        ) from error


def _rotors(path, arrays, facts):
    """The numbers of the rotors of each body, None where there are none."""
    count = next(k for k in itertools.count() if f"{AXIS}{k + 1}" not in arrays)
    axes, *others = ([f"{one}{k + 1}" for k in range(count)] for one in (AXIS, MOMENT, FREE))
    single = [*itertools.chain(*others)]
    _check(
        path, arrays, facts, single, dict.fromkeys(axes, ("n", 3)) | dict.fromkeys(single, ("n",))
    )
    rows = [*(arrays[name].T for name in axes), *(arrays[name][None] for name in single)]
    return np.concatenate(rows) if rows else None


def _failures(arrays, reasons):
    """The bodies that failed, with the step and the reason where the file has them."""
    failed = np.flatnonzero(arrays["status"] == STATUS.index(FAILED))
    unknown = np.full(len(arrays["status"]), -1)
    steps, numbers = (arrays.get(name, unknown) for name in ("failed_step", "failure_reason"))
    return [
        Failure(
            int(body),
            int(steps[body]),
            float(arrays["end_time"][body]),
            reasons[int(numbers[body])] if 0 <= numbers[body] < len(reasons) else "unknown",
        )
        for body in failed
    ]


def _statistics(arrays):
    """Summaries over time and over bodies, by quantity; None where there are none."""
    found = {}
    for name in (match[1] for match in map(_STATISTIC.fullmatch, arrays) if match):
        over_time, over_bodies = (
            [arrays.get(f"{name}_{kind}_over_{over}") for kind in Summary._fields]
            for over in ("time", "bodies")
        )
        found[name] = Statistic(Summary(*over_time), Summary(*over_bodies))
    return found or None
