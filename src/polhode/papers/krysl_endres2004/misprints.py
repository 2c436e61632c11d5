"""What is misprinted in Krysl & Endres 2004, each with the number that shows it."""

import numpy as np

from polhode import problems
from polhode.papers._items import enter_errata
from polhode.papers.krysl_endres2004.free_body import PAPER
from polhode.papers.krysl_endres2004.top import exact_top, invariants, variation
from polhode.papers.krysl_endres2004.toss import COARSE, TOSSED
from polhode.papers.krysl_endres2004.wall import closest_to_wall
from polhode.rotations import as_quaternion, dexp_body, exp, log, matrices, qmul

# a body, a velocity, a rotation
I, OM, PSI = np.array([2.0, 3.0, 4.5]), np.array([0.8, -0.6, 0.5]), np.array([0.4, -0.9, 0.7])
ROUND_OFF = 100 * np.finfo(float).eps  # the tolerance of appendix B


def skew(a):
    """a^ with a^ b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


# --- (43): the tangent ----------------------------------------------------------------------------


def newton_rounds(printed, h=1.0, most=14):
    """Rounds of Newton's iteration on (42), from zero, with the tangent (43) as printed or the
    right one; None: not solved."""
    i = matrices(exp(PSI)) @ np.diag(I) @ matrices(exp(PSI)).T
    p, a = 2.0 * OM, np.zeros(3)
    for count in range(most + 1):
        w = p + 0.5 * h * a
        residual = i @ a + np.cross(w, i @ w)
        if np.abs(residual).max() < ROUND_OFF:
            return count
        if printed:
            tangent = (
                i
                + 0.5 * h * (skew(p) @ i - i @ skew(p))
                + 0.5 * h * h * (skew(a) @ i - i @ skew(a))
            )
        else:
            tangent = (
                i
                + 0.5 * h * (skew(p) @ i - skew(i @ p))
                + 0.25 * h * h * (skew(a) @ i - skew(i @ a))
            )
        a = a - np.linalg.solve(tangent, residual)
    return None


def tangent_evidence():
    """Newton with both tangents at two steps."""
    rounds = {
        (printed, h): newton_rounds(printed, h) for printed in (False, True) for h in (0.1, 1.0)
    }
    words = {key: "not in 14" if n is None else f"in {n}" for key, n in rounds.items()}
    return (
        f"Newton's iteration to {ROUND_OFF:.0e}: {words[False, 0.1]} rounds with the right tangent, {words[True, 0.1]} with "
        f"the printed one at Δt = 0.1; {words[False, 1.0]} and {words[True, 1.0]} at Δt = 1"
    )


# --- (33) with (31): the differential of exp ------------------------------------------------------


def dexp_evidence(e=1e-6):
    """Theta_B of (31) by differences, against S as printed and with the other sign."""
    R = exp(PSI)
    found = (
        log(qmul(R * (-1, -1, -1, 1), exp(PSI + e * OM)))
        - log(qmul(R * (-1, -1, -1, 1), exp(PSI - e * OM)))
    ) / (2 * e)
    printed, right = (np.abs(dexp_body(sign * PSI, OM) - found).max() for sign in (-1.0, 1.0))
    return (
        f"against differences of (31) S(Ψ) as printed is off by {printed:.2g}, with −Ψ̃ by {right:.0e}; harmless at γ = 1/2, "
        "where S drops out"
    )


# --- section 3 ------------------------------------------------------------------------------------


def hamiltonian_evidence():
    """H with gamma along gravity and with gamma up, along the exact motion."""
    motion = exact_top(np.linspace(0.0, 10.0, 501))
    printed, right = (
        variation(invariants(motion.matrix, motion.omega, sign)[0]) for sign in (-1.0, 1.0)
    )
    return (
        f"along the exact motion H varies by {printed:.0%} as printed and by {right:.0e} with γ up"
    )


def toss_evidence():
    """The spatial momentum that the trapezoidal rule sums up from the torques, read with the left
    interval closed."""
    h = COARSE
    times = h * np.arange(round(12.0 / h) + 1)
    jumps = problems.get("krysl/book-toss").torque(h)
    mean = np.array([jumps(t, np.eye(3)) for t in times])
    # at a jump, the side before it
    first = np.array([jumps(t - 0.01 * h, np.eye(3)) for t in times])
    closed, right = (0.5 * h * (values[1:] + values[:-1]).sum(axis=0) for values in (first, mean))
    return (
        f"summed by the trapezoidal rule with Δt = {h:g} the torques give π = ({closed[0]:g}, {closed[1]:g}, 0) with the "
        f"first of two overlapping intervals and ({right[0]:g}, {right[1]:g}, 0) with the mean at the jumps; impulse "
        f"({TOSSED[0]:g}, {TOSSED[1]:g}, 0)"
    )


def start_evidence():
    """R0^T t0 - t0 in the paper's own examples and at another attitude."""
    names = ("krysl/fast-top", "krysl/slow-top", "krysl/coulomb-wall")
    turned = []
    for problem in map(problems.get, names):
        R0 = matrices(as_quaternion(problem.rotation0))
        t0 = problem.torque()(0.0, R0)
        turned.append(np.abs(R0.T @ t0 - t0).max())
    R = matrices(exp(PSI))
    other = problems.get("krysl/slow-top").torque()(0.0, R)
    return (
        f"R₀ᵀt₀ − t₀ is {max(turned):.1g} in the paper's examples, which start on the axis of the torque, but "
        f"{np.abs(R.T @ other - other).max():.1f} of {np.abs(other).max():.1f} at a tilt of ({PSI[0]:g}, {PSI[1]:g}, "
        f"{PSI[2]:g}); it matters in the first half step alone"
    )


