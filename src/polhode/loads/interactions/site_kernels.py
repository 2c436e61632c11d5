"""Forces between the sites of bodies.

For each body i the sites of the bodies near it are gathered in tiles of LANES, and each of its own
sites acts on a tile at once: the loop over lanes becomes SIMD instructions.  Sums over
lanes have a fixed order, so that the bits do not depend on the processor.

With r = x_b - x_a, u = 1/r, Q = k q_a q_b, the mixed sigma = s_a + s_b and epsilon = e_a e_b, a pair
closer than the cut-off c has the potential

    V = Q u + 4 epsilon ((sigma u)^12 - (sigma u)^6) - V(c) - (r - c) V'(c),

the last term only where forces are shifted too, the last two where energies are.
"""

import math
from typing import NamedTuple

import numpy as np

from polhode.core.jit import apart, jit
from polhode.core.neighbours import memory_of, partners, refresh
from polhode.core.rows import Rows, by_bodies
from polhode.core.systems import NOTHING, add_to, rows_of, take_from, vector
from polhode.core.vec import add, apply, cross, sub

LANES = 32
NEAREST = 6755399441055744.0  # 1.5 * 2^52: x + NEAREST - NEAREST is x rounded to a whole number

# rows of a tile: places, charge, half sigma, root of epsilon, forces on its sites, and on one site
X, Y, Z, CHARGE, SIGMA, EPSILON, GX, GY, GZ, FX, FY, FZ = (LANES * k for k in range(12))
SIZE = 12 * LANES


class Numbers(NamedTuple):
    """What all sites have in common."""

    k: float  # of Coulomb's law
    cutoff: float
    by_energy: float  # 1 where energies are shifted, 0 where not
    by_force: float  # the same of forces
    reach: float  # the largest distance of a site from its centre
    box: tuple[float, float, float]  # zeros where there is none
    inverse: tuple[float, float, float]


class Site(NamedTuple):
    """One site in space."""

    x: tuple[float, float, float]
    charge: float
    sigma: float
    epsilon: float


@jit
def numbers(values):
    v = values[0]
    L = (v[5], v[6], v[7])
    return Numbers(v[0], v[1], v[2], v[3], v[4], L, (over(L[0]), over(L[1]), over(L[2])))


@jit
def over(edge):
    return 1.0 / edge if edge > 0.0 else 0.0


@jit
def image(d, edge, inverse):
    """The shortest image of a distance along an edge."""
    return d - edge * ((d * inverse + NEAREST) - NEAREST)


@jit
def images(r, n):
    return (
        image(r[0], n.box[0], n.inverse[0]),
        image(r[1], n.box[1], n.inverse[1]),
        image(r[2], n.box[2], n.inverse[2]),
    )


@jit
def near_centres(r, n):
    """Whether sites of two bodies may be within the cut-off."""
    reach = n.cutoff + 2.0 * n.reach
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] <= reach * reach


@jit
def site(term, k):
    return Site(vector(term.seen, k), term.each[k, 3], term.each[k, 4], term.each[k, 5])


@apart
def prepare(t, p, term):
    """Where all sites are, and as seen from the centres of their bodies."""
    for i in range(len(p.places.x)):
        x, R = vector(p.places.x, i), rows_of(p.places.R, i)
        for k in range(term.links[i, 0], term.links[i, 1]):
            arm = apply(R, vector(term.each, k))
            for m in range(3):
                term.seen[k, m] = x[m] + arm[m]
                term.seen[k, 3 + m] = arm[m]
    refresh(term.near, p.places.x)


@jit
def arm_of(term, k):
    return (term.seen[k, 3], term.seen[k, 4], term.seen[k, 5])


@apart
def with_potentials(tile, a, n):
    """What site a and the sites of a tile give each other."""
    limit, far, kq = n.cutoff * n.cutoff, 1.0 / n.cutoff, n.k * a.charge
    for l in range(LANES):
        x = image(tile[X + l] - a.x[0], n.box[0], n.inverse[0])
        y = image(tile[Y + l] - a.x[1], n.box[1], n.inverse[1])
        z = image(tile[Z + l] - a.x[2], n.box[2], n.inverse[2])
        rr = x * x + y * y + z * z
        uu = 1.0 / rr
        u = math.sqrt(uu)
        sigma, e, Q = (
            tile[SIGMA + l] + a.sigma,
            24.0 * tile[EPSILON + l] * a.epsilon,
            kq * tile[CHARGE + l],
        )
        ss = sigma * sigma
        s2, c2 = ss * uu, ss * (far * far)
        s6, c6 = s2 * s2 * s2, c2 * c2 * c2
        slope = far * (far * Q + e * (2.0 * c6 - 1.0) * c6) * n.by_force
        f = uu * (Q * u + e * (2.0 * s6 - 1.0) * s6) - u * slope
        f = f if rr < limit else 0.0
        x, y, z = f * x, f * y, f * z
        tile[GX + l] += x
        tile[GY + l] += y
        tile[GZ + l] += z
        tile[FX + l] += x
        tile[FY + l] += y
        tile[FZ + l] += z


