"""Zarr stores: folders of chunks, for what is too long for one file.  Needs the extra `cluster`."""

import json
import re
import warnings
import zlib
from pathlib import Path

import numpy as np

from polhode.errors import InputError
from polhode.io.formats import Format, register
from polhode.results import columns
from polhode.results._run import BLOCK
from polhode.results.motion import LABELS
from polhode.support import memory

SUM = "attributes_crc32"
INSTALL = "pip install 'polhode[cluster]'"
# temporary files that the library leaves when it is killed
LITTER = re.compile(r"(?:zarr|c|\d+)\.[0-9a-f]{32}\.partial")
# the files of a store
_PART = re.compile(rf"(?:[^/]+/)*(?:zarr\.json|c(?:/\d+)*|{LITTER.pattern})")


class ZarrStore(Format):
    """A folder that holds an array in chunks, each with a checksum."""

    suffix = "zarr"

    def write(self, contents, path):
        signed = contents.attributes | {SUM: _sum(contents.attributes)}  # chunks have one each
        group = import_zarr().create_group(path, attributes=signed)
        arrays = {one.name: _array(group, one) for one in contents.variables}
        _put_labels(group)
        # pieces begin at whole chunks; the last may be longer than a chunk
        for first, piece in contents.blocks():
            for name, values in piece.items():
                arrays[name][first : first + len(values)] = values
        finish(path)

    def read(self, path):
        attributes = checked_attributes(path)
        return numbers(path), columns.provenance_in(attributes)

    def check_installed(self):
        import_zarr()

    def recognises(self, path):
        return is_store(path)

    def may_replace(self, folder):
        if is_store(folder):
            check_owned(folder)
        return is_store(folder)


def import_zarr():
    """The library zarr, or an error that says what to install."""
    try:
        import zarr
    except ImportError:
        raise InputError(
            f"files that end in .zarr need the library zarr, which is not installed; install with: {INSTALL}, or "
            "write another format"
        ) from None
    return zarr


def _array(group, variable):
    attributes = {
        key: value.tolist() if isinstance(value, np.ndarray) else value
        for key, value in variable.attributes.items()
    }
    shape = variable.shape
    return group.create_array(
        variable.name,
        shape=shape,
        chunks=(max(min(shape[0], BLOCK), 1), *shape[1:]),
        dtype=variable.dtype,
        compressors=_sums(),
        dimension_names=list(variable.dimensions),
        attributes=attributes,
        fill_value=0 if variable.dtype.kind in "iu" else float("nan"),
        config={"write_empty_chunks": True},
    )


def _sums():
    """Chunks are not compressed, but have checksums, which readers verify."""
    from zarr.codecs import Crc32cCodec

    return [Crc32cCodec()]


def _sum(attributes):
    return zlib.crc32(json.dumps(attributes, sort_keys=True, default=str).encode())


def checked_attributes(path):
    """The attributes of a Zarr store without their checksum, which is verified if there is one."""
    found = attributes_of(path)
    if found is None:
        raise ValueError("not a Zarr store")
    known = found.pop(SUM, None)
    if known not in (None, _sum(found)):
        raise ValueError("the attributes in zarr.json have changed since they were written")
    return found


def _put_labels(group):
    for name, labels in LABELS.items():
        array = group.create_array(
            name,
            shape=(len(labels),),
            chunks=(len(labels),),
            dtype=str,
            compressors=None,
            dimension_names=[name],
        )
        array[:] = np.array(list(labels), dtype=object)


def finish(path):
    """Write the consolidated metadata that readers look for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it is no part of the standard yet
        import_zarr().consolidate_metadata(path)


def is_store(path):
    """Whether a Zarr store is there."""
    return attributes_of(path) is not None


def check_owned(path):
    """Raise an error if a store contains other files: a store is replaced as a whole."""
    for one in sorted(Path(path).rglob("*")):
        name = one.relative_to(path).as_posix()
        if one.is_symlink() or not (one.is_dir() or _PART.fullmatch(name)):
            raise InputError(
                f"{str(path)!r} would be replaced as a whole, but it contains {name!r}, which is not part of a Zarr "
                "store; move that away, or choose another name"
            )


def attributes_of(path):
    """The attributes of a Zarr store, without any library; None where there is none."""
    try:
        found = json.loads((Path(path) / "zarr.json").read_text(encoding="utf-8"))
        return found["attributes"] if found["node_type"] == "group" else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def numbers(path):
    """{name: array} of all arrays of numbers in a store, those of groups inside it left out."""
    found = {
        name: array
        for name, array in import_zarr().open_group(path, mode="r").arrays()
        if np.dtype(array.dtype).kind in "fiu"
    }
    memory.fits(
        f"the arrays in {str(path)!r}",
        sum(array.nbytes for array in found.values()),
        "open them with xarray",
    )
    return {name: _values(name, array) for name, array in found.items()}


def _values(name, array):
    try:
        return np.asarray(array[...], dtype=float)
    except Exception as error:  # the library raises all kinds of errors for a broken store
        raise ValueError(f"{name} has changed since it was written") from error


register(ZarrStore())
