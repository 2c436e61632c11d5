"""TOML files read: their contents as plain data, or an error that names line and text."""

import datetime
import re
import tomllib

from polhode.errors import InputError
from polhode.io.scenario.faults import Faults
from polhode.support.regular import LARGEST_TEXT, check_regular

DEEPEST = 100  # tables and lists inside each other


def check_depth(data, path):
    """Refuse tables and lists inside each other so deep that whoever walks through them loses the
    way."""
    level, depth = [data], 0
    while level:
        if depth > DEEPEST:
            raise InputError(
                f"{path}: tables and lists are nested more than {DEEPEST} deep; that is not a scenario: "
                "remove some levels"
            )
        inside = [list(one.values()) if isinstance(one, dict) else one for one in level]
        level, depth = (
            [item for one in inside for item in one if isinstance(item, (dict, list))],
            depth + 1,
        )


def parse(path):
    """The contents of a TOML file."""
    try:
        text = check_regular(path, "a scenario", LARGEST_TEXT).read_bytes().decode("utf-8-sig")
        data = tomllib.loads(text)
    except InputError:
        raise
    except OSError as error:
        raise InputError(
            f"cannot read the scenario {str(path)!r}: {error.strerror or error}; give a TOML file"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: a scenario is UTF-8 text, but byte {error.start} is not; save it as UTF-8"
        ) from None
    except RecursionError:
        raise InputError(
            f"{path}: not valid TOML: brackets are nested too deeply; remove some levels"
        ) from None
    except tomllib.TOMLDecodeError as error:  # names line and column
        raise InputError(
            f"{path}: not valid TOML: {error}{_line(text, str(error))}; correct it there: text goes in quotes, true "
            "and false are in lower case, lists are in brackets"
        ) from None
    except ValueError:  # of Python's int
        raise InputError(
            f"{path}: not valid TOML: a whole number has thousands of digits; write fewer"
        ) from None
    check_depth(data, path)
    refuse_dates(data, path)
    return data


def _line(text, error):
    """The line that an error of TOML speaks of."""
    found = re.search(r"at line (\d+)", error)
    lines = text.splitlines()
    return (
        f", {lines[int(found[1]) - 1].strip()[:60]!r}"
        if found and int(found[1]) <= len(lines)
        else ""
    )


def refuse_dates(data, path):
    """TOML has dates, for which a scenario has no use: 1979-05-27 is one where somebody meant text
    or a number."""
    faults = Faults()
    _note_dates(data, (), faults)
    faults.report(path)


def _note_dates(value, path, faults):
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            _note_dates(inner, (*path, key), faults)
    elif isinstance(value, (datetime.date, datetime.time)):
        faults.add(
            path,
            f"is a date or a time, got {value.isoformat()}; write a number of seconds, or text in quotes",
        )
