"""A GPU as a backend: one thread for each body.  The kernels are in `polhode.core.loops.cuda`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.loads.kernels import as_array, vector_array
from polhode.core.loops import cuda, fixed as loops, tiles
from polhode.core.layout import layout
from polhode.engine.carriers.tiles import REASONS
from polhode.errors import InputError
from polhode.core.jit import compile_obstacle

if TYPE_CHECKING:
    from polhode.engine.program import Program
    from polhode.engine.schedule import Segment

INSTALL = "pip install 'polhode[cuda]'"
# body-steps in a launch: a twentieth of a second on a large card, after which progress is shown and
# Ctrl-C heard
CHUNK = 2**32


def require() -> Any:
    """numba's CUDA module, or an error that says what to install."""
    why = cuda.obstacle()
    if why is not None:
        raise InputError(
            f"device='cuda' needs a CUDA GPU, its driver and numba-cuda, but {why}; install with: {INSTALL}, "
            "or leave device='cpu'"
        )
    from numba import cuda as module

    return module


class Gpu:
    """Many bodies on one GPU.  `polhode.engine.carriers.many` says what a backend does."""

    device = "cuda"
    vectorised = True
    threads = None

    def __init__(
        self,
        program: Program,
        n: int,
        moments: np.ndarray,
        parameters: np.ndarray,
        dtype: str = "float64",
        threads: int | None = None,
    ) -> None:
        self.cuda = require()
        if threads is not None:
            raise InputError(
                f"threads={threads!r} is for device='cpu'; a GPU runs a thread for each body"
            )
        if program.mode != "compiled":
            raise InputError(
                f"device='cuda' needs a torque that can be compiled; this one is called back ({program.note}): "
                "write it with math and tuples, or use device='cpu'"
            )
        self.program, self.n, self.dtype = program, n, np.dtype(dtype)
        self.chunk = max(1, CHUNK // n)
        inertia = np.concatenate([moments, 1.0 / moments])
        self._fits(
            8 * program.width
            + 16
            + self.dtype.itemsize
            * (
                program.size
                + (inertia.shape[1] > 1) * 6
                + (parameters.shape[1] > 1) * len(parameters)
            )
        )
        self.moments, self.parameters = self._send(inertia), self._send(parameters)
        self.z = self.cuda.device_array((program.size, self.n), self.dtype)
        self.stopped = self.cuda.to_device(np.full(self.n, cuda.WELL))
        self.why = self.cuda.to_device(np.zeros(self.n, np.int8))
        self.failed = {}
        self.names = {
            **program.names,
            "load_body": layout(loops.Body).unpack,
            "own_body": tiles.each if moments.shape[1] > 1 else tiles.shared,
            "own_parameters": tiles.each if parameters.shape[1] > 1 else tiles.shared,
        }

    def _fits(self, size):
        """Refuse more bodies than the GPU's free memory holds."""
        free, total = self.cuda.current_context().get_memory_info()
        if size * self.n > free:
            raise InputError(
                f"{self.n} bodies of {size} bytes each need {size * self.n / 2**30:.3g} GiB of GPU memory, and "
                f"{free / 2**30:.3g} of {total / 2**30:.3g} GiB are free: {free // size} bodies fit; "
                "run them in several ensembles, or use dtype='float32'"
            )

    def _send(self, rows):
        return self.cuda.to_device(np.ascontiguousarray(rows, dtype=self.dtype))

    def _launch(self, loop, *arguments, **names):
        kernel = cuda.kernel(
            loop, self.dtype == np.float32, (as_array, vector_array), **{**self.names, **names}
        )
        why = compile_obstacle(lambda: kernel[-(-self.n // cuda.THREADS), cuda.THREADS](*arguments))
        if why is not None:
            raise InputError(
                f"method {self.program.method.name} with torque {self.program.torque.name!r} cannot be compiled for "
                f"a GPU: {why}; write the torque with math and tuples instead of arrays, or use device='cpu'"
            )

    def begin(self, h: float, t: float, motions: np.ndarray) -> None:
        """Let the method start (anew) from attitudes and velocities (n, 7)."""
        columns = self._send(motions.T)
        self._launch(cuda.begin, h, t, columns, self.z, self.moments, self.parameters)

    def advance(self, segment: Segment, k: int, count: int) -> None:
        """`count` steps of the segment from its step k, for every body that is well."""
        clock = loops.listed_clock if segment.uneven else loops.even_clock
        grid, trouble = self.cuda.to_device(segment.grid), self.cuda.to_device(np.zeros(1, np.int8))
        work = (count, k, grid, self.z, self.moments, self.parameters, self.stopped)
        self._launch(cuda.advance, *work, trouble, clock=clock)
        # this also waits for the launch: an interruption comes between two
        if trouble.copy_to_host()[0]:
            self._launch(cuda.redo, *work, self.why, clock=clock)
            self._look_for_failures()

    def motions(self) -> np.ndarray:
        """Attitudes and body angular velocities (n, 7), principal axes."""
        columns = self.cuda.device_array((self.program.width, self.n), self.dtype)
        self._launch(cuda.read, self.z, self.moments, columns)
        return columns.copy_to_host().T.astype(float)

    def field(self, name: str) -> np.ndarray:
        """A field of the method's state (size, n); nothing where there is no such field."""
        rows = self.program.rows(name)
        return self.z[rows].copy_to_host().astype(float) if rows.stop else np.empty((0, self.n))

    def failures(self) -> dict[int, Any]:
        """{body: (number of the step that failed in its segment, why)} since the start."""
        return self.failed

    def _look_for_failures(self):
        stopped, why = self.stopped.copy_to_host(), self.why.copy_to_host()
        for body in np.flatnonzero(stopped >= 0):
            self.failed.setdefault(int(body), (int(stopped[body]), REASONS[int(why[body])]))
