"""The result of an ensemble of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.results._ensemble_result import Ensemble
from polhode.results.motion import in_user_axes
from polhode.results.of_bodies import OfBodies
from polhode.support.on_device import on_host

if TYPE_CHECKING:
    from polhode.loads._system import System


class SystemEnsemble(OfBodies, Ensemble):
    """Many systems of the same bodies after a run.  Arrays have systems first, then the bodies, and
    components last.

    `failures`, `times`, `statistics`, `success`, `mode`, `vectorised` and other facts are as in `Ensemble`,
    with systems in place of bodies: `Failure.body` is the number of a system.

    Attributes
    ----------
    quaternion, omega : (n, bodies, 4) and (n, bodies, 3) arrays
        Attitudes at the end, body to space, scalar last, and angular velocities in the body frames.
    position, velocity : (n, bodies, 3) arrays
        Of the centres of mass, in space.
    quaternions, omegas, positions, velocities : (samples, n, bodies, ...) arrays
        The same on the way, with keep=every.
    body : System
    """

    def __init__(self, *, body: System, **facts: Any) -> None:
        super().__init__(torque=body.interaction, bodies=body, units=body.units, **facts)
        self.body = body

    @property
    def interaction(self) -> Any:
        """What acts between the bodies."""
        return self.body.interaction

    def to_user_axes(self, y: np.ndarray) -> np.ndarray:
        """Motions from principal axes to the bodies' own."""
        return in_user_axes(self.body, y, self.kind)

    def _principal(self) -> np.ndarray:
        return on_host(self._motions)

    @property
    def moments(self) -> np.ndarray:
        """The principal moments (bodies, 3)."""
        return self.body.moments

    def summary(self) -> dict[str, Any]:
        """The run in a few numbers."""
        found = super().summary()
        acting = found.pop("torque")
        return {"interaction": acting, "bodies": len(self.body), **found}

    def _about_bodies(self) -> dict[str, Any]:
        return {
            "interaction": repr(self.interaction),
            "interaction_terms": self.interaction.record(),
            "system": self.body.to_dict(),
        }

    def __repr__(self) -> str:
        error = self._largest_error()
        about = "" if error is None else f", error about {error:.1g}"
        return (
            f"<SystemEnsemble: {self.n} systems of {len(self.body)} bodies, {self.method.name}, {self.steps} steps "
            f"to t = {self.t:g}, {self.device} {self.dtype}, {len(self.failures)} failed{about}>"
        )
