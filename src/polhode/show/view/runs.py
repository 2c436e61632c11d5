"""A run as the page carries it: thinned, differences formed in float64, arrays as text.

`encode_run` gives a dict of plain data; `web/src/data.js` reads it.
"""

from itertools import pairwise

import numpy as np

from polhode.results import conserved
from polhode import rotations
from polhode.errors import InputError
from polhode.show.view.packing import pack_array
from polhode.show.view.body_shapes import choose_shape, half_length

FRAMES = 5001  # of one run: the start and five thousand steps
ALL_FRAMES = 12_000  # of all runs on a page


def encode_run(run, frames=FRAMES, mesh=None):
    """The run as plain data for the page, at most `frames` points of it."""
    run, start, notes = finite_part(run)
    weight, free = conserved.weight(run), conserved.is_free(run)
    arm, up = (weight["arm"], weight["up"]) if weight else (None, (0.0, 0.0, 1.0))
    flies = run.position is not None
    arm = None if flies else arm
    if free:
        first = run.momentum_spatial[start]
        size = float(np.linalg.norm(first))
        up = first / size if size else up
    errors = {
        "energy": conserved.energy(run, start),
        "momentum": conserved.momentum(run, start),
    }
    kept = choose_frames(len(run.t), frames)
    body = whole(run.body)
    shape, remark = choose_shape(body, arm, mesh)
    notes += [remark] if remark else []
    notes += thinning_notes(run, kept)
    return {
        "label": run.method.name,
        "units": {
            "time": run.body.units.of("s"),
            "rate": run.body.units.of("rad/s"),
            "length": run.body.units.of("m"),
        },
        "detail": step_of(run),
        "t": pack_array(run.t[kept], "f8"),
        "quaternion": pack_array(run.quaternion[kept]),
        "omega": pack_array(run.omega[kept]),
        **({"position": pack_array(run.position[kept], "f8")} if flies else {}),
        **({"extent": half_length(body)} if flies else {}),
        "rotors": [{"axis": one.axis, "inertia": one.inertia} for one in run.body.rotors],
        **({"speeds": pack_array(run.rotor_speeds[kept])} if run.body.rotors else {}),
        **{key: pack_array(worst(error.values, kept)) for key, error in errors.items()},
        "titles": {key: error.title for key, error in errors.items()},
        "causes": {key: error.cause for key, error in errors.items()},
        "inertia": body.inertia.ravel().tolist(),
        "moments": body.moments.tolist(),
        "principal": rotations.as_quaternion(body.axes).tolist(),
        "up": np.asarray(up).tolist(),
        "arm": arm,
        "free": free,
        "shape": shape,
        "about": describe_run(run),
        "notes": notes,
    }


def whole(body):
    """The body with its rotors standing still in it."""
    return body.with_rotors([]) if body.rotors else body


def finite_part(run):
    """The finite part of the run in the order of time, the place of its start, and notes."""
    notes, units = [], run.body.units
    finite = np.isfinite(run.motion).all(axis=1) & np.isfinite(run.t)
    n = len(finite) if finite.all() else int(np.argmin(finite))
    if n < len(finite):
        notes.append(
            f"The run is shown until t = {units.value(f'{run.t[max(n - 1, 0)]:g}', 's')}; after that its numbers are not "
            "finite."
        )
    if n < 2:
        raise InputError(
            f"the run of {run.method.name} holds {n} finite point{'' if n == 1 else 's'}, and an animation "
            "needs two; store more points (see `every`)"
        )
    order = slice(0, n)
    forwards = run.t[n - 1] >= run.t[0]
    if not forwards:
        order = slice(n - 1, None, -1)
        notes.append(
            f"Integrated backwards, from t = {units.value(f'{run.t[0]:g}', 's')}; shown in the order of time."
        )
    return run.part(order), 0 if forwards else -1, notes


def choose_frames(n, frames):
    """Which of n points are shown: the ends and what lies evenly between."""
    return (
        np.arange(n)
        if n <= frames
        else np.unique(np.linspace(0, n - 1, frames).round().astype(int))
    )


def worst(values, kept):
    """For each point shown, the value of largest size since the point before it: no peak is
    lost."""
    if len(kept) == len(values):
        return values
    result = values[kept].copy()
    for i, (before, here) in enumerate(pairwise(kept), 1):
        part = values[before + 1 : here + 1]
        result[i] = part[np.argmax(np.abs(part))]
    return result


