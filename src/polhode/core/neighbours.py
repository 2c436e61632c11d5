"""Lists of neighbours: for each body those after it, in ascending order, that are within a reach.

A list is made for the reach and a skin, and holds until a body has moved half of the skin.  Bodies
that are in it and out of reach add nothing, and the order is that of the loop over all pairs: sums do
not depend on when a list was made.

Bodies are found by a grid of cells as long as reach and skin, which is hashed, so that memory and time
do not depend on how far apart they are.  In a periodic box with fewer than three cells along an edge
all of these are looked at.  Where the memory of a list does not suffice the grid is used without one.
"""

import math
from typing import Any, NamedTuple

from polhode.core.jit import apart, jit

NOT_MADE, MADE, SHORT = 0, 1, 2
HOW, WANTED = 0, 1  # places in `state`: how the list is, and how long it should be
FAR = 1e9  # cells from the origin; beyond, they are as one
WIDER = 1.0 + 1e-6  # so that rounding does not put neighbours two cells apart


class Near(NamedTuple):
    """A list of neighbours and its memory; with few bodies all arrays are empty, and all bodies are
    neighbours."""

    limits: Any  # reach, skin, three edges of the box or zeros, cells along each edge or zeros
    at: Any  # (n, 3): where bodies were when the list was made
    first: Any  # (n + 1,): where the neighbours of each body begin
    listed: Any  # the bodies
    cells: Any  # (n, 3): the cell of each body
    heads: Any  # (a power of two,): the last body in each place of the table, or -1
    after: Any  # (n,): the one before it, in descending order
    state: Any  # (2,)


@jit
def image(d, edge):
    """The shortest image of a distance along an edge; without edges the distance itself."""
    return d - edge * math.floor(d / edge + 0.5) if edge > 0.0 else d


@jit
def bounded(u):
    """A cell as a whole number, also of what is not finite."""
    u = u if u > -FAR else -FAR
    return math.floor(u if u < FAR else FAR)


@jit
def cell_of(x, size, edge, count):
    """The cell along one axis."""
    if edge == 0.0:
        return bounded(x / size)
    u = x / edge
    cell = bounded((u - math.floor(u)) * count)
    return max(0, min(cell, int(count) - 1))


@jit
def place_of(a, b, c, size):
    """The place of a cell in the table."""
    return (a * 73856093 ^ b * 19349663 ^ c * 83492791) & (size - 1)


@jit
def looked_at(count):
    """How many cells along an axis are looked at: three, or all."""
    return 3 if count == 0.0 or count >= 3.0 else int(count)


@jit
def beside(cell, k, count):
    """The k-th of them."""
    if count == 0.0:
        return cell + k - 1
    return (cell + k - 1) % int(count) if count >= 3.0 else k


@apart
def sort(a, n):
    """Sort the first n of a, by Shell's method."""
    gap = 1
    while gap < n:
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for i in range(gap, n):
            value, j = a[i], i
            while j >= gap and a[j - gap] > value:
                a[j] = a[j - gap]
                j -= gap
            a[j] = value


@apart
def neighbours(i, near, x, out):
    """Write the bodies after i within reach and skin of it to `out`, in ascending order: how many."""
    limits, cells = near.limits, near.cells
    reach, found = limits[0] + limits[1], 0
    limit = reach * reach
    for ka in range(looked_at(limits[5])):
        a = beside(cells[i, 0], ka, limits[5])
        for kb in range(looked_at(limits[6])):
            b = beside(cells[i, 1], kb, limits[6])
            for kc in range(looked_at(limits[7])):
                c = beside(cells[i, 2], kc, limits[7])
                j = near.heads[place_of(a, b, c, len(near.heads))]
                while j > i:
                    if cells[j, 0] == a and cells[j, 1] == b and cells[j, 2] == c:
                        dx = image(x[j, 0] - x[i, 0], limits[2])
                        dy = image(x[j, 1] - x[i, 1], limits[3])
                        dz = image(x[j, 2] - x[i, 2], limits[4])
                        if dx * dx + dy * dy + dz * dz < limit:
                            out[found] = j
                            found += 1
                    j = near.after[j]
    sort(out, found)
    return found


@jit
def unmoved(near, x):
    """Whether no body has moved half of the skin."""
    limit = (0.499 * near.limits[1]) ** 2
    for i in range(len(near.at)):
        dx, dy, dz = x[i, 0] - near.at[i, 0], x[i, 1] - near.at[i, 1], x[i, 2] - near.at[i, 2]
        if not dx * dx + dy * dy + dz * dz <= limit:
            return False
    return True


@apart
def refresh(near, x):
    """Make the list anew where it does not hold any more."""
    n = len(near.at)
    if n == 0 or (near.state[HOW] != NOT_MADE and unmoved(near, x)):
        return
    limits = near.limits
    size = (limits[0] + limits[1]) * WIDER
    near.heads[:] = -1
    for i in range(n):
        for k in range(3):
            near.at[i, k] = x[i, k]
            near.cells[i, k] = cell_of(x[i, k], size, limits[2 + k], limits[5 + k])
        place = place_of(near.cells[i, 0], near.cells[i, 1], near.cells[i, 2], len(near.heads))
        near.after[i] = near.heads[place]
        near.heads[place] = i
    found, total = near.after.copy(), 0
    for i in range(n):
        near.first[i] = total
        count = neighbours(i, near, x, found)
        if total + count <= len(near.listed):
            near.listed[total : total + count] = found[:count]
        total += count
    near.first[n] = total
    near.state[HOW] = MADE if total <= len(near.listed) else SHORT
    near.state[WANTED] = total


@jit
def memory_of(near):
    """An array for `partners`; each thread has its own."""
    return near.after.copy()


@jit
def partners(i, near, x, memory):
    """(array, first, last): the bodies after i to look at are in the array between these places."""
    if near.state[HOW] == MADE:
        return near.listed, near.first[i], near.first[i + 1]
    return memory, 0, neighbours(i, near, x, memory)
