"""The result of a run: times, attitudes, angular velocities, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import IO, TYPE_CHECKING, Any

import numpy as np

import polhode
from polhode import rotations
from polhode.core.digest import digest
from polhode.errors import warn
from polhode.loads.potential import potential_energy
from polhode.results._run import Run
from polhode.results.conserved import energy_scale, loads_keep_energy
from polhode.results.motion import parts, rotor_speeds

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polhode.bodies._body import RigidBody
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force


@dataclass(kw_only=True, eq=False, repr=False)
class Trajectory(Run):
    """A computed motion, fresh or read from a file.  Arrays have time first and components last;
    vectors are in your own body axes unless they are called spatial.

    If the run was read from a file, `torque` and `method` are what the file records about them, the
    ends are the first and last stored points, `elapsed` is NaN and there are no events.

    Attributes
    ----------
    t : (n,) array
        Times of the stored points.
    quaternion : (n, 4) array
        Attitude, body to space, scalar last.
    omega : (n, 3) array
        Angular velocity in the body frame.
    residuals : (n,) array
        Largest relative residual of the implicit equation since the previous point; zero for explicit
        methods.
    status : str
        "finished", "event", "interrupted", "blow-up" or "failed"; `success` is true for the first
        two, and `message` says more.
    nfev, steps, rejected : int
        Torque evaluations, steps taken, and steps rejected because of the tolerance.
    step, tolerance : number or list, (rtol, atol)
        What determined the steps; the other one is None.
    mode, note : str
        How the torque ran ("compiled", "callback", "python") and, if it was not compiled, why.
    elapsed : float
        Seconds spent in the steps.
    t_events, y_events : list
        For each event function, its times, and the motions there: quaternion, omega, in flight
        position and velocity.
    position, velocity : (n, 3) arrays or None
        Of the centre of mass, in space, for a body in flight.
    rotor_speeds : (n, rotors) array or None
        Speeds of the body's rotors, relative to it.
    title : str
        Of the run or the scenario; "" by default.
    """

    body: RigidBody
    torque: Torque
    force: Force | None = None  # on the centre of mass, in flight

    @property
    def momentum(self) -> np.ndarray:
        """Angular momentum in the body frame, with that of the rotors."""
        return self.body.momentum(self.omega, self.rotor_speeds)

    @property
    def momentum_spatial(self) -> np.ndarray:
        """Angular momentum in space: constant without a torque."""
        return rotations.rotate(self.quaternion, self.momentum)

    @property
    def linear_momentum(self) -> np.ndarray | None:
        """Momentum of the translation, m v, for a body in flight."""
        return None if self.velocity is None else self.body.mass * self.velocity

    @property
    def angular_momentum(self) -> np.ndarray:
        """Angular momentum in space about the origin: that of the rotation and, in flight, of the
        translation."""
        if self.position is None or self.velocity is None:
            return self.momentum_spatial
        orbital = self.body.mass * np.cross(self.position, self.velocity)
        return orbital + self.momentum_spatial

    @property
    def rotational_energy(self) -> np.ndarray:
        """Kinetic energy of the rotation, with that of the rotors."""
        return self.body.kinetic_energy(self.omega, self.rotor_speeds)

    @property
    def kinetic_energy(self) -> np.ndarray:
        """Kinetic energy, in flight of rotation and translation."""
        return self._kinetic(self.motion)

    def _kinetic(self, motion: np.ndarray) -> np.ndarray:
        found = parts(motion, self.kind)
        turning = self.body.kinetic_energy(found.omega, rotor_speeds(motion, self.kind))
        v = getattr(found, "velocity", None)
        return turning if v is None else turning + 0.5 * self.body.mass * np.sum(v * v, axis=-1)

    @property
    def has_potential(self) -> bool:
        """Whether a potential energy is known."""
        return self.torque.has_potential or (self.force is not None and self.force.has_potential)

    @property
    def keeps_energy(self) -> bool:
        """Whether the energy is constant: no load, motor or bearing works on the body and its rotors."""
        return loads_keep_energy(self) and all(rotor.is_free for rotor in self.body.rotors)

    @cached_property
    def potential_energy(self) -> np.ndarray | None:
        """Potential energy, or None when neither torque nor force has a potential."""
        return self._potential(self.t, self.motion)

    def _potential(self, t: np.ndarray, motion: np.ndarray) -> np.ndarray | None:
        found = parts(motion, self.kind)
        quaternion = found.attitude
        if not self.body.is_principal:
            quaternion = rotations.qmul(quaternion, rotations.as_quaternion(self.body.axes))
        if self._potential_digest() != self.potential_source:
            warn(
                f"the potential of torque {self.torque.name!r} uses something that has changed since the run: these "
                "energies are not those of the run; compute them before the change, or pass what changes as params",
                RuntimeWarning,
            )
        energies = [potential_energy(self.torque, self.body, t, quaternion)]
        if self.force is not None:
            energies.append(potential_energy(self.force, self.body, t, quaternion, found.position))
        known = [one for one in energies if one is not None]
        return sum(known[1:], known[0]) if known else None

    def _potential_digest(self) -> str | None:
        return (
            digest(self.torque.potential_kernel())
            if self.torque.has_potential and not self.torque.is_ours
            else None
        )

    @property
    def total_energy(self) -> np.ndarray:
        """Kinetic plus potential energy; the kinetic energy alone when no potential is known."""
        if self.potential_energy is None:
            return self.kinetic_energy
        return self.kinetic_energy + self.potential_energy

    def summary(self) -> dict[str, Any]:
        """The run in a few numbers, as `polhode run --json` prints them.

        Initial and final values are those of the run; maxima are over the `samples` stored points,
        the initial ones subtracted, in the units of the run.  Those called relative are divided by
        what figures divide them by: the size of the initial energy, or a thousandth of the largest
        kinetic energy if that is more, and the size of the initial momentum.

        What should be constant has a drift or an error, what the torque changes has a change; the
        others are None.  So `energy_drift_max` is for torques that come from a steady potential, and
        `energy_change_max` for those that drive or brake the body; `momentum_error_max` is for free
        bodies, and `momentum_change_max` for those under a torque.
        """
        (t0, first), (t1, last) = self.ends
        both, end = parts(np.stack([first, last]), self.kind), parts(last, self.kind)
        ends = self._kinetic(np.stack([first, last]))
        if self.has_potential:
            known = None if self.recorded is None else self.potential_energy
            asked = np.array([t0, t1]), np.stack([first, last])
            ends = ends + (self._potential(*asked) if known is None else known[[0, -1]])
        worst = np.max([piece._largest(first, ends[0]) for _, piece in self.blocks()], axis=0)
        change = max(worst[0], abs(ends[1] - ends[0]))
        relative = change / energy_scale(float(ends[0]), float(worst[4]))
        size = np.linalg.norm(self.body.momentum(both.omega[0], rotor_speeds(first, self.kind)))
        kept, acts = self.keeps_energy, self.torque.acts
        return {
            "method": self.method.name,
            "torque": self.torque.name,
            "torque_mode": self.mode,
            "status": self.status,
            "message": self.message,
            "t_final": float(t1),
            "samples": len(self),
            "steps": int(self.steps),
            **({} if self.tolerance is None else {"rejected_steps": int(self.rejected)}),
            "torque_evaluations": int(self.nfev),
            "energy": "total" if self.has_potential else "kinetic",
            "energy_initial": float(ends[0]),
            "energy_final": float(ends[1]),
            "energy_drift_max": float(change) if kept else None,
            "energy_drift_relative": float(relative) if kept else None,
            "energy_change_max": None if kept else float(change),
            "momentum_error_max": None if acts else float(worst[1]),
            "momentum_error_relative": None if acts else float(worst[1] / (size or 1.0)),
            "momentum_change_max": float(worst[1]) if acts else None,
            "orthogonality_error": float(worst[2]),
            "residual_max": float(worst[3]),
            "elapsed_s": float(self.elapsed),
            "rotation_final": rotations.matrices(end.attitude).tolist(),
            "quaternion_final": end.attitude.tolist(),
            "omega_final": end.omega.tolist(),
            **{
                f"{name}_final": getattr(end, name).tolist()
                for name in ("position", "velocity")
                if hasattr(end, name)
            },
        }

    def _largest(self, first: np.ndarray, energy0: float) -> tuple[float, ...]:
        """Largest change of energy and of momentum, orthogonality error, residual and kinetic
        energy."""
        start = parts(first, self.kind)
        momentum0 = self.body.momentum(start.omega, rotor_speeds(first, self.kind))
        momentum0 = rotations.rotate(start.attitude, momentum0)
        changes = (
            np.abs(self.total_energy - energy0),
            np.linalg.norm(self.momentum_spatial - momentum0, axis=1),
        )
        return (
            *(np.max(change, initial=0.0) for change in changes),
            self.orthogonality_error,
            np.max(self.residuals, initial=0.0),
            np.max(self.kinetic_energy, initial=0.0),
        )

    def _what_acts(self) -> dict[str, Any]:
        return {
            "torque": repr(self.torque),
            "torque_terms": self.torque.record(),
            **({"force_terms": self.force.record()} if self.force else {}),
        }

    def plot(self, path: str | PathLike[str] | IO[bytes] | None = None) -> Figure:
        """An overview figure: angular velocity, energy error, momentum error, path of a body axis
        in space; saved if a path is given."""
        return polhode.plots.overview(self, path)

    def view(
        self,
        compare: Any = (),
        title: str | None = None,
        mesh: Any = None,
        poinsot: bool = False,
        autoplay: bool | None = None,
    ) -> polhode.view.Page:
        """A self-contained page with the body in 3D and plots that follow the animation; a notebook
        shows it inline.

        Parameters
        ----------
        compare : Trajectory, path of a stored run, or a list of them
            Shown beside this run, at the same times.
        title, mesh, poinsot, autoplay
            As in `polhode.view.page`.

        Returns
        -------
        polhode.view.Page
            With `save(path)`, `open()` and `html`.

        Examples
        --------
        >>> import polhode
        >>> run = polhode.integrate(polhode.RigidBody.box(3, 2, 1), t_span=(0, 20), step=0.01, omega0=(0, 1, 0.001))
        >>> run.view(title="A book in the air").title
        'A book in the air'
        """
        others = compare if isinstance(compare, (list, tuple)) else [compare]
        return polhode.view.page([self, *others], title, mesh, poinsot, autoplay)
