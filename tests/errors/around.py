"""What the calls among the cases of errors refer to: functions of a user's own, and short names."""

import io
import json
import os
import struct
import zipfile
from collections import namedtuple
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.spatial.transform import Rotation

import polhode
from polhode import integrate, lie, rotations
from polhode.loads.foreign import Foreign
from polhode.studies.compare.comparison import Comparison
from polhode.engine._ensemble import ensemble
from polhode.exact import free_body, lagrange_top, reference
from polhode.io.read import contents
from polhode.methods import get
from polhode.methods._method import variant
from polhode.methods.compose import Scheme, compose
from polhode.papers._items import Item, enter_errata, errata, item
from polhode.papers._results import Claim
from polhode.show.play.work import check_request
from polhode.methods._references import bibtex
from polhode.studies.sweep.task import compute
from polhode.translation import newmark

__all__ = [
    "Claim",
    "Foreign",
    "Item",
    "Q",
    "Rotation",
    "Scheme",
    "W",
    "bibtex",
    "bomb",
    "check_request",
    "comparison",
    "compose",
    "compute",
    "contents",
    "ensemble",
    "enter_errata",
    "errata",
    "fades",
    "free_body",
    "get",
    "integrate",
    "item",
    "lagrange_top",
    "lie",
    "namedtuple",
    "newmark",
    "np",
    "polhode",
    "push",
    "pythonic",
    "raising",
    "reference",
    "rotations",
    "spring",
    "stats",
    "strict",
    "two",
    "untraceable",
    "urdf",
    "variant",
]

Q, W = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0])


def push(t, R):
    return np.array([0.0, 0.0, 1.0])


def two(t, R):
    return np.array([0.0, 1.0])


def strict(t, R):
    if t > 0.55:
        raise ValueError("too late")
    return np.array([0.0, 0.0, 1.0])


def raising(t, R):
    raise ValueError("never")


def fades(t, R):
    return np.array([0.0, 0.0, np.nan if t > 0.55 else 1.0])


@polhode.torque(params={"k": 1.0})
def pythonic(t, R, p):
    return np.array([0.0, 0.0, p.k * (os.getpid() > 0)])


@polhode.torque(form="tuple")
def untraceable(t, R):
    return (0.0, 0.0, 1.0 if R[0][0] > 0.0 else -1.0)


def spring(t, u):
    return -u


def comparison(curves):
    """A comparison that holds these curves."""
    return Comparison("nothing", "free", (0.0, 1.0), None, (1e-3,), curves)


def urdf(text):
    """The path of a URDF file with this text."""
    Path("case.urdf").write_text(text)
    return "case.urdf"


def bomb(kind):
    """A small file that claims to hold a petabyte."""
    if kind == "npz":
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("t.npy", b"\x93NUMPY")
        text = bytearray(data.getvalue())
        place = text.index(b"PK\x01\x02")
        text[place + 24:place + 28] = struct.pack("<I", 2**32 - 2)
        Path("bomb.npz").write_bytes(text)
        return "bomb.npz"
    array = {"zarr_format": 3, "node_type": "array", "shape": [10**14], "data_type": "float64", "fill_value": 0.0,
             "attributes": {}, "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10**6]}},
             "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}
    group = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    for place, data in (("", group), ("t", array)):
        folder = Path("bomb.zarr") / place
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "zarr.json").write_text(json.dumps(data))
    return "bomb.zarr"
