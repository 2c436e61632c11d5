"""What runs and ensembles have in common: they are saved, and shown in notebooks."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import polhode
from polhode.support.card import Card


class Storable(Card):
    """A result that can be written to a file and read back."""

    __slots__ = ()

    def save(
        self: Any, path: str | PathLike[str], *, format: str | None = None, force: bool = False
    ) -> Path:
        """Write it to a file, as `polhode.io.save` does: the suffix says how.  `polhode.read` reads
        it back.

        Parameters
        ----------
        path : str or Path
        format : str, optional
            In place of the suffix, such as "nc".
        force : bool
            Overwrite an existing file.

        Returns
        -------
        Path
            The file.
        """
        return polhode.io.save(self, path, format, force)
