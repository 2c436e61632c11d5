"""The field of a uniform body with flat faces (Werner & Scheeres 1997), and the mutual energy of two.

In the axes of the body, with r_e and r_f from the field point to a point of an edge and of a face,

    U = 1/2 (sum over edges of r_e . E_e r_e L_e - sum over faces of (r_f . n_f)^2 w_f),
    grad U = -sum E_e r_e L_e + sum n_f (n_f . r_f) w_f,

both for G times density one.  E_e = n_A m_A^T + n_B m_B^T has the normals n of the two faces of an edge
and m those of the edge in them, L_e = ln((a + b + e) / (a + b - e)) the distances a and b of its ends and
its length e; w_f is the solid angle of a face.  The other body is a set of nodes, points with masses.
"""

import math

import numpy as np

from polhode.core.jit import jit


@jit
def field(X, out, ends, edges, corners, normals, vertices, d):
    """U at X, its gradient in `out`, and the solid angle of the whole surface.  `d` is memory for the
    vertices seen from X, with their distances."""
    for i in range(len(vertices)):
        x, y, z = vertices[i, 0] - X[0], vertices[i, 1] - X[1], vertices[i, 2] - X[2]
        d[i, 0], d[i, 1], d[i, 2], d[i, 3] = x, y, z, math.sqrt(x * x + y * y + z * z)
    U, gx, gy, gz, whole = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(edges)):
        i, j, e = int(ends[k, 0]), int(ends[k, 1]), edges[k]
        s = d[i, 3] + d[j, 3]
        L = math.log((s + e[0]) / (s - e[0]))
        x, y, z = d[i, 0], d[i, 1], d[i, 2]
        ex = e[1] * x + e[2] * y + e[3] * z
        ey = e[2] * x + e[4] * y + e[5] * z
        ez = e[3] * x + e[5] * y + e[6] * z
        U += 0.5 * L * (x * ex + y * ey + z * ez)
        gx -= L * ex
        gy -= L * ey
        gz -= L * ez
    for k in range(len(normals)):
        i, j, m = int(corners[k, 0]), int(corners[k, 1]), int(corners[k, 2])
        a, b, c = d[i], d[j], d[m]
        up = (
            a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
        )
        ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
        bc = b[0] * c[0] + b[1] * c[1] + b[2] * c[2]
        ca = c[0] * a[0] + c[1] * a[1] + c[2] * a[2]
        w = 2.0 * math.atan2(up, a[3] * b[3] * c[3] + a[3] * bc + b[3] * ca + c[3] * ab)
        n = normals[k]
        h = n[0] * a[0] + n[1] * a[1] + n[2] * a[2]
        U -= 0.5 * h * h * w
        gx += n[0] * h * w
        gy += n[1] * h * w
        gz += n[2] * h * w
        whole += w
    out[0], out[1], out[2] = gx, gy, gz
    return U, whole


@jit
def one_pair(x, R, i, j, p, F, N, memory):
    """Adds force and torques of the field of i on the nodes of j; returns the energy."""
    I, J = int(p.kind[i]), int(p.kind[j])
    r0, r1 = int(p.edge[I]), int(p.edge[I + 1])
    f0, f1 = int(p.face[I]), int(p.face[I + 1])
    v0, v1 = int(p.vertex[I]), int(p.vertex[I + 1])
    ends, edges = p.ends[r0:r1], p.edges[r0:r1]
    corners, normals, vertices = p.corners[f0:f1], p.normals[f0:f1], p.vertices[v0:v1]
    Ri, Rj = R[i], R[j]
    energy = 0.0
    X, y, g, d = memory[0], memory[1], memory[2], memory[3:]
    r = x[j] - x[i]
    for k in range(int(p.node[J]), int(p.node[J + 1])):
        for a in range(3):  # the arm of the node on j in space, and from i
            y[a] = Rj[a, 0] * p.nodes[k, 0] + Rj[a, 1] * p.nodes[k, 1] + Rj[a, 2] * p.nodes[k, 2]
        for a in range(3):
            X[a] = Ri[0, a] * (r[0] + y[0]) + Ri[1, a] * (r[1] + y[1]) + Ri[2, a] * (r[2] + y[2])
        U, whole = field(X, g, ends, edges, corners, normals, vertices, d)
        if whole > 6.0:
            raise ValueError("two polyhedra overlap: a part of one is inside of the other")
        m = p.strength[I] * p.nodes[k, 3]
        energy -= m * U
        fx = m * (Ri[0, 0] * g[0] + Ri[0, 1] * g[1] + Ri[0, 2] * g[2])
        fy = m * (Ri[1, 0] * g[0] + Ri[1, 1] * g[1] + Ri[1, 2] * g[2])
        fz = m * (Ri[2, 0] * g[0] + Ri[2, 1] * g[1] + Ri[2, 2] * g[2])
        F[j, 0] += fx
        F[j, 1] += fy
        F[j, 2] += fz
        F[i, 0] -= fx
        F[i, 1] -= fy
        F[i, 2] -= fz
        N[j, 0] += y[1] * fz - y[2] * fy
        N[j, 1] += y[2] * fx - y[0] * fz
        N[j, 2] += y[0] * fy - y[1] * fx
        N[i, 0] -= (r[1] + y[1]) * fz - (r[2] + y[2]) * fy
        N[i, 1] -= (r[2] + y[2]) * fx - (r[0] + y[0]) * fz
        N[i, 2] -= (r[0] + y[0]) * fy - (r[1] + y[1]) * fx
    return energy


@jit
def all_pairs(x, R, p, F, N):
    """The field of the larger body of each pair on the nodes of the smaller one."""
    memory = np.empty((3 + len(p.vertices), 4))
    energy = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if p.radius[int(p.kind[i])] >= p.radius[int(p.kind[j])]:
                energy += one_pair(x, R, i, j, p, F, N, memory)
            else:
                energy += one_pair(x, R, j, i, p, F, N, memory)
    return energy


def attraction(t, x, R, p):
    F, N = np.zeros_like(x), np.zeros_like(x)
    all_pairs(x, R, p, F, N)
    return F, N


def energy(t, x, R, p):
    return all_pairs(x, R, p, np.zeros_like(x), np.zeros_like(x))
