"""What the command line says of commands, options and arguments that are wrong: the value, the rule and the way out."""

import re

from polhode.errors import unknown

_NUMBERS = {"integer": ("a whole number", "10"), "number": ("a number", "1.0"), "float": ("a number", "1.0")}


def words(error):
    """The message of one of the library's errors of usage; what kind it is shows in what it knows."""
    context = error.ctx
    said = error.format_message().rstrip(".")
    if hasattr(error, "option_name") and not hasattr(error, "possibilities"):
        rule, way_out = ("needs a value", "VALUE") if "requires" in said else ("takes no value", "alone")
        return f"the option {error.option_name!r} {rule}; write {error.option_name} {way_out}"
    if context is None:
        return f"{said}; see `polhode --help`"
    command = context.command_path
    whole = f"`{' '.join(filter(None, [command, *map(_argument, context.command.params)]))}`"
    if hasattr(error, "possibilities"):
        options = [name for parameter in context.command.params for name in parameter.opts if name.startswith("-")]
        return str(unknown(f"option of `{command}`", error.option_name, [*options, "--help"]))
    if hasattr(error, "param_type"):
        return f"`{command}` needs {_name(error.param)}, which is missing; write {whole}"
    if getattr(error, "param", None) is not None:
        return _bad_value(error, context, said)
    extra = re.search(r"extra arguments?(?:\(s\))? \((.*)\)", said)
    if extra:
        return f"`{command}` takes no argument {extra[1]!r}; drop it: {whole}"
    return f"{said[0].lower()}{said[1:]}; see `{command} --help`"


def _argument(parameter):
    """How a parameter stands in a command line: nothing for an option."""
    if parameter.opts[0].startswith("-"):
        return ""
    return _name(parameter) if parameter.required else f"[{_name(parameter)}]"


def _name(parameter):
    """A parameter as it is typed."""
    options = [name for name in parameter.opts if name.startswith("-")]
    return max(options, key=len) if options else (parameter.metavar or parameter.name.upper())


def _bad_value(error, context, said):
    typed = getattr(context.find_root().command, "typed", [])
    given = next((value for name in error.param.opts for value in _values(name, typed)), None)
    rule, sample = next((rule for word, rule in _NUMBERS.items() if word in said), (None, "VALUE"))
    usual = error.param.default
    sample = f"{usual:g}" if rule and isinstance(usual, (int, float)) else sample
    rule = f"must be {rule}" if rule else said
    got = "" if given is None else f", got {given!r}"
    return f"{_name(error.param)} of `{context.command_path}` {rule}{got}; write {_name(error.param)} {sample}, for example"


def _values(option, typed):
    """What follows an option in a command line."""
    for place, word in enumerate(typed):
        if word == option and place + 1 < len(typed):
            yield typed[place + 1]
        elif word.startswith(f"{option}="):
            yield word.partition("=")[2]
