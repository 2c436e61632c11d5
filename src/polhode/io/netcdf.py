"""netCDF files, written piece by piece and read with every bound and sum checked.

The classic format with 64-bit offsets, big-endian: a header (dimensions, attributes, and for each
variable its place), then the variables one after the other.  Everything is aligned to four bytes.
Libraries that want the whole array cannot write a run that is longer than memory, and none of them
notices a byte that has changed: here each variable bears the sum of its bytes, crc32, and the file
that of its header, header_crc32, as attributes.
"""

import os
import struct
import zlib

import numpy as np

from polhode.errors import InputError
from polhode.results.columns import attributes, columns
from polhode.results.motion import LABELS

LARGEST = 2**32 - 4  # bytes of a variable
HEADER_SUM, SUM = "header_crc32", "crc32"
# a sum that is not known yet; and what stands for the sum of the header in that sum
_UNKNOWN = "0" * 8
_CHAR, _INT, _DOUBLE = 2, 4, 6
_TYPES = {1: ">i1", _CHAR: "S1", 3: ">i2", _INT: ">i4", 5: ">f4", _DOUBLE: ">f8"}
_CODES = {"i1": 1, "i2": 3, "i4": _INT, "f4": 5, "f8": _DOUBLE}
_DIMENSION, _VARIABLE, _ATTRIBUTE = 10, 11, 12


def check(points, largest=32):
    """Refuse more points than the format holds; `largest` is the size of a point in its largest
    variable."""
    if largest * points > LARGEST:
        raise InputError(
            f"{points} points are more than a netCDF file of this kind holds ({LARGEST // largest}); store fewer, "
            "or write .zarr"
        )


# --- writing --------------------------------------------------------------------------------------


class _File:
    """A file with room for all its variables, which are filled from their beginnings on."""

    def __init__(self, path, sizes, facts, variables):
        self.sizes, self.facts, self.variables = sizes, {HEADER_SUM: _UNKNOWN} | facts, variables
        self.sums = dict.fromkeys((name for name, *_ in variables), 0)
        self.places = dict(self.sums)
        place = len(self._header())  # which does not depend on what it says about places
        for name, dimensions, _, kind in variables:
            self.places[name] = place
            place += _bytes(dimensions, sizes, kind)
        self.ends = dict(self.places)
        self.file = open(path, "wb")  # noqa: SIM115 - closed by `close`
        self.file.write(self._header())

    def put(self, name, data):
        """Append bytes to a variable."""
        self.file.seek(self.ends[name])
        self.file.write(data)
        self.sums[name] = zlib.crc32(data, self.sums[name])
        self.ends[name] += len(data)

    def close(self):
        """Pad the variables and note the sums."""
        for name, dimensions, _, kind in self.variables:
            self.file.seek(self.ends[name])
            self.file.write(
                bytes(self.places[name] + _bytes(dimensions, self.sizes, kind) - self.ends[name])
            )
        self.facts[HEADER_SUM] = _hex(zlib.crc32(self._header()))
        self.file.seek(0)
        self.file.write(self._header())
        self.file.close()

    def _header(self):
        names = list(self.sizes)
        lengths = [_text(name) + _number(self.sizes[name]) for name in names]
        entries = [
            _text(name)
            + _number(len(dimensions))
            + b"".join(_number(names.index(one)) for one in dimensions)
            + _attributes(about | {SUM: _hex(self.sums[name])})
            + _number(kind)
            + _number(_bytes(dimensions, self.sizes, kind))
            + struct.pack(">q", self.places[name])
            for name, dimensions, about, kind in self.variables
        ]
        return b"".join(
            [
                b"CDF\x02",
                _number(0),
                _list(_DIMENSION, lengths),
                _attributes(self.facts),
                _list(_VARIABLE, entries),
            ]
        )