@apart
def with_charges(tile, a, n):
    """The same for a site that has a charge alone."""
    limit, far, kq = n.cutoff * n.cutoff, 1.0 / n.cutoff, n.k * a.charge
    slope = far * far * n.by_force
    for l in range(LANES):
        x = image(tile[X + l] - a.x[0], n.box[0], n.inverse[0])
        y = image(tile[Y + l] - a.x[1], n.box[1], n.inverse[1])
        z = image(tile[Z + l] - a.x[2], n.box[2], n.inverse[2])
        rr = x * x + y * y + z * z
        uu = 1.0 / rr
        u = math.sqrt(uu)
        f = kq * tile[CHARGE + l] * u * (uu - slope)
        f = f if rr < limit else 0.0
        x, y, z = f * x, f * y, f * z
        tile[GX + l] += x
        tile[GY + l] += y
        tile[GZ + l] += z
        tile[FX + l] += x
        tile[FY + l] += y
        tile[FZ + l] += z


@jit
def sum_of(tile, first):
    """The sum over the lanes, by halves; it overwrites them."""
    for l in range(LANES // 2):
        tile[first + l] += tile[first + LANES // 2 + l]
    for l in range(LANES // 4):
        tile[first + l] += tile[first + LANES // 4 + l]
    total = 0.0
    for l in range(LANES // 4):
        total += tile[first + l]
    return total


@apart
def act_on_tile(i, tile, which, count, n, term, found):
    """What the sites of body i and `count` sites of others give each other, added to what is found."""
    for l in range(count, LANES):  # nothing acts on these
        for k in range(3):
            tile[LANES * k + l] = tile[LANES * k]
        tile[CHARGE + l], tile[SIGMA + l], tile[EPSILON + l] = 0.0, 0.0, 0.0
    tile[GX:FX] = 0.0
    for k in range(term.links[i, 0], term.links[i, 1]):
        a = site(term, k)
        tile[FX:SIZE] = 0.0
        if a.epsilon != 0.0:
            with_potentials(tile, a, n)
        else:
            with_charges(tile, a, n)
        take_from(found, k, (sum_of(tile, FX), sum_of(tile, FY), sum_of(tile, FZ)))
    for l in range(count):
        add_to(found, which[l], (tile[GX + l], tile[GY + l], tile[GZ + l]))


@apart
def rows(t, first, last, p, term, forces, torques):
    """What bodies first to last - 1 and those after them give each other."""
    n, x, near, end = numbers(term.values), p.places.x, term.near, last
    memory, tile = memory_of(near), np.zeros(SIZE)
    which, found = np.zeros(LANES, dtype=np.int64), np.zeros((len(term.each), 3))
    for i in range(first, last):
        others, begin, stop = partners(i, near, x, memory)
        count, centre = 0, vector(x, i)
        for m in range(begin, stop):
            j = others[m]
            if near_centres(images(sub(vector(x, j), centre), n), n):
                end = max(end, j + 1)
                for k in range(term.links[j, 0], term.links[j, 1]):
                    tile[X + count], tile[Y + count], tile[Z + count] = vector(term.seen, k)
                    tile[CHARGE + count] = term.each[k, 3]
                    tile[SIGMA + count] = term.each[k, 4]
                    tile[EPSILON + count] = term.each[k, 5]
                    which[count] = k
                    count += 1
                    if count == LANES:
                        act_on_tile(i, tile, which, count, n, term, found)
                        count = 0
        if count > 0:
            act_on_tile(i, tile, which, count, n, term, found)
    for i in range(first, end):
        force, moment = NOTHING, NOTHING
        for k in range(term.links[i, 0], term.links[i, 1]):
            F = vector(found, k)
            force, moment = add(force, F), add(moment, cross(arm_of(term, k), F))
        add_to(forces, i, force)
        add_to(torques, i, moment)
    return end


@jit
def potential(r, a, b, n):
    """The potential energy of two sites."""
    rr = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    if not rr < n.cutoff * n.cutoff:
        return 0.0
    Q, sigma, e = n.k * a.charge * b.charge, a.sigma + b.sigma, 4.0 * a.epsilon * b.epsilon
    u, far = 1.0 / math.sqrt(rr), 1.0 / n.cutoff
    s2, c2 = sigma * sigma / rr, sigma * sigma * (far * far)
    s6, c6 = s2 * s2 * s2, c2 * c2 * c2
    slope = -far * (far * Q + 6.0 * e * (2.0 * c6 - 1.0) * c6)
    there = Q * u + e * (s6 - 1.0) * s6
    at_cutoff = Q * far + e * (c6 - 1.0) * c6
    return there - n.by_energy * at_cutoff - n.by_force * (1.0 / u - n.cutoff) * slope


@apart
def energy(t, p, term):
    """The potential energy of all sites."""
    prepare(t, p, term)
    n, x, total = numbers(term.values), p.places.x, 0.0
    memory = memory_of(term.near)
    for i in range(len(x)):
        others, begin, stop = partners(i, term.near, x, memory)
        part = 0.0
        for m in range(begin, stop):
            j = others[m]
            for k in range(term.links[i, 0], term.links[i, 1]):
                a = site(term, k)
                for l in range(term.links[j, 0], term.links[j, 1]):
                    b = site(term, l)
                    part += potential(images(sub(b.x, a.x), n), a, b, n)
        total += part
    return total


ROWS = Rows(prepare, rows, by_bodies)
