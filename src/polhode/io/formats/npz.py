"""NumPy archives: what `numpy.savez` would write, in pieces, with the provenance as JSON."""

from __future__ import annotations

import json
import sys
import zipfile

import numpy as np

from polhode.io.formats import Format, register
from polhode.support import memory


class NumpyArchive(Format):
    """A zip file of arrays; times are called t."""

    suffix, first_bytes = "npz", b"PK\3"

    def write(self, contents, path):
        with zipfile.ZipFile(path, "w") as archive:
            for one in contents.variables:
                kind = one.dtype.newbyteorder("<")
                with archive.open(f"{one.key}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array_header_1_0(
                        file, {"descr": kind.str, "fortran_order": False, "shape": one.shape}
                    )
                    for _, piece in contents.blocks():
                        file.write(np.ascontiguousarray(piece[one.name], kind).data.cast("B"))
            with archive.open("provenance.npy", "w") as file:
                text = np.array(json.dumps(contents.provenance))
                np.lib.format.write_array(file, text, allow_pickle=False)

    def read(self, path):
        with zipfile.ZipFile(path) as archive:
            size = sum(one.file_size for one in archive.infolist())
            memory.fits(f"the arrays in {str(path)!r}", size, memory.DISTRUST)
        with np.load(path, allow_pickle=False) as data:
            held = {name: data[name] for name in data}
        facts = json.loads(_text(held["provenance"])) if "provenance" in held else {}
        return {
            name: values.astype(float, copy=False)
            for name, values in held.items()
            if values.dtype.kind in "fiu"
        }, facts


def _text(stored):
    """A stored text.  NumPy accepts code points that do not exist, on which Python's own functions
    fail."""
    stored = np.atleast_1d(stored)
    if stored.dtype.kind == "U":
        codes = stored.view(np.dtype(np.uint32).newbyteorder(stored.dtype.byteorder))
        if codes.max(initial=0) > sys.maxunicode:
            raise ValueError("its provenance contains invalid characters")
    return str(stored[0])


register(NumpyArchive())
