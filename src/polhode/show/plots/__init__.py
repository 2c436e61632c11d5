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

A run is a Trajectory or the path of a stored one.  Every function returns a matplotlib Figure that belongs to no window and no
global state, and saves it when given a path.  `polhode plot` draws stored runs from the command line.

Pictures of your own look like these inside `with styled():` on a `new_figure(width, height)`, in the colours of `PALETTE`.
"""

from polhode.show.plots.ellipsoid import polhode
from polhode.show.plots.globe import sphere
from polhode.show.plots.motion import flip, overview
from polhode.show.plots.strays import drift, errors
from polhode.show.plots.style import PALETTE, new_figure, styled

__all__ = ["PALETTE", "certificate", "convergence", "drift", "errors", "flip", "new_figure", "overview", "polhode", "sphere",
           "styled", "work_precision"]


def convergence(comparison, path=None):
    """Error against the step for every method of a `polhode.compare` result, each with the line of its measured order.

    Parameters
    ----------
    comparison : Comparison
        Methods by tolerance have no step, and are left out.
    path : str or Path, optional
        Where to save the figure.

    Examples
    --------
    >>> import polhode
    >>> found = polhode.compare("krysl/slow-top", methods=["NMB", "RK4-quaternion"], errors=[1e-3])
    >>> convergence(found).axes[0].get_xlabel()
    'step [s]'
    """
    from polhode.show.plots.comparison import convergence

    return convergence(comparison, path)


def work_precision(comparison, path=None, currency=None):
    """Error against cost for every method of a `polhode.compare` result, each with the order measured.

    Parameters
    ----------
    comparison : Comparison
    path : str or Path, optional
        Where to save the figure.
    currency : {"evaluations", "steps", "seconds"}, optional
        One panel for this; by default there are three.

    Examples
    --------
    >>> import polhode
    >>> found = polhode.compare("krysl/slow-top", methods=["NMB", "LP2"], errors=[1e-2])
    >>> work_precision(found, currency="evaluations").axes[0].get_xlabel()
    'torque evaluations'
    """
    from polhode.show.plots.comparison import work_precision

    return work_precision(comparison, path, currency)


def certificate(certificate, path=None):
    """The figure of a certificate: convergence, energy in the long run, and the verdicts.

    Parameters
    ----------
    certificate : Certificate
        From `polhode.certify(method)`.
    path : str or Path, optional
        Where to save the figure.

    Examples
    --------
    >>> import polhode
    >>> certificate(polhode.certify("VLV")).axes[0].get_title()   # doctest: +SKIP
    'Error with a torque'
    """
    from polhode.show.plots.certificate import draw

    return draw(certificate, path)
