"""Bodies of several kinds in one ensemble: a backend for each kind, behind the face of one.

A method may have a step of its own for symmetric bodies (EXACT and what is made of it).  Each body is to move as it does alone,
to the last bit, so that the kinds go separately.
"""

import numpy as np


class Kinds:
    """Backends side by side; `members` are pairs of the numbers of some bodies and the backend that moves them."""

    def __init__(self, members):
        self.members = members
        self.n = sum(len(bodies) for bodies, _ in members)
        first = members[0][1]
        self.device, self.threads, self.width = first.device, first.threads, first.program.width

    @property
    def vectorised(self):
        return all(backend.vectorised for _, backend in self.members)

    def begin(self, h, t, motions):
        for bodies, backend in self.members:
            backend.begin(h, t, motions[bodies])

    def advance(self, segment, k, count):
        for _, backend in self.members:
            backend.advance(segment, k, count)

    def motions(self):
        out = np.empty((self.n, self.width))
        for bodies, backend in self.members:
            out[bodies] = backend.motions()
        return out

    def field(self, name):
        return np.concatenate([backend.field(name) for _, backend in self.members], axis=1)   # kind by kind

    def failures(self):
        return {int(bodies[i]): why for bodies, backend in self.members for i, why in backend.failures().items()}
