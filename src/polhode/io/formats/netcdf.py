"""netCDF files, written piece by piece and read with every bound and checksum verified.

The classic format, big-endian: a header (dimensions, attributes, and for each variable its place),
then the variables one after the other.  Everything is aligned to four bytes.  Offsets have 64 bits
(CDF-2); where a variable has more than 4 GB, so do counts (CDF-5), which netCDF-C reads from 4.4 on
and SciPy does not.

Each variable carries the checksum of its bytes, crc32, and the file that of its header,
header_crc32, as attributes; HDF5 has checksums for data, and none for part of its structure.
"""

from __future__ import annotations

import os
import struct
import zlib

import numpy as np

from polhode.io.formats import Format, register
from polhode.results import columns
from polhode.results.motion import LABELS
from polhode.support import memory

LARGEST = 2**32 - 4  # bytes of a variable in CDF-2
HEADER_SUM, SUM = "header_crc32", "crc32"
# stands for a checksum that is not known yet, and for that of the header while it is computed
_UNKNOWN = "0" * 8
_CHAR, _INT, _DOUBLE = 2, 4, 6
_TYPES = {1: ">i1", _CHAR: "S1", 3: ">i2", _INT: ">i4", 5: ">f4", _DOUBLE: ">f8"}
_CODES = {"i1": 1, "S1": _CHAR, "i2": 3, "i4": _INT, "f4": 5, "f8": _DOUBLE}
_DIMENSION, _VARIABLE, _ATTRIBUTE = 10, 11, 12


class NetCDF(Format):
    """Classic netCDF with checksums."""

    suffix, first_bytes = "nc", b"CDF"

    def write(self, contents, path):
        kinds = {one.name: one.dtype.newbyteorder(">") for one in contents.variables}
        with Writer(path, contents.attributes, contents.variables) as file:
            for _, piece in contents.blocks():
                for name, values in piece.items():
                    file.append(name, np.ascontiguousarray(values, kinds[name]).tobytes())

    def read(self, path):
        arrays, attributes = read(path)
        return arrays, columns.provenance_in(attributes)


# --- writing --------------------------------------------------------------------------------------


class Writer:
    """Writes a file: its variables have fixed places, and each is filled from its beginning."""

    def __init__(self, path, attributes, variables):
        labels = [(name, (name, "letter"), "S1", {"_Encoding": "utf-8"}) for name in LABELS]
        self.sizes = {}
        for one in variables:
            self.sizes |= zip(one.dimensions, one.shape, strict=True)
        self.sizes |= {name: len(text) for name, text in LABELS.items()} | {"letter": 1}
        self.variables = [
            (one.name, one.dimensions, one.dtype.str[1:], one.attributes) for one in variables
        ] + labels
        self.bytes = {name: self._bytes(*about) for name, *about, _ in self.variables}
        self.wide = max(self.bytes.values()) > LARGEST
        self.attributes = {HEADER_SUM: _UNKNOWN} | attributes
        self.sums, self.places = dict.fromkeys(self.bytes, 0), dict.fromkeys(self.bytes, 0)
        place = len(self.header())  # the length does not depend on the places in it
        for name, count in self.bytes.items():
            self.places[name] = place
            place += count
        self.end, self.ends = place, dict(self.places)
        self.file = open(path, "wb")  # noqa: SIM115 - closed by `__exit__`
        for name, text in LABELS.items():
            self.append(name, text.encode())

    def __enter__(self):
        return self

    def append(self, name, data):
        """Append bytes to a variable."""
        self.file.seek(self.ends[name])
        self.file.write(data)
        self.sums[name] = zlib.crc32(data, self.sums[name])
        self.ends[name] += len(data)

    def __exit__(self, *_):
        self.file.truncate(self.end)  # a variable of fewer than four bytes at the end is padded
        self.attributes[HEADER_SUM] = _hex(zlib.crc32(self.header()))
        self.file.seek(0)
        self.file.write(self.header())
        self.file.close()

    def header(self):
        """The bytes before the first variable."""
        names = list(self.sizes)
        lengths = [self._text(name) + self._count(size) for name, size in self.sizes.items()]
        entries = [
            self._text(name)
            + self._count(len(dimensions))
            + b"".join(self._count(names.index(one)) for one in dimensions)
            + self._attributes(about | {SUM: _hex(self.sums[name])})
            + _tag(_CODES[kind])
            + self._count(self.bytes[name])
            + struct.pack(">q", self.places[name])
            for name, dimensions, kind, about in self.variables
        ]
        return b"".join(
            [
                b"CDF\x05" if self.wide else b"CDF\x02",
                self._count(0),
                self._list(_DIMENSION, lengths),
                self._attributes(self.attributes),
                self._list(_VARIABLE, entries),
            ]
        )

    def _bytes(self, dimensions, kind):
        """The bytes that a variable takes, a multiple of four."""
        count = np.dtype(kind).itemsize
        for one in dimensions:
            count *= self.sizes[one]
        return count + -count % 4

    def _attributes(self, facts):
        entries = [self._text(name) + self._value(value) for name, value in facts.items()]
        return self._list(_ATTRIBUTE, entries)

    def _value(self, value):
        if isinstance(value, str):
            return _tag(_CHAR) + self._text(value)
        kind = "i4" if isinstance(value, int) else "f8"
        array = np.atleast_1d(value if isinstance(value, np.ndarray) else np.array(value, kind))
        data = array.astype(array.dtype.newbyteorder(">")).tobytes()
        return _tag(_CODES[array.dtype.str[1:]]) + self._count(len(array)) + _padded(data)

    def _list(self, tag, entries):
        return _tag(tag if entries else 0) + self._count(len(entries)) + b"".join(entries)

    def _text(self, text):
        data = text.encode()
        return self._count(len(data)) + _padded(data)

    def _count(self, value):
        return struct.pack(">Q" if self.wide else ">I", value)


