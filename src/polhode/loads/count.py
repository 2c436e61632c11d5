"""How many bodies an interaction of all pairs may have."""

from polhode.errors import InputError

MANY = 20_000  # bodies that may all act on each other


def check_count(name: str, n: int, fix: str) -> None:
    """Refuse an interaction of all pairs of too many bodies."""
    if n > MANY:
        raise InputError(
            f"{n} bodies have {n * (n - 1) // 2:.2g} pairs, and {name!r} acts between all of them; {fix}"
        )


__all__ = ["check_count"]