def write(run, path):
    """Write a trajectory."""
    check(len(run))
    held = columns(run)
    sizes = {
        "time": len(run),
        **{name: len(labels) for name, labels in LABELS.items()},
        "letter": 1,
    }
    variables = [(one.name, one.dimensions, one.about, _DOUBLE) for one in held]
    file = _File(path, sizes, attributes(run.provenance()), [*variables, *_labels()])
    _put_labels(file)
    for _, piece in run.blocks():
        for one in held:
            file.put(one.name, np.ascontiguousarray(one.values(piece), ">f8").tobytes())
    file.close()


def write_dataset(data, path):
    """Write an xarray Dataset of numbers whose dimensions are among its own and those of a run."""
    held = {
        name: _storable(name, variable)
        for name, variable in data.variables.items()
        if name not in LABELS
    }
    variables = [
        (name, data[name].dims, data[name].attrs, _CODES[values.dtype.str[1:]])
        for name, values in held.items()
    ]
    file = _File(path, dict(data.sizes) | {"letter": 1}, dict(data.attrs), [*variables, *_labels()])
    _put_labels(file)
    for name, values in held.items():
        file.put(name, np.ascontiguousarray(values, values.dtype.newbyteorder(">")).tobytes())
    file.close()


def _storable(name, variable):
    """The values of a variable in a type that the format has; whole numbers have 32 bits there."""
    values = variable.values
    if values.dtype.kind == "i" and values.dtype.itemsize == 8:
        values = (
            values.astype("i4") if np.abs(values).max(initial=0) < 2**31 else values.astype(float)
        )
    if values.nbytes > LARGEST:
        check(values.shape[0], values.nbytes // values.shape[0])
    return values


def _labels():
    return [(name, (name, "letter"), {"_Encoding": "utf-8"}, _CHAR) for name in LABELS]


def _put_labels(file):
    for name, labels in LABELS.items():
        file.put(name, labels.encode())


def _bytes(dimensions, sizes, kind):
    """The bytes that a variable takes."""
    count = np.dtype(_TYPES[kind]).itemsize * int(
        np.prod([sizes[one] for one in dimensions], dtype=object)
    )
    return count + -count % 4


def _attributes(facts):
    return _list(_ATTRIBUTE, [_text(name) + _value(value) for name, value in facts.items()])


def _value(value):
    if isinstance(value, str):
        data = value.encode()
        return _number(_CHAR) + _number(len(data)) + _padded(data)
    array = np.atleast_1d(
        value
        if isinstance(value, np.ndarray)
        else np.array(value, "i4" if isinstance(value, int) else "f8")
    )
    data = array.astype(array.dtype.newbyteorder(">")).tobytes()
    return _number(_CODES[array.dtype.str[1:]]) + _number(len(array)) + _padded(data)


def _list(tag, entries):
    return _number(tag if entries else 0) + _number(len(entries)) + b"".join(entries)


def _text(name):
    data = name.encode()
    return _number(len(data)) + _padded(data)


def _padded(data):
    return data + b"\0" * (-len(data) % 4)


def _number(value):
    return struct.pack(">I", value)


def _hex(total):
    return f"{total:08x}"


# --- reading --------------------------------------------------------------------------------------


def read(path):
    """({name: array}, attributes) of a file: its variables of numbers; a ValueError says what is
    wrong with it."""
    with open(path, "rb") as file:
        header = _Header(file)
        _check_header(file, header)
        arrays, total = {}, 0
        for name, (shape, about, kind, place) in header.variables.items():
            values = _values(file, name, shape, kind, place, about.get(SUM), header.size - total)
            total += values.nbytes
            if kind != _CHAR:
                arrays[name] = values.astype(float)
    return arrays, header.facts


def _check_header(file, header):
    """See that the header is what was written, where it says; files of before have no sums."""
    noted = header.facts.pop(HEADER_SUM, None)
    if noted is None and not any(SUM in about for _, about, *_ in header.variables.values()):
        return
    file.seek(0)
    whole = file.read(header.end)
    # behind its name, type and length; it comes first
    place = whole.find(HEADER_SUM.encode()) + len(HEADER_SUM) + 8
    if _hex(zlib.crc32(whole[:place] + _UNKNOWN.encode() + whole[place + 8 :])) != noted:
        raise ValueError(f"its first {header.end} bytes, the header, are not what was written")


def _values(file, name, shape, kind, place, noted, left):
    """The values of a variable, whose bytes must be there, no more than what others leave, and have
    the sum noted."""
    count = np.dtype(_TYPES[kind]).itemsize * int(np.prod(shape, dtype=object))
    size = os.fstat(file.fileno()).st_size
    if place < 0 or count > left or place + count > size:
        raise ValueError(
            f"{name} takes the bytes {place} to {place + count}, and the file has {size}: it was cut short"
        )
    file.seek(place)
    data = file.read(count)
    if noted is not None and _hex(zlib.crc32(data)) != noted:
        raise ValueError(f"{name} (bytes {place} to {place + count}) is not what was written")
    return np.frombuffer(data, _TYPES[kind]).reshape(shape)


class _Header:
    """The header of a file: variables {name: (shape, attributes, kind, place)}, the attributes of
    the file, and where it ends."""

    def __init__(self, file):
        self.file, self.size = file, os.fstat(file.fileno()).st_size
        magic = file.read(4)
        if magic not in (b"CDF\x01", b"CDF\x02"):
            raise ValueError("its first bytes are not those of a classic netCDF file")
        self.wide = magic[3] == 2
        self._whole()  # the number of records, of which polhode has none
        dimensions = [self._named(self._whole) for _ in self._entries(_DIMENSION)]
        self.facts = self._facts()
        self.variables = dict(
            self._named(lambda: self._variable(dimensions)) for _ in self._entries(_VARIABLE)
        )
        self.end = file.tell()

    def _variable(self, dimensions):
        indices = [self._whole() for _ in range(self._count(4))]
        if any(index >= len(dimensions) for index in indices):
            raise ValueError("a variable has a dimension that the file has not")
        about, kind = self._facts(), self._whole()
        self._whole()  # its size in bytes, which is known
        place = struct.unpack(">q", self._take(8))[0] if self.wide else self._whole()
        return tuple(dimensions[index][1] for index in indices), about, self._known(kind), place

    def _facts(self):
        return dict(self._named(self._value) for _ in self._entries(_ATTRIBUTE))

    def _value(self):
        kind = self._known(self._whole())
        size = np.dtype(_TYPES[kind]).itemsize
        data = self._padded(size * self._count(size))
        if kind == _CHAR:
            return data.decode(errors="replace")
        values = np.frombuffer(data, _TYPES[kind])
        return values.tolist() if len(values) != 1 else values[0].item()

    def _known(self, kind):
        if kind not in _TYPES:
            raise ValueError(
                f"its header, near byte {self.file.tell()}, speaks of numbers of kind {kind}, which there is not"
            )
        return kind

    def _entries(self, tag):
        found, count = self._whole(), self._count(4)
        if found != (tag if count or found else 0):
            raise ValueError(f"its header is not what was written, near byte {self.file.tell()}")
        return range(count)

    def _named(self, value):
        return self._padded(self._count(1)).decode(errors="replace"), value()

    def _padded(self, length):
        return self._take(length + -length % 4)[:length]

    def _count(self, size):
        """A number of things that take at least so many bytes each."""
        count = self._whole()
        if count * size > self.size:
            raise ValueError(
                f"its header, near byte {self.file.tell()}, promises more than the {self.size} bytes of the file"
            )
        return count

    def _whole(self):
        return struct.unpack(">I", self._take(4))[0]

    def _take(self, length):
        data = self.file.read(length)
        if len(data) < length:
            raise ValueError(f"it ends within its header, at byte {self.size}: it was cut short")
        return data
