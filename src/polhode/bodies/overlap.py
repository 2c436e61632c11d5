"""Parts of a mesh that overlap: the integrals over the solid count twice what they share.

How often a point is counted is the winding number of the surface around it: 1 in the solid, 0
outside and in a cavity.  Along a ray it changes at each face, by one up where the ray enters
through it and by one down where it leaves.  Rays are shot where the boxes around two parts overlap,
and a few through each part alone; nearly all overlaps of any size are found, and touching faces are
none.
"""

import numpy as np

RAYS, ALONE = 64, 16  # through what the boxes of two parts share, through the box of one
MOST = 400  # boxes that are looked into, the largest first
THIN = 1e-9  # of the size of the mesh: an overlap that is thinner is rounding
# irrational: points that fill a square evenly (Roberts)
SPREAD = np.array([0.7548776662466927, 0.5698402909980532])


def overlapping(vertices: np.ndarray, faces: np.ndarray, part: np.ndarray) -> list[tuple[int, ...]]:
    """The sets of parts that were found to share something, as sorted tuples, of part numbers (one
    for each face)."""
    corners, found = vertices[faces], set()
    for first, last, rays in _regions(*boxes(corners, part)):
        found |= _along_rays(corners, part, first, last, rays, THIN * np.abs(vertices).max())
    return sorted(found)


def boxes(corners: np.ndarray, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest coordinates (parts, 3) of each part."""
    count = int(part.max()) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, part, corners.min(axis=1))
    np.maximum.at(high, part, corners.max(axis=1))
    return low, high


def _regions(low, high):
    """(lowest, highest corner, rays) of the boxes to look into."""
    shared = []
    for k in range(len(low)):
        first, last = np.maximum(low[k], low[k:]), np.minimum(high[k], high[k:])
        shared += [
            (first[j], last[j], RAYS if j else ALONE)
            for j in np.flatnonzero((last > first).all(axis=1))
        ]
    return sorted(shared, key=lambda box: -np.prod(box[1] - box[0]))[:MOST]


def _along_rays(corners, part, first, last, rays, thin):
    """Parts that share something on rays along z through a box."""
    flat = corners[:, :, :2]
    near = (flat.max(axis=1) >= first[:2]).all(axis=1) & (flat.min(axis=1) <= last[:2]).all(axis=1)
    corners, part = corners[near], part[near]
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (corners[:, i].T for i in range(3))
    found = set()
    for x, y in first[:2] + (SPREAD * np.arange(1, rays + 1)[:, None]) % 1.0 * (last - first)[:2]:
        # twice the areas that the point cuts a face into
        a = (bx - x) * (cy - y) - (cx - x) * (by - y)
        b = (cx - x) * (ay - y) - (ax - x) * (cy - y)
        c = (ax - x) * (by - y) - (bx - x) * (ay - y)
        up, down = (a > 0.0) & (b > 0.0) & (c > 0.0), (a < 0.0) & (b < 0.0) & (c < 0.0)
        hit = np.flatnonzero(up | down)
        z = (a[hit] * az[hit] + b[hit] * bz[hit] + c[hit] * cz[hit]) / (a[hit] + b[hit] + c[hit])
        order = np.argsort(z)
        z, hit = z[order], hit[order]
        change = np.where(up[hit], -1, 1)  # a face that looks up is left through
        winding = np.cumsum(change)
        if len(hit) == 0 or winding[-1] != 0:  # an edge was met
            continue
        for k in np.flatnonzero(((winding > 1) | (winding < 0))[:-1] & (np.diff(z) > thin)):
            inside = np.bincount(part[hit[: k + 1]], change[: k + 1])
            found.add(tuple(np.flatnonzero(inside * np.sign(winding[k]) > 0).tolist()))
    return found
