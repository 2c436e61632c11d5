"""Characters that the encoding of a terminal, file or pipe lacks: they are spelt in ASCII, and no command fails over them."""

import codecs
import unicodedata

SPELT = {
    "µ": "u", "Å": "A", "°": " deg", "∞": "inf", "√": "sqrt ", "±": "+-", "×": "x", "·": ".", "÷": "/", "⁄": "/", "−": "-",
    "≈": "~", "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "–": "-", "—": "-", "…": "...", "’": "'", "‘": "'", "“": '"', "”": '"',
    "′": "'", "─": "-", "━": "-", "│": "|",
}


def write_any_character(*streams):
    """Let text streams accept every character."""
    codecs.register_error("polhode.spelt", _spelt)
    for stream in streams:
        if hasattr(stream, "reconfigure"):   # not where a program has put an object of its own in their place
            stream.reconfigure(errors="polhode.spelt")


def can_show(text, stream):
    """Whether the encoding of a stream has all the characters of a text."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def spelt(character):
    """ASCII for a character: a symbol as one writes it, a Greek letter by its name, any other by its number."""
    if character in SPELT:
        return SPELT[character]
    name = unicodedata.name(character, "")
    if name.startswith("GREEK") and unicodedata.category(character) in ("Lu", "Ll"):
        letter = name.partition(" WITH ")[0].removesuffix(" SYMBOL").split()[-1].replace("LAMDA", "LAMBDA")
        return letter.title() if "CAPITAL" in name else letter.lower()
    if unicodedata.decomposition(character).startswith(("<super>", "<sub>", "<fraction>")):   # others in another place
        return "".join(one if one.isascii() else spelt(one) for one in unicodedata.normalize("NFKD", character))
    return character.encode("ascii", "backslashreplace").decode("ascii")


def raised(character):
    """Whether a character is an exponent, or a digit of one."""
    return unicodedata.decomposition(character).startswith("<super>")


def _spelt(error):
    """An error handler of `codecs`; bytes of a file name that could not be decoded come out as they are."""
    out, before = b"", " "
    for one in error.object[error.start:error.end]:
        undecoded = "\udc80" <= one <= "\udcff"
        power = b"^" if raised(one) and not raised(before) else b""
        out += bytes([ord(one) - 0xDC00]) if undecoded else power + spelt(one).encode("ascii")
        before = one
    return out, error.end
