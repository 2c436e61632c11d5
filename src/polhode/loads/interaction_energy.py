"""The potential energy of a system along a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.core.jit import bind, compile_now, compile_obstacle, compiling, interpreted
from polhode.core.loops import system as loops
from polhode.core.systems import Acting, Places
from polhode.loads.interaction import Interaction
from polhode.loads.interaction_kernels import energies
from polhode.loads.neighbours import with_room


def numbers(interactions: tuple[Interaction, ...], n: int, rows: int = 0) -> Acting:
    """What loops get of these interactions between n bodies; so many rows for stages."""
    shapes = ((n, 3, 3) if name == "R" else (n, 3) for name in Places._fields)
    terms = tuple(one.term(n) for one in interactions)
    return Acting(Places(*map(np.zeros, shapes)), terms, np.zeros((rows, 13 * n)))


def interaction_energy(
    interaction: Interaction, n: int, t: np.ndarray, motions: np.ndarray, compiled: bool = True
) -> np.ndarray | None:
    """The potential energies at times (k,) and motions (k, 13 n) in the user's axes; None where the
    potential is not known.  For a few of them Python is quicker than compiling."""
    if not interaction.has_potential:
        return None
    terms = interaction.terms
    energy, p = energies([one.energy() for one in terms]), numbers(terms, n)
    given = np.ascontiguousarray(t, dtype=float), np.ascontiguousarray(motions, dtype=float), p
    out = np.empty(len(given[0]))
    if compiled and compiling() and interaction.obstacle() is None:
        machine: Any = bind(loops.energy_along, energy=energy)
        machine.subject = "the energy of a system"
        few = given[0][:0], given[1][:0], p, out[:0]
        if compile_obstacle(lambda: compile_now(machine, *few)) is None:
            machine(given[0][:1], given[1][:1], p, out[:1])
            machine(given[0], given[1], with_room(p), out)
            return out
    interpreted(loops.energy_along, energy=energy)(*given, out)
    return out
