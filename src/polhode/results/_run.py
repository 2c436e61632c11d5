"""What the runs of a body and of a system have in common: times, motions, and how they came about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.motions import ROTATION, Kind
from polhode.results.columns import UNTITLED, UNTITLED_SYSTEM, attributes, columns
from polhode.results.motion import LABELS, InMotion
from polhode.results.storable import Storable
from polhode.support import provenance

if TYPE_CHECKING:
    from typing import Self
    from xarray import Dataset
    from polhode.methods._method import Method

BLOCK = 65536  # points that are worked on at a time where a run may be longer than memory
FINISHED, EVENT, INTERRUPTED, BLOW_UP, FAILED = (
    "finished",
    "event",
    "interrupted",
    "blow-up",
    "failed",
)


@dataclass(kw_only=True, eq=False, repr=False)
class Run(Storable, InMotion):
    """A computed motion, fresh or read from a file; `Trajectory` describes the attributes."""

    t: np.ndarray
    motion: np.ndarray
    ends: tuple[tuple[float, np.ndarray], tuple[float, np.ndarray]]  # of the run, stored or not
    residuals: np.ndarray
    body: Any
    method: Method
    step: float | list[float] | None
    status: str
    message: str
    nfev: int
    steps: int
    mode: str
    kind: Kind = ROTATION
    tolerance: tuple[float, float] | None = None
    rejected: int = 0
    note: str = ""
    elapsed: float = 0.0
    t_events: list[np.ndarray] | None = None
    y_events: list[np.ndarray] | None = None
    source: str = ""
    torque_source: str = ""
    potential_source: str | None = None
    title: str = ""
    recorded: dict[str, Any] | None = None  # the provenance of a run that was read

    _name = "Trajectory"

    def __len__(self) -> int:
        return len(self.t)

    def points(self, a: int, b: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, motions and residuals of the stored points from a to b."""
        return self.t[a:b], self.motion[a:b], self.residuals[a:b]

    def blocks(self) -> Iterator[tuple[int, Self]]:
        """The run in pieces of bounded size: pairs of the number of a piece's first point and the
        piece, which is such a run too."""
        # the last may be longer: none is short
        cuts = [*range(0, max(len(self) - BLOCK, 0) + 1, BLOCK), len(self)]
        for a, b in pairwise(cuts):
            yield a, self._piece(slice(a, b), *self.points(a, b))

    def part(self, rows: slice) -> Self:
        """Some of the stored points."""
        return self._piece(rows, self.t[rows], self.motion[rows], self.residuals[rows])

    def _piece(self, rows: slice, *points: np.ndarray) -> Self:
        piece: Any = self._blank()
        piece.__dict__.update(self.__dict__)
        piece.t, piece.motion, piece.residuals = points
        known = piece.__dict__.pop("potential_energy", None)
        if known is not None:
            piece.potential_energy = known[rows]
        return piece

    def _blank(self) -> Self:
        """One of its kind without anything, in memory."""
        return type(self).__new__(type(self))

    @property
    def success(self) -> bool:
        """Whether the run reached its end or a terminal event."""
        return self.status in (FINISHED, EVENT)

    @property
    def orthogonality_error(self) -> float:
        """Largest entry of |R^T R - 1|, from the quaternion's length: R = |q|^2 times a
        rotation."""
        x, y, z, w = np.moveaxis(self.quaternion, -1, 0)
        squared = x * x + y * y + z * z + w * w  # the same bits wherever the array lies in memory
        return float(np.max(np.abs(squared * squared - 1.0), initial=0.0))

    def _what_acts(self) -> dict[str, Any]:
        """What `provenance` says of torque, forces or interaction."""
        raise NotImplementedError

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
            "tolerance": self.tolerance,
            "body": self.body.to_dict(),
            **self._what_acts(),
            f"{self.kind.acting}_mode": self.mode,
            "source_digest": self.source,
            "torque_digest": self.torque_source,
            "status": self.status,
            "message": self.message,
            "steps": int(self.steps),
            f"{self.kind.acting}_evaluations": int(self.nfev),
        }

    def to_xarray(self) -> Dataset:
        """An xarray Dataset with provenance, and with units if the body has them."""
        import xarray as xr

        data = {
            column.name: (column.dimensions, column.values(self), column.about)
            for column in columns(self)
        }
        coords: dict[str, Any] = {
            "time": data.pop("time"),
            **{name: list(labels) for name, labels in LABELS.items()},
        }
        if self.kind.bodies:
            coords["body"] = ("body", np.arange(self.kind.bodies, dtype="i4"))
        title = UNTITLED_SYSTEM if self.kind.bodies else UNTITLED
        return xr.Dataset(data, coords, attributes(self.provenance(), title))

    def __repr__(self) -> str:
        return (
            f"<{self._name}: {self.method.name}, {len(self)} points, t = {self.t[0]:g} to {self.t[-1]:g}, "
            f"{self.steps} steps, {self.mode}, {self.status}>"
        )
