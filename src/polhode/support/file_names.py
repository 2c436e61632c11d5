"""File names and text: names are bytes, and those of a locale without the letters in them are UTF-8
all the same."""

import os


def readable(name):
    """A file name as text that any file can hold: bytes that the locale does not decode are UTF-8,
    or else spelt out."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def from_text(text):
    """The file name that text in a file spells, where the locale has its letters and where it does
    not."""
    return os.fsdecode(text.encode("utf-8"))
