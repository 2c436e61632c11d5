"""What the page offers: problems to start from, and methods by family with their facts."""

import numpy as np

from polhode import methods
from polhode.loads import torques
from polhode.bodies._body import RigidBody
from polhode.errors import unknown
from polhode.methods._groups import group_of
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
LONGEST = 500.0  # a long run of a paper is offered with a span that is computed at once


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
    return {
        "problems": [_described(one) for one in PROBLEMS.values()],
        "methods": [
            {"name": one.name, "group": group_of(one), "fact": fact(one)}
            for one in methods.everything()
        ],
        "first": FIRST,
    }


def _described(one):
    t0, t1 = one.t_span
    torque = one.torque()
    return {
        "name": one.name,
        "title": one.title,
        "source": one.source,
        "assumptions": one.assumptions,
        "torque": f"torque {torque.name}" if torque.acts else "nothing acts",
        "body": _body(one.body),
        "omega0": one.omega0.tolist(),
        "step": one.step,
        "span": min(t1 - t0, LONGEST),
    }


def _body(body):
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
    remarks = [
        entry.summary.rstrip("."),
        entry.best_for and f"Best for {entry.best_for}",
        entry.flaw and f"Faulty: {entry.flaw}",
    ]
    facts = ", ".join([f"order {entry.order}", *kinds, *kept])
    return " ".join(f"{part}." for part in (facts, *filter(None, remarks)))
