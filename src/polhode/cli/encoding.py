"""Characters that the encoding of a terminal, file or pipe lacks are written in ASCII, so that no
command fails over them."""

import codecs
import unicodedata
from typing import Any, TextIO

HANDLER = "polhode.ascii"
ASCII = {
    "µ": "u", "Å": "A", "°": " deg", "∞": "inf", "√": "sqrt ", "±": "+-", "×": "x", "·": ".",
    "÷": "/", "⁄": "/", "−": "-", "≈": "~", "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "–": "-",
    "—": "-", "…": "...", "’": "'", "‘": "'", "“": '"', "”": '"', "′": "'", "─": "-", "━": "-", "│": "|",
}  # fmt: skip


def write_any_character(*streams: TextIO) -> None:
    """Let text streams accept every character."""
    codecs.register_error(HANDLER, _encode_in_ascii)
    for stream in streams:
        if hasattr(
            stream, "reconfigure"
        ):  # a program may have replaced sys.stdout by an object of its own
            stream.reconfigure(errors=HANDLER)


def can_encode(text: str, stream: Any) -> bool:
    """Tell whether the encoding of a stream has all the characters of a text."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def to_ascii(character: str) -> str:
    """Return ASCII for a character: a usual replacement, the name of a Greek letter, or its code point."""
    if character in ASCII:
        return ASCII[character]
    name = unicodedata.name(character, "")
    if name.startswith("GREEK") and unicodedata.category(character) in ("Lu", "Ll"):
        letter = name.partition(" WITH ")[0].removesuffix(" SYMBOL").split()[-1]
        letter = letter.replace("LAMDA", "LAMBDA")
        return letter.title() if "CAPITAL" in name else letter.lower()
    if unicodedata.decomposition(character).startswith(("<super>", "<sub>", "<fraction>")):
        parts = unicodedata.normalize("NFKD", character)
        return "".join(one if one.isascii() else to_ascii(one) for one in parts)
    return character.encode("ascii", "backslashreplace").decode("ascii")


def is_superscript(character: str) -> bool:
    """Tell whether a character is an exponent, or a digit of one."""
    return unicodedata.decomposition(character).startswith("<super>")


def _encode_in_ascii(error: Any) -> tuple[bytes, int]:
    """Handle an encoding error; undecodable bytes of a file name are written as they were."""
    out, before = b"", " "
    for one in error.object[error.start : error.end]:
        undecoded = "\udc80" <= one <= "\udcff"
        power = b"^" if is_superscript(one) and not is_superscript(before) else b""
        out += bytes([ord(one) - 0xDC00]) if undecoded else power + to_ascii(one).encode("ascii")
        before = one
    return out, error.end
