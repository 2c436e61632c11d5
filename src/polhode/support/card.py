"""The display of results in notebooks."""

from __future__ import annotations

import polhode


class Card:
    """A result that a notebook shows as a small table: `polhode.view.card` makes it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return polhode.view.card(self)
