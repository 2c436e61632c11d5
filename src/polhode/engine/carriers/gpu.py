"""A GPU as a backend: one thread for each body.  The kernels are in `polhode.core.loops.cuda`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.loads.stack import matrix_here, vector_here
from polhode.core.loops import cuda, tiles
from polhode.core.layout import layout
from polhode.engine.carriers.simd_tiles import REASONS, clock_of
from polhode.engine.ensemble.parameters import fields
from polhode.engine.rotors import PER_ROTOR
from polhode.errors import InputError
from polhode.core.jit import compile_obstacle
from polhode.support.on_device import OnDevice, on_host, require

if TYPE_CHECKING:
    from polhode.engine.program import Program
    from polhode.engine.schedule import Segment


# functions that make an array of a matrix, and of a vector: on the GPU in the memory of the thread
ARRAYS = matrix_here, vector_here


def check_shapes(program: Program) -> None:
    """Refuse arrays for which there is no place in the memory of a thread."""
    for term in (term for load in program.loads for term in load.terms if term.form == "array"):
        for name, value in zip(fields(term), term.params or (), strict=True):
            if np.shape(value) not in ((), (3,), (3, 3)):
                raise InputError(
                    f"parameter {name!r} of {term.kind} {term.name!r} has shape {np.shape(value)}, and a torque in form "
                    "'array' gets numbers, vectors of three and 3x3 matrices on a GPU; write it in form 'tuple'"
                )


class Gpu:
    """A backend for one GPU."""

    device = "cuda"
    vectorised = True
    threads = None
    first_body_steps = 2**30  # a hundredth of a second on a large card

    def __init__(
        self,
        program: Program,
        n: int,
        moments: np.ndarray | OnDevice,
        parameters: np.ndarray | list[Any],
        dtype: str = "float64",
        threads: int | None = None,
    ) -> None:
        self.cuda = require()
        if threads is not None:
            raise InputError(
                f"threads={threads!r} is for device='cpu'; a GPU runs a thread for each body"
            )
        if program.mode != "compiled":
            what = " and ".join(f"{load.kind} {load.name!r}" for load in program.called_back)
            raise InputError(
                f"device='cuda' needs torques and forces that can be compiled; {what} is called back "
                f"({program.note}): write it with math and tuples, or use device='cpu'"
            )
        check_shapes(program)
        self.program, self.n, self.dtype = program, n, np.dtype(dtype)
        self.single = self.dtype == np.float32
        own_body = isinstance(moments, OnDevice) or moments.shape[1] > 1
        own_parameters = isinstance(parameters, list) or parameters.shape[1] > 1
        rotors = program.motion_kind.spinning
        self._fits(
            9
            + self.dtype.itemsize
            * (
                2 * program.width
                + program.size
                + own_body * (6 + PER_ROTOR * rotors)
                + own_parameters * len(parameters)
            )
        )
        self.moments, self.parameters = self._inertia(moments), self._rows(parameters)
        self.z = self.cuda.device_array((program.size, self.n), self.dtype)
        # the number of the step that failed, and why
        self.stopped = self.cuda.device_array(self.n, np.int64)
        self.why = self.cuda.device_array(self.n, np.int8)
        self.trouble = self.cuda.to_device(np.zeros(1, np.int8))
        self.failed: dict[int, tuple[int, str]] = {}
        self.begun = False
        self._grid: tuple[Any, Any] = None, None  # a segment, and its grid on the GPU
        self._kernels = program.kept(("cuda", self.dtype, own_body, own_parameters), dict)
        self.names = {
            **program.names,
            "load_body": layout(program.body_shape).unpack,
            "own_body": tiles.each if own_body else tiles.shared,
            "own_parameters": tiles.each if own_parameters else tiles.shared,
        }

    def _inertia(self, moments: np.ndarray | OnDevice) -> Any:
        """Moments and their inverses, and what is of rotors, (6 or more, 1 or n) on the GPU."""
        if not isinstance(moments, OnDevice):
            return self._send(self.program.body_rows(moments))
        rows = self.cuda.device_array((6, self.n), self.dtype)
        cuda.launch_over(self.n, cuda.plain(cuda.invert), moments.array, rows)
        return rows

    def _rows(self, parameters: np.ndarray | list[Any]) -> Any:
        """Parameters (m, 1 or n) on the GPU, from an array or from rows, some of them on the GPU."""
        if not isinstance(parameters, list):
            return self._send(parameters)
        rows = self.cuda.device_array((len(parameters), self.n), self.dtype)
        for i, row in enumerate(parameters):
            row = self._send(row) if isinstance(row, np.ndarray) else row
            cuda.launch_over(self.n, cuda.plain(cuda.put), row, rows, i)
        return rows

    def _fits(self, size: int) -> None:
        """Refuse more bodies than fit into the free memory of the GPU."""
        free, total = self.cuda.current_context().get_memory_info()
        if size * self.n > free:
            raise InputError(
                f"{self.n} bodies of {size} bytes each need {size * self.n / 2**30:.3g} GiB of GPU memory, and "
                f"{free / 2**30:.3g} of {total / 2**30:.3g} GiB are free: {free // size} bodies fit; "
                "run them in several ensembles, or use dtype='float32'"
            )

    def _send(self, rows: np.ndarray) -> Any:
        return self.cuda.to_device(np.ascontiguousarray(rows, dtype=self.dtype))

    def _launch(self, loop: Callable[..., Any], *arguments: Any, clock: Any = None) -> None:
        """Run a kernel; it is compiled the first time."""
        made = self._kernels.get((loop, clock))
        if made is not None:
            cuda.launch_over(self.n, made, *arguments)
            return
        names = self.names if clock is None else {**self.names, "clock": clock}
        made = cuda.kernel(loop, self.single, ARRAYS, **names)
        why = compile_obstacle(lambda: cuda.launch_over(self.n, made, *arguments))
        if why is not None:
            raise InputError(
                f"method {self.program.method.name} with torque {self.program.torque.name!r} cannot be compiled for "
                f"a GPU: {why}; write the torque with math and tuples instead of arrays, or use device='cpu'"
            )
        self._kernels[loop, clock] = made

    def begin(self, h: float, t: float, motions: Any) -> None:
        """Let the method start from motions (n, width), on the GPU or not."""
        rows = self._send(motions) if isinstance(motions, np.ndarray) else motions
        work = (self.z, self.moments, self.parameters, self.stopped, self.begun)
        self._launch(cuda.begin, h, t, rows, *work)
        self.begun = True

    def prepare(self, segment: Segment) -> None:
        """Compile the kernels for a segment."""
        if (cuda.advance, clock_of(segment)) not in self._kernels:
            self.advance(segment, 0, 0)

    def advance(self, segment: Segment, k: int, count: int) -> None:
        """Take `count` steps of a segment from its step k with all bodies that have not failed."""
        if self._grid[0] is not segment:
            self._grid = segment, self.cuda.to_device(segment.grid)
        clock = clock_of(segment)
        work = (count, k, self._grid[1], self.z, self.moments, self.parameters, self.stopped)
        self._launch(cuda.advance, *work, self.trouble, clock=clock)
        # this waits for the kernel, so that Ctrl-C is handled between two launches
        if self.trouble.copy_to_host()[0]:
            self.trouble.copy_to_device(np.zeros(1, np.int8))
            self._launch(cuda.redo, *work, self.why, clock=clock)
            self._look_for_failures()

    def motions(self) -> Any:
        """The motions (n, width) in principal axes: an array of the GPU."""
        rows = self.cuda.device_array((self.n, self.program.width), self.dtype)
        self._launch(cuda.read, self.z, self.moments, rows)
        return rows

    def field(self, rows: slice) -> np.ndarray:
        """Components (size, n) of the method's state."""
        return on_host(self.z[rows])

    def failures(self) -> dict[int, tuple[int, str]]:
        """{body: (step of the segment, reason)}."""
        return self.failed

    def _look_for_failures(self) -> None:
        stopped, why = self.stopped.copy_to_host(), self.why.copy_to_host()
        for body in np.flatnonzero(stopped >= 0):
            self.failed.setdefault(int(body), (int(stopped[body]), REASONS[int(why[body])]))
