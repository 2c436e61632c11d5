"""The result of an ensemble: the final states, the failures, and statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import polhode
from polhode import rotations
from polhode.results._run import FAILED, FINISHED, INTERRUPTED
from polhode.results.columns import EACH_ITS_OWN
from polhode.results.ensemble_motions import Motions, motions_of
from polhode.results.error_estimate import ErrorEstimate
from polhode.core.motions import ROTATION, Kind
from polhode.results.motion import OMEGA, back_to_axes, in_principal_axes, parts
from polhode.errors import InputError
from polhode.results.storable import Storable
from polhode.support import provenance
from polhode.support.units import UNSPECIFIED, Units
from polhode.support.on_device import OnDevice, on_host, part_of, require

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation
    from xarray import Dataset
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force
    from polhode.methods._method import Method


@dataclass(frozen=True)
class Failure:
    """A body that failed: its number, the step that failed, the time before it, and the reason."""

    body: int
    step: int
    t: float
    reason: str


class Ensemble(Storable):
    """Many bodies after a run, fresh or read from a file.  Arrays have bodies first and components
    last; vectors are in each body's own axes unless they are called spatial.

    If it was read from a file, `torque` and `method` are what the file records about them,
    `parameters` has only those that differ between bodies, `elapsed` is NaN, and `threads`,
    `vectorised` and `note` are not known.

    Attributes
    ----------
    n : int
        Number of bodies.
    t : float
        The time reached.  A body that failed stopped earlier: see `failures`.
    times : array (samples,) or None
        Of the intermediate motions, with keep=every.
    statistics : dict or None
        With keep="statistics": for each quantity, `over_time` (for each body) and `over_bodies` (at
        each of `times`), both with mean, variance, min, max.  A body that fails is included until
        then; one that fails at the start has NaN.
    failures : list of Failure
    message : str
        How the run ended.
    mode, note : str
        How the torque ran ("compiled", "callback") and, if it was not compiled, why.
    device, dtype, threads, vectorised
        Where and how; `vectorised` says whether the inner loop consists of packed instructions.
    steps, elapsed, body_steps_per_s
        Steps of each body, seconds they took, and the product of bodies and steps per second.
    seed : int or None
        Seed of the random numbers.
    title : str
        Of the scenario; "" by default.
    units : Units
        Those given, or those of the bodies: the attributes length, mass and time.
    """

    n: int
    first: int
    t: float
    step: Any
    steps: int
    elapsed: float
    method: Method
    torque: Torque
    bodies: Any
    seed: int | None
    times: np.ndarray | None
    statistics: dict[str, Any] | None
    failures: list[Failure]
    interrupted: bool
    message: str
    mode: str
    note: str
    device: str
    dtype: str
    threads: int | None
    vectorised: bool
    source: str
    torque_source: str
    title: str = ""
    units: Units
    kind: Kind = ROTATION  # what is followed
    force: Force | None = None  # on the centres of mass, in flight
    recorded: dict[str, Any] | None = None  # the provenance of one that was read

    def __init__(
        self,
        *,
        motions: Any,
        kept: Any,
        parameters: dict[str, Any],
        measure: Callable[[], Any],
        estimate: Callable[[Ensemble], ErrorEstimate] | None,
        **facts: Any,
    ) -> None:
        self.__dict__.update(facts)
        self._parameters = parameters
        self._motions, self._kept = motions, kept
        self._new_measure, self._new_estimate = measure, estimate

    @cached_property
    def _measure(self) -> Callable[..., np.ndarray]:
        """Quantities of motions in principal axes: measure(name, t, motions)."""
        return self._new_measure()

    @cached_property
    def error_estimate(self) -> ErrorEstimate | None:
        """How large the errors at the end are: when this is first asked for, up to 16 bodies, some of
        them the fastest, are run again with half the step.  None if the ensemble was read from a
        file without an estimate."""
        return None if self._new_estimate is None else self._new_estimate(self)

    @cached_property
    def _at_end(self) -> Any:
        return motions_of(self.to_user_axes(on_host(self._motions)), self.kind)

    @cached_property
    def _on_the_way(self) -> Any:
        if self._kept is None:
            return Motions(None, None)
        return motions_of(np.stack([self.to_user_axes(one) for one in self._kept]), self.kind)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters of torque and force that were given or drawn for this run, by name."""
        return {
            name: value.host if isinstance(value, OnDevice) else value
            for name, value in self._parameters.items()
        }

    @cached_property
    def on_device(self) -> Motions:
        """`quaternion` and `omega`, in flight also `position` and `velocity`, with rotors
        `rotor_speeds`, as arrays on the GPU, of a run with device="cuda"; CuPy, PyTorch, JAX and
        others read them in place."""
        if self.device != "cuda" or self.recorded is not None:
            how = "read from a file" if self.recorded else f"made with device={self.device!r}"
            raise InputError(
                f"on_device is for device='cuda', and this run was {how}; use quaternion and omega"
            )
        motions, module = self._motions, require()
        if isinstance(motions, np.ndarray) or self.bodies.axes is not None:
            motions = module.to_device(self.to_user_axes(on_host(motions)))
        found = {name: part_of(motions, place) for name, place in self.kind.groups.items()}
        module.synchronize()  # whoever reads them may be in another stream
        return Motions(found.pop("attitude"), **found)

    @property
    def quaternion(self) -> np.ndarray:
        """Attitudes (n, 4), body to space, scalar last; of a body that failed, the last good one.

        These and all other results are copied from a GPU when they are first read.
        """
        return self._at_end.quaternion

    @property
    def omega(self) -> np.ndarray:
        """Body angular velocities (n, 3); of a body that failed, the last good one."""
        return self._at_end.omega

    @property
    def position(self) -> np.ndarray | None:
        """Positions (n, 3) of the centres of mass, in flight; None without."""
        return self._at_end.position

    @property
    def velocity(self) -> np.ndarray | None:
        """Velocities (n, 3) of the centres of mass, in flight; None without."""
        return self._at_end.velocity

    @property
    def rotor_speeds(self) -> np.ndarray | None:
        """Speeds (n, rotors) of the rotors relative to the bodies; None without."""
        return self._at_end.rotor_speeds

    @property
    def kept_rotor_speeds(self) -> np.ndarray | None:
        """Intermediate speeds of the rotors (samples, n, rotors), with keep=every; None without."""
        return self._on_the_way.rotor_speeds

    @property
    def quaternions(self) -> np.ndarray | None:
        """Intermediate attitudes (samples, n, 4), with keep=every; None without."""
        return self._on_the_way.quaternion

    @property
    def omegas(self) -> np.ndarray | None:
        """Intermediate body angular velocities (samples, n, 3), with keep=every; None without."""
        return self._on_the_way.omega

    @property
    def positions(self) -> np.ndarray | None:
        """Intermediate positions (samples, n, 3), in flight with keep=every; None without."""
        return self._on_the_way.position

    @property
    def velocities(self) -> np.ndarray | None:
        """Intermediate velocities (samples, n, 3), in flight with keep=every; None without."""
        return self._on_the_way.velocity

    def to_user_axes(self, y: np.ndarray) -> np.ndarray:
        """Motions from principal axes to the bodies' own."""
        return y if self.bodies.axes is None else back_to_axes(self.bodies.axes, y, self.kind)

    def __getstate__(self) -> dict[str, Any]:
        """For another process, and for copies: numbers come from the GPU, machine code stays."""
        state = {**self.__dict__, "_motions": None if self.recorded else on_host(self._motions)}
        return {name: state[name] for name in state if name not in ("_measure", "on_device")}

    def __len__(self) -> int:
        return self.n

    @property
    def success(self) -> bool:
        """Whether every body reached the end."""
        return not self.failures and not self.interrupted

    @cached_property
    def status(self) -> np.ndarray:
        """For each body "finished", "failed" or "interrupted"."""
        status = np.full(self.n, INTERRUPTED if self.interrupted else FINISHED, dtype="<U11")
        status[[failure.body for failure in self.failures]] = FAILED
        return status

    @property
    def body_steps_per_s(self) -> float:
        """Bodies times steps per second."""
        return self.n * self.steps / self.elapsed if self.elapsed else float("nan")

    @property
    def moments(self) -> np.ndarray:
        """The principal moments (n, 3) of the bodies, given or drawn."""
        return np.broadcast_to(self.bodies.moments.T, (self.n, 3))

    @property
    def rotation(self) -> Rotation:
        """The attitudes as a scipy Rotation of n."""
        return rotations.as_rotation(self.quaternion)

    @property
    def matrix(self) -> np.ndarray:
        """The attitudes as (n, 3, 3) matrices, body to space."""
        return rotations.matrices(self.quaternion)

    @property
    def momentum(self) -> np.ndarray:
        """Angular momentum (n, 3) in the body frame, with that of the rotors."""
        y = self._principal()
        y[:, OMEGA] = self.bodies.momentum(y, self.kind)
        return parts(self.to_user_axes(y), self.kind).omega

    @property
    def momentum_spatial(self) -> np.ndarray:
        """Angular momentum (n, 3) in space."""
        return rotations.rotate(self.quaternion, self.momentum)

    @property
    def linear_momentum(self) -> np.ndarray | None:
        """Momentum (n, 3) of the translation, m v, in flight; None without."""
        return None if self.velocity is None else self.bodies.masses[:, None] * self.velocity

    @property
    def angular_momentum(self) -> np.ndarray:
        """Angular momentum (n, 3) in space about the origin: that of the rotation and, in flight, of
        the translation."""
        if self.position is None or self.linear_momentum is None:
            return self.momentum_spatial
        return np.cross(self.position, self.linear_momentum) + self.momentum_spatial

    def _principal(self) -> np.ndarray:
        """The motions in principal axes."""
        q, omega, *places = (one for one in self._at_end if one is not None)
        turned = in_principal_axes(None, self.bodies.axes, q, omega, False)
        return np.concatenate([turned, *places], axis=1) if places else turned

    @cached_property
    def end_times(self) -> np.ndarray:
        """The time (n,) of each body's last good motion."""
        t = np.full(self.n, float(self.t))
        t[[failure.body for failure in self.failures]] = [failure.t for failure in self.failures]
        return t

    @property
    def kinetic_energy(self) -> np.ndarray:
        """Kinetic energy (n,), in flight of rotation and translation."""
        return self._measure("kinetic_energy", self.end_times, self._principal())

    @cached_property
    def energy(self) -> np.ndarray:
        """Kinetic plus potential energy (n,); the kinetic energy alone when no potential is
        known."""
        return self._measure("energy", self.end_times, self._principal())

    def summary(self) -> dict[str, Any]:
        """The run in a few numbers, as `polhode ensemble --json` prints them."""
        return {
            "method": self.method.name,
            "torque": self.torque.name,
            f"{self.kind.acting}_mode": self.mode,
            "n": self.n,
            "steps": self.steps,
            "t_final": float(self.t),
            "device": self.device,
            "dtype": self.dtype,
            "threads": self.threads,
            "vectorised": self.vectorised,
            "finished": int(np.count_nonzero(self.status == FINISHED)),
            "failed": len(self.failures),
            "failures": [vars(failure) for failure in self.failures[:10]],
            "interrupted": self.interrupted,
            "message": self.message,
            "error_estimate": self._largest_error(),
            "seed": self.seed,
            "seconds": float(self.elapsed),
            "body_steps_per_s": float(self.body_steps_per_s),
        }

    def _largest_error(self) -> float | None:
        """The largest error at the end, where it is known."""
        if self.recorded is not None:
            return self.recorded.get("error_estimate")
        return self.error_estimate.largest if self.error_estimate else None

    def provenance(self) -> dict[str, Any]:
        """Where the numbers come from: method and its facts, step, body, torque, digests of the
        sources, versions, command."""
        if self.recorded is not None:
            return dict(self.recorded)
        return {
            **({"title": self.title} if self.title else {}),
            **provenance.environment(),
            "command": provenance.command(),
            "method": self.method.name,
            "method_facts": self.method.facts(),
            "step": self.step,
            **self._about_bodies(),
            f"{self.kind.acting}_mode": self.mode,
            "source_digest": self.source,
            "torque_digest": self.torque_source,
            "n": self.n,
            "device": self.device,
            "dtype": self.dtype,
            "seed": "none" if self.seed is None else str(self.seed),
            "steps": self.steps,
            "t_final": float(self.t),
            "message": self.message,
            "error_estimate": self._largest_error(),
            **({"error_sample": found.to_dict()} if (found := self.error_estimate) else {}),
            **({"units": self.units._asdict()} if self.units != UNSPECIFIED else {}),
            **({"failure_reasons": reasons} if (reasons := self.failure_reasons()) else {}),
        }

    def _about_bodies(self) -> dict[str, Any]:
        """The bodies and what acts, as plain data."""
        return {
            "torque": repr(self.torque),
            "torque_terms": self.torque.record(),
            **({"force_terms": self.force.record()} if self.force else {}),
            "body": self.bodies.one.to_dict() if self.bodies.count == 1 else EACH_ITS_OWN,
        }

    def failure_reasons(self) -> list[str]:
        """Why bodies failed, each reason once."""
        return list(dict.fromkeys(failure.reason for failure in self.failures))

    def to_xarray(self) -> Dataset:
        """An xarray Dataset with units and provenance."""
        return polhode.io.ensemble.dataset(self)

    def __repr__(self) -> str:
        error = self._largest_error()
        about = "" if error is None else f", error about {error:.1g}"
        return (
            f"<Ensemble: {self.n} bodies, {self.method.name}, {self.steps} steps to t = {self.t:g}, {self.device} "
            f"{self.dtype}, {len(self.failures)} failed{about}>"
        )
