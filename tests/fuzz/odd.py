"""Odd values: what people hand over by mistake, and what has slipped through checks before.

`VALUES` holds functions that make them, by name: generators are used up, arrays may be written to,
so each call gets its own.
"""

import datetime
import decimal
import fractions
import pathlib

import numpy as np

import polhode


class Unlucky:
    """Fails whatever is done with it."""

    def __repr__(self):
        raise RuntimeError("no repr")

    def __array__(self, *_, **__):
        raise RuntimeError("no array")

    def __float__(self):
        raise RuntimeError("no float")

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    __hash__ = None


class Column:
    """Like a column of a table: an array with an index, whose truth is ambiguous."""

    def __init__(self, values):
        self.values, self.index = np.asarray(values), range(len(values))

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, key):
        return self.values[key]

    def __eq__(self, other):
        return Column(self.values == other)

    def __bool__(self):
        raise ValueError("the truth of a column is ambiguous")

    __hash__ = None


class Text(str):
    """Text of a kind of its own."""


def nested(depth):
    """Lists in lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


def looped():
    """A list that holds itself."""
    value = [1.0]
    value.append(value)
    return value


VALUES = {
    # nothing, truth and numbers
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "0": lambda: 0,
    "1": lambda: 1,
    "-1": lambda: -1,
    "3": lambda: 3,
    "2.5": lambda: 2.5,
    "10**15": lambda: 10**15,
    "2**63": lambda: 2**63,
    "-2**63": lambda: -(2**63),
    "10**400": lambda: 10**400,
    "0.0": lambda: 0.0,
    "-0.0": lambda: -0.0,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: -float("inf"),
    "5e-324": lambda: 5e-324,
    "1e308": lambda: 1e308,
    "complex": lambda: 1.0 + 2.0j,
    "real complex": lambda: 1.0 + 0.0j,
    "Fraction": lambda: fractions.Fraction(1, 3),
    "Decimal": lambda: decimal.Decimal("0.1"),
    "Decimal NaN": lambda: decimal.Decimal("sNaN"),
    "NotImplemented": lambda: NotImplemented,
    "Ellipsis": lambda: ...,
    "np.float32": lambda: np.float32(0.5),
    "np.int8": lambda: np.int8(-3),
    "np.bool_": lambda: np.bool_(True),
    "np.complex": lambda: np.complex128(1.0),
    "longdouble": lambda: np.longdouble("1e4000"),
    "0-d": lambda: np.array(0.5),
    "0-d object": lambda: np.array(None, dtype=object),
    "NaT": lambda: np.datetime64("NaT"),
    "timedelta64": lambda: np.timedelta64(3, "s"),
    "datetime64": lambda: np.datetime64("2026-01-01"),
    # text, bytes and dates
    "''": lambda: "",
    "text": lambda: "nonsense",
    "number as text": lambda: "1.5",
    "nul": lambda: "a\0b",
    "escape": lambda: "\x1b[31m",
    "surrogate": lambda: "\ud800",
    "long text": lambda: "x" * 5000,
    "Text": lambda: Text("nonsense"),
    "bytes": lambda: b"nonsense",
    "np.str_": lambda: np.str_("1.5"),
    "bytearray": lambda: bytearray(b"abc"),
    "memoryview": lambda: memoryview(b"abc"),
    "date": lambda: datetime.date(2026, 1, 1),
    "time": lambda: datetime.time(1, 2),
    "timedelta": lambda: datetime.timedelta(1),
    "Path": lambda: pathlib.Path("nowhere") / "file.nc",
    "slash": lambda: "/",
    "dot": lambda: ".",
    # arrays
    "empty list": lambda: [],
    "empty array": lambda: np.empty(0),
    "empty (0, 3)": lambda: np.empty((0, 3)),
    "empty (3, 0)": lambda: np.empty((3, 0)),
    "[1]": lambda: [1.0],
    "[1, 2]": lambda: [1.0, 2.0],
    "[1, 2, 3]": lambda: [1.0, 2.0, 3.0],
    "[1, 2, 3, 4]": lambda: [1.0, 2.0, 3.0, 4.0],
    "zeros": lambda: np.zeros(3),
    "(2, 2)": lambda: np.ones((2, 2)),
    "(3, 3)": lambda: np.eye(3),
    "ones (3, 3)": lambda: np.ones((3, 3)),
    "(2, 3)": lambda: np.ones((2, 3)),
    "(1, 3)": lambda: np.ones((1, 3)),
    "(2, 3, 3)": lambda: np.ones((2, 3, 3)),
    "(2, 4)": lambda: np.ones((2, 4)),
    "32 axes": lambda: np.ones((1,) * 32),
    "nan array": lambda: np.array([1.0, np.nan, 2.0]),
    "inf array": lambda: np.array([1.0, np.inf, 2.0]),
    "huge array": lambda: [1e308, 1e308, 1e308],
    "tiny array": lambda: [5e-324, 5e-324, 5e-324],
    "negative": lambda: [-1.0, -2.0, -3.0],
    "bools": lambda: np.array([True, False, True]),
    "a bool among": lambda: [1.0, True, 2.0],
    "complex array": lambda: np.ones(3, dtype=complex),
    "texts": lambda: ["1", "2", "3"],
    "text array": lambda: np.array(["1", "2", "3"]),
    "bytes array": lambda: np.array([b"1", b"2", b"3"]),
    "objects": lambda: np.array([1.0, None, "a"], dtype=object),
    "Fractions": lambda: [fractions.Fraction(1, 3)] * 3,
    "Decimals": lambda: [decimal.Decimal(1)] * 3,
    "dates": lambda: np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "datetime64[D]"),
    "timedeltas": lambda: np.array([1, 2, 3], "timedelta64[s]"),
    "structured": lambda: np.zeros(3, dtype=[("a", float), ("b", int)]),
    "masked": lambda: np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]),
    "masked matrix": lambda: np.ma.masked_equal(np.eye(3), 0.0),
    "masked constant": lambda: np.ma.masked,
    "masked list": lambda: [np.ma.masked, 1.0, 2.0],
    "matrix": lambda: np.asmatrix(np.eye(3)),
    "ragged": lambda: [[1.0], [1.0, 2.0]],
    "nested": lambda: nested(3),
    "very nested": lambda: nested(5000),
    "looped": looped,
    "None among": lambda: [1.0, None, 3.0],
    "huge ints": lambda: [10**400, 1, 1],
    "big-endian": lambda: np.array([1.0, 2.0, 3.0], ">f8"),
    "read-only": lambda: np.frombuffer(np.ones(3).tobytes()),
    "column": lambda: Column([1.0, 2.0, 3.0]),
    "text column": lambda: Column(["a", "b", "c"]),
    # containers and functions
    "dict": dict,
    "dict of text": lambda: {"a": 1.0},
    "dict of numbers": lambda: {1: 2.0},
    "set": lambda: {1.0, 2.0, 3.0},
    "frozenset": lambda: frozenset((1.0, 2.0)),
    "range": lambda: range(3),
    "generator": lambda: (float(i) for i in range(3)),
    "iterator": lambda: iter([1.0, 2.0, 3.0]),
    "map": lambda: map(float, "123"),
    "tuple of texts": lambda: ("a", "b"),
    "zip": lambda: zip((1, 2), (3, 4), strict=True),
    "no arguments": lambda: lambda: 1.0,
    "raises": lambda: lambda *_, **__: 1 / 0,
    "returns None": lambda: lambda *_, **__: None,
    "returns text": lambda: lambda *_, **__: "abc",
    "returns four": lambda: lambda *_, **__: (1.0, 2.0, 3.0, 4.0),
    "returns bool": lambda: lambda *_, **__: True,
    "returns itself": lambda: lambda *a, **__: a,
    "keyword-only": lambda: lambda *, t: t,
    "NameError": lambda: lambda *_, **__: missing,  # noqa: F821
    "class": lambda: object,
    "builtin": lambda: len,
    "type": lambda: float,
    "module": lambda: np,
    "exception": lambda: ValueError("odd"),
    "object": object,
    "Unlucky": Unlucky,
    "[Unlucky]": lambda: [Unlucky()] * 3,
    "body": lambda: polhode.RigidBody([1.0, 2.0, 2.5]),
    "torque": lambda: polhode.torques.heavy_top(),
    "rng": lambda: np.random.default_rng(1),
    "random state": lambda: np.random.RandomState(1),
}