def thinning_notes(run, kept):
    notes = []
    if len(kept) < len(run.t):
        notes.append(
            f"{len(kept)} of {len(run.t)} stored points are shown; each error is the largest since the previous point."
        )
    speed = np.linalg.norm(run.omega, axis=-1).max()
    turned = float(speed * np.diff(run.t[kept]).max()) / (2 * np.pi)
    if turned > 0.25:
        which = "a body" if run.kind.bodies else "the body"
        notes.append(
            f"Between two stored points {which} makes up to {turned:.1g} turns; the animation shows the shortest rotation."
        )
    return notes


def step_of(run):
    return (
        run.body.units.value(f"step {run.step:g}", "s")
        if isinstance(run.step, (int, float))
        else "uneven steps"
    )


def describe_run(run):
    """What a reader may want to know of a run, as text."""
    facts = run.provenance()
    known = facts.get("method_facts") or {}
    kinds = [word for word in ("symplectic", "symmetric", "implicit") if known.get(word) is True]
    rows = {
        "method": ", ".join(
            [
                str(facts["method"]),
                *([f"order {known['order']}"] if "order" in known else []),
                *kinds,
            ]
        ),
        "": known.get("summary", ""),
        "step": step_of(run).removeprefix("step ").removesuffix(" steps"),
        "steps": facts.get("steps"),
        **(_describe_system(run, facts) if run.kind.bodies else _describe_body(run, facts)),
        "status": facts.get("message") or facts.get("status"),
        "polhode": facts.get("polhode_version"),
        "source digest": facts.get("source_digest"),
    }
    return {key: str(value) for key, value in rows.items() if value not in (None, "")}


def _describe_body(run, facts):
    return {
        "torque": str(facts.get("torque", "")).removeprefix("<torque ").removesuffix(">"),
        "force": None if run.force is None else run.force.name,
        "torque evaluations": None if conserved.is_free(run) else facts.get("torque_evaluations"),
        "body": run.body.name or "",
        "principal moments": run.body.units.value(
            ", ".join(f"{value:.6g}" for value in whole(run.body).moments), "kg m2"
        ),
        **describe_rotors(run.body),
    }


def _describe_system(run, facts):
    terms = run.interaction.record()
    return {
        "bodies": f"{len(run.body)}: {run.body.names}",
        "mass": run.body.units.value(f"{run.body.mass:.6g}", "kg"),
        "fixed": ", ".join(map(str, np.flatnonzero(run.body.fixed))),
        "interaction": ", ".join(_describe_term(one) for one in terms) or "none",
        "evaluations": facts.get("interaction_evaluations"),
    }


def _describe_term(term):
    """An interaction with those of its parameters that are single numbers."""
    held = [f"{key} {value:.6g}" for key, value in term["parameters"].items() if _is_number(value)]
    held += [f"{len(term['links'])} links"] if term.get("links") else []
    held += [f"cutoff {term['cutoff']:.6g}"] if _is_number(term.get("cutoff")) else []
    return f"{term['name']} ({', '.join(held)})" if held else term["name"]


def _is_number(value):
    return type(value) in (int, float)


def describe_rotors(body):
    """A row for each rotor of a body."""
    rotors = enumerate(body.rotors, 1)
    return {f"rotor {i}": _describe_rotor(one, body.units) for i, one in rotors}


def _describe_rotor(one, units):
    axis = ", ".join(f"{a:.4g}" for a in one.axis)
    rows = [f"axis ({axis})", f"inertia {units.value(f'{one.inertia:.6g}', 'kg m2')}"]
    if one.is_held:
        rows.append(f"held at {units.value(f'{one.speed:.6g}', 'rad/s')}")
    elif one.is_free:
        rows.append("turns freely")
    if callable(one.torque) or isinstance(one.torque, str):
        rows.append(f"motor torque {getattr(one.torque, '__name__', one.torque)}")
    elif one.torque:
        rows.append(f"motor torque {units.value(f'{one.torque:.6g}', 'kg m2/s2')}")
    if one.damping:
        rows.append(f"damping {units.value(f'{one.damping:.6g}', 'kg m2/s')}")
    return ", ".join(rows)
