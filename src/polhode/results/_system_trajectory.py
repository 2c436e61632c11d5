"""The result of a run of a system: times, motions of all bodies, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import IO, TYPE_CHECKING, Any

import numpy as np

import polhode
from polhode.loads._system import System
from polhode.loads.interaction_energy import interaction_energy
from polhode.results._run import Run
from polhode.results.conserved import energy_scale
from polhode.results.motion import parts
from polhode.results.of_bodies import OfBodies

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polhode.loads.interaction import Interaction


@dataclass(kw_only=True, eq=False, repr=False)
class SystemTrajectory(OfBodies, Run):
    """A computed motion of a system.  Arrays have time first, then the body, and components last.

    `t`, `status`, `message`, `steps`, `nfev` and other facts are as in `Trajectory`; `nfev` counts
    evaluations of the interaction.

    Attributes
    ----------
    quaternion, omega : (n, bodies, 4) and (n, bodies, 3) arrays
        Attitudes, body to space, scalar last, and angular velocities in the body frames.
    position, velocity : (n, bodies, 3) arrays
        Of the centres of mass, in space.
    t_events, y_events : list
        For each event function, its times, and the motions there: (events, bodies, 13) arrays, for each body
        its quaternion, omega, position and velocity.
    body : System
    """

    body: System
    interaction: Interaction

    _name = "SystemTrajectory"

    if TYPE_CHECKING:
        position: np.ndarray
        velocity: np.ndarray

    @property
    def has_potential(self) -> bool:
        """Whether the potential energy is known."""
        return self.interaction.has_potential

    @property
    def keeps_energy(self) -> bool:
        """Whether the energy is constant."""
        return self.interaction.conservative

    @property
    def keeps_momentum(self) -> bool:
        """Whether the momentum is constant: no body is fixed, and the forces add up to zero."""
        return self.interaction.balanced and not self.body.fixed.any()

    @property
    def keeps_angular_momentum(self) -> bool:
        """Whether the angular momentum is: the same, and there is no periodic box."""
        boxes = [term.get("box") for term in self.interaction.record()]
        return self.keeps_momentum and not any(boxes)

    @cached_property
    def potential_energy(self) -> np.ndarray | None:
        """The potential energy (n,), or None where it is not known."""
        return interaction_energy(self.interaction, len(self.body), self.t, self.motion)

    @property
    def total_energy(self) -> np.ndarray:
        """Kinetic plus potential energy; the kinetic energy alone when no potential is known."""
        if self.potential_energy is None:
            return self.kinetic_energy
        return self.kinetic_energy + self.potential_energy

    def summary(self) -> dict[str, Any]:
        """The run in a few numbers, as `polhode run --json` prints them: see `Trajectory.summary`.
        Momenta are those of all bodies, about the origin; their relative changes are divided by the
        largest sum of the sizes of those of the bodies."""
        pieces = [piece._totals() for _, piece in self.blocks()]
        (energy0,), (P0,), (L0,) = (values[:1] for values in pieces[0][:3])
        change, pushed, turned, *sizes = np.max(
            [
                [
                    np.abs(energy - energy0).max(),
                    np.linalg.norm(P - P0, axis=1).max(),
                    np.linalg.norm(L - L0, axis=1).max(),
                    *(size.max() for size in sizes),
                ]
                for energy, P, L, *sizes in pieces
            ],
            axis=0,
        ).tolist()
        end = parts(self.ends[1][1], self.kind)
        keeps = self.keeps_energy
        return {
            "method": self.method.name,
            "bodies": len(self.body),
            "interaction": self.interaction.name,
            "interaction_mode": self.mode,
            "status": self.status,
            "message": self.message,
            "t_final": float(self.ends[1][0]),
            "samples": len(self),
            "steps": int(self.steps),
            **({} if self.tolerance is None else {"rejected_steps": int(self.rejected)}),
            "interaction_evaluations": int(self.nfev),
            "energy": "total" if self.has_potential else "kinetic",
            "energy_initial": float(energy0),
            "energy_final": float(pieces[-1][0][-1]),
            "energy_drift_max": change if keeps else None,
            "energy_drift_relative": change / energy_scale(float(energy0), sizes[0])
            if keeps
            else None,
            "energy_change_max": None if keeps else change,
            **{
                f"{name}_{'error' if kept else 'change'}_{kind}": value
                for name, by, size, kept in (
                    ("momentum", pushed, sizes[1], self.keeps_momentum),
                    ("angular_momentum", turned, sizes[2], self.keeps_angular_momentum),
                )
                for kind, value in (("max", by), ("relative", by / (size or 1.0)))
            },
            "orthogonality_error": max(one.orthogonality_error for _, one in self.blocks()),
            "residual_max": max(float(one.residuals.max(initial=0.0)) for _, one in self.blocks()),
            "elapsed_s": float(self.elapsed),
            "position_final": end.position.tolist(),
            "quaternion_final": end.attitude.tolist(),
            "velocity_final": end.velocity.tolist(),
            "omega_final": end.omega.tolist(),
        }

    def _totals(self) -> tuple[np.ndarray, ...]:
        """Energy and momenta along the run, and sums of the sizes of all that adds up to them."""
        P, L = self.linear_momenta, self.angular_momenta
        return (
            self.total_energy,
            P.sum(axis=1),
            L.sum(axis=1),
            self.kinetic_energy,
            *(np.linalg.norm(each, axis=2).sum(axis=1) for each in (P, L)),
        )

    def _what_acts(self) -> dict[str, Any]:
        return {
            "interaction": repr(self.interaction),
            "interaction_terms": self.interaction.record(),
        }

    def plot(self, path: str | PathLike[str] | IO[bytes] | None = None) -> Figure:
        """An overview figure: the paths of all bodies, their angular velocities, the errors of energy
        and momenta; saved if a path is given."""
        return polhode.plots.overview(self, path)

    def view(
        self, compare: Any = (), title: str | None = None, autoplay: bool | None = None
    ) -> polhode.view.Page:
        """A self-contained page with all bodies in 3D, the camera on all, on one or on the centre of mass,
        and plots of the errors of energy and momenta; a notebook shows it inline.

        Parameters
        ----------
        compare : SystemTrajectory, path of a stored run, or a list of them
            Shown beside this run, at the same times.
        title, autoplay
            As in `polhode.view.page`.

        Returns
        -------
        polhode.view.Page
            With `save(path)`, `open()` and `html`.

        Examples
        --------
        >>> import polhode
        >>> problem = polhode.problems.didymos()
        >>> problem.integrate("EXACT-RKN4", step=400.0, t_span=(0.0, 43200.0), title="Didymos").view().title
        'Didymos'
        """
        others = compare if isinstance(compare, (list, tuple)) else [compare]
        return polhode.view.page([self, *others], title, autoplay=autoplay)
