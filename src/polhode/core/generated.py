"""Functions written out as source text: where their length, or the fields they name, are known only
when they are made.  This is the only place that runs such text.

The text is made by the package from numbers, operations and field names that it knows; nothing that
a user wrote enters it.
"""

from polhode.core.jit import jit


def generated(home, name, arguments, lines, result=None, **scope):
    """The function `name(arguments)` that runs lines of source and returns an expression, for
    `jit`.

    Parameters
    ----------
    home : str
        The module that it counts as a function of: `__name__`.
    lines : iterable of str
        Statements, each on a line, without indentation of their own.
    result : str, optional
        The expression that is returned.
    scope
        What the names in the text mean.
    """
    body = [*lines] if result is None else [*lines, f"return {result}"]
    scope["__name__"] = home
    exec("\n    ".join([f"def {name}({arguments}):", *body]), scope)
    return jit(scope[name])
