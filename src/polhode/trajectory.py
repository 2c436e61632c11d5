"""The result of a run: times, attitudes, angular velocities, and what follows from them."""

from functools import cached_property

import numpy as np

from polhode import rotations
from polhode.program import potential_energy

FINISHED, EVENT, INTERRUPTED, BLOW_UP, FAILED = "finished", "event", "interrupted", "blow-up", "failed"


class Trajectory:
    """A computed motion.  Time first, component last; vectors in the user's own body axes unless named spatial.

    Attributes
    ----------
    t : (n,) array
        Times of the stored points.
    quaternion : (n, 4) array
        Attitude, body to space, scalar last.
    omega : (n, 3) array
        Angular velocity in the body frame.
    residuals : (n,) array
        Largest relative residual of the implicit equation since the point before; zero for explicit methods.
    status : str
        "finished", "event", "interrupted", "blow-up", or "failed" for one kept on an error; `success` is true for the first
        two, `message` says more.
    nfev, steps, rejected : int
        Torque evaluations, steps taken, and steps that a tolerance refused.
    step, tolerance : number or list, (rtol, atol)
        What decided the steps; the other one is None.
    mode, note : str
        How the torque ran ("compiled", "callback", "python") and, if it was not compiled, why.
    elapsed : float
        Seconds spent in the steps.
    t_events, y_events : list
        For each event function, its times, and the motions there: quaternion, omega, in flight position and velocity.
    position, velocity : (n, 3) arrays or None
        Of the centre of mass, in space, for a body in flight.
    """

    def __init__(self, *, t, motion, ends, residuals, body, torque, method, step, status, message, nfev, steps, mode,
                 tolerance=None, rejected=0, note="", elapsed=0.0, t_events=None, y_events=None, source=""):
        self.t, self.quaternion, self.omega, self.residuals = t, motion[:, :4], motion[:, 4:7], residuals
        self.position, self.velocity = (motion[:, 7:10], motion[:, 10:]) if motion.shape[1] > 7 else (None, None)
        self.ends = ends   # (t, motion) at the start and at the end of the run, stored or not
        self.body, self.torque, self.method, self.step = body, torque, method, step
        self.tolerance, self.rejected = tolerance, rejected
        self.status, self.message = status, message
        self.nfev, self.steps, self.mode, self.note, self.elapsed = nfev, steps, mode, note, elapsed
        self.t_events, self.y_events, self.source = t_events, y_events, source

    def __len__(self):
        return len(self.t)

    @property
    def success(self):
        """Whether the run reached its end, or the event that was to end it."""
        return self.status in (FINISHED, EVENT)

    @property
    def rotation(self):
        """The attitudes as a scipy Rotation of n."""
        return rotations.as_rotation(self.quaternion)

    @property
    def matrix(self):
        """The attitudes as (n, 3, 3) matrices, body to space."""
        return rotations.matrices(self.quaternion)

    @property
    def omega_spatial(self):
        """Angular velocity in space."""
        return rotations.rotate(self.quaternion, self.omega)

    @property
    def momentum(self):
        """Angular momentum in the body frame."""
        return self.body.momentum(self.omega)

    @property
    def momentum_spatial(self):
        """Angular momentum in space: constant when nothing acts."""
        return rotations.rotate(self.quaternion, self.momentum)

    @property
    def kinetic_energy(self):
        """Kinetic energy."""
        return self.body.kinetic_energy(self.omega)

    @cached_property
    def potential_energy(self):
        """Potential energy, or None when the torque has no potential."""
        return self._potential(self.t, self.quaternion)

    def _potential(self, t, quaternion):
        if not self.body.is_principal:
            quaternion = rotations.qmul(quaternion, rotations.as_quaternion(self.body.axes))
        return potential_energy(self.torque, self.body, t, quaternion)

    @property
    def total_energy(self):
        """Kinetic plus potential energy; the kinetic energy alone when the torque has no potential."""
        if self.potential_energy is None:
            return self.kinetic_energy
        return self.kinetic_energy + self.potential_energy

    @property
    def orthogonality_error(self):
        """Largest entry of |R^T R - 1|, from the quaternion's length: R = |q|^2 times a rotation."""
        squared = np.einsum("ij,ij->i", self.quaternion, self.quaternion)
        return float(np.max(np.abs(squared * squared - 1.0)))

    def summary(self):
        """The run in a few plain numbers, as `polhode run --json` prints them.

        Initial and final values are those of the run; maxima are over the `samples` stored points, the initial ones
        subtracted.  The spatial momentum changes by right when a torque acts: `momentum_error_max` is an error only without.
        """
        (t0, first), (t1, last) = self.ends
        motions = np.stack([first, last])
        ends = self.body.kinetic_energy(motions[:, 4:7])
        if self.potential_energy is not None:
            ends = ends + self._potential(np.array([t0, t1]), motions[:, :4])
        momentum0 = rotations.rotate(first[:4], self.body.momentum(first[4:7]))
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
            "energy": "kinetic" if self.potential_energy is None else "total",
            "energy_initial": float(ends[0]),
            "energy_final": float(ends[1]),
            "energy_drift_max": float(np.max(np.abs(np.append(self.total_energy, ends[1]) - ends[0]))),
            "momentum_error_max": float(np.max(np.linalg.norm(self.momentum_spatial - momentum0, axis=1))),
            "orthogonality_error": self.orthogonality_error,
            "residual_max": float(np.max(self.residuals)),
            "elapsed_s": float(self.elapsed),
            "rotation_final": rotations.matrices(last[:4]).tolist(),
            "quaternion_final": last[:4].tolist(),
            "omega_final": last[4:7].tolist(),
        }

    def provenance(self):
        """Where the numbers come from: version, method and its facts, step, body, torque, source digest."""
        from polhode import __version__

        return {
            "polhode_version": __version__,
            "method": self.method.name,
            "method_facts": self.method.facts(),
            "step": self.step,
            "tolerance": self.tolerance,
            "body": self.body.to_dict(),
            "torque": repr(self.torque),
            "torque_mode": self.mode,
            "source_digest": self.source,
            "status": self.status,
            "message": self.message,
            "steps": int(self.steps),
            "torque_evaluations": int(self.nfev),
        }

    def to_xarray(self):
        """An xarray Dataset with units (SI, whatever the user's inertia and time were in) and provenance."""
        import json

        import xarray as xr

        units = {"omega": "rad/s", "omega_spatial": "rad/s", "momentum": "kg m2/s", "momentum_spatial": "kg m2/s"}
        names = {"omega": "angular velocity, body frame", "omega_spatial": "angular velocity, space",
                 "momentum": "angular momentum, body frame", "momentum_spatial": "angular momentum, space"}
        data = {"quaternion": (("time", "quaternion_component"), self.quaternion,
                               {"units": "1", "long_name": "attitude, body to space, scalar last"})}
        for key, unit in units.items():
            data[key] = (("time", "axis"), getattr(self, key), {"units": unit, "long_name": names[key]})
        data["kinetic_energy"] = ("time", self.kinetic_energy, {"units": "J", "long_name": "kinetic energy"})
        if self.potential_energy is not None:
            data["potential_energy"] = ("time", self.potential_energy, {"units": "J", "long_name": "potential energy"})
            data["total_energy"] = ("time", self.total_energy, {"units": "J", "long_name": "total energy"})
        if self.position is not None:
            data["position"] = (("time", "axis"), self.position, {"units": "m", "long_name": "position of the centre of mass"})
            data["velocity"] = (("time", "axis"), self.velocity, {"units": "m/s", "long_name": "velocity of the centre of mass"})
        data["residual"] = ("time", self.residuals, {"units": "1", "long_name": "residual of the implicit equation"})
        coords = {"time": ("time", self.t, {"units": "s", "long_name": "time"}),
                  "quaternion_component": list("xyzw"), "axis": list("xyz")}
        attributes = {key: value if isinstance(value, (str, int, float)) else json.dumps(value)
                      for key, value in self.provenance().items()}
        return xr.Dataset(data, coords, {"title": "rotation of a rigid body", **attributes})

    def plot(self, **options):
        """An overview figure: angular velocity, energy error, momentum error, path of a body axis in space."""
        from polhode.plots import overview

        return overview(self, **options)

    def view(self, compare=(), **options):
        """A self-contained page with the body in 3D and plots that follow; a notebook shows it inline.

        Parameters
        ----------
        compare : Trajectory, path of a stored run, or a list of them
            Shown beside this run, in step.
        **options
            `title`, `mesh`, `poinsot`, `autoplay`, as in `polhode.view.page`.

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
        from polhode.view import page

        return page([self, *(compare if isinstance(compare, (list, tuple)) else [compare])], **options)

    def __repr__(self):
        return (f"<Trajectory: {self.method.name}, {len(self)} points, t = {self.t[0]:g} to {self.t[-1]:g}, "
                f"{self.steps} steps, {self.mode}, {self.status}>")
