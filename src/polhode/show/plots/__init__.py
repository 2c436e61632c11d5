"""Figures, one call each.

    overview(run)              angular velocity, errors, and the path of the third axis
    errors(runs)               energy and momentum errors, with their signs
    drift(runs)                the energy in the long run, method beside method
    polhode(run)               Poinsot's curves of a free body
    flip(run)                  a tumbling body in snapshots
    sphere(runs)               paths of an axis, or many directions, on the unit sphere
    convergence(comparison)    error against the step, with fitted orders
    work_precision(comparison) error against cost
    certificate(certificate)   what was declared and what was measured

A run is a Trajectory or the path of a stored one.  Every function returns a matplotlib Figure that
belongs to no window and no global state, and saves it when given a path.  `polhode plot` draws
stored runs from the command line.

Pictures of your own look like these inside `with styled():` on a `new_figure(width, height)`, in
the colours of `PALETTE`.

The names are listed in `__init__.pyi` and imported when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
