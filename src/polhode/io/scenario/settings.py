"""Settings: values given beside a scenario, as in `polhode run top.toml --set run.every=10`.

A setting is an option and its text.  A key is named by its path, such as run.step or torque.moment;
numbers in it count from 0 and pick one entry of a list, and one of several torques is picked by its
name.  A value is written as in a scenario file; plain words need no quotes.
"""

import copy
import tomllib

from polhode import problems
from polhode.errors import InputError, unknown
from polhode.io.scenario.toml import check_depth, refuse_dates

SET = "--set"
SHORT = {"--method": "run.method", "--step": "run.step", "--rtol": "run.rtol"}
# a step and a tolerance take the place of each other
REPLACED = {"run.step": ("rtol", "atol", "max_step"), "run.rtol": ("step",)}


def apply_settings(data, settings):
    """The contents of a scenario with settings [(option, text)], and the option that gave each key
    {path: option}."""
    data, given = copy.deepcopy(data), {}
    for option, text in settings:
        path, value = _read(option, text)
        label = option if option in SHORT else f"{SET} {path}"
        if path in given:
            raise InputError(f"{label}: {path} is given twice; drop one")
        given[path] = (label, value)
    fill_from_problem(data, given)
    for path, (label, value) in given.items():
        for key in REPLACED.get(path, ()):
            if f"run.{key}" not in given and isinstance(data.get("run"), dict):
                data["run"].pop(key, None)
        try:
            put(data, path, value)
        except InputError as error:
            raise InputError(f"{label}: {error}") from None
    return data, {path: label for path, (label, _) in given.items()}


def _read(option, text):
    """(path, value) of a setting."""
    if option in SHORT:
        path = SHORT[option]
        return path, text if option == "--method" else toml_value(option, text)
    path, equals, value = text.partition("=")
    path = path.strip()
    if not equals or not all(path.split(".")):
        raise InputError(
            f"{SET} takes KEY=VALUE with the path of a key, got {text!r}; write {SET} run.every=10"
        )
    return path, toml_value(f"{SET} {path}", value.strip())


def toml_value(label, text):
    """A value as TOML has it; what begins with a letter and is no TOML is text."""
    try:
        data = tomllib.loads(f"value = {text}")
        if list(data) != ["value"]:
            raise ValueError
    except (ValueError, RecursionError):
        if text[:1].isalpha() and text.isprintable():
            return text
        raise InputError(
            f"{label}: the value is written as in a scenario file, got {text!r}; write 0.1, "
            "'[1.0, 2.0, 3.0]' or a name, for example"
        ) from None
    check_depth(data, label)
    refuse_dates(data["value"], label)
    return data["value"]


def put(data, path, value):
    """Write a value at a path of a scenario."""
    *way, last = path.split(".")
    here = data
    for part in way:
        inside = isinstance(here, dict)
        here = here.setdefault(part, {}) if inside else here[_index(here, part, path)]
    if not isinstance(here, dict):
        here[_index(here, last, path)] = value
    elif last.isdigit() and not here:
        raise InputError(f"{'.'.join(way)} is missing in the scenario; give all its entries")
    else:
        here[last] = value


def _index(here, part, path):
    """Where the entry is that a part of a path picks from a list."""
    if not isinstance(here, list):
        raise InputError(
            f"{path} picks one of several values, got {here!r:.60} in their place; give all of them"
        )
    names = [item.get("name") if isinstance(item, dict) else None for item in here]
    if names.count(part) > 1 and path.split(".")[0] in ("body", "interaction"):
        where = path.split(f".{part}")[0]
        places = [f"{where}.{i}" for i, name in enumerate(names) if name == part]
        raise InputError(
            f"{path} is not one entry: {len(places)} are named {part!r}; write {' or '.join(places)}"
        )
    if part in names:
        return names.index(part)
    numbers = [str(number) for number in range(len(here))]
    if part not in numbers:
        where = path.split(f".{part}")[0]
        raise unknown(f"entry of {where}:", part, [*filter(None, names), *numbers])
    return int(part)


def fill_from_problem(data, paths):
    """Write out what a problem supplies, where a path picks one entry of it."""
    wanted = {path.rpartition(".")[0] for path in paths}
    initial = data.get("initial", {})
    if "problem" not in data or not isinstance(initial, dict):
        return
    changes_torque = any(path.startswith("torque.") for path in paths)
    if changes_torque and "torque.name" not in paths and "torque" not in data:
        data["torque"] = dict(problems.of_one_body(data["problem"]).torque_section)
    if "body.inertia" in wanted and "body" not in data:
        moments = problems.of_one_body(data["problem"]).body.moments
        data["body"] = {"inertia": moments.tolist(), "check_triangle": False}
    if "initial.omega" in wanted and not {"omega", "momentum"} & set(initial):
        data["initial"] = {
            **initial,
            "omega": problems.of_one_body(data["problem"]).omega0.tolist(),
        }
