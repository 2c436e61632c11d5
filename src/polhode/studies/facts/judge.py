"""The certificate of a method: every fact measured and, where one is declared, judged.

What is claimed must hold, and what is not claimed must be broken; a fact declared as None is measured
without a verdict.  What cannot be measured does not hold: it is missing.  See `rulings.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, partial
from os import PathLike
from typing import Any

import numpy as np

from polhode import problems
import polhode.studies.facts.conserve as conserve
import polhode.studies.facts.flight as flight
import polhode.studies.facts.long_run as long_run
import polhode.studies.facts.structure as structure
import polhode.studies.facts.orders as orders
from polhode.errors import InputError
from polhode.problems import Problem
from polhode.methods._method import IN_C, Method
from polhode.studies.facts.drift import energy_facts
from polhode.studies.c_code import with_facts
from polhode.studies.facts.certificate import Certificate, Fact
from polhode.studies.facts.rulings import order_fact, property_fact
from polhode.studies.facts.source import as_method, check
from polhode.studies.facts.systems import system_facts
from polhode.studies.facts.trial import LIVELY


FLIGHT_ORDER = 6  # the largest that the doubles of a flight show clearly


def certify(
    method: Method | str | PathLike[str],
    problem: str | Problem | None = None,
    declared: Mapping[str, Any] | None = None,
) -> Certificate:
    """Measure everything about a method.

    Parameters
    ----------
    method : str, Method, or step function
        A registered method; a Python file with one, "FILE.py"; a function in a file,
        "FILE.py:NAME"; a function `step(h, t, s, body, torque, p)` on `Motion` states, about
        which nothing is declared; or code in C, "FILE.c", "FILE.c:NAME" or a shared library, which
        is compiled and run in this process.
    problem : str or Problem, optional
        Where the drift of the energy is measured, and which quantities the method keeps there; the
        stress test by default.
    declared : dict, optional
        Facts to be judged in place of those that the method declares: order, free_order,
        omega_order, torques, symmetric, symplectic, conserves, multistep.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import polhode
    >>> found = polhode.certify("VLV")
    >>> found.ok, found.facts["symplectic"].measured
    (True, True)
    """
    tested = with_facts(as_method(method), {} if declared is None else declared)
    check(tested)
    curves: dict[str, Any] = {}
    with np.errstate(all="ignore"):  # steps too large for a method are part of the measurement
        facts = [
            *_orders(tested, curves),
            *_structure(tested),
            *_conserved(tested),
            *_axes(tested),
            *energy_facts(tested, problem, curves),
            _limit(tested),
            *_counts(tested),
            *_flight(tested),
            *system_facts(tested),
            _cost(tested),
        ]
    return Certificate(
        tested.name,
        tested.summary,
        {fact.name: fact for fact in facts},
        curves,
        problems.of_one_body(problem or long_run.STRESS).name,
        long_run.obstacle(tested) or "",
    )


def declared_facts(method: Method | str | PathLike[str]) -> dict[str, Fact]:
    """Measure and judge what a method declares: a certificate without long runs and timings.

    Examples
    --------
    >>> found = declared_facts("NMB")
    >>> found["order_attitude"].text, found["symplectic"].measured, found["symplectic"].ok
    ('2.00', False, True)
    """
    method = as_method(method)
    check(method)
    with np.errstate(all="ignore"):
        facts = [
            *_orders(method, {}),
            *_structure(method),
            *_conserved(method),
            *_counts(method),
        ]
    return {fact.name: fact for fact in facts if fact.declared is not None}


# --- order ----------------------------------------------------------------------------------------

KINDS = {
    "torque": ("", "with a torque"),
    "free": ("free_", "free body"),
    "damped": ("omega_", "torque of the velocity"),
}


def _orders(method, curves):
    under = method.order if method.omega_order is None else method.omega_order
    claims = {
        "torque": (method.order, method.order),
        "free": tuple(method.free_order) or (None, None),
        "damped": (under, under),
    }
    for kind, (prefix, where) in KINDS.items():
        found = curves[kind] = orders.order(method, kind)
        for part, value, doubt, claim in zip(
            ("attitude", "momentum"), found[:2], found.doubts, claims[kind], strict=True
        ):
            yield order_fact(
                f"{prefix}order_{part}", f"order of {part}, {where}", claim, value, doubt, found.how
            )


# --- properties that hold or do not ---------------------------------------------------------------

DRIFT_STEPS = (0.25, 0.5, 1.0, 2.0, 4.0)


def _structure(method):
    whole = None if method.symplectic is None else method.symplectic is True
    orbits = None if method.symplectic is None else method.symplectic in (True, "orbits")
    yield property_fact(
        "symmetric",
        "symmetric in time",
        method.symmetric,
        lambda h: (structure.symmetry_defect(method, h), 0.0),
        (0.5, 1.0),
    )
    yield property_fact(
        "symplectic",
        "symplectic",
        whole,
        partial(structure.symplecticity, method, velocity=LIVELY),
        (0.1, 0.2, 0.4, 0.8, 1.6),
    )
    yield property_fact(
        "poisson",
        "symplectic on coadjoint orbits",
        orbits,
        partial(structure.poisson, method, velocity=LIVELY),
        (0.1, 0.2, 0.4, 0.8, 1.6),
    )


def _conserved(method):
    """The free body's momentum, energy and |Pi|."""

    def claimed(what):
        return None if method.conserves is None else what in method.conserves

    drift = cache(partial(conserve.free_drift, method))  # one run gives both
    for what, title in (
        ("momentum", "keeps spatial momentum, free"),
        ("energy", "keeps energy, free"),
    ):
        yield property_fact(
            f"conserves_{what}",
            title,
            claimed(what),
            lambda h, what=what: (getattr(drift(h), what), 0.0),
            DRIFT_STEPS,
        )
    yield property_fact(
        "conserves_size",
        "keeps |Pi|, free",
        claimed("momentum") or None,
        lambda h: (conserve.size_drift(method, h), 0.0),
        DRIFT_STEPS,
    )


