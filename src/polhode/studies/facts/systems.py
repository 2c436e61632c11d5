"""The facts of a method for systems of bodies: order, symmetry, symplecticity on the phase space of a
pair, momenta, and the drift of the energy.

The two bodies of the trial run, with all moments different, are joined by a spring between points
away from their centres, which stiffens with their distance, and pull an axis of the other along:

    V = k/2 |d|^2 + q/4 |r|^4 + c (Ri e . Rj f),   r = x_j - x_i,  d = r + Rj b - Ri a

For the order something outside drives them too, which depends on time.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.core.systems import SystemState
from polhode.core.vec import add, apply, axpy, cross, dot, neg, norm, qexp, qmul, scale, sub
from polhode.engine._integrate import integrate
from polhode.engine.systems.program import build, suited_to
from polhode.errors import InputError, IntegrationError
from polhode.loads._system import System
from polhode.loads.interaction import Interaction
from polhode.loads.pair import Pair
from polhode.methods import Method, get
from polhode.results._system_trajectory import SystemTrajectory
from polhode.results.motion import parts
from polhode.studies.facts.certificate import Fact
from polhode.studies.facts.rulings import order_fact, property_fact
from polhode.studies.facts.structure import Defect, canonical_form, defect_of, jacobian
from polhode.studies.facts.trial import SPAN, apart, run_length, step_size

BODIES = (RigidBody((2.0, 3.0, 4.5), mass=1.7), RigidBody((1.3, 2.2, 1.7), mass=0.9))
ATTITUDES = np.array([qexp((0.4, -0.9, 0.7)), qexp((-0.7, 0.3, 1.1))])
POSITIONS = np.array([[0.6, -0.4, 0.5], [-0.5, 1.3, -0.9]])
SPEEDS = np.array([[-0.3, 0.7, 0.4], [0.9, 0.2, -0.6]])
# angular velocities of the runs for the order: there are two, because an error may pass through zero
RATES = (
    np.array([[1.1, -0.8, 0.7], [-0.6, 0.9, 0.8]]),
    np.array([[-0.7, 1.2, 0.5], [0.9, 0.4, -1.1]]),
)
HIGHEST = 6  # the largest order that doubles show clearly
FLOOR = 1e-12  # of errors: ten times what round-off leaves
COUNTS = (12, 16, 24, 32, 48, 64, 80, 96, 128, 192)  # steps of a run for the order
DRIFT_STEP, DRIFT_COUNT = 0.1, 3000


class Trial(NamedTuple):
    """The parameters of the trial pair."""

    k: float
    q: float
    c: float
    a: Any
    b: Any
    e: Any
    f: Any


TRIAL = Trial(3.0, 0.5, 1.1, (0.5, -0.3, 0.6), (-0.4, 0.2, 0.5), (0.7, 0.6, -0.2), (-0.5, 0.6, 0.7))


def _between(r, Ri, Rj, p):
    a, b = apply(Ri, p.a), apply(Rj, p.b)
    return a, b, sub(add(r, b), a), apply(Ri, p.e), apply(Rj, p.f)


def _pair(r, Ri, Rj, p):
    a, b, d, e, f = _between(r, Ri, Rj, p)
    pull, turn = scale(p.k, d), scale(-p.c, cross(e, f))
    F = axpy(p.q * dot(r, r), r, pull)
    return F, add(cross(a, pull), turn), neg(add(cross(b, pull), turn))


def _energy(r, Ri, Rj, p):
    _, _, d, e, f = _between(r, Ri, Rj, p)
    return 0.5 * p.k * dot(d, d) + 0.25 * p.q * dot(r, r) * dot(r, r) + p.c * dot(e, f)


def _drive(t, x, R):
    s = np.sin(2.3 * t)
    return s * np.array([[0.9, -0.4, 0.3], [0.2, 0.8, -0.5]]), 0.7 * s * R[:, :, 0]


def trial_pair() -> Pair:
    """The interaction of the trial pair."""
    params = TRIAL._asdict()
    return Pair(_pair, params=params, potential=_energy, form="tuple", name="trial")


def trial_system(driven: bool = False) -> System:
    """The trial pair; `driven` by something outside as well."""
    acting = trial_pair()
    return System(BODIES, acting + Interaction(_drive, external=True) if driven else acting)


def run(method: Method | str, count: int, step: float, rates: Any = RATES[0]) -> SystemTrajectory:
    """A run of the trial pair as plain Python."""
    return integrate(
        trial_system(),
        t_span=(0.0, count * step),
        step=step,
        method=method,
        rotation0=ATTITUDES,
        omega0=rates,
        position0=POSITIONS,
        velocity0=SPEEDS,
        compiled=False,
    )


# --- a method as a map ----------------------------------------------------------------------------


class SystemMap:
    """A method with the trial pair, as a plain Python function of the states of both bodies."""

    def __init__(self, method: Method | str, driven: bool = False) -> None:
        self.system = trial_system(driven)
        self.program = build(get(method), self.system, False, 0.0, SPAN, self.start_motion())

    @staticmethod
    def start_motion(
        q: Any = ATTITUDES, Om: Any = RATES[0], x: Any = POSITIONS, v: Any = SPEEDS
    ) -> np.ndarray:
        return np.concatenate([q, Om, x, v], axis=1).ravel()

    def start(self, h: float, motion: np.ndarray, t: float = 0.0) -> np.ndarray:
        return self.program.begin(h, t, motion)[0]

    def step(self, h: float, t: float, z: np.ndarray) -> np.ndarray:
        """The states after a step, in another array."""
        p = self.program
        z = z.copy()
        p.method.step(h, t, SystemState(0.0, z, 0.0), p.moments, p.frames, p.parameters)
        return z

    def motion(self, z: np.ndarray) -> Any:
        """Attitudes, angular velocities, positions and velocities."""
        return parts(self.program.motion(z[None]), self.program.motion_kind)

    def errors(self, one: Any, other: Any) -> tuple[float, float, float, float]:
        """How far a motion is from another: attitudes (angle), body momenta, positions,
        velocities."""
        turns = [
            norm(apart(tuple(a.tolist()), tuple(b.tolist())))
            for a, b in zip(one.attitude, other.attitude, strict=True)
        ]
        away = (np.abs(a - b).max() for a, b in zip(one[1:], other[1:], strict=True))
        return (max(turns), *map(float, away))


def _end(path, rates, count):
    h = SPAN / count
    z = path.start(h, path.start_motion(Om=rates))
    for k in range(count):
        z = path.step(h, k * h, z)
    return path.motion(z)


@cache
def _reference(number):
    """The motion at the end, by DOP853 in steps whose error is round-off."""
    return _end(SystemMap("DOP853", driven=True), RATES[number], 400)


# --- the facts ------------------------------------------------------------------------------------


class SystemOrders(NamedTuple):
    """Measured orders for a system: the slope over the last three counts of steps above round-off."""

    attitude: float
    momentum: float
    position: float
    velocity: float


def system_order(method: Method | str) -> SystemOrders:
    """Measured orders of attitudes, body momenta, positions and velocities of a pair.

    Examples
    --------
    >>> [round(p, 1) for p in system_order("VLV")]
    [2.0, 2.0, 2.0, 2.0]
    """
    path = SystemMap(method, driven=True)
    errors = []
    for count in COUNTS:
        found = [
            path.errors(_end(path, rates, count), _reference(i)) for i, rates in enumerate(RATES)
        ]
        errors.append(np.sqrt(np.mean(np.square(found), axis=0)))
        if errors[-1].min() < FLOOR:
            break
    kept = [one for one in errors if one.min() >= FLOOR]
    first, last = max(len(kept) - 3, 0), len(kept) - 1
    if last < 1:  # of an order so high that nothing is above round-off
        return SystemOrders(*[np.nan] * 4)
    slopes = np.log(kept[first] / kept[last]) / np.log(COUNTS[last] / COUNTS[first])
    return SystemOrders(*slopes.tolist())


def system_symmetry_defect(method: Method | str, step: float = 0.2) -> float:
    """How far a step and a step back of a pair miss the beginning.

    Examples
    --------
    >>> system_symmetry_defect("NMB") < 1e-13 < system_symmetry_defect("taylor3")
    True
    """
    path, h = SystemMap(method, driven=True), step_size(step)
    here = path.step(h, 0.0, path.start(h, path.start_motion()))
    back = path.step(-h, 2.0 * h, path.step(h, h, here))
    return max(path.errors(path.motion(back), path.motion(here)))


def system_symplecticity(method: Method | str, step: float = 0.2) -> Defect:
    """The defect J^T Om' J - Om of one step on the phase space of a pair, (T*SE(3))^2.

    Examples
    --------
    >>> system_symplecticity("VLV").value < 1e-8 < system_symplecticity("NMB").value
    True
    """
    path, h = SystemMap(method), step_size(step)
    I, m = path.system.moments, path.system.masses[:, None]
    Pi0, p0 = I * RATES[0], m * SPEEDS

    def after(z):
        turn, Pi, x, p = np.moveaxis(z.reshape(2, 4, 3), 1, 0)
        q = [
            qmul(tuple(a.tolist()), qexp(tuple(b.tolist())))
            for a, b in zip(ATTITUDES, turn, strict=True)
        ]
        start = path.start_motion(np.array(q), (Pi0 + Pi) / I, POSITIONS + x, (p0 + p) / m)
        return path.motion(path.step(h, 0.0, path.start(h, start)))

    end = after(np.zeros(24))

    def moved(z):
        s = after(z)
        turns = [
            apart(tuple(a.tolist()), tuple(b.tolist()))
            for a, b in zip(end.attitude, s.attitude, strict=True)
        ]
        return np.stack([turns, I * s.omega, s.position, m * s.velocity], axis=1).ravel()

    def form(Pi):
        whole = np.zeros((24, 24))
        for i, one in enumerate(Pi):
            at = 12 * i
            whole[at : at + 6, at : at + 6] = canonical_form(tuple(one.tolist()))
            whole[at + 6 : at + 12, at + 6 : at + 12] = canonical_form((0.0, 0.0, 0.0))
        return whole

    def missing(spacing):
        J = jacobian(moved, 24, spacing)
        return J.T @ form(I * end.omega) @ J - form(Pi0)

    return defect_of(missing)


class SystemDrift(NamedTuple):
    """Largest change of the momenta and the energy of a pair over a run, relative to their sizes."""

    linear: float
    angular: float
    energy: float


def system_drift(method: Method | str, step: float = 0.05, count: int = 60) -> SystemDrift:
    """Largest change of linear momentum, angular momentum and energy of a pair, relative to the sums of
    their sizes over the bodies.

    Examples
    --------
    >>> system_drift("SW", count=20).angular < 1e-13 < system_drift("NMB", count=20).angular
    True
    """
    found = run(method, run_length(count), step_size(step))
    P, L, E = found.linear_momentum, found.angular_momentum, found.total_energy
    moving = found.body.masses[:, None] * found.velocity[0]
    turning = np.cross(found.position[0], moving), found.momentum_spatial[0]
    sizes = np.abs(moving).sum(), sum(np.abs(one).sum() for one in turning)
    return SystemDrift(
        float(np.abs(P - P[0]).max() / sizes[0]),
        float(np.abs(L - L[0]).max() / sizes[1]),
        float(np.abs(E - E[0]).max() / found.kinetic_energy.max()),
    )


class Trend(NamedTuple):
    """How far the mean energy of the last quarter of a long run is from that of the first, over the
    standard deviation within both, and the same relative to the kinetic energy."""

    shift: float
    relative: float


def system_energy_trend(method: Method | str) -> Trend:
    """Whether the energy of a pair drifts in a long run, or only oscillates.

    Examples
    --------
    >>> abs(system_energy_trend("LP2").shift) < 1.0
    True
    """
    found = run(method, DRIFT_COUNT, DRIFT_STEP)
    first, *_, last = np.array_split(found.total_energy, 4)
    away = float(last.mean() - first.mean())
    return Trend(
        away / float(np.hypot(first.std(), last.std()) or 1.0),
        away / float(found.kinetic_energy.max()),
    )


# --- in a certificate -----------------------------------------------------------------------------

ORDER = 0.15  # how far a measured order may be from the declared one, up to order 3
LOST, ROUNDING = 10.0, 1e-12  # times the kinetic energy
DRIFTS = 1.0  # standard deviations of the oscillation: what is less is none


def system_facts(method: Method) -> Iterator[Fact]:
    """The facts of a method for systems, claimed as far as its form for systems declares them."""
    if method.system is None:
        return
    own = suited_to(method, trial_system())
    claim = own.order if own.order and own.order <= HIGHEST else None
    for part, value in system_order(method)._asdict().items():
        title = f"order of {part}, in a system"
        fact = order_fact(f"system_order_{part}", title, claim, value, 0.0, "doubles")
        yield replace(fact, ok=claim and reaches(value, claim, exactly=part == "attitude"))
    yield property_fact(
        "system_symmetric",
        "symmetric in time, in a system",
        None if own.multistep else own.symmetric,
        lambda h: (system_symmetry_defect(method, h), 0.0),
        (0.2, 0.4),
    )
    yield property_fact(
        "system_symplectic",
        "symplectic, in a system",
        None if own.symplectic is None else own.symplectic is True,
        partial(system_symplecticity, method),
        (0.1, 0.2, 0.4, 0.8, 1.0),
    )
    drift = cache(partial(system_drift, method))
    known = own.conserves is not None
    for what, title, declared in (
        ("linear", "keeps the momentum of a system", True),
        (
            "angular",
            "keeps the angular momentum of a system",
            own.conserves is not None and "momentum" in own.conserves,
        ),
        ("energy", "keeps the energy of a system", own.restores_energy),
    ):
        yield property_fact(
            f"system_{what}",
            title,
            declared if known else None,
            lambda h, what=what: (getattr(drift(h), what), 0.0),
            (0.05, 0.1, 0.2, 0.4, 0.8),
        )
    yield trend_fact(method, own.symplectic is True)


def reaches(value, claim, exactly):
    """Whether an order is the one claimed, or more: forces that do not feel attitudes give more."""
    near = ORDER * max(1.0, claim / 3.0)
    return bool(value > claim - near and (value < claim + 2.0 * near or not exactly))


def trend_fact(method, steady):
    """Whether the energy drifts."""
    name, title = "system_drift", f"energy drift of a system at h = {DRIFT_STEP:g}"
    declared = False if steady else None
    try:
        found = system_energy_trend(method)
    except (IntegrationError, InputError) as error:
        why = str(error).partition(";")[0]
        return Fact(name, title, declared, None, None, why)
    drifts = bool(abs(found.shift) > DRIFTS and abs(found.relative) > ROUNDING)
    if not abs(found.relative) < LOST:
        return Fact(name, title, declared, True, declared, "energy lost")
    word = "yes" if drifts else "no"
    return Fact(
        name,
        title,
        declared,
        drifts,
        (not drifts) if steady else None,
        f"{word}, {found.relative:+.1e} over {DRIFT_COUNT} steps, {found.shift:+.2f} of its oscillation",
        {"shift": found.shift, "relative": found.relative},
    )
