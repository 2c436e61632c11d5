"""Runs and ensembles as files, in any of the formats of `polhode.io.formats`.

A file appears whole or not at all.  Runs are written in pieces, so that one longer than memory can
be stored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from os import PathLike
from pathlib import Path

import numpy as np

from polhode.errors import InputError, brief, disk_advice, flag
from polhode.io.ensemble import arrays_of
from polhode.io.formats import Contents, Format, Variable, formats, suffix_of
from polhode.results._ensemble_result import Ensemble
from polhode.results._system_ensemble import SystemEnsemble
from polhode.results._run import Run
from polhode.results.columns import UNTITLED, UNTITLED_MANY, UNTITLED_SYSTEM, attributes, columns
from polhode.support.atomic import cannot_write, partial_path, written_whole
from polhode.support.regular import file_path

GENERATOR = '<meta name="generator" content="polhode '  # in the head of every report


def save(
    result: Run | Ensemble,
    path: str | PathLike[str],
    format: str | None = None,
    force: bool = False,
    folder: Path | None = None,
) -> Path:
    """Write a run or an ensemble to a file; the suffix selects the format: .nc, .npz, .csv, .zarr, or one that you registered.

    Parameters
    ----------
    result : Trajectory, SystemTrajectory or Ensemble
    path : str or Path
    format : str, optional
        In place of the suffix, such as "nc"; ensembles are not written as CSV.
    force : bool
        Overwrite an existing file.
    folder : Path, optional
        A folder on the same disk in which the file grows until it is whole; by default that is the
        folder it goes to.

    Returns
    -------
    Path
        The file.
    """
    path = file_path(path)
    if not isinstance(result, (Run, Ensemble)):
        raise InputError(
            f"only a trajectory or an Ensemble can be saved, got {brief(result)}; pass the result of "
            "polhode.integrate or polhode.ensemble"
        )
    if isinstance(result, SystemEnsemble):
        raise InputError(
            f"files hold ensembles of bodies, and {result!r} is one of systems; write "
            f"run.to_xarray().to_netcdf({str(path)!r}), or "
            "write the arrays that you need"
        )
    chosen = check(path, format, force, isinstance(result, Ensemble))
    try:
        with written_whole(path, force, partial_path(path, folder)) as partial:
            chosen.write(contents_of(result), partial)
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def contents_of(result: Run | Ensemble) -> Contents:
    """What a file holds of a run or an ensemble."""
    facts = result.provenance()
    if isinstance(result, Ensemble):
        arrays = arrays_of(result)
        variables = [
            Variable(name, dimensions, values.shape, values.dtype, about)
            for name, (dimensions, values, about) in arrays.items()
        ]
        values = {name: values for name, (_, values, _) in arrays.items()}
        return Contents(variables, attributes(facts, UNTITLED_MANY), facts, lambda: [(0, values)])
    held = columns(result)

    def blocks():
        for first, piece in result.blocks():
            yield first, {one.name: one.values(piece) for one in held}

    variables = [
        Variable(one.name, one.dimensions, one.shape(len(result)), np.dtype(float), one.about)
        for one in held
    ]
    title = UNTITLED_SYSTEM if result.kind.bodies else UNTITLED
    return Contents(variables, attributes(facts, title), facts, blocks)


# --- checks before any work -----------------------------------------------------------------------


def check(
    path: str | PathLike[str],
    format: str | None = None,
    force: bool = False,
    ensembles: bool = False,
) -> Format:
    """The format of a file to be written; whatever would make writing fail is an error already here."""
    known = formats(ensembles)
    chosen = known[suffix_of(path, known, format)]
    chosen.check_installed()
    check_place(file_path(path), force, chosen.may_replace)
    return chosen


def check_output(path: str | PathLike[str], suffixes: Collection[str], force: bool = False) -> None:
    """The same for a figure or a page, with one of these suffixes."""
    suffix_of(path, suffixes)
    check_place(file_path(path), force)


def check_place(
    path: Path, force: bool, may_replace: Callable[[Path], bool] = lambda folder: False
) -> None:
    """Check that a file can be written at a path; `may_replace` decides about an existing folder."""
    force = flag("force", force)
    if path.is_dir() and not may_replace(path):
        raise InputError(f"the output {str(path)!r} is a folder; give the name of a file")
    if path.exists() and not force:
        raise InputError(
            f"the output file {str(path)!r} exists; choose another name, or overwrite it with --force (in Python "
            "force=True)"
        )
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
    trial = partial_path(path)
    try:
        with open(trial, "xb"):  # permissions alone do not tell whether it works
            pass
        trial.unlink()
    except OSError as error:
        raise InputError(
            f"cannot write {str(path)!r}: no file can be made in the folder {str(folder)!r} "
            f"({error.strerror or error}); {disk_advice(error)}"
        ) from None


def make_report_folder(folder: str | PathLike[str], page: str, *others: str) -> Path:
    """Make a folder for a report, its page and other files; an error if it would overwrite files
    that polhode did not write."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        state = None if os.access(folder, os.W_OK) else "it is not writable"
    except OSError as error:
        state = error.strerror
    if state:
        raise InputError(
            f"cannot write into {str(folder)!r}: {state}; choose another folder with --output"
        )
    taken = next((name for name in (page, *others) if os.path.lexists(folder / name)), None)
    if taken and not _is_report(folder / page):
        raise InputError(
            f"the report would overwrite {str(folder / taken)!r}, which polhode did not write; move that away, or "
            "choose another folder with --output"
        )
    return folder


def _is_report(page):
    try:
        with open(page, "rb") as file:
            return GENERATOR.encode() in file.read(2000)
    except OSError:
        return False
