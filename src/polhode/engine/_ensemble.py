"""The function `polhode.ensemble`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode.engine.many_bodies import ManyBodies
from polhode.engine.many_systems import ManySystems
from polhode.errors import InputError, brief, called_as, choice, check_options, shows_options
from polhode.loads._system import System
from polhode.support.units import as_units

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.bodies._body import RigidBody
    from polhode.engine.ensemble.keep import Statistics
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force
    from polhode.loads.load import Load
    from polhode.methods._method import Method
    from polhode.results._ensemble_result import Ensemble

DEVICES, DTYPES = ("cpu", "cuda"), ("float64", "float32")


@shows_options()
def ensemble(
    bodies: RigidBody | Sequence[RigidBody] | ArrayLike | Any,
    torque: Torque | Load | Callable[..., Any] | str | None = None,
    t_span: tuple[float, float] | ArrayLike | None = None,
    step: float | ArrayLike | None = None,
    method: Method | str = "LP2",
    *,
    rotation0: Rotation | ArrayLike | str | None = None,
    scalar_first: bool | None = None,
    omega0: Any = None,
    momentum0: Any = None,
    force: Force | Callable[..., Any] | None = None,
    position0: Any = None,
    velocity0: Any = None,
    mass: Any = None,
    rotor_speeds0: Any = None,
    n: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    rng: int | np.random.Generator | None = None,
    first: int = 0,
    breaks: ArrayLike | None = None,
    keep: int | str | Statistics = "end",
    device: str = "cpu",
    dtype: str | type | np.dtype = "float64",
    threads: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    units: str | Mapping[str, str] | None = None,
    **misspelt: Never,
) -> Ensemble:
    """Integrate the rotation of many rigid bodies over a span of time.

    All bodies have the same equations, each with its own numbers.  On a processor in float64 each
    motion is, bit for bit, that of `integrate`, with any number of threads.

    Parameters
    ----------
    bodies : RigidBody or inertia, a list of them, array (n, 3) or (n, 3, 3), a distribution, or a System
        A single one is used for all.  An array has principal moments or tensors.  A distribution
        is one of principal moments; a torque that depends on the body's inertia, `gravity_gradient`,
        then uses that of each body.  Of a `System` of up to eight bodies there are n copies: arrays of
        initial motions are then (n, bodies, ...), parameters those of its interaction, and the result is a
        `SystemEnsemble`.
    torque, t_span, step, method, breaks
        As in `integrate`.
    rotation0 : one rotation, scipy Rotation of n, array (n, 4), (n, 3, 3) or (n, 3), "random", or a distribution
        Attitudes at t0.  "random": distributed uniformly over all rotations.  A distribution is one
        of rotation vectors or, if it is multivariate, of quaternions or matrices.
    scalar_first : bool, optional
        As in `integrate`.
    omega0, momentum0 : three numbers, array (n, 3), or a distribution
        Body angular velocity or momentum at t0; give one of the two.  Distributions are frozen ones
        of scipy.stats, such as norm((0, 0, 5), 0.1) or multivariate_normal(mean, cov); single
        entries may be distributions too: (0, 0, norm(5, 0.1)).
    force : function f(t, x, v, R) or Force, optional
        As in `integrate`: the bodies fly.
    position0, velocity0 : three numbers, array (n, 3), or a distribution, optional
        Of the centres of mass at t0, as in `integrate`.
    mass : float, array (n,), or a distribution, optional
        Of bodies that fly; by default those of `bodies`, or 1 if these are arrays.  Loads that depend
        on the mass, `weight` and `polhode.flight.gravity`, get that of each body.
    rotor_speeds0 : array (rotors,) or (n, rotors), or a distribution, optional
        Speeds of the rotors at t0, relative to the body; by default those of the body.  In a list
        all bodies have as many rotors; functions for their motors are the same for all.
    n : int, optional
        Number of bodies, if it does not follow from the other arguments.
    parameters : dict, optional
        Values of the torque's and the force's parameters by name, one for each body, or a
        distribution.  A name that occurs twice, in a sum of torques or in torque and force, is
        written "torque.name".
    rng : int, numpy Generator or None
        Seed of random numbers.  Those of a body depend on its number, not on how many bodies there
        are.
    first : int
        The number of the first body, if these are a part of a larger ensemble.
    keep : "end", int, "statistics", or polhode.Statistics(every=..., of=..., functions=...)
        "end": only the motions at the end.  A number: also those after every so many steps.  Statistics: means, variances
        and extremes, over time for each body and over bodies at each sampled time, without storing motions.
    device : "cpu" or "cuda"
        With "cuda", bodies (n, 3), rotation0 (n, 4), all other vectors, masses and parameters may be
        arrays on the GPU, with __cuda_array_interface__ or DLPack; `Ensemble.on_device` has the
        results.
    dtype : "float64" or "float32"
        Single precision is faster and accurate to about 1e-7 times the square root of the number of
        steps, at best.
    threads : int, optional
        By default one for each processor.
    progress : function, optional
        Called as progress(steps done, steps in all).
    units : "SI" or dict, optional
        The units of your numbers, as in `RigidBody`; by default those of the bodies.

    Returns
    -------
    Ensemble
        Of a system a `SystemEnsemble`.

    Raises
    ------
    PolhodeError, KeyboardInterrupt
        Ctrl-C, and an error in a statistic or in `progress`, have the results so far as their
        attribute `ensemble`.  A second Ctrl-C does not wait until all bodies are at the same step;
        then there are no results.

    Examples
    --------
    >>> from scipy import stats
    >>> run = ensemble([1.0, 2.0, 3.0], t_span=(0, 10), step=0.01, n=100, rotation0="random", omega0=stats.norm(0, 1), rng=1)
    >>> run.omega.shape, str(run.status[0])
    ((100, 3), 'finished')
    """
    check_options(ensemble, misspelt)
    choice("device", device, DEVICES)
    precision = choice(
        "dtype", np.dtype(dtype).name if isinstance(dtype, (type, np.dtype)) else dtype, DTYPES
    )
    if progress is not None:
        called_as("progress", progress, "progress(done, total)")
    if isinstance(bodies, System):
        others = {"torque": torque, "force": force, "mass": mass, "rotor_speeds0": rotor_speeds0}
        if units is not None:
            raise InputError("units of a system are those of its bodies; give units to them")
        how = t_span, step, method, breaks, device, precision
        systems = ManySystems(bodies, *how, **others)
        turning = rotation0, scalar_first, omega0, momentum0
        systems.will_start(*turning, position0, velocity0, n, parameters, rng, first)
        systems.will_keep(keep)
        return systems.follow(threads, progress)
    run = ManyBodies(bodies, torque, t_span, step, method, breaks, device, precision)
    run.units = None if units is None else as_units(units)
    if not (run.force is None and force is None and position0 is None and velocity0 is None):
        run.will_fly(force, position0, velocity0, mass)
    elif mass is not None:
        raise InputError(
            f"mass={brief(mass)} is for bodies that fly; leave it out, or give position0, velocity0 or force"
        )
    run.will_spin(rotor_speeds0, momentum0 is not None)
    run.will_start(rotation0, scalar_first, omega0, momentum0, n, parameters, rng, first)
    run.will_keep(keep)
    return run.follow(threads, progress)
