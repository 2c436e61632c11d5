"""What the Tab key offers for the arguments and options of commands."""

from collections.abc import Iterable, Iterator
from pathlib import Path


def complete_method(incomplete: str) -> list[str]:
    """Return the names of methods that begin so."""
    from polhode.methods import names

    return _beginning(incomplete, names())


def complete_methods(incomplete: str) -> list[str]:
    """Return lists of methods, with commas between them, that begin so."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in complete_method(last)]


def complete_family(incomplete: str) -> list[str]:
    """Return the families of methods that begin so."""
    from polhode.methods import everything

    return _beginning(incomplete, dict.fromkeys(entry.family for entry in everything()))


def complete_language(incomplete: str) -> list[str]:
    """Return the languages of exported files that begin so."""
    from polhode.exports import languages

    return _beginning(incomplete, languages.names())


def complete_problem_name(incomplete: str) -> list[str]:
    """Return the names of problems that begin so, or whose part after the slash does."""
    from polhode import problems

    names = problems.names()
    short = [name.partition("/")[2] for name in names]
    return _beginning(incomplete, names) or _beginning(incomplete, short)


def complete_problem(incomplete: str) -> list[str]:
    """Return the names of problems, and the scenario files and folders, that begin so."""
    return [*complete_problem_name(incomplete), *_scenarios(incomplete)]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _scenarios(incomplete: str) -> Iterator[str]:
    folder, slash, name = incomplete.rpartition("/")
    for path in sorted(Path(folder + slash).glob("*")):
        shown = folder + slash + path.name
        if path.name.startswith(name) and (path.is_dir() or path.suffix == ".toml"):
            yield f"{shown}/" if path.is_dir() else shown
