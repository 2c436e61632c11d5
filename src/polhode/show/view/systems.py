"""The run of a system as the page carries it: the motions of all bodies, a shape for each kind of body,
and what is conserved.

`encode_system` gives a dict of plain data; `web/src/data.js` reads it.
"""

import numpy as np

from polhode import rotations
from polhode.loads.recorded import all_links
from polhode.results import conserved
from polhode.show.view.body_shapes import choose_shape
from polhode.show.view.packing import pack_array
from polhode.show.view.runs import (
    choose_frames,
    describe_run,
    finite_part,
    step_of,
    thinning_notes,
    worst,
)

BODY_FRAMES = 80_000  # motions of a body on a page: 216 bodies have 370 frames
FEW = 12  # bodies whose angular velocities are shown too
DRAWN = {  # the largest half extent of a figure, for the shapes that web/src/shapes.js makes
    "box": lambda shape: max(shape["size"]) / 2 / 0.86,
    "ellipsoid": lambda shape: max(shape["semi_axes"]),
    "sphere": lambda shape: shape["radius"],
    "cylinder": lambda shape: max(shape["radius"], shape["height"] / 2),
    "points": lambda shape: np.linalg.norm(shape["positions"], axis=1).max(),
}


def encode_system(run, frames):
    """The run as plain data for the page, at most `frames` points of it."""
    run, start, notes = finite_part(run)
    system, n = run.body, len(run.body)
    frames = min(frames, max(2, BODY_FRAMES // n))
    kept = choose_frames(len(run.t), frames)
    kinds = list(dict.fromkeys(system.bodies))
    number = {kind: i for i, kind in enumerate(kinds)}
    figures, remarks = zip(*(_figure(kind) for kind in kinds), strict=True)
    notes += [*dict.fromkeys(filter(None, remarks)), *thinning_notes(run, kept)]
    errors = {
        "energy": conserved.energy(run, start),
        "momentum": conserved.linear_momentum(run, start),
        "angular": conserved.momentum(run, start),
    }
    links, ends = _links(run)
    boxes = [term["box"] for term in run.interaction.record() if term.get("box")]
    spins = np.linalg.norm(run.omega, axis=-1)
    few = {"omega": pack_array(run.omega[kept])} if n <= FEW else {}
    units = system.units
    return {
        "label": run.method.name,
        "units": {"time": units.of("s"), "rate": units.of("rad/s"), "length": units.of("m")},
        "detail": step_of(run),
        "bodies": n,
        "t": pack_array(run.t[kept], "f8"),
        "quaternion": pack_array(run.quaternion[kept]),
        "position": pack_array(run.position[kept]),
        **few,
        "fastest": float(spins.max()),
        "masses": system.masses.tolist(),
        "kinds": list(figures),
        "which": [number[body] for body in system.bodies],
        "names": [
            f"{i} {body.name}" if body.name else str(i) for i, body in enumerate(system.bodies)
        ],
        "links": links,
        "ends": ends,
        "box": boxes[0] if boxes else None,
        **{key: pack_array(worst(error.values, kept)) for key, error in errors.items()},
        "titles": {key: error.title for key, error in errors.items()},
        "causes": {key: error.cause for key, error in errors.items()},
        "rotors": [],
        "arm": None,
        "up": [0.0, 0.0, 1.0],
        "free": False,
        "about": describe_run(run),
        "notes": notes,
    }


def _figure(body):
    """Shape and size of a kind of body, and a remark for the reader."""
    shape, remark = choose_shape(body, None)
    own = body.shape or {}
    if shape["kind"] == "mesh":
        size = float(np.linalg.norm(own["vertices"], axis=1).max()) / 1.1
    elif remark or shape["kind"] not in DRAWN:
        shape = equivalent_ellipsoid(body)
        size = max(shape["semi_axes"])
        remark = "A body without a shape is drawn as an ellipsoid of the same moments of inertia."
    else:
        size = float(DRAWN[shape["kind"]](shape))
        if shape["kind"] == "points":
            shape = {**shape, "ball": 0.45, "toned": len({*shape["masses"]}) > 1}
    return {"shape": shape, "size": size, "name": body.name or ""}, remark


def equivalent_ellipsoid(body):
    """The uniform ellipsoid of the same mass and inertia; a moment that no body has gives a flat
    one."""
    squares = 0.5 * body.moments.sum() - body.moments
    floor = 1e-3 * body.moments.max()
    return {
        "kind": "ellipsoid",
        "semi_axes": np.sqrt(5.0 / body.mass * np.maximum(squares, floor)).tolist(),
        "turn": rotations.as_quaternion(body.axes).tolist(),
    }


def _links(run):
    """The links, and where they are fixed to both bodies, body frames, if that is recorded."""
    terms = [term for term in run.interaction.record() if term.get("links")]
    links = all_links(terms)
    if links is None:
        return [], []
    ends = []
    for term in terms:
        held, count = term["parameters"], len(term["links"])
        both = [np.asarray(held.get(name, np.zeros((count, 3)))) for name in ("a", "b")]
        if any(one.shape != (count, 3) or one.dtype.kind not in "fi" for one in both):
            both = [np.zeros((count, 3))] * 2
        ends += np.concatenate(both, axis=1).tolist()
    return links.tolist(), ends
