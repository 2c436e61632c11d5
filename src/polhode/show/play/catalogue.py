"""What the page offers: problems to start from, and methods by family with their facts."""

import math

from polhode import methods
from polhode.errors import unknown
from polhode.methods._groups import group_of
from polhode.problems import ALL
from polhode.show.play.lessons import LESSONS
from polhode.show.play.start import other_terms, tilt, weight, wheel

PROBLEMS = {**{name: lesson.problem for name, lesson in LESSONS.items()}, **ALL}
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
        "problems": [_describe_problem(one) for one in PROBLEMS.values()],
        "methods": [
            {"name": one.name, "group": group_of(one), "fact": fact(one)}
            for one in methods.everything()
        ],
        "first": FIRST,
    }


def _describe_problem(one):
    t0, t1 = one.t_span
    torque, lesson = other_terms(one, one.step), LESSONS.get(one.name)
    return {
        "name": one.name,
        "group": "Problems of the papers" if lesson is None else "Lessons",
        "poinsot": lesson is not None and lesson.poinsot,
        "title": one.title,
        "source": one.source,
        "assumptions": one.assumptions,
        "torque": "" if torque is None else f"torque {torque.name}",  # besides the weight
        "body": _describe_body(one.body),
        "moments": one.body.moments.tolist(),
        "omega0": one.omega0.tolist(),
        "wheel": wheel(one),
        "tilt": math.degrees(tilt(one)),
        "weight": weight(one),
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
    remarks = [
        entry.summary.rstrip("."),
        entry.best_for and f"Best for {entry.best_for}",
        entry.flaw and f"Faulty: {entry.flaw}",
    ]
    facts = ", ".join([f"order {entry.order}", *kinds, *kept])
    return " ".join(f"{part}." for part in (facts, *filter(None, remarks)))
