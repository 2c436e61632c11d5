"""Messages for commands, options and arguments that are wrong: the value, the rule and the fix."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

_NUMBERS = {
    "integer": ("a whole number", "10"),
    "valid int": ("a whole number", "10"),
    "number": ("a number", "1.0"),
    "float": ("a number", "1.0"),
}


def usage_message(error: Any) -> str:
    """Return the message for one of click's usage errors; its attributes tell which kind it is."""
    from polhode.errors import unknown

    context = error.ctx
    original = error.format_message().rstrip(".")
    if hasattr(error, "option_name") and not hasattr(error, "possibilities"):
        rule, fix = (
            ("needs a value", "VALUE") if "requires" in original else ("takes no value", "alone")
        )
        return f"the option {error.option_name!r} {rule}; write {error.option_name} {fix}"
    if context is None:
        return f"{original}; see `polhode --help`"
    command = context.command_path
    parameters = context.command.params
    whole = f"`{' '.join(filter(None, [command, *map(_as_argument, parameters)]))}`"
    if hasattr(error, "possibilities"):
        options = [name for one in parameters for name in one.opts if name.startswith("-")]
        return str(unknown(f"option of `{command}`", error.option_name, [*options, "--help"]))
    if hasattr(error, "param_type"):
        return f"`{command}` needs {_name(error.param)}, which is missing; write {whole}"
    if getattr(error, "param", None) is not None:
        return _bad_value_message(error, context, original)
    extra = re.search(r"extra arguments?(?:\(s\))? \((.*)\)", original)
    if extra:
        return f"`{command}` takes no argument {extra[1]!r}; drop it: {whole}"
    return f"{original[0].lower()}{original[1:]}; see `{command} --help`"


def _as_argument(parameter: Any) -> str:
    """Return how a parameter stands in a command line; nothing for an option."""
    if parameter.opts[0].startswith("-"):
        return ""
    return _name(parameter) if parameter.required else f"[{_name(parameter)}]"


def _name(parameter: Any) -> str:
    """Return a parameter as it is typed."""
    options = [name for name in parameter.opts if name.startswith("-")]
    return max(options, key=len) if options else (parameter.metavar or parameter.name.upper())


def _bad_value_message(error: Any, context: Any, original: str) -> str:
    typed = getattr(context.find_root().command, "typed", [])
    given = next((value for name in error.param.opts for value in _values_of(name, typed)), None)
    rule, sample = next(
        (rule for word, rule in _NUMBERS.items() if word in original), (None, "VALUE")
    )
    default = error.param.default
    sample = f"{default:g}" if rule and isinstance(default, (int, float)) else sample
    rule = f"must be {rule}" if rule else original
    got = "" if given is None else f", got {given!r}"
    name = _name(error.param)
    return f"{name} of `{context.command_path}` {rule}{got}; write {name} {sample}, for example"


def _values_of(option: str, typed: Sequence[str]) -> Iterator[str]:
    """Yield what follows an option in a command line."""
    for place, word in enumerate(typed):
        if word == option and place + 1 < len(typed):
            yield typed[place + 1]
        elif word.startswith(f"{option}="):
            yield word.partition("=")[2]
