"""A netCDF file written piece by piece: for runs longer than memory, which libraries that want the whole array cannot write.

The classic format with 64-bit offsets, big-endian: a header (dimensions, attributes, and for each variable its place), then the
variables one after the other.  Everything is aligned to four bytes.
"""

import struct

import numpy as np

from polhode.errors import InputError
from polhode.io.columns import LABELS, attributes, columns

LARGEST = 2**32 - 4   # bytes of a variable
_CHAR, _INT, _DOUBLE = 2, 4, 6
_DIMENSION, _VARIABLE, _ATTRIBUTE = 10, 11, 12


def check(points):
    """Refuse more points than the format holds."""
    if 32 * points > LARGEST:
        raise InputError(f"{points} points are more than a netCDF file of this kind holds ({LARGEST // 32}); store fewer, or "
                         "write .zarr")


def write(run, path):
    """Write a trajectory."""
    check(len(run))
    held = columns(run)
    sizes = {"time": len(run), **{name: len(labels) for name, labels in LABELS.items()}, "letter": 1}
    variables = [(one.name, one.dimensions, one.about, _DOUBLE) for one in held]
    variables += [(name, (name, "letter"), {"_Encoding": "utf-8"}, _CHAR) for name in LABELS]
    header, begins = _laid_out(sizes, attributes(run.provenance()), variables)
    with open(path, "wb") as file:
        file.write(header)
        for name, labels in LABELS.items():
            file.seek(begins[name])
            file.write(_padded(labels.encode()))
        for first, piece in run.blocks():
            for one in held:
                file.seek(begins[one.name] + 8 * first * max(len(one.labels), 1))
                file.write(np.ascontiguousarray(one.values(piece), ">f8"))


def _laid_out(sizes, facts, variables):
    """(header, {variable: where it begins}); the length of the header does not depend on what it says about places."""
    begins = dict.fromkeys((name for name, *_ in variables), 0)
    place = len(_header(sizes, facts, variables, begins))
    for name, dimensions, _, kind in variables:
        begins[name] = place
        place += _bytes(dimensions, sizes, kind)
    return _header(sizes, facts, variables, begins), begins


def _header(sizes, facts, variables, begins):
    names = list(sizes)
    lengths = [_text(name) + _number(sizes[name]) for name in names]
    entries = [_text(name) + _number(len(dimensions)) + b"".join(_number(names.index(one)) for one in dimensions)
               + _attributes(about) + _number(kind) + _number(_bytes(dimensions, sizes, kind)) + struct.pack(">q", begins[name])
               for name, dimensions, about, kind in variables]
    return b"".join([b"CDF\x02", _number(0), _list(_DIMENSION, lengths), _attributes(facts), _list(_VARIABLE, entries)])


def _bytes(dimensions, sizes, kind):
    """The bytes that a variable takes."""
    count = (8 if kind == _DOUBLE else 1) * int(np.prod([sizes[one] for one in dimensions], dtype=object))
    return count + -count % 4


def _attributes(facts):
    return _list(_ATTRIBUTE, [_text(name) + _value(value) for name, value in facts.items()])


def _value(value):
    if isinstance(value, str):
        data = value.encode()
        return _number(_CHAR) + _number(len(data)) + _padded(data)
    kind, code = (_INT, ">i") if isinstance(value, int) else (_DOUBLE, ">d")
    return _number(kind) + _number(1) + struct.pack(code, value)


def _list(tag, entries):
    return _number(tag if entries else 0) + _number(len(entries)) + b"".join(entries)


def _text(name):
    data = name.encode()
    return _number(len(data)) + _padded(data)


def _padded(data):
    return data + b"\0" * (-len(data) % 4)


def _number(value):
    return struct.pack(">I", value)
