"""Interactions that are sums over bodies: what each body i gives to itself and to the bodies after it.

With many bodies these sums are taken in blocks of bodies, each beginning from zero, which are then
added in turn.  Blocks depend on nothing but the number of bodies: threads that share them, and one
thread alone, find the same bits.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from polhode.core.jit import apart, jit
from polhode.core.systems import NOTHING, add_to, put, vector

LARGE = 1024  # bodies, from which there are blocks
BLOCKS = 16


class Rows(NamedTuple):
    """An interaction as a sum over bodies."""

    prepare: Callable[..., Any]  # (t, p, term): whatever is done once
    # (t, first, last, p, term, forces, torques): add what bodies first to last - 1 give; the bodies
    # that got something are from `first` to before the number that is returned
    rows: Callable[..., Any]
    edge: Callable[..., Any]  # (b, n) -> the first body of block b


@jit
def by_bodies(b, n):
    """Blocks with as many bodies each."""
    return n * b // BLOCKS


@jit
def by_pairs(b, n):
    """Blocks with about as many pairs each."""
    return n - math.floor(n * math.sqrt((BLOCKS - b) / BLOCKS))


@jit
def add_block(first, last, own, out):
    """Add the sums of a block for some bodies, and clear them."""
    for i in range(first, last):
        add_to(out, i, vector(own, i))
        put(own, i, NOTHING)


def in_turn(found):
    """`act(t, p, term)` of `Rows`, one block after the other."""
    prepare, rows, edge = found

    @apart
    def act(t, p, term):
        prepare(t, p, term)
        F, N = p.places.F, p.places.N
        n = len(F)
        if n < LARGE:
            rows(t, 0, n, p, term, F, N)
        else:
            forces, torques = F.copy(), N.copy()
            forces[:] = 0.0
            torques[:] = 0.0
            for b in range(BLOCKS):
                first = edge(b, n)
                last = rows(t, first, edge(b + 1, n), p, term, forces, torques)
                add_block(first, last, forces, F)
                add_block(first, last, torques, N)

    return act
