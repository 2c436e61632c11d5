"""How the interactions of a system are called from a loop, and whether their machine code agrees with
their Python.

    compiled    numba can compile it
    callback    it stays Python, or is in C: the compiled loop calls it back
    python      nothing is compiled (`compiled=False`)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from polhode import rotations
from polhode.core import callback
from polhode.core.jit import bind, compile_now, compile_obstacle, interpreted
from polhode.core.loops import system as loops
from polhode.core.systems import Acting
from polhode.errors import InputError
from polhode.loads._system import System
from polhode.loads.agreement import TOLERANCE
from polhode.loads.interaction import Interaction
from polhode.loads.interaction_energy import numbers
from polhode.loads.interaction_kernels import acting
from polhode.results.motion import OMEGA, parts
from polhode.core.motions import of_bodies

TURNS = np.array([[0.0, 0.0, 0.0], [0.4, -0.7, 1.1], [-1.3, 0.2, 0.6], [2.2, 1.4, -0.9]])
SHIFTS = (0.0, 1e-3, -0.02, 0.05)  # relative to the distances of the bodies


class PythonInteraction:
    """An interaction in Python behind a C function pointer.  It keeps the exception that was raised,
    if any, for the caller."""

    def __init__(self, interaction: Interaction) -> None:
        self.interaction = interaction
        self.error: BaseException | None = None
        self.calls = 0
        self._pointer = callback.INTERACTION(self._call)
        self.address = np.array([ctypes.cast(self._pointer, ctypes.c_void_p).value])

    def _call(self, t: float, n: int, *addresses: int) -> None:
        """Called from machine code, with the addresses of the arrays."""
        shapes = [(n, 3), (n, 3, 3), *[(n, 3)] * 4]
        x, R, v, omega, F, N = (
            np.ctypeslib.as_array(
                (ctypes.c_double * int(np.prod(shape))).from_address(address)
            ).reshape(shape)
            for shape, address in zip(shapes, addresses, strict=True)
        )
        if self.error is not None:  # the loop is about to end
            F[:] = np.nan
            return
        self.calls += 1
        try:
            with np.errstate(all="ignore"):
                forces, torques = self.interaction(t, x, R, v, omega)
            check_shapes(self.interaction, forces, torques, n)
            F += forces
            N += torques
        except BaseException as error:  # it cannot pass through machine code: raised again later
            F[:], self.error = np.nan, error


def check_shapes(interaction: Interaction, forces: np.ndarray, torques: np.ndarray, n: int) -> None:
    """A ValueError where an interaction returned something else than forces and torques."""
    for what, found in (("forces", forces), ("torques", torques)):
        if found.shape != (n, 3):
            raise ValueError(
                f"{interaction.name!r} must return {what} of shape {(n, 3)}, got {found.shape}"
            )
        bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if len(bad):
            raise ValueError(
                f"{interaction.name!r} returned {what} {found[bad[0]].tolist()} for body {bad[0]}"
            )


class Way(NamedTuple):
    """How the interactions of a system are called from a loop."""

    mode: str
    note: str  # why one is called back, in a few words
    act: Callable[..., Any]  # (t, p)
    p: Acting
    pythons: tuple[PythonInteraction | None, ...]


def way(system: System, compiled: bool, t0: float, t1: float, motion: np.ndarray) -> Way:
    """The best way that works; `motion` is that at the start, in the user's axes."""
    terms, n = system.interaction.terms, len(system)
    p = numbers(terms, n)
    if not compiled:
        return Way("python", "as asked", acting([one.act() for one in terms]), p, (None,))
    acts, notes = [], []
    pythons: list[PythonInteraction | None] = []
    for i, one in enumerate(terms):
        note = obstacle(one, t0, t1, motion, n)
        if note is None:
            acts.append(one.act())
            pythons.append(None)
            continue
        python = PythonInteraction(one)
        term = p.terms[i]._replace(address=python.address)
        p = p._replace(terms=(*p.terms[:i], term, *p.terms[i + 1 :]))
        acts.append(callback.act)
        pythons.append(python)
        notes.append(f"{one.name}: {note}" if len(terms) > 1 else note)
    outside = any(pythons) or any(one.in_c for one in terms)
    mode = "callback" if outside else "compiled"
    return Way(mode, "; ".join(notes), acting(acts), p, tuple(pythons) or (None,))


