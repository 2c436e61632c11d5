"""Hulbert's staggered algorithm without its starting step: does the sequence it is meant to follow
move symplectically?

The two copies of HSTAGM make one sequence z_0, z_1/2, z_1, ... in which each point is found from
the two before, as in the leapfrog.  Most starts put a part into it that changes sign from point to
point.  Without that part the sequence is one of a one-step method, the underlying one (Hairer,
Lubich & Wanner, Geometric Numerical Integration, XV.2), which has no starting step.  Its start is
found by taking out what alternates: the difference of order n,

    sum_k (-1)^k binomial(n, k) z_k/2  =  2^n a + O(h^n),

shows the amplitude a, and a start moved by 2 a leaves less of it.
"""

from dataclasses import replace
from math import comb

import numpy as np

from polhode.studies import facts
from polhode.studies.facts.trial import apart
from polhode.core.vec import qexp, qmul
from polhode.methods import get

ORDER, ROUNDS = 8, 40


def smooth_start(h, t, q, Om, body, torque, p):
    """The state from which the sequence does not alternate, to O(h^8)."""
    method = get("HSTAGM")
    first = method.start(h, t, q, Om, body, torque, p)
    for _ in range(ROUNDS):
        points, s = [], first
        for k in range(ORDER // 2 + 1):
            points += [(s.q, s.pi), (s.q_ahead, s.pi_ahead)]
            s = method.step(h, t + k * h, s, body, torque, p)
        points = np.array(
            [(*apart(first.q, attitude), *momentum) for attitude, momentum in points[: ORDER + 1]]
        )
        amplitude = (
            np.array([(-1) ** k * comb(ORDER, k) for k in range(ORDER + 1)]) @ points / 2**ORDER
        )
        if np.abs(amplitude).max() < 1e-15:
            break
        first = first._replace(
            q_ahead=qmul(first.q_ahead, qexp(tuple((2.0 * amplitude[:3]).tolist()))),
            pi_ahead=tuple((np.array(first.pi_ahead) + 2.0 * amplitude[3:]).tolist()),
        )
    return first


def defects(h):
    """How far a step of size h is from symplectic, from the paper's start and from the smooth
    one."""
    return tuple(
        facts.symplecticity(method, h)
        for method in (get("HSTAGM"), replace(get("HSTAGM"), start=smooth_start))
    )
