"""Parameters of interactions: numbers and arrays by name, which change as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np

from polhode.errors import InputError, brief, choice, floats


class HasParameters:
    """What has parameters."""

    name: str
    _params: Any = None  # a NamedTuple

    @property
    def params(self) -> Any:
        """Its parameters, a NamedTuple; None where it has none.  They cannot be written into: assign all of
        them, or make another interaction by `with_params`."""
        return self._params

    @params.setter
    def params(self, given: Any) -> None:
        if hasattr(given, "_asdict"):
            given = given._asdict()
        names = () if self._params is None else self._params._fields
        if not isinstance(given, Mapping) or set(given) != set(names):
            raise InputError(
                f"params of the interaction {self.name!r} must be a dict of {', '.join(names) or 'nothing'}, got "
                f"{brief(given)}; write interaction.with_params(name=value) to change some of them"
            )
        self._params = self._changed(given)
        self._forget()

    def with_params(self, **changes: Any) -> Self:
        """The same interaction with some parameters changed.

        In a sum of interactions a parameter is called by its name where it is the only one, and otherwise as
        "term.name": `both.with_params(**{"springs.k": 2.0})`.

        Examples
        --------
        >>> import polhode
        >>> pull = polhode.interactions.gravity([polhode.RigidBody.sphere(1)] * 2, G=1.0)
        >>> pull.with_params(G=2.0).params.G, pull.params.G
        (2.0, 1.0)
        """
        known = parameter_owners((self,))  # type: ignore[arg-type]
        _check_names(self.name, changes, known)
        other: Any = copy(self)
        other._forget()
        other._params = self._changed({known[key][0][1]: value for key, value in changes.items()})
        return other

    def _forget(self) -> None:
        """Its forces are to be compared with the slope of its potential again."""
        for name in ("compared", "misfit"):
            self.__dict__.pop(name, None)

    def _changed(self, changes: Mapping[str, Any]) -> Any:
        """The parameters with some changed, each as the numbers were given: floats, arrays or tuples."""
        values = {}
        for name, value in changes.items():
            now, found = getattr(self._params, name), floats(f"parameter {name!r}", value)
            if found.shape != np.shape(now):
                raise InputError(
                    f"parameter {name!r} of {self.name!r} must have shape {np.shape(now)}, got {found.shape}; give as many "
                    "numbers"
                )
            values[name] = _like(now, found)
        return self._params if self._params is None else self._params._replace(**values)


def _like(now: Any, value: np.ndarray) -> Any:
    """Numbers as a float, an array of their own or nested tuples, as those before."""
    if isinstance(now, np.ndarray):
        found = np.array(value, order="C")
        found.flags.writeable = now.flags.writeable
        return found
    return _tuples(value.tolist())


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


Owners = dict[str, list[tuple[int, str]]]


def parameter_owners(terms: tuple[Any, ...]) -> Owners:
    """What the parameters of several interactions may be called, and which they are: (number of the
    interaction, name).  Interactions of one name change together."""
    full: Owners = {}
    for k, one in enumerate(terms):
        for name in () if one.params is None else one.params._fields:
            full.setdefault(f"{one.name}.{name}", []).append((k, name))
    short = [key.rpartition(".")[2] for key in full]
    alone = {
        name: owners
        for name, owners in zip(short, full.values(), strict=True)
        if short.count(name) == 1
    }
    return {**alone, **full}


def with_params_of_terms(
    name: str, terms: tuple[Any, ...], changes: Mapping[str, Any]
) -> list[Any]:
    """Interactions with some of their parameters changed."""
    known = parameter_owners(terms)
    _check_names(name, changes, known)
    own: dict[int, dict[str, Any]] = {}
    for key, value in changes.items():
        for k, field in known[key]:
            own.setdefault(k, {})[field] = value
    return [one.with_params(**own[k]) if k in own else one for k, one in enumerate(terms)]


def _check_names(name: str, changes: Mapping[str, Any], known: Owners) -> None:
    if not known and changes:
        raise InputError(
            f"the interaction {name!r} has no parameters; drop them, or give it some: params={{...}}"
        )
    seen: dict[tuple[int, str], str] = {}
    for key in changes:
        choice(f"parameter of the interaction {name!r}", key, list(known))
        first = seen.setdefault(known[key][0], key)
        if first != key:
            raise InputError(f"parameter {key!r} is given twice, also as {first!r}; give it once")