# --- comparison -----------------------------------------------------------------------------------


Evaluate = Callable[[float, np.ndarray], np.ndarray]  # (t, motion) -> forces and torques


def by_rows(made: Callable[..., Any], one: Interaction, n: int) -> Evaluate:
    """What evaluates an interaction as the loops over rows do; `made` is `bind` or `interpreted`."""
    loop, p = made(loops.forces_at, act=acting([one.act()])), numbers((one,), n)

    def evaluate(t: float, motion: np.ndarray) -> np.ndarray:
        loop(t, motion, p)
        return np.concatenate([p.places.F, p.places.N])

    return evaluate


def obstacle(
    one: Interaction,
    t0: float,
    t1: float,
    motion: np.ndarray,
    n: int,
    form: Callable[..., Evaluate] = by_rows,
) -> str | None:
    """Why an interaction cannot be machine code; None where it can, and agrees with its Python, as
    the package's own do."""
    note = one.obstacle()
    if note is not None or one.in_c:
        return note
    some, which = one.sample(n)
    machine = form(bind, some, len(which))
    rows = motion.reshape(n, of_bodies(1).width)[which]
    trouble: list[Exception] = []

    def attempt() -> None:
        try:
            compile_now(machine, t0, rows.ravel())
        except ValueError as error:  # of the user's code: told when it is evaluated at the start
            trouble.append(error)

    note = compile_obstacle(attempt)
    if note is not None or one.is_ours or trouble:
        return note
    python = form(interpreted, some, len(which))
    for t, moved in _samples(t0, t1, rows):
        found: list[np.ndarray | None] = []
        for evaluate in (machine, python):
            try:
                with np.errstate(all="ignore"):
                    found.append(evaluate(t, moved.ravel()))
            except Exception:
                found.append(None)
        ours, theirs = found
        if (ours is None) != (theirs is None):
            return f"at t = {t:.6g} its Python and its machine code do not both raise an error"
        if ours is not None and theirs is not None and not _near(ours, theirs):
            return f"at t = {t:.6g} its Python and its machine code give different numbers"
    return None


def _near(ours: np.ndarray, theirs: np.ndarray) -> bool:
    finite = np.abs(theirs[np.isfinite(theirs)])
    atol = TOLERANCE * float(finite.max(initial=0.0))
    return bool(np.allclose(ours, theirs, rtol=0.0, atol=atol, equal_nan=True))


def _samples(t0: float, t1: float, rows: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Times and motions near the start: turned, and moved a little."""
    found = []
    spread = np.ptp(rows[:, 7:10], axis=0).max(initial=0.0)
    directions = np.sin(np.arange(3 * len(rows)).reshape(-1, 3) + 1.0)  # any
    for i, (turn, shift) in enumerate(zip(TURNS, SHIFTS, strict=True)):
        moved = rows.copy()
        moved[:, :4] = rotations.qmul(rows[:, :4], rotations.exp(turn * directions))
        moved[:, OMEGA] += shift * directions
        moved[:, 7:10] += shift * spread * directions
        found.append((t0 + i / 3.0 * (t1 - t0), moved))
    return found


def wrong_answer(system: System, t: float, motion: np.ndarray) -> str:
    """What is wrong with the form of what an interaction returned, in words; empty where nothing is."""
    now = parts(motion, of_bodies(len(system)))
    R = rotations.matrices(now.attitude)
    for one in system.interaction.terms:
        try:
            with np.errstate(all="ignore"):
                one(t, now.position, R, now.velocity, now.omega)
        except InputError as error:
            if f"the interaction {one.name!r} must return" in str(error):
                return str(error)
        except Exception:  # it is told elsewhere
            continue
    return ""


# --- evaluation -----------------------------------------------------------------------------------


def forces(system: System, t: float, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forces and torques in Python at a motion in the user's axes; what the user's functions raise
    is raised."""
    now = parts(motion, of_bodies(len(system)))
    F, N = np.zeros((len(system), 3)), np.zeros((len(system), 3))
    for one in system.interaction.terms:
        found = one(t, now.position, rotations.matrices(now.attitude), now.velocity, now.omega)
        check_shapes(one, *found, len(system))
        F += found[0]
        N += found[1]
    return F, N
