"""An ensemble as named arrays with units, and as an xarray Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.engine.rotors import each_rotor
from polhode.results._ensemble_result import Ensemble
from polhode.results._run import FAILED, FINISHED, INTERRUPTED
from polhode.results.columns import UNTITLED_MANY, UNTITLED_SYSTEMS, attributes
from polhode.results.motion import LABELS, PARTS, SPEED, MotionPart

if TYPE_CHECKING:
    from xarray import Dataset

AXIS, MOMENT, FREE = "rotor_axis_", "rotor_inertia_", "rotor_free_"  # and the number of the rotor
PARAMETER = "parameter_"  # before the name of one that differs from body to body
STATUS = (FINISHED, FAILED, INTERRUPTED)
UNITS = {
    "energy": "J",
    "kinetic_energy": "J",
    **{f"momentum{end}": "kg m2/s" for end in ("", "_x", "_y", "_z")},
    **{f"position_{axis}": "m" for axis in "xyz"},
    **{f"velocity_{axis}": "m/s" for axis in "xyz"},
}


Described = tuple[tuple[str, ...], np.ndarray, dict[str, Any]]  # dimensions, values, meaning


def dataset(run: Ensemble) -> Dataset:
    """Dimensions body, for systems also system, time (where something was kept on the way), axis and
    quaternion_component."""
    import xarray as xr

    data = arrays_of(run)
    coords: dict[str, Any] = {
        name: data.pop(name) for name in ("system", "body", "time") if name in data
    }
    coords |= {name: list(labels) for name, labels in LABELS.items()}
    return xr.Dataset(
        data,
        coords,
        attributes(run.provenance(), UNTITLED_SYSTEMS if run.kind.bodies else UNTITLED_MANY),
    )


def about(run: Ensemble, si: str, meaning: str) -> dict[str, str]:
    """The attributes of an array whose unit in the SI is `si`."""
    unit = run.units.of(si)
    return {**({"units": unit} if unit else {}), "long_name": meaning}


def arrays_of(run: Ensemble) -> dict[str, Described]:
    """{name: (dimensions, values, units and meaning)}."""
    system = bool(run.kind.bodies)
    one = "system" if system else "body"
    each = ("system", "body") if system else ("body",)
    followed = [PARTS[name] for name in run.kind.slices]

    def part_of(part: MotionPart, name: str, *dimensions: str) -> Described:
        components = (part.components,) if part.components else ()
        meaning = about(run, part.units, part.long_name)
        if part.name.startswith(SPEED):
            speeds: Any = run.rotor_speeds if name == part.name else run.kept_rotor_speeds
            return dimensions, speeds[..., int(part.name.removeprefix(SPEED)) - 1], meaning
        return (*dimensions, *components), getattr(run, name), meaning

    status = sum(code * (run.status == name) for code, name in enumerate(STATUS))
    meaning = {
        "flag_values": np.arange(len(STATUS), dtype=np.int8),
        "flag_meanings": " ".join(STATUS),
    }
    data: dict[str, Described] = {
        **{part.name: part_of(part, part.name, *each) for part in followed},
        "energy": ((one,), run.energy, about(run, "J", "energy at the end")),
        "status": (
            (one,),
            status.astype(np.int8),
            {"long_name": "how the run ended", **meaning},
        ),
        "end_time": (
            (one,),
            run.end_times,
            about(run, "s", "time of the last good motion"),
        ),
    }
    if not system and run.bodies.count > 1:
        inertia = about(run, "kg m2", "principal moments of inertia")
        data["moments"] = (("body", "axis"), run.bodies.moments.T, inertia)
        if run.bodies.axes is not None:
            tilt = {"units": "1", "long_name": "principal axes as columns"}
            data["principal_axes"] = (("body", "axis", "principal_axis"), run.bodies.axes, tilt)
        for k, (axis, J, free) in enumerate(each_rotor(run.bodies.rotors), 1):
            data[f"{AXIS}{k}"] = (
                ("body", "axis"),
                axis,
                {"units": "1", "long_name": f"axle of rotor {k}, in principal axes"},
            )
            data[f"{MOMENT}{k}"] = (
                ("body",),
                J,
                about(run, "kg m2", f"moment of inertia of rotor {k}"),
            )
            data[f"{FREE}{k}"] = (
                ("body",),
                free,
                {"long_name": f"1 where rotor {k} turns freely, 0 where its speed is held"},
            )
    masses = run.bodies.masses
    flying = run.position is not None and not system
    if flying and (len(masses) > 1 or masses[0] != run.bodies.one.mass):
        data["mass"] = (("body",), np.broadcast_to(masses, run.n), about(run, "kg", "mass"))
    if run.failures:
        bodies = [failure.body for failure in run.failures]
        reasons = run.failure_reasons()
        step, reason = np.full((2, run.n), -1, dtype="i4")
        step[bodies] = [failure.step for failure in run.failures]
        reason[bodies] = [reasons.index(failure.reason) for failure in run.failures]
        about_step = {"long_name": "number of the step that failed, -1 for none"}
        data["failed_step"] = ((one,), step, about_step)
        about_reason = {"long_name": "number of its reason among failure_reasons, -1 for none"}
        data["failure_reason"] = ((one,), reason, about_reason)
    for name, values in run.parameters.items():
        values = np.asarray(values, dtype=float)
        if len(np.atleast_1d(values)) == run.n > 1 and values.shape[1:] in ((), (3,)):
            what = {"long_name": f"parameter {name}"}
            data[f"{PARAMETER}{name}"] = ((one, "axis")[: values.ndim], values, what)
    if run.times is not None:
        data["time"] = (("time",), run.times, about(run, "s", "time"))
    for part in followed if run.quaternions is not None else ():
        data[part.plural] = part_of(part, part.plural, "time", *each)
    for name, statistic in (run.statistics or {}).items():
        for dimension, summary in ((one, statistic.over_time), ("time", statistic.over_bodies)):
            over = "bodies" if dimension == "time" else "time"
            for kind, values in summary._asdict().items():
                unit = run.units.of(UNITS.get(name, "1"))
                data[f"{name}_{kind}_over_{over}"] = (
                    (dimension,),
                    values,
                    {"units": f"({unit})2" if kind == "variance" else unit} if unit else {},
                )
    last = run.first + run.n
    numbers = np.arange(run.first, last, dtype="i4" if last < 2**31 else "f8")
    if system:
        data["body"] = (("body",), np.arange(run.kind.bodies, dtype="i4"), {})
    return data | {one: ((one,), numbers, {})}
