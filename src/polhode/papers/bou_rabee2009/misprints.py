"""What is misprinted in Bou-Rabee, Ortolan & Saccon 2009."""

import numpy as np

from polhode.papers._lie_midpoint_as_printed import momentum_lost, order
from polhode.papers._items import enter_errata
from polhode.papers.bou_rabee2009.drift import PAPER


def orthogonality_defect(x, power):
    """|Q^T Q - 1| for Q = 1 + 4/(4 + |x|^power) x^ + 2/(4 + |x|^power) x^^2: eq. (4) with power 1, the Cayley map with 2."""
    hat = np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])
    c = 2.0 / (4.0 + np.linalg.norm(x) ** power)
    Q = np.eye(3) + 2.0 * c * hat + c * hat @ hat
    return float(np.linalg.norm(Q.T @ Q - np.eye(3), 2))


def cayley_evidence():
    """At a rotation vector of length 1.5."""
    x = np.array([1.0, -1.0, 0.5])
    return (
        f"‖QᵀQ − 1‖ = {orthogonality_defect(x, 1):.2f} as printed and {orthogonality_defect(x, 2):.0e} with the square, at "
        f"|x| = {np.linalg.norm(x):g}"
    )


def step_evidence():
    """(8f) as printed, with the Theta of the step before."""
    return (
        f"as printed the measured order is {order('EA, Bou-Rabee'):.2f} and a torque-free run loses "
        f"{momentum_lost('EA, Bou-Rabee'):.1%} of the momentum; corrected {order('EA'):.2f} and {momentum_lost('EA'):.0e}"
    )


enter_errata(
    PAPER,
    ("(4)", "4 + |x|", "4 + |x|²", cayley_evidence),
    ("(8f)", "exp(−Θ_k)", "exp(−Θ_{k+1})", step_evidence),
    (
        "sections 2 and 3, appendix A",
        "(Q_k, W_k) ∈ ℝ³ × SO(3)",
        "SO(3) × ℝ³",
        "Q is the rotation, W the angular velocity",
    ),
)
