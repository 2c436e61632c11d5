"""Many runs at once, of bodies or of systems: the steps, what is kept, and whatever ends the run, what
was computed is kept.  What runs is known to the subclasses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.motions import Kind
from polhode.engine.carriers.gpu import Gpu
from polhode.engine.carriers.many import Many
from polhode.engine.carriers.simd_tiles import Tiles
from polhode.engine.driver import Driver
from polhode.engine.ensemble.estimate import sample_bodies
from polhode.engine.ensemble.keep import Statistics, make_recorder
from polhode.engine.schedule import segments
from polhode.errors import InputError
from polhode.methods._method import Method
from polhode.results._ensemble_result import Ensemble
from polhode.results._run import INTERRUPTED
from polhode.support.units import Units

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ManyRuns(ABC):
    """What one call of `ensemble` is to compute, from the user's input, and the Ensemble that comes of it.

    A subclass checks the input, and has the motions (n, width) at the start, in principal axes, of the
    `kind`, the numbers of those that are `lost`, and the `values` of parameters.
    """

    what = "bodies"
    units: Units | None = None  # by default those of the bodies
    kind: Kind
    device: str
    dtype: str
    breaks: ArrayLike | None
    method: Method
    n: int
    first: int
    seed: int | None
    motions: Any
    lost: Collection[int]
    values: dict[str, Any]
    carrier: Any
    driver: Any

    @abstractmethod
    def _members(self, threads: int | None) -> list[tuple[Any, Any]]:
        """(numbers, their backend) of those that have a step of their own."""

    @abstractmethod
    def _lowered(self) -> str:
        """What the method loses, in words."""

    @abstractmethod
    def _result(self, **facts: Any) -> Ensemble:
        """The result, of the facts that are known here."""

    @property
    @abstractmethod
    def quantities(self) -> tuple[str, ...]:
        """The names of what can be measured."""

    @abstractmethod
    def measure(self, options: Statistics) -> Any:
        """What evaluates the quantities of some statistics."""

    @property
    def backend(self) -> Any:
        """The class of backends."""
        return Gpu if self.device == "cuda" else Tiles

    def _will_step(
        self, t_span: tuple[float, float] | ArrayLike | None, step: float | ArrayLike | None
    ) -> None:
        """The steps are given."""
        if step is None:
            raise InputError("step is missing; give the size of a step, or an array of times")
        if t_span is None and np.ndim(step) == 0:
            raise InputError("t_span is missing; give (t0, t1)")
        self.segments = segments(
            t_span, step, self.breaks, self.method.multistep, f"method {self.method.name}"
        )
        self.step = np.asarray(step).tolist()
        self.total = sum(segment.count for segment in self.segments)
        self.t0 = self.segments[0].start

    def will_keep(self, keep: int | str | Statistics) -> None:
        """Choose what is stored, or which statistics are computed."""
        self.recorder = make_recorder(keep, self)

    # --- the run ----------------------------------------------------------------------------------

    def follow(self, threads: int | None, progress: Callable[[int, int], Any] | None) -> Ensemble:
        """Take the steps: an Ensemble."""
        self.sample = sample_bodies(self.motions, self.n)
        self.carrier = Many(self._members(threads), self.motions, self.lost)
        self.motions = None  # the carrier has them
        self.recorder.follow(self.carrier)
        self.driver = Driver(self.carrier, self.segments, self.recorder, progress=progress)
        try:
            self.recorder.first(self.driver.t)
            status, message = self.driver.run()
        except BaseException as error:  # of a statistic, memory, `progress`, a second Ctrl-C
            if self.carrier.together:
                interrupted = self._ensemble(INTERRUPTED, f"{self.driver.so_far()}: {error}")
                error.ensemble = interrupted  # type: ignore[attr-defined]
            raise
        result = self._ensemble(status, message)
        if status == INTERRUPTED:
            interrupt: Any = KeyboardInterrupt(message)
            interrupt.ensemble = result
            raise interrupt
        return result

    def _ensemble(self, status: str, message: str) -> Ensemble:
        """The result, also of a run that was interrupted."""
        carrier, driver, self.driver, self.carrier = self.carrier, self.driver, None, None
        lowered = self._lowered()
        failures = [carrier.failures[body] for body in sorted(carrier.failures)]
        message += f"; {lowered}" if lowered else ""
        message += f"; {len(failures)} of {self.n} {self.what} failed" if failures else ""
        message += carrier.method.remarks(carrier.total)
        names = ("motions", "device", "threads", "vectorised", "elapsed")
        facts = {name: getattr(carrier, name) for name in names}
        program, t, steps = carrier.program, driver.t, driver.done
        digests = program.digests()
        self.recorder.follow(None)
        del carrier, driver  # free their memory before more is allocated
        times, statistics, kept = self.recorder.result()
        return self._result(
            **facts,
            dtype=self.dtype,
            method=self.method,
            step=self.step,
            n=self.n,
            first=self.first,
            seed=self.seed,
            t=t,
            steps=steps,
            failures=failures,
            message=message,
            interrupted=status == INTERRUPTED,
            parameters=self.values,
            mode=program.mode,
            note=program.note,
            source=digests["source"],
            torque_source=digests["torque_source"],
            times=times,
            statistics=statistics,
            kept=kept,
            kind=self.kind,
        )
