"""Methods: a pure `step` function and the facts that the method declares."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.methods._references import bibtex


IN_C = "C"  # the family of methods whose steps are machine code made from C


class Motion(NamedTuple):
    """The smallest state: attitude (body to space) and body angular velocity."""

    q: Quaternion
    Om: Vector


@jit
def start_motion(h, t, q, Om, body, torque, p):
    return Motion(q, Om)


@dataclass(frozen=True)
class Method:
    """A method and its declared facts.

    Attributes
    ----------
    order : int
        Order of attitude and momentum under a nonlinear torque.
    free_order : tuple of int
        Orders of attitude and body momentum for the torque-free body, where they differ from
        `order`.
    omega_order : int or None
        Order under torques that depend on the angular velocity, or in flight on the velocity, where
        it differs from `order`.
    torques : int or None
        Torque evaluations per step, beyond one at the start; None when an iteration decides.
    solves : int
        Nonlinear equations solved per step.
    symmetric : bool
        A step of h followed by a step of -h comes back to where it began.
    symplectic : bool or "orbits"
        The step preserves the symplectic form of T*SO(3); "orbits": only that of the body momentum
        on its coadjoint orbits.
    conserves : tuple of str
        What the torque-free motion keeps to round-off: "momentum" (spatial), "energy".
    multistep : bool
        The state contains values of earlier steps: a run that goes on from attitude and velocity
        alone starts anew.
    limit : str
        The largest step for which a solution exists, in words, where that is known.
    adapt : function or None
        `adapt(torque, body)` returns the method with a step made for the torque (none, one with
        derivatives, one that depends on the angular velocity) and the body (symmetric or not; None
        if it is not known or there are several).  Without it there is one step for all.
    flight : function or None
        `flight(method)` returns the method for a body that flies, with translation in its own
        steps.  Without it Newmark's method carries the translation beside the rotation.
    system : function or None
        `system(method, bodies)` returns the method for a `System` of bodies, whose state is that of
        all of them.  Without it the method takes no systems.
    few : function or None
        Of a method for systems whose step works on arrays alone, `few(n)` returns step and start
        for n bodies in registers.  Without it there is one step for both.
    row : type or None
        Of a method for systems, the state of one body: the fields of `core.kicks.FlyingState`, with
        Om or pi in place of Pi if it keeps these, and whatever else it keeps.
    rotors : function or None
        `rotors(method, n)` returns the method, as it is on the ground or in flight, for a body with n
        rotors.  Without it the method takes no rotors.
    control : core.adaptive.Pair, methods._series.Recursion or None
        What a loop that chooses its own steps needs; without it the method takes fixed steps only.
    potential : bool
        The step asks for the potential energy, `torque.potential(t, R, p)`.
    arrays : bool
        The step keeps its stages in an array: it runs in doubles on a processor, and is not
        exported.
    remark : str
        A remark that is added to the message of a run.
    counted : tuple of (str, function)
        Fields of the state that count steps, each with a function that puts the total into words.
    synonyms : tuple of str
        Names of the method, or of similar ones, in other libraries: the error about an unknown name
        suggests the method.
    restores_energy : bool
        After each step the state is moved to one with the right energy, if that is known: NAME+ep.
    cite : str
        The key of its source in `methods/references.bib`.
    builds_on : tuple of str
        The keys of the methods that it is made from.
    best_for : str
        What it is recommended for, in words; empty for most.
    flaw : str
        What is wrong with it and what to use instead: a faulty variant that a paper used.
    """

    name: str
    step: Callable
    start: Callable
    state: type
    order: int | None
    torques: int | None
    symmetric: bool | None
    symplectic: bool | str | None
    conserves: tuple | None = ()
    free_order: tuple = ()
    solves: int | None = 0
    multistep: bool = False
    family: str = ""
    aliases: tuple = ()
    cite: str = ""
    summary: str = ""
    adapt: Callable | None = None
    flight: Callable | None = None
    system: Callable | None = None
    few: Callable | None = None
    row: Any = None
    rotors: Callable | None = None
    limit: str = ""
    control: tuple | None = None
    potential: bool = False
    arrays: bool = False
    remark: str = ""
    omega_order: int | None = None
    restores_energy: bool = False
    counted: tuple = ()
    builds_on: tuple = ()
    best_for: str = ""
    flaw: str = ""
    synonyms: tuple = ()

    def order_under(self, felt: str) -> int | None:
        """The order under loads of which `felt` says in words that they depend on velocities."""
        return self.omega_order if felt and self.omega_order is not None else self.order

    def lowered(self, felt: str) -> str:
        """What is lost under such loads, in words; empty where nothing is."""
        if self.order_under(felt) == self.order:
            return ""
        return f"{self.name} is of order {self.omega_order}, not {self.order}, under {felt}"

    def remarks(self, total: Callable[[str], float]) -> str:
        """What a run adds to its message; `total(field)` is the total of a field of the state."""
        remarks = [self.remark, *(words(total(field)) for field, words in self.counted)]
        return "".join(f"; {one}" for one in remarks if one)

    def suited(self, torque: Any, body: Any = None) -> "Method":
        """The method as it is best run with a torque and, where there is just one, a body."""
        return self if self.adapt is None else self.adapt(torque, body)

    @property
    def implicit(self) -> bool:
        """Whether a step solves a nonlinear equation."""
        return bool(self.solves)

    def facts(self) -> dict[str, Any]:
        """The facts as plain data, for tables and JSON."""
        return {
            "name": self.name,
            "aliases": list(self.aliases),
            "family": self.family,
            "order": self.order,
            "free_order": list(self.free_order),
            "omega_order": self.order if self.omega_order is None else self.omega_order,
            "torques_per_step": self.torques,
            "implicit": self.implicit,
            "solves_per_step": self.solves,
            "symmetric": self.symmetric,
            "symplectic": self.symplectic,
            "conserves": list(self.conserves or ()),
            "multistep": self.multistep,
            "reference": ",".join(self.references),
            "summary": self.summary,
            "best_for": self.best_for,
            "flaw": self.flaw,
            "limit": self.limit,
        }

    @property
    def references(self) -> tuple[str, ...]:
        """The BibTeX keys of its source and of the methods that it is made from, each once."""
        return tuple(dict.fromkeys(filter(None, (self.cite, *self.builds_on))))

    def bibtex(self) -> str:
        """The BibTeX entries of its references.

        Examples
        --------
        >>> import polhode
        >>> composed = polhode.methods.get("LP2+yoshida4")
        >>> composed.references
        ('yoshida1990construction', 'mclachlan1993explicit')
        >>> composed.bibtex().count("@article")
        2
        """
        return "\n\n".join(map(bibtex, self.references))

    def __repr__(self) -> str:
        return f"<method {self.name}, order {self.order}>"


def recorded_step(h, t, s, body, torque, p):
    """The step of a method of which only the facts are known, from a stored run; `get` finds the
    method itself by its name."""


def recorded(name: str, facts: dict[str, Any]) -> Method:
    """A method from the facts in a stored run."""
    held: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()
    }
    cite, *others = str(held.get("reference", "")).split(",")
    return Method(
        name,
        recorded_step,
        start_motion,
        Motion,
        held.get("order"),
        held.get("torques_per_step"),
        held.get("symmetric"),
        held.get("symplectic"),
        held.get("conserves", ()),
        held.get("free_order", ()),
        held.get("solves_per_step", 0),
        held.get("multistep", False),
        held.get("family", ""),
        held.get("aliases", ()),
        cite,
        held.get("summary", ""),
        limit=held.get("limit", ""),
        omega_order=held.get("omega_order"),
        builds_on=tuple(others),
        best_for=held.get("best_for", ""),
        flaw=held.get("flaw", ""),
    )


def variant(entry: Method, **changes: Any) -> Method:
    """A copy of a method with other facts."""
    return replace(entry, **changes)
