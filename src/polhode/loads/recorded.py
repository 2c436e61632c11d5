"""The torque of a stored run, and the interaction of a stored run of a system."""

from __future__ import annotations

from typing import Any, Never

import numpy as np

from polhode.errors import InputError
from polhode.loads._torque import Torque
from polhode.loads.interaction import Interaction
from polhode.loads.pair import check_links


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


class RecordedInteraction(Interaction):
    """An interaction as a file records it, in the same way."""

    is_ours = True
    function: Any = None
    potential = params = None
    uses_velocity = False
    has_potential = conservative = balanced = False

    def __init__(self, text: str, terms: list[dict[str, Any]], has_potential: bool) -> None:
        self.text, self._record, self.has_potential = text, terms, has_potential
        self.name = " + ".join(term["name"] for term in terms) or "none"
        self.acts = bool(terms)
        self.conservative = has_potential and all(term["conservative"] for term in terms)
        self.balanced = all(term["balanced"] for term in terms)
        self.links = all_links(terms)

    def record(self) -> list[dict[str, Any]]:
        """As the file has it."""
        return self._record

    def refuse(self) -> Never:
        """Raise the error for an interaction that is to act."""
        raise InputError(
            f"the interaction {self.name!r} comes from a stored run, which records its name and parameters but not its "
            "function; give the interaction itself"
        )

    def check_for(self, n: int) -> None:
        if self.links is not None and self.links.max() >= n:
            raise InputError(
                f"the interaction links body {self.links.max()}, and there are {n}; the file is damaged"
            )

    def act(self) -> Any:
        self.refuse()

    def __call__(self, *arguments: Any) -> Any:
        self.refuse()

    def potential_energy(self, *arguments: Any) -> Any:
        self.refuse()

    def __repr__(self) -> str:
        return self.text


def all_links(terms: list[dict[str, Any]]) -> np.ndarray | None:
    """The links of all terms of a record, None where there are none."""
    links = [link for term in terms for link in term.get("links") or ()]
    return check_links(links) if links else None
