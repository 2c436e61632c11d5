"""The text of exported files: lines that are not too long, prose, digits."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterable
from typing import Any

from polhode.core.constant import Constant
from polhode.core.single import LARGEST, SMALLEST

WIDTH = 110


def folded(text: str, indent: str = "") -> list[str]:
    """A statement on lines of at most WIDTH columns, broken where the brackets are fewest."""
    lines, line = [], indent + text
    while len(line) > WIDTH:
        at = _break(line, len(line) - len(line.lstrip()) + 8)
        if at is None:
            break
        lines.append(line[:at].rstrip())
        line = f"{indent}    {line[at:].lstrip()}"
    return [*lines, line]


def _break(text: str, least: int) -> int | None:
    """Where to break a line: after a comma or before an operator, as far out as possible."""
    depth, best, most = 0, None, -math.inf
    for i, letter in enumerate(text[: WIDTH + 1]):
        depth += (letter in "([{") - (letter in ")]}")
        after = text[max(i - 2, 0) : i]
        operator = letter in "+-*/?:&|" and after[1:] == " " and text[i + 1 : i + 2] in " &|"
        if i >= least and (after in (", ", "= ") or operator):
            worth = (
                i
                - 50.0 * depth
                - (40.0 if after == "= " else 30.0 if letter in "*/" else 15.0 * operator)
            )
            if worth >= most:
                best, most = i, worth
    return best


def packed(statements: Iterable[str], indent: str) -> list[str]:
    """Short statements, several on a line."""
    lines: list[str] = []
    for one in statements:
        if lines and len(f"{lines[-1]} {one}") <= WIDTH - 6:
            lines[-1] += f" {one}"
        else:
            lines += folded(one, indent)
    return lines


def closed(lines: list[str]) -> list[str]:
    """A function of one statement on one line where it fits, or on two."""
    if len(lines) != 3:
        return lines
    head, body = lines[0].removesuffix(" {"), f"{{ {lines[1].strip()} }}"
    if len(f"{head} {body}") <= WIDTH:
        return [f"{head} {body}"]
    return [head, f"    {body}"] if len(body) + 4 <= WIDTH and head != lines[0] else lines


def grouped(blocks: Iterable[str], most: int) -> str:
    """Blocks with empty lines between them, but not between those of at most so many lines."""
    text, was_short = "", False
    for block in blocks:
        short = block.count("\n") < most
        text += ("\n" if short and was_short else "\n\n" if text else "") + block
        was_short = short
    return text


def paragraphs(text: str, width: int = WIDTH - 6) -> list[str]:
    """The lines of a text, none of them too long; those that are indented stay as they are."""
    lines: list[str] = []
    for is_prose, group in itertools.groupby(text.strip("\n").splitlines(), _is_prose):
        given = [line.rstrip() for line in group]
        lines += textwrap.wrap(" ".join(given), width) if is_prose else given
    return lines


def _is_prose(line: str) -> bool:
    return bool(line.strip()) and not line.startswith((" ", "@"))


def single(value: Any) -> float:
    """A constant in single precision, as kernels in it have it."""
    import numpy as np

    number = value.single if isinstance(value, Constant) else float(value)
    if number != 0.0 and abs(number) < SMALLEST:
        number = math.copysign(SMALLEST, number)
    elif LARGEST < abs(number) < math.inf:
        number = math.copysign(LARGEST, number)
    return float(np.float32(number))


def shortest(value: float) -> str:
    """The digits that single precision needs."""
    import numpy as np

    text = str(np.float32(value))
    return text if any(letter in text for letter in ".en") else f"{text}.0"
