"""Python files of the user: the only place where code from outside polhode is executed.

Only files that the user names, as FILE.py or FILE.py:NAME on the command line or in a call, are
executed; a scenario file cannot name one.
"""

import importlib.util
import re
import sys
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from polhode.errors import InputError, as_path, brief, nearest
from polhode.loads._torque import Torque
from polhode.loads.conversion import as_torque

from polhode.loads.conversion import torque as torque_decorator
from polhode.loads.force import Force
from polhode.loads.interaction import Interaction, as_interaction
from polhode.loads.interaction import interaction as interaction_decorator
from polhode.loads.load import Load, load
from polhode.loads.pair import pair
from polhode.support.file_names import readable

# which `from polhode import torque` leaves in a file: no torques
DECORATORS = (torque_decorator, load, interaction_decorator, pair)
PACKAGE = "polhode_user"  # the modules of files are in it, so that what they define can be pickled
_modules: dict[Path, ModuleType] = {}  # each file is run once


def is_target(given: Any) -> bool:
    """Whether text names a Python file, "FILE.py" or "FILE.py:NAME"."""
    return re.search(r"\.py(:|$)", str(given)) is not None


def split(target: str | PathLike[str]) -> tuple[Path, str]:
    """(path, name) of a target; the name is "" where there is none."""
    if not isinstance(target, (str, Path)):
        raise InputError(
            f"a Python file is named as FILE.py or FILE.py:NAME, got {brief(target)}; give text"
        )
    path, _, name = str(target).partition(".py:")
    return Path(path + ".py" if name or str(target).endswith(":") else path), name


def module(path: str | PathLike[str]) -> ModuleType:
    """Run a file, as by `python FILE.py` but under another name than __main__; the module."""
    place = as_path("path", path).resolve()
    if place not in _modules:
        if not place.is_file():
            raise InputError(
                f"there is no file {str(path)!r}; give the path of a Python file, FILE.py or FILE.py:NAME"
            )
        sys.modules.setdefault(PACKAGE, ModuleType(PACKAGE))
        name = f"{PACKAGE}.{readable(place.stem)}"
        spec: Any = importlib.util.spec_from_file_location(name, place)
        made = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(made)
        except InputError:
            del sys.modules[name]
            raise
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            raise InputError(
                f"{str(path)!r} could not be imported: {type(error).__name__}: {error}; "
                f"check that `python {path}` runs"
            ) from error
        _modules[place] = made
    return _modules[place]


def torque(target: str | PathLike[str]) -> Torque | Load:
    """The torque of a Python file, or what acts on a body in flight: a force or a load.

    Parameters
    ----------
    target : str or Path
        "FILE.py:NAME", a function f(t, R) or what `@polhode.torque` or `@polhode.load` made of one; "FILE.py" alone where the
        file holds a single Torque or Load, or something called `torque`.

    Returns
    -------
    Torque or Load
    """
    found = _held(target, "torque", (Torque, Load), "(t, R)")
    return found if isinstance(found, (Load, Force)) else as_torque(found)


def interaction(target: str | PathLike[str]) -> Interaction:
    """The interaction of a Python file: "FILE.py:NAME", a function f(t, x, R) or an `Interaction`;
    "FILE.py" alone where the file holds a single Interaction, or something called `interaction`."""
    return as_interaction(_held(target, "interaction", (Interaction,), "(t, x, R)"))


def _held(target: str | PathLike[str], what: str, kinds: tuple[type, ...], arguments: str) -> Any:
    """What a Python file holds under the name in a target, or its only one of these kinds."""
    path, name = split(target)
    if path.suffix != ".py":
        a = "an" if what == "interaction" else "a"
        raise InputError(
            f"{a} {what} file is FILE.py or FILE.py:NAME, got {str(target)!r}; write the {what} as a function in one"
        )
    held = vars(module(path))
    made = [key for key, value in held.items() if isinstance(value, kinds)]
    if not name:
        name = made[0] if len(made) == 1 else what
    found = held.get(name)
    if callable(found) and not isinstance(found, type) and found not in DECORATORS:
        return found
    functions = [
        key
        for key, value in held.items()
        if getattr(value, "__module__", None) == held["__name__"] and callable(value)
    ]
    names = list(dict.fromkeys([*made, *functions]))
    raise InputError(
        f"{str(path)!r} has no {what} {name!r}{nearest(name, names)}; write one, as {name}{arguments}, or name another: "
        + (", ".join(f"{path}:{one}" for one in names) or f"{path}:NAME")
    )
