"""A demonstration: tumble a body, put five methods through a long stress test, and write an
illustrated report.

Nothing here prints; the command line prints the rows and the path of the report.
"""

import base64
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from polhode import problems, rotations
from polhode.bodies._body import RigidBody
from polhode.engine._integrate import integrate
from polhode.io.store import make_report_folder
from polhode.results._trajectory import Trajectory
from polhode.show import plots
from polhode.show.html import render
from polhode.show.view._page import encode
from polhode.support.atomic import write_text

METHODS = ("NMB-cay", "NMB", "SW", "VLV", "LP2")
PROBLEM = "bou-rabee/stress"
EVERY = 10  # steps between stored points of the long runs
SHORT = 20.0  # the attitude is compared here: much later every method has lost the phase
FINE = 256  # the reference takes so many steps for one
STAGES = 2 + len(METHODS)
PAGE, FIGURES = "index.html", ("flip", "overview", "drift")


def write_demo_report(
    folder: str | Path = "polhode-demo", progress: Callable[[int, int, str], None] | None = None
) -> dict[str, Any]:
    """Compute everything and write the report.

    Parameters
    ----------
    folder : str or Path
        Where figures and report go; made if need be.
    progress : function, optional
        Called as progress(stages done, stages in all, what comes next).

    Returns
    -------
    dict
        Plain data: the flip, the stress test's rows, and the paths of report and figures.
    """
    report_progress = progress or (lambda *_: None)
    folder = make_report_folder(folder, PAGE, *(f"{name}.png" for name in FIGURES)).resolve()
    report_progress(0, STAGES, "tumbling a box")
    tumble = tumbling()
    problem = problems.get(PROBLEM)
    rows, runs = [], []
    for number, name in enumerate(METHODS, 1):
        report_progress(
            number,
            STAGES,
            f"{name}: {round((problem.t_span[1] - problem.t_span[0]) / problem.step)} steps of the stress test",
        )
        row, long = measure(problem, name)
        rows.append(row)
        runs.append(long)
    _attitude_errors(problem, rows)
    report_progress(STAGES - 1, STAGES, "drawing")
    figures = _figures(folder, tumble, runs)
    report = folder / PAGE
    data = {
        "flip": flips(tumble),
        "problem": problem.describe(),
        "attitude_error_time": SHORT,
        "methods": rows,
        "figures": [str(path) for path in figures.values()],
        "report": str(report),
    }
    write_text(report, _page(data, tumble, runs, figures))
    report_progress(STAGES, STAGES, "done")
    return data


# --- numbers --------------------------------------------------------------------------------------


def tumbling() -> Trajectory:
    """A box spun about its intermediate axis, with the slightest nudge."""
    box = RigidBody.box(0.20, 0.13, 0.03, mass=0.8, name="box").with_units("SI")
    return integrate(box, t_span=(0.0, 20.0), step=0.005, method="VLV", omega0=(0.002, 6.0, 0.0))


def flips(tumble: Trajectory) -> dict[str, Any]:
    """When the box turns over, and what the run kept meanwhile."""
    spin = tumble.omega[:, 1]
    at = np.flatnonzero(spin[1:] * spin[:-1] < 0)
    summary = tumble.summary()
    return {
        "body": tumble.body.to_dict(),
        "method": tumble.method.name,
        "step": tumble.step,
        "flips": len(at),
        "first_flip": float(tumble.t[at[0]]) if len(at) else None,
        "energy_error_max": summary["energy_drift_relative"],
        "momentum_error_max": summary["momentum_error_relative"],
        "orthogonality_error": summary["orthogonality_error"],
    }


def measure(problem: problems.Problem, name: str) -> tuple[dict[str, Any], Trajectory]:
    """A row of the table, and the long run it comes from."""
    started = time.perf_counter()
    long = problem.integrate(name, every=EVERY)
    wall = time.perf_counter() - started
    error = (long.total_energy - long.total_energy[0]) / abs(long.total_energy[0])
    drift, uncertainty = fitted_drift(long.t, error)
    return {
        "method": name,
        "order": long.method.order,
        "symplectic": long.method.symplectic,
        "status": long.status,
        "steps": int(long.steps),
        "energy_drift": drift,
        "energy_drift_uncertainty": uncertainty,
        "energy_error_max": float(np.abs(error).max()),
        "torque_evaluations": int(long.nfev),
        "elapsed_s": float(long.elapsed),
        "wall_s": wall,
    }, long


def fitted_drift(t: np.ndarray, error: np.ndarray) -> tuple[float, float]:
    """Slope of a line times the span, and its standard error: the larger of a fit to all points,
    which takes their scatter for independent, and one to fifty block means, which sees correlation
    and curvature."""
    blocks = np.array_split(np.arange(len(t)), 50)
    means = np.array([[t[part].mean(), error[part].mean()] for part in blocks]).T
    fits = [np.polyfit(x, y, 1, cov=True) for x, y in ((t, error), means)]
    span = t[-1] - t[0]
    return float(fits[0][0][0] * span), float(
        max(np.sqrt(cov[0, 0]) for _, cov in fits) * abs(span)
    )


