"""What all closed solutions have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polhode import rotations
from polhode.results.motion import Attitudes

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


class ExactMotion(Attitudes):
    """Attitudes of any shape."""

    @property
    def rotation(self) -> Rotation:
        """The attitudes as a scipy Rotation, all in one row."""
        return rotations.as_rotation(self.quaternion.reshape(-1, 4))
