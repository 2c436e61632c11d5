"""The bodies of an ensemble, one for all or each its own, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.core.digest import digest
from polhode.core.motions import Kind
from polhode.engine.one_body import as_body
from polhode.engine.programs import kind_of_gyrostat
from polhode.engine.rotors import PER_ROTOR, each_rotor, rotor_numbers
from polhode.errors import InputError, brief, floats
from polhode.loads._torque import Torque
from polhode.methods.exact_flow import EQUAL
from polhode.results.motion import OMEGA
from polhode.support.limits import check_moments
from polhode.support.on_device import OnDevice, on_host

if TYPE_CHECKING:
    from polhode.methods._method import Method


class Bodies:
    """Moments (3, 1 or n), masses (1 or n), and axes (n, 3, 3), or (3, 3) for one body, or None
    where all are principal."""

    on_device: OnDevice | None = None  # the moments (n, 3) where they lie on a GPU
    gyrostats: Sequence[RigidBody] = ()  # bodies with rotors: the one, or each
    rotors: np.ndarray | None = None  # (numbers, 1 or n), as kernels see them, see `engine.rotors`
    tensors: np.ndarray | None = None  # (n, 3, 3) in the user's axes, where these are not principal

    def __init__(self, given: Any) -> None:
        one = (3,), (3, 3)
        if isinstance(given, RigidBody) or (
            not _several(given)
            and (given.shape if isinstance(given, OnDevice) else floats("bodies", given).shape)
            in one
        ):
            body = as_body(given)
            self.count, self.one = 1, body
            self.moments = np.array(body.moments).reshape(3, 1)
            self.axes = None if body.is_principal else body.axes
            self.masses = np.array([body.mass])
            self._with_rotors([body])
        elif isinstance(given, OnDevice) and given.ndim == 2 and given.shape[1] == 3:
            # checked on the GPU
            self.count, self.on_device, self.axes = len(given), given, None
            self.one = self._body(0, on_host(given.array[:1])[0])
            self.masses = np.ones(1)
        elif _several(given) and any(isinstance(one, RigidBody) for one in given):
            self._from([self._body(i, one) for i, one in enumerate(given)])
        else:
            array = floats("bodies", given)
            if array.ndim == 2 and array.shape[1] == 3 and len(array):
                self._from_moments(array)
            elif array.ndim == 3 and array.shape[1:] == (3, 3) and len(array):
                self._from([self._body(i, one) for i, one in enumerate(array)])
            else:
                raise InputError(
                    "bodies must be a RigidBody, an inertia, a list of them, or an array (n, 3) of principal "
                    f"moments or (n, 3, 3) of tensors, got shape {array.shape}; give one of these"
                )

    def _with_rotors(self, bodies: list[RigidBody]) -> None:
        """Note the rotors of bodies: all have as many, with the same functions for their motors."""
        first = bodies[0].rotors
        for i, body in enumerate(bodies):
            if len(body.rotors) != len(first):
                raise InputError(
                    f"body {i} has {len(body.rotors)} rotors and body 0 has {len(first)}; give all bodies as many, "
                    "or run them in several ensembles"
                )
            for k, (one, other) in enumerate(zip(body.rotors, first, strict=True), 1):
                asked = [x.torque for x in (one, other)]
                if any(map(callable, asked)) and asked[0] is not asked[1]:
                    raise InputError(
                        f"the torque of rotor {k} of body {i} is {brief(asked[0])}, and that of body 0 {brief(asked[1])}; "
                        "give all bodies the same function, or numbers"
                    )
        if first:
            self.gyrostats = bodies
            self.rotors = np.array([rotor_numbers(body) for body in bodies]).T.copy()

    @property
    def spinning(self) -> int:
        """How many rotors each body has."""
        return 0 if self.rotors is None else len(self.rotors) // PER_ROTOR

    @property
    def numbers(self) -> np.ndarray:
        """What kernels read of the bodies, (numbers, 1 or n)."""
        if self.rotors is None:
            return self.moments
        return np.concatenate([self.moments, self.rotors])

    def momentum(self, motions: np.ndarray, kind: Kind) -> np.ndarray:
        """Angular momentum (n, 3), with that of the rotors, of motions in principal axes."""
        found = motions[:, OMEGA] * self.moments.T
        for k, (a, J, free) in enumerate(each_rotor(self.rotors), 1):
            W = motions[:, kind.slices[f"rotor_{k}"]]
            along = free * (a * motions[:, OMEGA]).sum(axis=1)
            found = found + (J * (W + along))[:, None] * a
        return found

    def __repr__(self) -> str:
        return f"<{self.count} bodies>" if self.count > 1 else repr(self.one)

    @classmethod
    def stored(
        cls,
        moments: np.ndarray,
        axes: np.ndarray | None,
        masses: np.ndarray | None,
        rotors: np.ndarray | None = None,
    ) -> Bodies:
        """Bodies of a stored ensemble, from moments (n, 3) and axes (n, 3, 3), None where all are
        principal, masses (n,), None where they are not known, and what `rotors` is."""
        found = cls.__new__(cls)
        found.count, found.one = len(moments), RigidBody(moments[0], check_triangle=False)
        found.moments, found.axes, found.rotors = np.ascontiguousarray(moments.T), axes, rotors
        found.masses = np.ones(1) if masses is None else masses
        return found

    @classmethod
    def of_moments(cls, moments: np.ndarray) -> Bodies:
        """Bodies with principal moments (n, 3), also where an array (3, 3) could be one tensor."""
        found = cls.__new__(cls)
        found._from_moments(moments)
        return found

    def with_masses(self, masses: np.ndarray) -> Bodies:
        """The same bodies with other masses (1 or n)."""
        other = copy(self)
        other.masses = masses
        return other

    def __getstate__(self) -> dict[str, Any]:
        """For another process, which cannot use arrays of this one on the GPU."""
        return {**self.__dict__, "moments": self.moments, "on_device": None}

    @cached_property
    def moments(self) -> np.ndarray:
        """Principal moments (3, 1 or n), copied from the GPU if they lie there."""
        assert self.on_device is not None
        return np.ascontiguousarray(self.on_device.host.T)

    @property
    def inertia(self) -> np.ndarray:
        """Tensors (n, 3, 3) in the user's axes."""
        return self.moments.T[:, None, :] * np.eye(3) if self.tensors is None else self.tensors

    @staticmethod
    def _body(i: int, given: Any) -> RigidBody:
        try:
            return as_body(given)
        except InputError as error:
            raise InputError(f"body {i}: {error}") from error

    def _from(self, bodies: list[RigidBody]) -> None:
        self.count = len(bodies)
        self.one = next((body for body in bodies if not body.is_principal), bodies[0])
        self.moments = np.array([body.moments for body in bodies]).T.copy()
        self.axes = None if self.one.is_principal else np.array([body.axes for body in bodies])
        if self.axes is not None or bodies[0].rotors:
            self.tensors = np.array([body.inertia for body in bodies])
        self.masses = np.array([body.mass for body in bodies])
        self._with_rotors(bodies)

    def _from_moments(self, moments: np.ndarray) -> None:
        """Many bodies at once, with the checks of `RigidBody` on arrays."""
        largest = moments.max(axis=1)
        wrong = (moments <= 0.0).any(axis=1) | (2.0 * largest > moments.sum(axis=1) * (1.0 + 1e-12))
        for i in np.flatnonzero(wrong):
            self._body(int(i), moments[i])  # raises, unless rounding is to blame
        check_moments(moments)
        self.count, self.one, self.axes = len(moments), self._body(0, moments[0]), None
        self.moments, self.masses = np.ascontiguousarray(moments.T), np.ones(1)

    def kinds(self, method: Method, torque: Torque) -> list[tuple[RigidBody, np.ndarray | None]]:
        """[(a body, the numbers of those like it, None for all)], one for each of the steps that the
        method has for these bodies."""
        if self.count == 1 or method.adapt is None:
            return [(self.one, None)]
        if self.gyrostats:
            kinds: dict[Any, list[int]] = {}
            for i, body in enumerate(self.gyrostats):
                kinds.setdefault(kind_of_gyrostat(method, body), []).append(i)
            alone = len(kinds) == 1
            return [
                (self.gyrostats[those[0]], None if alone else np.array(those))
                for those in kinds.values()
            ]
        axes = _symmetry_axes(self.moments)  # all that a step depends on
        by_step: dict[str, tuple[RigidBody, list[int]]] = {}
        for axis in np.unique(axes):
            like = RigidBody(self.moments[:, np.argmax(axes == axis)])
            by_step.setdefault(digest(method.suited(torque, like).step), (like, []))[1].append(axis)
        return [
            (like, None if len(by_step) == 1 else np.flatnonzero(np.isin(axes, those)))
            for like, those in by_step.values()
        ]


def _symmetry_axes(moments: np.ndarray) -> np.ndarray:
    """`symmetry_axis` for moments (3, n), with 3 for a triaxial body."""
    axes = np.full(moments.shape[1], 3)
    for k in range(3):
        axes[abs(moments[k - 2] - moments[k - 1]) <= EQUAL * moments[k - 1]] = k
    return axes


def _several(given: Any) -> bool:
    return (
        isinstance(given, (list, tuple))
        and len(given) > 0
        and isinstance(given[0], (RigidBody, list, tuple, np.ndarray))
    )