def sign_evidence():
    """How near the body comes to the wall with either sign."""
    (z, push, times), (z2, push2, _) = map(
        closest_to_wall, ("krysl/coulomb-wall", "krysl/coulomb-wall-printed")
    )
    return (
        f"as printed z = 1.1 + R33 stays above {z2:.2f}, where the wall's share is {push2:.1g}; with the opposite sign the "
        f"body comes to z = {z:.2f}, where the wall is {push:.0f} times the attraction, and is thrown back {times} times"
    )


def axis_evidence():
    """The initial tilts."""
    tilts = [
        np.linalg.norm(log(problems.get(name).rotation0))
        for name in ("krysl/fast-top", "krysl/slow-top")
    ]
    return f"the axis starts {tilts[0]:.2g} and {tilts[1]:.2g} rad from the vertical, with the printed Ψ₀"


def triangle_evidence():
    """The moments of the book."""
    a, b, c = sorted(problems.get("krysl/book-toss").body.moments)
    return f"{a:g} + {b:g} < {c:g}: no distribution of mass has these moments; the motion is well defined all the same"


def power_evidence():
    """(17) with the virtual velocity of (13)."""
    H, q, f, R = OM, PSI, I, matrices(exp(PSI))
    power, printed, torque = -(R @ skew(q) @ H) @ f, (R @ skew(q) @ H) @ f, H @ skew(q) @ R.T @ f
    return f"for one choice of H, q₀ and f: η·f = {power:.3f} with (13), {printed:.3f} as printed in (17), H·T = {torque:.3f}"


enter_errata(
    PAPER,
    (
        "(43)",
        "Δt²/2 and I ω̃, I α̃",
        "Δt²/4 and skew(I ω), skew(I α), as in appendix B",
        tangent_evidence,
    ),
    ("(33) with (31)", "+ (1 − cos‖Ψ‖)/‖Ψ‖² Ψ̃", "the minus sign: S(Ψ) = dexp₋Ψ", dexp_evidence),
    (
        "(15), (17)",
        "η = R p̃₀ H",
        "−R p̃₀ H, as in (13); (16) and the torque T of (17) are right",
        power_evidence,
    ),
    (
        "boxes of NMB and SW",
        "RᵀT with the body torque T of (19)",
        "Rᵀt: the torque function returns the spatial torque",
        "appendix B multiplies the value of the torque function by Rᵀ, and section 3 gives spatial torques",
    ),
    ("box of HSTAGM", "A₀ = I⁻¹(t₀ − ...)", "A₀ = I⁻¹(R₀ᵀt₀ − ...)", start_evidence),
    (
        "section 3.2",
        "closed intervals that overlap at t_d and t_d + Δt, t_d not given",
        "the mean of both sides at the jumps, t_d = 2",
        toss_evidence,
    ),
    ("section 3.2", "diag I = (5, 10, 1)", "not the inertia of any body", triangle_evidence),
    (
        "section 3.3",
        "γ the direction of gravity, H = ... + Mlg γ·χ",
        "γ points up",
        hamiltonian_evidence,
    ),
    (
        "section 3.3",
        "π = π·ω; the norm ‖Rγ‖ in the body frame",
        "π = i·ω; ‖Rᵀγ‖",
        "as printed π is defined by itself, and R takes body to space",
    ),
    (
        "section 3.3",
        "neither inertia nor initial state",
        "diag(7, 7, 2)/8, Ω₀ = (0, 0, 1), tilt π/16 (DiffMan's example)",
        "an assumption: the sizes in figures 8 and 9 rest on it",
    ),
    (
        "sections 3.4, 3.5",
        "axis of symmetry that coincides with the direction of gravity",
        "at an angle to it",
        axis_evidence,
    ),
    (
        "section 3.6",
        "(−z⁻² + .01 z⁻¹¹) [−R23; R13; 0]",
        "the opposite sign gives the attraction and the wall of the text",
        sign_evidence,
    ),
)