def _tag(value):
    return struct.pack(">I", value)


def _padded(data):
    return data + b"\0" * (-len(data) % 4)


def _hex(total):
    return f"{total:08x}"


# --- reading --------------------------------------------------------------------------------------


def read(path):
    """({name: array}, attributes) of a file, without variables of text; a ValueError says what is
    wrong with the file."""
    with open(path, "rb") as file:
        header = Header(file)
        _check_header(file, header)
        memory.fits(f"the arrays in {str(path)!r}", header.size, memory.DISTRUST)
        arrays, total = {}, 0
        for name, (shape, about, kind, place) in header.variables.items():
            values = _values(file, name, shape, kind, place, about.get(SUM), header.size - total)
            total += values.nbytes
            if kind != _CHAR:
                arrays[name] = values.astype(float)
    return arrays, header.facts


def _check_header(file, header):
    """Verify the checksum of the header; a file of another program has none."""
    noted = header.facts.pop(HEADER_SUM, None)
    if noted is None and not any(SUM in about for _, about, *_ in header.variables.values()):
        return
    file.seek(0)
    whole = file.read(header.end)
    # it comes first, behind its name, type and length
    place = whole.find(HEADER_SUM.encode()) + len(HEADER_SUM) + (12 if header.version == 5 else 8)
    if _hex(zlib.crc32(whole[:place] + _UNKNOWN.encode() + whole[place + 8 :])) != noted:
        raise ValueError(
            f"its first {header.end} bytes, the header, have changed since they were written"
        )


def _values(file, name, shape, kind, place, noted, left):
    """The values of a variable, if its bytes are in the file, are no more than are `left`, and have
    the checksum `noted`."""
    count = np.dtype(_TYPES[kind]).itemsize * int(np.prod(shape, dtype=object))
    size = os.fstat(file.fileno()).st_size
    if place < 0 or count > left or place + count > size:
        raise ValueError(
            f"{name} takes the bytes {place} to {place + count}, and the file has {size}: it was truncated"
        )
    file.seek(place)
    data = file.read(count)
    if noted is not None and _hex(zlib.crc32(data)) != noted:
        raise ValueError(
            f"{name} (bytes {place} to {place + count}) has changed since it was written"
        )
    return np.frombuffer(data, _TYPES[kind]).reshape(shape)


class Header:
    """The header of a file: variables {name: (shape, attributes, kind, place)}, the attributes of
    the file, and where it ends."""

    def __init__(self, file):
        self.file, self.size = file, os.fstat(file.fileno()).st_size
        magic = file.read(4)
        if magic not in (b"CDF\x01", b"CDF\x02", b"CDF\x05"):
            raise ValueError("it does not start like a classic netCDF file")
        self.version = magic[3]
        self._whole()  # the number of records, of which polhode has none
        dimensions = [self._name_and_value(self._whole) for _ in self._entries(_DIMENSION)]
        self.facts = self._facts()
        self.variables = dict(
            self._name_and_value(lambda: self._variable(dimensions))
            for _ in self._entries(_VARIABLE)
        )
        self.end = file.tell()

    def _variable(self, dimensions):
        indices = [self._whole() for _ in range(self._count(4))]
        if any(index >= len(dimensions) for index in indices):
            raise ValueError("a variable has an undefined dimension")
        about, kind = self._facts(), self._tag()
        self._whole()  # its size in bytes, which is known
        place = self._tag() if self.version == 1 else struct.unpack(">q", self._take(8))[0]
        return (
            tuple(dimensions[index][1] for index in indices),
            about,
            self._check_type(kind),
            place,
        )

    def _facts(self):
        return dict(self._name_and_value(self._value) for _ in self._entries(_ATTRIBUTE))

    def _value(self):
        kind = self._check_type(self._tag())
        size = np.dtype(_TYPES[kind]).itemsize
        data = self._padded(size * self._count(size))
        if kind == _CHAR:
            return data.decode(errors="replace")
        values = np.frombuffer(data, _TYPES[kind])
        return values.tolist() if len(values) != 1 else values[0].item()

    def _check_type(self, kind):
        if kind not in _TYPES:
            raise ValueError(
                f"its header, near byte {self.file.tell()}, uses the unknown number type {kind}"
            )
        return kind

    def _entries(self, tag):
        found, count = self._tag(), self._count(4)
        if found != (tag if count or found else 0):
            raise ValueError(
                f"its header has changed since it was written, near byte {self.file.tell()}"
            )
        return range(count)

    def _name_and_value(self, value):
        return self._padded(self._count(1)).decode(errors="replace"), value()

    def _padded(self, length):
        return self._take(length + -length % 4)[:length]

    def _count(self, size):
        """The number of entries that follow, each of at least `size` bytes."""
        count = self._whole()
        if count * size > self.size:
            raise ValueError(
                f"its header, near byte {self.file.tell()}, describes more than the {self.size} bytes of the file"
            )
        return count

    def _whole(self):
        return struct.unpack(">Q", self._take(8))[0] if self.version == 5 else self._tag()

    def _tag(self):
        return struct.unpack(">I", self._take(4))[0]

    def _take(self, length):
        data = self.file.read(length)
        if len(data) < length:
            raise ValueError(f"it ends within its header, at byte {self.size}: it was truncated")
        return data


register(NetCDF())
