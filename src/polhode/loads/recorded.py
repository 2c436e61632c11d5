"""The torque of a stored run."""

from __future__ import annotations

from typing import Any, Never

import numpy as np

from polhode.errors import InputError
from polhode.loads._torque import Torque


class Recorded(Torque):
    """A torque as a file records it: name and parameters, but no function.  It can be looked at and
    stored again; it cannot act."""

    is_ours = True  # there is no code that could change
    function: Any = None
    potential = params = None
    frame, form, derivatives = "spatial", "array", ()
    uses_omega = uses_position = False
    has_potential = conservative = False

    def __init__(self, text: str, terms: list[dict[str, Any]], has_potential: bool) -> None:
        self.text, self._record, self.has_potential = text, terms, has_potential
        self.name = " + ".join(term["name"] for term in terms) or text
        self.acts = any(term["acts"] for term in terms)
        self.conservative = all(term["conservative"] for term in terms)

    def record(self) -> list[dict[str, Any]]:
        """As the file has it."""
        return self._record

    def refuse(self) -> Never:
        """Raise the error for a torque that is to act."""
        raise InputError(
            f"the torque {self.name!r} comes from a stored run, which records its name and parameters but not its "
            "function; give the torque itself"
        )

    def __call__(self, *arguments: Any) -> np.ndarray:
        self.refuse()

    def __repr__(self) -> str:
        return self.text
