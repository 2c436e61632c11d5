"""Trajectories as files: netCDF with units and provenance, Zarr, NumPy archives, CSV.

A file appears whole or not at all: it is written under a temporary name beside its place and then
renamed.  Runs are written in pieces, so that one longer than memory can be stored.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import InputError, brief, flag, label, disk_advice, unknown
from polhode.io import netcdf, trees
from polhode.results.columns import attributes, columns
from polhode.support.regular import file_path
from polhode.results._trajectory import Trajectory


def _npz(run, path):
    """What `numpy.savez` would write, in pieces."""
    with zipfile.ZipFile(path, "w") as archive:
        for one in columns(run):
            with archive.open(f"{one.key}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array_header_1_0(
                    file, {"descr": "<f8", "fortran_order": False, "shape": one.shape(len(run))}
                )
                for _, piece in run.blocks():
                    file.write(np.ascontiguousarray(one.values(piece), "<f8").data.cast("B"))
        with archive.open("provenance.npy", "w") as file:
            np.lib.format.write_array(
                file, np.array(json.dumps(run.provenance())), allow_pickle=False
            )


def _csv(run, path):
    """Provenance as comments, `# key: value`; a line of names; then numbers that read back bit for
    bit."""
    held = columns(run)
    with open(path, "w", newline="", encoding="utf-8") as file:
        for key, value in attributes(run.provenance()).items():
            file.write(f"# {key}: {value}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([name for one in held for name in one.header])
        for _, piece in run.blocks():
            rows.writerows(np.column_stack([one.values(piece) for one in held]).tolist())


GENERATOR = '<meta name="generator" content="polhode '  # in the head of every report
FORMATS = {"nc": netcdf.write, "npz": _npz, "csv": _csv, "zarr": trees.write}


def chosen(path: str | PathLike[str], format: str | None = None, formats: Any = FORMATS) -> str:
    """Which of the formats: the one given, or by the suffix."""
    name = (label("format", format) or Path(path).suffix).lstrip(".").lower()
    if name not in formats:
        raise unknown(
            "output format" if format else f"suffix of the output file {str(path)!r}:",
            name,
            formats,
        )
    return name


def check(
    path: str | PathLike[str],
    format: str | None = None,
    force: bool = False,
    formats: Any = FORMATS,
) -> None:
    """Refuse, before any work, what would fail after it."""
    path, force = file_path(path), flag("force", force)
    name = chosen(path, format, formats)
    if name == "zarr":
        trees.need()
    if path.is_dir() and not (name == "zarr" and trees.is_tree(path)):
        raise InputError(f"the output {str(path)!r} is a folder; give the name of a file")
    if path.exists() and not force:
        raise InputError(
            f"the output file {str(path)!r} exists; choose another name, or overwrite it with --force"
        )
    if path.is_dir():
        trees.check_owned(path)
    folder = path.absolute().parent
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        state = (
            "is not writable"
            if folder.is_dir()
            else "is a file"
            if folder.exists()
            else "does not exist"
        )
        create = "" if folder.exists() else "create it or "
        raise InputError(
            f"cannot write {str(path)!r}: the folder {str(folder)!r} {state}; {create}choose another"
        )
    _try(path)


def check_report(folder, page, *others):
    """Refuse a folder in which a report would overwrite what is not one of polhode's: its page, and
    the files beside it."""
    folder = Path(folder)
    try:
        with open(folder / page, "rb") as file:
            ours = GENERATOR.encode() in file.read(2000)
    except OSError:
        ours = False
    taken = next((name for name in (page, *others) if os.path.lexists(folder / name)), None)
    if taken and not ours:
        raise InputError(
            f"the report would overwrite {str(folder / taken)!r}, which polhode did not write; move that away, or "
            "choose another folder with --out"
        )


def _try(path):
    """Make a file beside the place of another one, and remove it: permissions do not tell all."""
    trial = _partial(path, path.parent)
    try:
        with open(trial, "xb"):
            pass
        trial.unlink()
    except OSError as error:
        raise InputError(
            f"cannot write {str(path)!r}: no file can be made in the folder {str(path.absolute().parent)!r} "
            f"({error.strerror or error}); {disk_advice(error)}"
        ) from None


def _partial(path, folder):
    """Where a file grows until it is whole."""
    return folder / f".{path.name}.{os.getpid()}.part"


def save(
    trajectory: Trajectory | Any,
    path: str | PathLike[str],
    format: str | None = None,
    force: bool = False,
    formats: Any = FORMATS,
    workshop: str | PathLike[str] | None = None,
) -> Path:
    """Write a trajectory; the suffix (.nc, .npz, .csv, .zarr) says how.

    Parameters
    ----------
    trajectory : Trajectory
    path : str or Path
    format : {"nc", "npz", "csv", "zarr"}, optional
        In place of the suffix.
    force : bool
        Overwrite an existing file.
    formats : dict of functions
        What writes each format: others write other things than trajectories.
    workshop : Path, optional
        A folder on the same disk in which the file grows until it is whole; by default that is the
        folder it goes to.

    Returns
    -------
    Path
        The file.
    """
    path = file_path(path)
    if formats is FORMATS and not isinstance(trajectory, Trajectory):
        raise InputError(
            f"only a Trajectory can be saved, got {brief(trajectory)}; give what polhode.integrate returned"
        )
    check(path, format, force, formats)
    partial = _partial(path, workshop or path.parent)
    try:
        formats[chosen(path, format, formats)](trajectory, partial)
        _settle(partial)
        place(partial, path, force)
    except OSError as error:
        _remove(partial)
        raise InputError(
            f"cannot write {str(path)!r}: {error.strerror or error}; {disk_advice(error)}"
        ) from error
    except KeyboardInterrupt:
        _remove(partial)
        raise
    return path


def _settle(path):
    """Force a file, or the files of a folder, to disk."""
    for one in [path] if path.is_file() else filter(Path.is_file, path.rglob("*")):
        with open(one, "rb+") as file:
            os.fsync(file.fileno())


def _remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def place(partial, path, force):
    """Rename; without `force` a file that has appeared meanwhile stays, and so does the new one
    under its temporary name."""
    # a folder is not replaced in one go
    if force and path.exists() and (path.is_dir() or partial.is_dir()):
        old = path.with_name(f".{path.name}.{os.getpid()}.old")
        os.replace(path, old)
        os.replace(partial, path)
        _remove(old)
        return
    if not force and partial.is_dir() and path.exists():
        raise _appeared(partial, path)
    if not force and partial.is_file():
        try:
            os.link(partial, path)  # unlike a rename, this fails when the name is taken
        except FileExistsError:
            raise _appeared(partial, path) from None
        except OSError:  # a file system without links
            pass
        else:
            partial.unlink()
            return
    os.replace(partial, path)


def _appeared(partial, path):
    return InputError(
        f"{str(path)!r} has appeared during the run and is left alone; the result is in {str(partial)!r}: rename "
        "that"
    )
