"""A camera on a moving arm: its frame in SE(3) from measured twists, by Lie group methods.

The camera's velocity and angular velocity are measured in its own frame by an inertial unit, so that
y' = y W(t) with y = [[R, x], [0, 1]].  The true path is known here, so the errors of the methods can be measured.

    python examples/camera_se3.py
"""

import numpy as np

from polhode import lie


def twist(t):
    """Velocity and angular velocity in the camera's frame: a slow orbit with a shaking hand."""
    return np.array(
        [
            1.0 + 0.2 * np.sin(3.0 * t),
            0.1 * np.cos(2.0 * t),
            0.3 * np.sin(t),
            0.4 * np.cos(3.0 * t),
            0.5 + 0.3 * np.sin(2.0 * t),
            0.6 * np.sin(t),
        ]
    )


def main():
    start = np.eye(4)
    true = lie.solve(lie.se3, twist, start, (0.0, 10.0), 2000, "taylor6", frame="body").y[-1]
    print(f"after 10 s the camera is at {np.round(true[:3, 3], 6)}")
    print(f"{'method':>8} {'steps':>6} {'position error':>15} {'angle error':>12}")
    for method in ("taylor1", "taylor2", "taylor4", "taylor6", "RKMK4", "CF4"):
        for steps in (50, 100, 200):
            end = lie.solve(lie.se3, twist, start, (0.0, 10.0), steps, method, frame="body").y[-1]
            turn = true[:3, :3].T @ end[:3, :3]
            angle = np.arctan2(
                np.linalg.norm(turn - turn.T) / np.sqrt(8.0), (np.trace(turn) - 1.0) / 2.0
            )
            print(
                f"{method:>8} {steps:6d} {np.linalg.norm(end[:3, 3] - true[:3, 3]):15.2e} {angle:12.2e}"
            )


if __name__ == "__main__":
    main()
