"""Interactions by name: what scenario files find, and checks of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from polhode.errors import InputError, brief, floats
from polhode.loads.interaction import Interaction
from polhode.loads.named import register
from polhode.loads.pair import check_links

BUILT_IN: dict[str, Callable[..., Interaction]] = {}
named = partial(register, BUILT_IN)


def rows_for(
    name: str, value: Any, count: int, shape: tuple[int, ...] = (), what: str = "link"
) -> np.ndarray:
    """A number, vector or matrix for each of `count` links or bodies, from one for all or one for
    each."""
    array = floats(name, value)
    if array.shape not in (shape, (count, *shape)):
        each = {(): "a number", (3,): "three numbers", (6,): "six numbers"}[shape]
        raise InputError(
            f"{name} must be {each}, or {each} for each {what}, of which there are {count}; got shape {array.shape}: "
            f"{brief(value)}; give one of these"
        )
    return np.broadcast_to(array, (count, *shape)).copy()


def not_negative(name: str, value: Any) -> Any:
    """The number or the rows of numbers, or an InputError where one is below zero."""
    rows = np.atleast_1d(value)
    bad = rows[(rows < 0.0).reshape(len(rows), -1).any(axis=1)]
    if len(bad):
        raise InputError(f"{name} must not be negative, got {brief(bad[0].tolist())}; correct it")
    return value


def link_ends(
    links: Any, points: Any, width: int = 3, name: str = "points"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Links (m, 2), and a vector on the first and on the second body of each, (m, 3): from one pair of
    vectors for all links or one for each; None is the centre of mass of both."""
    found = check_links(links)
    array = np.zeros((2, width)) if points is None else floats(name, points)
    if array.shape not in ((2, width), (len(found), 2, width)):
        raise InputError(
            f"{name} must be a vector on the first and one on the second body, ((x, y, z), (x, y, z)), or such a pair for "
            f"each of the {len(found)} links; got shape {array.shape}: {brief(points)}; give one of these"
        )
    both = np.broadcast_to(array, (len(found), 2, width))
    return found, both[:, 0].copy(), both[:, 1].copy()
