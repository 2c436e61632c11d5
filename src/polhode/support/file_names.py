"""File names as text.  File names are bytes; they are read as UTF-8 even if the locale cannot decode
them."""

import os
from typing import Any


def readable(name: Any) -> str:
    """A file name as text that can be written to any file: bytes that the locale cannot decode are
    read as UTF-8, or escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def from_text(text: str) -> str:
    """The file name that a text in a file stands for, whether or not the locale has its letters."""
    return os.fsdecode(text.encode("utf-8"))
