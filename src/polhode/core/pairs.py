"""Interactions of two bodies, summed over all pairs, over those within a cut-off or over listed ones.

A pair of bodies is a function of r = x_j - x_i and of the aspects of both, which are what others see
of a body at its attitude: its tensor of inertia in space, or its magnetic moment.  It gives the force
on the first and the torques on both about their centres of mass; the second feels the opposite force.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.core.jit import apart, jit
from polhode.core.neighbours import memory_of, partners, refresh
from polhode.core.rows import Rows, by_bodies, by_pairs
from polhode.core.systems import NOTHING, add_to, rows_of, take_from, vector
from polhode.core.vec import add, apply, sub


@jit
def all_aspects(aspect, load_each, store_seen, places, term, q):
    """What others see of each body."""
    for i in range(len(places.x)):
        store_seen(aspect(rows_of(places.R, i), load_each(term.each, i), q), term.seen, i)


@jit
def spatial_rate(places, i):
    """The angular velocity of a body in space."""
    return apply(rows_of(places.R, i), vector(places.omega, i))


class PairForm(NamedTuple):
    """The functions of a pair interaction, on tuples."""

    aspect: Callable[..., Any]  # (R, each, p) -> what others see
    pair: Callable[..., Any]  # (i, j, r, A, B, places, p) -> force on i, torques on i and j
    energy: Any  # (r, A, B, p), or None
    nearest: Callable[..., Any]  # (r, p) -> the shortest of the images of r
    within: Callable[..., Any]  # (r, p) -> whether the pair acts
    load_values: Callable[..., Any]
    load_each: Callable[..., Any]
    load_seen: Callable[..., Any]
    store_seen: Callable[..., Any]
    load_own: Any = None  # of links


def pairs_of_all(form):
    """The `Rows` of all pairs of bodies."""
    f = form

    @apart
    def prepare(t, p, term):
        all_aspects(
            f.aspect, f.load_each, f.store_seen, p.places, term, f.load_values(term.values, 0)
        )

    @apart
    def rows(t, first, last, p, term, forces, torques):
        places, q = p.places, f.load_values(term.values, 0)
        n = len(places.x)
        for i in range(first, last):
            x, A = vector(places.x, i), f.load_seen(term.seen, i)
            force, moment = NOTHING, NOTHING
            for j in range(i + 1, n):
                r = f.nearest(sub(vector(places.x, j), x), q)
                if f.within(r, q):
                    F, TA, TB = f.pair(i, j, r, A, f.load_seen(term.seen, j), places, q)
                    force, moment = add(force, F), add(moment, TA)
                    take_from(forces, j, F)
                    add_to(torques, j, TB)
            add_to(forces, i, force)
            add_to(torques, i, moment)
        return n

    return Rows(prepare, rows, by_pairs)


def pairs_of_near(form):
    """The `Rows` of all pairs within a cut-off, found by a list of neighbours: the same sums in the
    same order."""
    f = form

    @apart
    def prepare(t, p, term):
        all_aspects(
            f.aspect, f.load_each, f.store_seen, p.places, term, f.load_values(term.values, 0)
        )
        refresh(term.near, p.places.x)

    @apart
    def rows(t, first, last, p, term, forces, torques):
        places, q = p.places, f.load_values(term.values, 0)
        memory, end = memory_of(term.near), last
        for i in range(first, last):
            x, A = vector(places.x, i), f.load_seen(term.seen, i)
            force, moment = NOTHING, NOTHING
            others, begin, stop = partners(i, term.near, places.x, memory)
            for k in range(begin, stop):
                j = others[k]
                r = f.nearest(sub(vector(places.x, j), x), q)
                if f.within(r, q):
                    F, TA, TB = f.pair(i, j, r, A, f.load_seen(term.seen, j), places, q)
                    force, moment = add(force, F), add(moment, TA)
                    take_from(forces, j, F)
                    add_to(torques, j, TB)
            if stop > begin:
                end = max(end, others[stop - 1] + 1)
            add_to(forces, i, force)
            add_to(torques, i, moment)
        return end

    return Rows(prepare, rows, by_bodies)


def energy_of_all(form):
    """`energy(t, p, term)` over all pairs of bodies."""
    f = form

    @apart
    def energy(t, p, term):
        places, q = p.places, f.load_values(term.values, 0)
        n, total = len(places.x), 0.0
        all_aspects(f.aspect, f.load_each, f.store_seen, places, term, q)
        for i in range(n):
            x, A, part = vector(places.x, i), f.load_seen(term.seen, i), 0.0
            for j in range(i + 1, n):
                r = f.nearest(sub(vector(places.x, j), x), q)
                if f.within(r, q):
                    part += f.energy(r, A, f.load_seen(term.seen, j), q)
            total += part
        return total

    return energy


def energy_of_near(form):
    """The same over those within a cut-off."""
    f = form

    @apart
    def energy(t, p, term):
        places, q, total = p.places, f.load_values(term.values, 0), 0.0
        all_aspects(f.aspect, f.load_each, f.store_seen, places, term, q)
        refresh(term.near, places.x)
        memory = memory_of(term.near)
        for i in range(len(places.x)):
            x, A, part = vector(places.x, i), f.load_seen(term.seen, i), 0.0
            others, begin, stop = partners(i, term.near, places.x, memory)
            for k in range(begin, stop):
                j = others[k]
                r = f.nearest(sub(vector(places.x, j), x), q)
                if f.within(r, q):
                    part += f.energy(r, A, f.load_seen(term.seen, j), q)
            total += part
        return total

    return energy


def pairs_of_links(form):
    """The same over listed pairs, whose function also gets the numbers of the link."""
    f = form

    @apart
    def act(t, p, term):
        places, q = p.places, f.load_values(term.values, 0)
        all_aspects(f.aspect, f.load_each, f.store_seen, places, term, q)
        for k in range(len(term.links)):
            i, j = term.links[k, 0], term.links[k, 1]
            r = f.nearest(sub(vector(places.x, j), vector(places.x, i)), q)
            A, B = f.load_seen(term.seen, i), f.load_seen(term.seen, j)
            if f.within(r, q):
                F, TA, TB = f.pair(i, j, r, A, B, f.load_own(term.own, k), places, q)
                add_to(places.F, i, F)
                take_from(places.F, j, F)
                add_to(places.N, i, TA)
                add_to(places.N, j, TB)

    return act


def energy_of_links(form):
    f = form

    @apart
    def energy(t, p, term):
        places, q, total = p.places, f.load_values(term.values, 0), 0.0
        all_aspects(f.aspect, f.load_each, f.store_seen, places, term, q)
        for k in range(len(term.links)):
            i, j = term.links[k, 0], term.links[k, 1]
            r = f.nearest(sub(vector(places.x, j), vector(places.x, i)), q)
            A, B = f.load_seen(term.seen, i), f.load_seen(term.seen, j)
            if f.within(r, q):
                total += f.energy(r, A, B, f.load_own(term.own, k), q)
        return total

    return energy
