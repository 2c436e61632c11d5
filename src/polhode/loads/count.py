"""How many bodies an interaction is for."""

from typing import Any

from polhode.errors import InputError

MANY = 20_000  # bodies that may all act on each other


def check_count(name: str, n: int, fix: str) -> None:
    """Refuse an interaction of all pairs of too many bodies."""
    if n > MANY:
        raise InputError(
            f"{n} bodies have {n * (n - 1) // 2:.2g} pairs, and {name!r} acts between all of them; {fix}"
        )


def check_number(interaction: Any, n: int) -> None:
    """Refuse an interaction that is not for n bodies."""
    if interaction.count not in (None, n):
        raise InputError(
            f"the interaction {interaction.name!r} is for {interaction.count} bodies, and there are {n}; give as many of each"
        )
    interaction.check_for(n)


__all__ = ["check_count", "check_number"]
