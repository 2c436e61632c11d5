"""Several torques at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode.errors import floats
from polhode.loads import kernels as _kernels
from polhode.loads._torque import ZERO, Torque
from polhode.loads.kernels import GROUND
from polhode.support.frames import rows_times


class Sum(Torque):
    """Several torques, or forces, at once; in the spatial frame."""

    def __init__(self, terms: Iterable[Torque]) -> None:
        self._terms = tuple(terms)
        self.name = " + ".join(term.name for term in self.terms)
        self.frame, self.form, self.params, self.derivatives = "spatial", "tuple", None, ()
        self.uses_omega = any(term.uses_omega for term in self.terms)
        self.uses_position = any(term.uses_position for term in self.terms)
        self.potential = None

    @property
    def terms(self) -> tuple[Torque, ...]:
        return self._terms

    @property
    def of_body(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(name for term in self.terms for name in term.of_body)

    @property
    def feels_omega(self) -> bool:
        return any(term.feels_omega for term in self.terms)

    @property
    def feels_velocity(self) -> bool:
        return any(term.feels_velocity for term in self.terms)

    def __call__(
        self,
        t: float,
        R: ArrayLike,
        omega: ArrayLike = ZERO,
        x: ArrayLike = ZERO,
        v: ArrayLike = ZERO,
    ) -> np.ndarray:
        R = floats("R", R, finite=False)
        total = np.zeros(3)
        for term in self.terms:
            value = term(t, R, omega, x, v)
            total = total + (
                value if term.frame == "spatial" else rows_times(value, np.transpose(R))
            )
        return total

    def __repr__(self) -> str:
        inside = [
            f"{term.name}.{k}={v}"
            for term in self.terms
            if term.params
            for k, v in term.params._asdict().items()
        ]
        return f"<{self.kind} {self.name}({', '.join(inside)}), {self.frame} frame>"

    def with_lifted(self, what: str = "function") -> Torque:
        return type(self)([term.with_lifted(what) for term in self.terms])

    def in_python(self) -> Torque:
        return type(self)([term.in_python() for term in self.terms])

    def kernel(self, setting: Any = GROUND) -> Callable[..., Any]:
        total, *others = [
            _kernels.in_frame(term.kernel(setting), term.frame).spatial for term in self.terms
        ]
        for other in others:
            total = _kernels.added(total, other, setting)
        return total

    def potential_kernel(self) -> Callable[..., Any] | None:
        if not self.has_potential:
            return None
        total, *others = [term.potential_kernel() or _kernels.no_potential for term in self.terms]
        for other in others:
            total = _kernels.added_potential(total, other, self.setting)
        return total

    @property
    def is_ours(self) -> bool:
        return all(term.is_ours for term in self.terms)

    @property
    def has_potential(self) -> bool:
        return any(term.has_potential for term in self.terms)

    @property
    def conservative(self) -> bool:
        return all(term.conservative for term in self.terms)

    @property
    def values(self) -> Any:
        total = self.terms[0].values
        for term in self.terms[1:]:
            total = (total, term.values)
        return total

    def source(self) -> tuple[Any, ...]:
        return tuple(term.source() for term in self.terms)

    def obstacle(self) -> str | None:
        return next(filter(None, (term.obstacle() for term in self.terms)), None)

    def potential_obstacle(self) -> str | None:
        return next(filter(None, (term.potential_obstacle() for term in self.terms)), None)
