"""Inputs made of bytes: choices, TOML values of every kind, scenarios with some of their parts
changed, files with some of their bytes changed.  The same bytes always make the same input, so that
a failure can be repeated."""

import copy
import datetime
import struct

NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    10**6,
    10**15,
    2**63,
    -(2**63),
    10**400,
    0.0,
    -0.0,
    0.5,
    1e-300,
    5e-324,
    1e308,
    -1e308,
    1e150,
    1e-150,
    float("inf"),
    float("-inf"),
    float("nan"),
)
TEXTS = (
    "",
    " ",
    "NMB",
    "nbm",
    "LP2",
    "DOP853",
    "taylor(12)",
    "taylor(1e9)",
    "newmark(nan)",
    "NMB+ep",
    "VLV+yoshida8+ep",
    "end",
    "random",
    "identity",
    "same",
    "box",
    "sphere",
    "heavy_top",
    "free",
    "krysl/slow-top",
    "__import__('os')",
    "../../x",
    "x" * 300,
    "\0",
    "é\u202e𝔘",
    "{0}",
    "%s",
    "[red]",
    "1e5",
    "nan",
    "cuda",
    "float32",
    "linear",
    "log",
    ".nc",
    "out.zarr",
)
KEYS = (
    "name",
    "shape",
    "inertia",
    "mass",
    "size",
    "omega",
    "momentum",
    "quaternion",
    "matrix",
    "method",
    "step",
    "t_span",
    "rtol",
    "atol",
    "max_step",
    "every",
    "t_eval",
    "breaks",
    "file",
    "format",
    "n",
    "seed",
    "samples",
    "from",
    "to",
    "count",
    "normal",
    "problem",
    "title",
    "body",
    "initial",
    "torque",
    "run",
    "output",
    "ensemble",
    "sweep",
    "__class__",
    "import",
    "exec",
)


class Choices:
    """A finite stream of choices; zeros after its end."""

    def __init__(self, data):
        self.data, self.place = data, 0

    def below(self, n):
        """A whole number from 0 to n - 1."""
        piece = self.data[self.place : self.place + 2]
        self.place += 2
        return int.from_bytes(piece, "big") % n

    def one(self, options):
        """One of several."""
        return options[self.below(len(options))]

    def real(self):
        """Any double, or one of those that are often forgotten."""
        if self.below(2):
            return self.one(NUMBERS)
        piece = self.data[self.place : self.place + 8].ljust(8, b"\0")
        self.place += 8
        return struct.unpack("<d", piece)[0]

    def text(self):
        """A word, or bytes that happen to be text."""
        if self.below(3):
            return self.one(TEXTS)
        length = self.below(40)
        piece = self.data[self.place : self.place + length]
        self.place += length
        return piece.decode("utf-8", "replace")

    def value(self, depth=3):
        """A value of any kind that TOML has."""
        kind = self.below(8 if depth else 5)
        if kind < 2:
            return self.real()
        if kind == 2:
            return self.text()
        if kind == 3:
            return bool(self.below(2))
        if kind == 4:
            return datetime.date(2026, 1, 1 + self.below(28))
        if kind == 5:
            return {self.one(KEYS): self.value(depth - 1) for _ in range(self.below(4))}
        if kind == 6:
            return [self.real() for _ in range(self.below(6))]
        return [self.value(depth - 1) for _ in range(self.below(5))]


def places(data):
    """Every (container, key) inside nested tables and lists."""
    keys = data.keys() if isinstance(data, dict) else range(len(data))
    for key in list(keys):
        yield data, key
        if isinstance(data[key], (dict, list)):
            yield from places(data[key])


def altered(originals, choices):
    """One of the originals with a few of its parts changed, dropped, added or exchanged."""
    data = copy.deepcopy(choices.one(originals))
    for _ in range(1 + choices.below(4)):
        found = list(places(data))
        if not found:
            return {choices.one(KEYS): choices.value()}
        (here, key), (there, other) = choices.one(found), choices.one(found)
        action = choices.below(6)
        if action < 3:
            here[key] = choices.value()
        elif action == 3 and isinstance(here, dict):
            del here[key]
        elif action == 4:
            here[key] = copy.deepcopy(there[other])
        elif isinstance(here, dict):
            here[choices.one(KEYS)] = choices.value()
        else:
            here.append(choices.value())
    return data


def damaged(original, choices):
    """Bytes with a few of them changed, cut out, repeated or exchanged."""
    data = bytearray(original)
    for _ in range(1 + choices.below(6)):
        at, length = choices.below(len(data) + 1), choices.below(40)
        action = choices.below(6)
        if action == 0:
            del data[at : at + length]
        elif action == 1:
            data[at:at] = data[at : at + length]
        elif action == 2:
            data[at : at + 4] = choices.one(
                (
                    b"\xff\xff\xff\xff",
                    b"\x7f\xff\xff\xff",
                    b"\0\0\0\0",
                    b"\x80\0\0\0",
                    b"1e99",
                    b"-1",
                )
            )
        elif action == 3:
            del data[at:]
        else:
            for i in range(at, min(at + 1 + length // 8, len(data))):
                data[i] = choices.below(256)
    return bytes(data)