def _axes(method):
    """Momenta about symmetry axes under gravity, about which nothing is declared."""
    drift = cache(partial(conserve.axis_drift, method))
    for what, title in (
        ("space", "keeps momentum about the vertical"),
        ("body", "keeps a top's own momentum"),
    ):
        yield property_fact(
            f"conserves_axis_{what}",
            title,
            None,
            lambda h, what=what: (getattr(drift(h), what), 0.0),
            DRIFT_STEPS,
        )


# --- in flight ------------------------------------------------------------------------------------


def _flight(method):
    """Orders, symmetry and symplecticity of a body in flight, where the method takes a load that
    depends on the position; what it declares is claimed for flight where its own steps carry the
    translation."""
    try:
        flight.FlightMap(method)
    except InputError:
        return
    own = method.flight is not None
    claim = method.order if own and method.order and method.order <= FLIGHT_ORDER else None
    for part, value in flight.flight_order(method)._asdict().items():
        title = f"order of {part}, in flight"
        yield order_fact(f"flight_order_{part}", title, claim, value, 0.0, "doubles")
    yield property_fact(
        "flight_symmetric",
        "symmetric in time, in flight",
        method.symmetric if own else None,
        lambda h: (flight.flight_symmetry_defect(method, h), 0.0),
        (0.3, 0.6),
    )
    yield property_fact(
        "flight_symplectic",
        "symplectic, in flight",
        method.symplectic is True if own and method.symplectic is not None else None,
        partial(flight.flight_symplecticity, method),
        (0.1, 0.2, 0.3, 0.6, 1.2),
    )


# --- what steps cost ------------------------------------------------------------------------------


def _limit(method):
    limit = long_run.stability_limit(method)
    return Fact(
        "stability_limit",
        "stability limit h omega, free",
        None,
        None if math.isinf(limit) else limit,
        None,
        f"none up to {long_run.LARGEST:g}"
        if math.isinf(limit)
        else f"{limit:.2f}"
        if limit >= 0.01
        else f"{limit:.1e}",
        short=f"> {long_run.LARGEST:g}" if math.isinf(limit) else "",
    )


def _counts(method):
    calls = structure.torque_calls(method)
    varies = method.torques is None
    agreed = calls.reported == calls.steps if varies else set(calls.steps) == {method.torques}
    yield _count(
        "torques",
        "torque evaluations per step",
        method.torques,
        calls.steps,
        None if varies and calls.reported is None else agreed,
        claim="varies" if varies and calls.reported is not None else "",
    )
    if method.family == IN_C:
        why = "not measured: machine code does not show them"
        yield Fact("solves", "nonlinear solves per step", None, None, None, why)
        return
    solved = structure.solver_calls(method)
    yield _count(
        "solves",
        "nonlinear solves per step",
        method.solves,
        solved,
        None if method.solves is None else set(solved) == {method.solves},
    )


def _cost(method):
    spent = long_run.cost(method)
    return Fact(
        "cost",
        "cost of a compiled step",
        None,
        spent,
        None,
        "not measured: not compiled" if spent is None else f"{spent:.0f} ns",
        short="" if spent is None else f"{spent:.0f}",
    )


def _count(name, title, declared, counts, ok, claim=""):
    low, high = min(counts), max(counts)
    return Fact(
        name,
        title,
        declared,
        high if low == high else float(np.mean(counts)),
        ok,
        f"{low}" if low == high else f"{low} to {high}",
        {"steps": list(counts)},
        short=f"{low}" if low == high else f"{low}-{high}",
        claim=claim,
    )
