"""The memory of lists of neighbours."""

from __future__ import annotations

import numpy as np

from polhode.core.neighbours import HOW, NOT_MADE, SHORT, WANTED, Near
from polhode.core.systems import Acting

SKIN = 0.15  # of the reach: a long one has more pairs to look at, a short one is made more often
EXPECTED = 32  # neighbours of a body, where nothing is known of the places
ROOM = 1.2  # of what a list needs, since the next one may be longer
LONGEST = 2**28  # of a list, a gigabyte


def near(n: int, reach: float, box: tuple[float, float, float] | None) -> Near:
    """A list of neighbours for n bodies, not made yet."""
    skin = SKIN * reach
    edges = np.zeros(3) if box is None else np.array(box)
    cells = np.floor(edges / (reach + skin))
    cells[edges > 0.0] = np.clip(cells[edges > 0.0], 1.0, max(1.0, np.ceil(2.0 * n ** (1 / 3))))
    size = 1 << max(1, (2 * n - 1).bit_length())
    return Near(
        np.concatenate([[reach, skin], edges, cells]),
        np.zeros((n, 3)),
        np.zeros(n + 1, dtype=np.int64),
        np.empty(min(EXPECTED * n, n * (n - 1) // 2), dtype=np.int32),
        np.zeros((n, 3), dtype=np.int64),
        np.zeros(size, dtype=np.int32),
        np.zeros(n, dtype=np.int32),
        np.array([NOT_MADE, 0]),
    )


def with_room(p: Acting) -> Acting:
    """The same with longer lists of neighbours where they were too short."""
    if not any(one.near and one.near.state[HOW] == SHORT for one in p.terms):
        return p
    return p._replace(terms=tuple(one._replace(near=longer(one.near)) for one in p.terms))


def longer(found: Near) -> Near:
    """A list with room for all neighbours, as far as memory is bounded."""
    if not found or found.state[HOW] != SHORT or found.state[WANTED] > LONGEST:
        return found
    size = min(LONGEST, int(ROOM * found.state[WANTED]) + 16)
    state = np.array([NOT_MADE, found.state[WANTED]])
    return found._replace(listed=np.empty(size, dtype=np.int32), state=state)


__all__ = ["longer", "near", "with_room"]
