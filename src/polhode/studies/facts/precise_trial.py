"""The trial problem with forty digits: its solution, and the errors of a method there."""

import math
from functools import cache

from polhode.studies.facts.digits import Precise, Real, forty_digits, mapped
from polhode.studies.facts.trial import ATTITUDE, BODY, SPAN, VELOCITY, Map, torque_of
from polhode.core.loops.adaptive_motion import slope
from polhode.core.loops.fixed import Body
from polhode.core.vec import norm, normalise, qconj, qexp, qlog, qmul, sub, times

STARTS = (
    (ATTITUDE, VELOCITY),
    (qexp((-0.8, 0.3, 1.1)), (-0.5, 0.9, 0.7)),
    (qexp((1.2, 0.5, -0.4)), (0.7, 0.6, -0.8)),
)
COLUMNS, LONGEST = 8, 0.1  # of the extrapolation: order 16 in steps of a tenth leaves 1e-20

rebind = Precise()
logarithm, length, unit = rebind(qlog), rebind(norm), rebind(normalise)


class PreciseTrial:
    """The body, a torque of the trial problem, and the motion under it from each of STARTS."""

    def __init__(self, kind):
        self.torque = torque_of(kind)
        path = Map("LP2", self.torque)
        I = mapped(Real, path.body.I)
        self.body, self.parameters = (
            Body(I, tuple(1.0 / one for one in I)),
            mapped(Real, path.parameters),
        )
        self._frames = rebind(path.torque)
        self._slope = rebind(slope)
        self.motion = cache(self._motion)

    def start(self, number):
        """Attitude and angular velocity."""
        q, Om = mapped(Real, STARTS[number])
        return unit(q), Om

    def _motion(self, number, spans):
        """(attitude, body momentum) after each of the spans of time, one after the other."""
        t, y, found = Real(0), sum(self.start(number), ()), []
        for span in map(Real, spans):
            parts = math.ceil(float(span.value) / LONGEST)
            for _ in range(parts):
                y = self._ahead(t, y, span / parts)
                t = t + span / parts
            *q, a, b, c = y
            found.append((tuple(q), times(self.body.I, (a, b, c))))
        return found

    def _ahead(self, t, y, span):
        """y after a span: Gragg's midpoint rule with 2, 4, ..., 16 steps, extrapolated (Hairer,
        Norsett & Wanner 1993, II.9)."""

        def along(y, h, rate):
            return tuple(a + h * b for a, b in zip(y, rate, strict=True))

        def rate(t, y):
            return self._slope(t, y, self.body, self._frames, self.parameters)

        rows = [[]]
        for j in range(1, COLUMNS + 1):
            h = span / (2 * j)
            before, now = y, along(y, h, rate(t, y))
            for i in range(1, 2 * j):
                before, now = now, along(before, 2 * h, rate(t + i * h, now))
            row = [
                tuple(
                    0.5 * (a + b)
                    for a, b in zip(now, along(before, h, rate(t + span, now)), strict=True)
                )
            ]
            for k, previous in enumerate(rows[-1], 1):
                weight = Real(j * j) / (j - k) ** 2 - 1
                row.append(
                    tuple(a + (a - b) / weight for a, b in zip(row[-1], previous, strict=True))
                )
            rows.append(row)
        return rows[-1][-1]

    def missed(self, method, step, counts, number=0):
        """The errors after some numbers of steps: a rotation vector and a momentum for each."""
        path = Map(method, self.torque, wrap=rebind, rebind=Precise())
        path.body, path.parameters = self.body, self.parameters
        spans = [step * (b - a) for a, b in zip((0, *counts), counts, strict=False)]
        states = enumerate(path.run(Real(step), counts[-1], Real(0), *self.start(number)))
        reached = [s for k, s in states if k in counts]
        return [
            (logarithm(qmul(qconj(q), s.q)), sub(path.momentum(s), Pi))
            for s, (q, Pi) in zip(reached, self.motion(number, tuple(spans)), strict=True)
        ]


trial = cache(PreciseTrial)
SIZE = math.hypot(*(BODY.moments * VELOCITY))  # of the momentum, by which its errors are measured


def _sizes(attitude, momentum):
    return float(length(attitude).value), float(length(momentum).value) / SIZE


def precise_errors(method, count, kind="torque", start=0):
    """Attitude error (angle) and body momentum error (relative) after `count` equal steps of the
    trial run, with forty digits."""
    with forty_digits():
        (missed,) = trial(kind).missed(method, SPAN / count, (count,), start)
        return _sizes(*missed)


def growth(method, step, kind="torque", n=4):
    """What steps of a size add to the errors per unit of time: |e_2n - e_n| / (n h), e_k being the
    error after k steps.

    What a start, or the memory of a multistep method, puts into the error once is in both terms and
    cancels; n is even since the errors of a leapfrog may alternate.  The motion mixes attitude and
    momentum, so that both errors feed either; but without torque the momentum does not see the
    attitude.
    """
    with forty_digits():
        one, two = trial(kind).missed(method, step, (n, 2 * n))
        attitude, momentum = _sizes(*map(sub, two, one))
    both = math.hypot(attitude, momentum) / (n * step)
    return both, momentum / (n * step) if kind == "free" else both
