"""One HTML file with everything in it: the built viewer, the runs, nothing from anywhere else."""

from __future__ import annotations

import html
from os import PathLike
from pathlib import Path
from typing import Any

from polhode import problems
from polhode.errors import InputError, flag, label, printable
from polhode.io import store
from polhode.io.read import as_any_run
from polhode.results.conserved import is_free, loads, weight
from polhode.support.atomic import write_text
from polhode.support.regular import file_path
from polhode.show.html import render
from polhode.show.view.runs import ALL_FRAMES, FRAMES, describe_run, encode_run
from polhode.show.view.systems import encode_system

RUNS = 6  # side by side; more would be too small to see
FORMATS = ("html", "htm")


class Page:
    """A page of runs: `save` it, `open` it in a browser, or let a notebook show it.

    Attributes
    ----------
    title : str
    html : str
        The whole document.
    """

    def __init__(self, title: str, text: str) -> None:
        self.title, self.html = title, text
        self.path: Path | None = None

    def save(self, path: str | PathLike[str], force: bool = False) -> Path:
        """Write the page to a .html file and return its path; an existing file is kept unless
        `force`."""
        path = file_path(path)
        store.check_output(path, FORMATS, force)
        self.path = write_text(path, self.html, force)
        return path

    def open(self) -> bool:
        """Show the page in the default browser, from a temporary file unless it has been saved."""
        import tempfile
        import webbrowser

        path = self.path or self.save(Path(tempfile.mkdtemp(prefix="polhode-")) / "page.html")
        return webbrowser.open(path.resolve().as_uri())

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.title)}" '
            'style="width: 100%; height: 680px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Page: {self.title!r}, {len(self.html) / 1e6:.2f} MB>"


def page(
    runs: Any,
    title: str | None = None,
    mesh: str | PathLike[str] | None = None,
    poinsot: bool = False,
    autoplay: bool | None = None,
) -> Page:
    """A self-contained page of one run, or of several side by side.

    Parameters
    ----------
    runs : Trajectory, SystemTrajectory, path of a stored run, or a list of them
        At most 6; the first gives the title and the names of the plots.
    title : str, optional
        By default that of the scenario, or one made from body and torque.
    mesh : (vertices, faces), optional
        Drawn in place of the body: (n, 3) numbers in your body axes, and (m, 3) indices.
    poinsot : bool
        Start with Poinsot's construction, if the body is free and has no rotors.
    autoplay : bool, optional
        Whether the animation starts at once; it does by default, unless the reader's system asks for
        reduced motion.

    Returns
    -------
    Page

    Examples
    --------
    >>> import polhode
    >>> run = polhode.integrate(polhode.RigidBody.box(3, 2, 1), t_span=(0, 20), step=0.01, omega0=(0, 1, 0.001))
    >>> polhode.view.page(run).title
    'Box turning freely'
    """
    runs = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    if not 1 <= len(runs) <= RUNS:
        raise InputError(
            f"a page shows 1 to {RUNS} runs side by side, got {len(runs)}; give fewer, or make several pages"
        )
    runs = [as_any_run(run) for run in runs]
    data = encode(runs, mesh)
    title = printable(label("title", title) or _title(runs[0]))
    options = {"title": title, "subtitle": _subtitle(runs), "poinsot": flag("poinsot", poinsot)}
    if autoplay is not None:
        options["autoplay"] = flag("autoplay", autoplay)
    return Page(title, render("show/templates/runs.html", title=title, runs=data, options=options))


def encode(runs, mesh=None):
    """What `polhode.mount` takes: one dict for each run, labels made different."""
    frames = min(FRAMES, ALL_FRAMES // len(runs))
    if mesh is not None and any(run.kind.bodies for run in runs):
        raise InputError(
            "a mesh is drawn in place of one body, and this is a system of several; make its bodies with "
            "RigidBody.from_mesh, whose shapes are drawn"
        )
    data = [
        encode_system(each, frames) if each.kind.bodies else encode_run(each, frames, mesh)
        for each in runs
    ]
    if len({run["label"] for run in data}) < len(data):  # one method more than once
        for run in data:
            run["label"], run["detail"] = f"{run['label']}, {run['detail']}", ""
    labels = [run["label"] for run in data]
    for number, run in enumerate(data, 1):
        if labels.count(run["label"]) > 1:
            run["label"] += f" ({number})"
    return data


def _title(run):
    if run.title:
        return run.title
    if run.kind.bodies:
        return f"{len(run.body)} bodies: {run.body.names}"
    problem = problems.ALL.get(run.body.name)
    if problem:
        return problem.title[0].upper() + problem.title[1:]
    name = run.body.name or (run.body.shape or {}).get("kind") or "a body"
    rotors = len(run.body.rotors)
    if rotors:
        name += " with a rotor" if rotors == 1 else f" with {rotors} rotors"
    if run.position is not None:
        how = f"in flight under {' and '.join(loads(run))}" if loads(run) else "in free flight"
    elif is_free(run):
        how = "free of external torques" if rotors else "turning freely"
    elif weight(run) and len(run.torque.record()) == 1:
        how = "turning about a fixed point, under its weight"
    else:
        how = f"under the torque {run.torque.name}"
    return f"{name[0].upper()}{name[1:]} {how}"


def _subtitle(runs):
    first = describe_run(runs[0])
    moments = (
        f"interaction {first['interaction']}"
        if runs[0].kind.bodies
        else f"principal moments {first['principal moments']}"
    )
    if len(runs) > 1:
        return f"{len(runs)} runs side by side, {moments}"
    steps = "uneven steps" if first["step"] == "uneven" else f"steps of {first['step']}"
    return f"{first['method']}; {' '.join([*filter(None, [first.get('steps')]), steps])}; {moments}"