def _attitude_errors(problem: problems.Problem, rows: list[dict[str, Any]]) -> None:
    """How far each method's attitude is from the reference's, an angle in radians."""
    span = (problem.t_span[0], problem.t_span[0] + SHORT)
    reference = problem.integrate(
        "VLV", step=problem.step / FINE, t_span=span, every="end"
    ).quaternion[-1]
    for row in rows:
        end = problem.integrate(row["method"], t_span=span, every="end").quaternion[-1]
        row["attitude_error"] = float(rotations.angle_between(end, reference))


# --- the report -----------------------------------------------------------------------------------


def _figures(folder: Path, tumble: Trajectory, runs: list[Trajectory]) -> dict[str, Path]:
    paths = {name: folder / f"{name}.png" for name in FIGURES}
    plots.flip(tumble, paths["flip"])
    plots.overview(tumble, paths["overview"])
    plots.drift(runs, paths["drift"])
    return paths


def explanations(data: dict[str, Any]) -> dict[str, str]:
    """Two sentences for each figure, with the numbers of this run."""
    flip, rows = data["flip"], data["methods"]
    worst = max(rows, key=lambda row: abs(row["energy_drift"]))
    calm = [row for row in rows if row["symplectic"]]
    bound = max(
        (abs(row["energy_drift"]) + 2 * row["energy_drift_uncertainty"] for row in calm),
        default=0.0,
    )
    return {
        "flip": f"A box spun about its intermediate axis turns over {flip['flips']} times in this run, first at "
        f"t = {flip['first_flip']:.3g} s, without any torque. The orange pin marks the initial axis of rotation; "
        "the angular momentum L is constant.",
        "overview": f"{flip['method']} conserves the spatial angular momentum to {flip['momentum_error_max']:.1e} and the "
        f"energy to {flip['energy_error_max']:.1e}, relative. The attitude stays a rotation matrix to "
        f"{flip['orthogonality_error']:.1e}.",
        "drift": f"Over {rows[0]['steps']} steps of the stress test the energy of {worst['method']} drifts by "
        f"{format_drift(worst)} %. The drift of the symplectic methods ({', '.join(row['method'] for row in calm)}) is "
        f"below {100 * bound:.1g} %, including two standard errors: too small to rank them.",
    }


COLUMNS = {
    "method": "method",
    "order": "order",
    "symplectic": "symplectic",
    "energy_drift": "energy drift [%]",
    "energy_error_max": "largest energy error [%]",
    "attitude_error": f"attitude error at t = {SHORT:g} [rad]",
    "torque_evaluations": "torque evaluations",
    "elapsed_s": "time [s]",
}


def format_drift(row: dict[str, Any]) -> str:
    """The drift in percent with its standard error, to the digits that mean something."""
    digits = max(0, int(np.ceil(-np.log10(max(100 * row["energy_drift_uncertainty"], 1e-12)))))
    return f"{100 * row['energy_drift']:+.{digits}f}±{100 * row['energy_drift_uncertainty']:.{digits}f}"


def format_cell(key: str, row: dict[str, Any]) -> str:
    """A value of the table as text."""
    value = row[key]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key == "energy_drift":
        return format_drift(row)
    if key == "energy_error_max":
        return f"{100 * value:.2g}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _page(
    data: dict[str, Any], tumble: Trajectory, runs: list[Trajectory], figures: dict[str, Path]
) -> str:
    """The report: the box in 3D beside the drift of the methods, then the table and what is
    conserved."""
    times, lines = _running_means(runs)
    return render(
        "show/templates/demo.html",
        title="polhode demo",
        texts=explanations(data),
        columns=COLUMNS,
        rows=data["methods"],
        format=format_cell,
        note=explain_columns(data),
        picture=base64.b64encode(figures["overview"].read_bytes()).decode(),
        runs=encode([tumble]),
        times=times,
        lines=lines,
    )


def _running_means(
    runs: list[Trajectory], blocks: int = 300
) -> tuple[list[float], list[dict[str, Any]]]:
    """Times, and the energy error of each run in percent, averaged over so many spans."""
    parts = np.array_split(np.arange(len(runs[0])), blocks)

    def means(values):
        return [float(f"{values[part].mean():.5g}") for part in parts]

    def percent(energy):
        return 100.0 * (energy - energy[0]) / abs(energy[0])

    return means(runs[0].t), [
        {"label": run.method.name, "y": means(percent(run.total_energy))} for run in runs
    ]


def explain_columns(data: dict[str, Any]) -> str:
    """What the columns mean."""
    problem = data["problem"]
    return (
        f"{problem['title'].capitalize()} ({problem['source']}): step {problem['step']:g}, "
        f"t = {problem['t_span'][0]:g} to {problem['t_span'][1]:g}. Drift is the fitted slope times the span, relative to "
        "the initial energy, with its standard error; a line fits poorly if the drift changes sign. The attitude is compared "
        f"at t = {data['attitude_error_time']:g} with a run whose steps are {FINE} times smaller; much later no method has the "
        "right phase, and a comparison would be meaningless."
    )
