"""The order in which methods are listed: those recommended, the others by family, the faulty."""

from collections.abc import Iterable

from polhode.methods._method import Method

RECOMMENDED, FAULTY = "Recommended", "Faulty variants from papers"
TITLES = {  # of the families, in the order of the list
    "splitting": "Splitting",
    "variational": "Variational",
    "runge-kutta": "Runge-Kutta",
    "midpoint": "Midpoint",
    "newmark": "Newmark and Simo-Wong",
    "quaternion_space": "On the quaternion, normalised",
    "taylor": "Taylor series",
}


def group_of(method: Method) -> str:
    """The heading under which a method is listed."""
    if method.flaw:
        return FAULTY
    return RECOMMENDED if method.best_for else TITLES.get(method.family, method.family)


def grouped(methods: Iterable[Method]) -> dict[str, list[Method]]:
    """Methods under their headings, in the order of the list; a new family comes before the
    faulty."""
    found: dict[str, list[Method]] = {}
    for method in methods:
        found.setdefault(group_of(method), []).append(method)
    known = (RECOMMENDED, *TITLES.values())
    others = sorted(set(found) - {*known, FAULTY})
    return {title: found[title] for title in (*known, *others, FAULTY) if title in found}
