"""What the page offers: problems to start from, and methods by family with their facts."""

import numpy as np

from polhode import methods
from polhode.loads import torques
from polhode.bodies._body import RigidBody
from polhode.errors import unknown
from polhode.problems import ALL, Problem

BOX = Problem(
    "tumbling-box",
    "a box spun about its intermediate axis",
    "It turns over, as Dzhanibekov's wing nut did",
    RigidBody.box(0.20, 0.13, 0.03),
    torques.free(),
    np.eye(3),
    np.array([0.02, 6.0, 0.0]),
    (0.0, 12.0),
    0.02,
)
PROBLEMS = {BOX.name: BOX, **ALL}
FIRST = "LP2"  # the method that the page begins with
START = (FIRST, "VLV", "NMB", "EXACT", "SW", "AKW", "RK4-quaternion", "taylor4", "DOP853")
LONGEST = 500.0  # a long run of a paper is offered with a span that is computed at once

# In the order of the list: what to begin with, the families, and last what few will look for.
_LABELS = {
    "start": "Start here",
    "splitting": "Splitting",
    "variational": "Variational",
    "midpoint": "Midpoint",
    "newmark": "Newmark and Simo-Wong",
    "runge-kutta": "Runge-Kutta",
    "quaternion_space": "On the quaternion",
    "taylor": "Taylor series",
    "buss": "As Buss ran them, mistakes included",
}


def problem(name):
    """A problem by its full name."""
    if not isinstance(name, str) or name not in PROBLEMS:
        raise unknown("problem", name, PROBLEMS)
    return PROBLEMS[name]


def method(name):
    """A registered method: those made on demand, such as taylor(200), could be compiled for
    minutes."""
    known = methods.names()
    if name not in known:
        raise unknown("method", name, known)
    return methods.get(name)


def catalogue():
    """Everything as plain data, for the page."""
    entries = sorted(methods.everything(), key=_place)
    return {
        "problems": [_describe_problem(one) for one in PROBLEMS.values()],
        "methods": [
            {"name": one.name, "group": _LABELS.get(_group(one), _group(one)), "fact": fact(one)}
            for one in entries
        ],
        "first": FIRST,
    }


def _group(entry):
    """The key of the group that a method is listed in."""
    return "start" if entry.name in START else entry.family


def _place(entry):
    """Where a method stands in the list: by group, a family without a label after those with one;
    then as registered."""
    groups, group = list(_LABELS), _group(entry)
    return (
        groups.index(group if group in groups else "taylor"),
        group,
        START.index(entry.name) if group == "start" else 0,
    )


def _describe_problem(one):
    t0, t1 = one.t_span
    torque = one.torque()
    return {
        "name": one.name,
        "title": one.title,
        "source": one.source,
        "assumptions": one.assumptions,
        "torque": f"torque {torque.name}" if torque.acts else "nothing acts",
        "body": _describe_body(one.body),
        "omega0": one.omega0.tolist(),
        "step": one.step,
        "span": min(t1 - t0, LONGEST),
    }


def _describe_body(body):
    if body.shape:
        return {"kind": "box", "values": list(body.shape["size"]), "unphysical": False}
    return {
        "kind": "moments",
        "values": body.moments.tolist(),
        "unphysical": not body.to_dict()["check_triangle"],
    }


def fact(entry):
    """A method in one line."""
    kinds = [
        word
        for word, true in (
            ("symplectic", entry.symplectic is True),
            ("symmetric", entry.symmetric),
            ("implicit", entry.implicit),
        )
        if true
    ]
    kept = [f"keeps {' and '.join(entry.conserves)} of the free body"] if entry.conserves else []
    return f"{', '.join([f'order {entry.order}', *kinds, *kept])}. {entry.summary.rstrip('.')}."
