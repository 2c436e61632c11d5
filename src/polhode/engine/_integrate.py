"""`integrate`: the motion of one body over a span of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Never, overload

from polhode.engine.checkpoint import Checkpoint, as_checkpoint
from polhode.engine.one_body import OneBody, as_body
from polhode.engine.one_run import OneRun
from polhode.engine.one_system import OneSystem, refuse_beside_system, refuse_units
from polhode.errors import InputError, brief, called_as, flag, label, check_options, shows_options
from polhode.loads._system import System

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.bodies._body import RigidBody
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force
    from polhode.loads.load import Load
    from polhode.methods._method import Method
    from polhode.results._system_trajectory import SystemTrajectory
    from polhode.results._trajectory import Trajectory

STANDARD, BY_TOLERANCE = "LP2", "DOP853"  # the methods when none is named


@overload
def integrate(body: System, *, units: None = None, **options: Any) -> SystemTrajectory: ...


@overload
def integrate(
    body: RigidBody | ArrayLike,
    torque: Torque | Load | Callable[..., Any] | str | None = None,
    t_span: tuple[float, float] | ArrayLike | None = None,
    step: float | ArrayLike | None = None,
    method: Method | str | None = None,
    *,
    rotation0: Rotation | ArrayLike | None = None,
    scalar_first: bool | None = None,
    omega0: ArrayLike | None = None,
    momentum0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | None = None,
    force: Force | Callable[..., Any] | None = None,
    position0: ArrayLike | None = None,
    velocity0: ArrayLike | None = None,
    rotor_speeds0: ArrayLike | None = None,
    t_eval: ArrayLike | None = None,
    every: int | str = 1,
    events: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
    breaks: ArrayLike | None = None,
    progress: Callable[[int, int], Any] | None = None,
    compiled: bool = True,
    checkpoint: str | PathLike[str] | Checkpoint | None = None,
    checkpoint_every: int | str = "30s",
    title: str = "",
    units: str | Mapping[str, str] | None = None,
    threads: int | None = None,
    **misspelt: Never,
) -> Trajectory: ...


@shows_options()
def integrate(
    body: RigidBody | ArrayLike | System,
    torque: Torque | Load | Callable[..., Any] | str | None = None,
    t_span: tuple[float, float] | ArrayLike | None = None,
    step: float | ArrayLike | None = None,
    method: Method | str | None = None,
    *,
    rotation0: Rotation | ArrayLike | None = None,
    scalar_first: bool | None = None,
    omega0: ArrayLike | None = None,
    momentum0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | None = None,
    force: Force | Callable[..., Any] | None = None,
    position0: ArrayLike | None = None,
    velocity0: ArrayLike | None = None,
    rotor_speeds0: ArrayLike | None = None,
    t_eval: ArrayLike | None = None,
    every: int | str = 1,
    events: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
    breaks: ArrayLike | None = None,
    progress: Callable[[int, int], Any] | None = None,
    compiled: bool = True,
    checkpoint: str | PathLike[str] | Checkpoint | None = None,
    checkpoint_every: int | str = "30s",
    title: str = "",
    units: str | Mapping[str, str] | None = None,
    threads: int | None = None,
    **misspelt: Never,
) -> Any:
    """Integrate the rotation of a rigid body over a span of time.

    Parameters
    ----------
    body : RigidBody, or inertia as 3 principal moments or a symmetric 3x3 matrix, or System
        Its rotors, if it has any, are followed with it.  With a `System` of n bodies, which has the
        interaction in it, the motion at t0 is given by arrays (n, ...) and the result is a
        `SystemTrajectory`.
    torque : function f(t, R), Torque, name or None
        Spatial torque from time and attitude matrix; see `polhode.torque` for other kinds.  None is
        a free body.  A `Load` is torque and force together, for a body in flight.
    t_span : (t0, t1)
        The run; t1 < t0 runs backwards.
    step : float, or array of times
        Size of the steps; the last one is shortened to end at t1.  An array of times defines each
        step.
    method : str or Method
        `polhode methods` lists them.  The default with a step is LP2: symplectic, second order, one
        torque evaluation per step; with `rtol` it is DOP853.
    rotation0 : scipy Rotation, 3x3 matrix, scalar-last quaternion, rotation vector, or None
        Attitude at t0, body to space.  Of a system one for all bodies, or one for each: (n, 3) rotation
        vectors, also of three bodies, (n, 4) quaternions, (n, 3, 3) matrices.
    scalar_first : bool, optional
        Whether a quaternion is written (w, x, y, z); (x, y, z, w), as in SciPy, by default.
    omega0, momentum0 : three numbers
        Angular velocity or angular momentum at t0, body frame; give one of the two.
    rtol, atol : float, optional
        Instead of `step`: the steps are chosen so that each adds at most about rtol + atol radians
        to the error of the attitude, and rtol times the largest angular velocity so far, + atol, to
        that of the angular velocity; atol is 0 by default.
    max_step : float, optional
        The largest step that may be chosen, so that a short pulse of the torque is not missed.
    force : function f(t, x, v, R) or Force, optional
        Force on the centre of mass, in space: the body flies freely.  Its mass is the body's.
    position0, velocity0 : three numbers, optional
        Of the centre of mass at t0.  The body flies if one of force, position0 and velocity0 is
        given; the others are then zero by default.
    rotor_speeds0 : one number for each rotor, optional
        Speeds of the body's rotors at t0, relative to it; by default those of the body.
    t_eval : array of times, optional
        Times at which to store the motion, instead of at the steps: by an interpolation on SO(3)
        that is accurate to O(step^4) in attitude and O(step^3) in angular velocity, for methods of
        any order; with `rtol` by the method's continuous extension, about as accurate as the steps.
    every : int or "end"
        Store one point every so many steps, and the end; "end" stores only the two ends and needs
        no memory.
    events : function or list of functions g(t, R, omega), in flight g(t, R, omega, x, v), optional
        That of a system is always g(t, R, omega, x, v), of arrays (n, 3, 3) and (n, 3) with a row for each
        body, also if bodies are fixed.  Zeros are located on the interpolant; attributes `terminal` and `direction` as in scipy's
        solve_ivp.  The speeds of rotors come last.  A function that returns True or False has its
        zeros where that changes.  It gets copies, as torques and forces do, and may write to them.
    breaks : times, optional
        Times at which a step ends and the method starts again, for jumps of the torque.
    progress : function, optional
        Called as progress(steps done, steps in all) about twenty times a second.
    compiled : bool
        False runs the steps as plain Python: slow, for debugging.
    checkpoint : path, optional
        A folder for a long run: points are written to it during the run, and memory stays small.
        After a crash the same call continues from the last checkpoint and ends with the same bits,
        provided that a torque in Python depends only on its arguments.  The folder is not deleted.
    checkpoint_every : int or str
        Steps between checkpoints, or the time between them: 30s, 5min, 1h.
    title : str
        Of the run, for figures, files and pages.
    units : "SI" or dict, optional
        The units of your numbers, as in `RigidBody`; by default those of the body.
    threads : int, optional
        How many threads share the bodies of a large system, of some thousand bodies; by default one
        per processor.  Results do not depend on it.

    Returns
    -------
    Trajectory

    Raises
    ------
    PolhodeError, KeyboardInterrupt
        An exception that ends a run has the results so far as its attribute `trajectory`: an error
        of the torque (TorqueError) or of an event (EventError), a full disk or memory (InputError),
        and Ctrl-C.

    Examples
    --------
    A body spun about its intermediate axis flips over.

    >>> run = integrate([1.0, 2.0, 3.0], t_span=(0, 40), step=0.01, omega0=(0.001, 1.0, 0.0))
    >>> bool(run.omega[:, 1].min() < -0.99)
    True

    The same to nine digits, in steps that the method chooses.

    >>> run = integrate([1.0, 2.0, 3.0], t_span=(0, 40), rtol=1e-9, omega0=(0.001, 1.0, 0.0))
    >>> run.method.name, run.steps < 100
    ('DOP853', True)
    """
    if misspelt:
        check_options(integrate, misspelt)
    if progress is not None:
        called_as("progress", progress, "progress(done, total)")
    if compiled is not True:
        compiled = flag("compiled", compiled)
    chosen = not (rtol is None and atol is None and max_step is None)  # the steps, by the method
    if method is None:
        method = BY_TOLERANCE if chosen else STANDARD
    if isinstance(body, System):
        refuse_units(units)
    elif units is not None:
        body = as_body(body).with_units(units)
    rotation, place = (rotation0, omega0, momentum0, scalar_first), (position0, velocity0)
    run: OneRun
    if isinstance(body, System):
        refuse_beside_system(torque=torque, force=force, rotor_speeds0=rotor_speeds0)
        run = OneSystem(body, method, *rotation, *place, threads)
    else:
        if threads is not None:
            raise InputError(
                f"threads share the bodies of a System, and there is one body, got threads={brief(threads)}; leave it out, "
                "or use polhode.ensemble for many motions of it"
            )
        start = *rotation, force, *place, rotor_speeds0
        run = OneBody(body, torque, method, *start, by_tolerance=chosen)
    if chosen:
        run.will_choose(t_span, step, rtol, atol, max_step, breaks)
    else:
        run.will_step(t_span, step, breaks)
    run.title = title if type(title) is str else label("title", title) or ""
    return run.follow(
        t_eval,
        every,
        events,
        compiled,
        progress,
        None if checkpoint is None else as_checkpoint(checkpoint, checkpoint_every),
    )
