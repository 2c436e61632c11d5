"""The loops on a GPU: the same steps, one thread for each body, with the state in registers.

`kernel(loop, single, **names)` is for a GPU what `bind` is for the processor.  State and parameters
are arrays (component, body), so that neighbouring threads read neighbouring numbers.  Threads may
diverge: the step is the whole step, with `newton.polish`.  `advance` keeps no second state in
registers and only notices that a step failed.  Such a body stays where it was at the beginning of the
call, for `redo`, which stops at the step that fails.

Nothing here imports numba-cuda before it is called.  With NUMBA_ENABLE_CUDASIM=1 all of it runs in
numba's simulator.
"""

import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from polhode.core.constant import Constant
from polhode.core.digest import digest
from polhode.core.fma import fma, product_and_sum
from polhode.core.jit import BOUND_LIMIT, jit
from polhode.core.rebind import Rebinder
from polhode.core.lanes import ALONE
from polhode.core.loops.fixed import DONE, outcome
from polhode.core.newton import gyroscopic, gyroscopic_equation, polish, products, size
from polhode.core.single import SinglePrecision
from polhode.core.scalars import COSINE, SINC, sinc_cos
from polhode.core.vec import sub, times

THREADS = 128  # in a block
# of an iteration that gains a digit or two each time; the change in the last one, relative to w
ROUNDS, SETTLED = 8, Constant(2e-15, single=4e-7)
# entries of `stopped` other than the number of the step that failed: nothing wrong; left for `redo`
WELL, LEFT = -1, -2

# bound as in tiles.py; cuda is numba's module, real or simulated, with the number of the thread
step = start = clock = load_state = store_state = velocity = residual = None
launch = observe = flaw = load_motion = store_motion = None
torque = load_parameters = load_body = own_body = own_parameters = real = cuda = None


def begin(h, t, motions, z, moments, parameters, stopped, anew):
    """The method's own state of each body, from the rows of `motions`; nothing is wrong with a body
    that does not begin anew."""
    j = cuda.grid(1)
    if j < z.shape[1]:
        body, p = load_body(moments, own_body(j)), load_parameters(parameters, own_parameters(j))
        store_state(launch(start, real(h), real(t), load_motion(motions, j), body, torque, p), z, j)
        if not anew:
            stopped[j] = WELL


def advance(count, k, grid, z, moments, parameters, stopped, trouble):
    """`count` steps from step k on for each body that is well; one with a bad step stays where it
    was, and trouble[0] is set."""
    j = cuda.grid(1)
    if j < z.shape[1] and stopped[j] == WELL:
        body, p = load_body(moments, own_body(j)), load_parameters(parameters, own_parameters(j))
        s = load_state(z, j)
        good = True
        for i in range(k, k + count):
            t, h = clock(grid, i)
            h = real(h)
            s = step(h, real(t), s, body, torque, p)
            good = good and outcome(h, velocity(s, body), flaw(s), residual(s)) == DONE
        if good:
            store_state(s, z, j)
        else:
            stopped[j] = LEFT
            trouble[0] = 1


def redo(count, k, grid, z, moments, parameters, stopped, why):
    """The same steps for the bodies that `advance` left; one that fails ends the body's run, which
    keeps its last good state."""
    j = cuda.grid(1)
    if j < z.shape[1] and stopped[j] == LEFT:
        body, p = load_body(moments, own_body(j)), load_parameters(parameters, own_parameters(j))
        s = load_state(z, j)
        stopped[j] = WELL
        for i in range(k, k + count):
            t, h = clock(grid, i)
            h = real(h)
            new = step(h, real(t), s, body, torque, p)
            ended = outcome(h, velocity(new, body), flaw(new), residual(new))
            if ended != DONE:
                stopped[j] = i
                why[j] = ended
                break
            s = new
        store_state(s, z, j)


def read(z, moments, motions):
    """The motion of each body as a row of `motions`."""
    j = cuda.grid(1)
    if j < z.shape[1]:
        s, body = load_state(z, j), load_body(moments, own_body(j))
        store_motion(observe(s, velocity(s, body), body), motions, j)


# --- parts of arrays (body, ...), which numba slices in time proportional to their length ---------


def some_rows(rows, numbers, out):
    """The rows of some bodies."""
    j = cuda.grid(1)
    if j < out.shape[0]:
        for i in range(out.shape[1]):
            out[j, i] = rows[numbers[j], i]


def some_columns(rows, first, out):
    """The columns from `first` on."""
    j = cuda.grid(1)
    if j < out.shape[0]:
        for i in range(out.shape[1]):
            out[j, i] = rows[j, first + i]


def one_number(rows, place, out):
    """Of each entry the number at a place, a tuple."""
    j = cuda.grid(1)
    if j < out.shape[0]:
        out[j] = rows[(j, *place)]


# --- initial motions from arrays (1 or n, ...) ----------------------------------------------------


@jit
def one_of(rows, j):
    """The row of body j, or the one that all share."""
    return j if rows.shape[0] > 1 else 0


def place(q, v, moments, is_momentum, bounds, motions, odd):
    """Attitudes, angular velocities or momenta, and principal moments as rows of `motions`; odd[0]
    is set if a number is out of bounds, and the host has to check the input.

    `bounds`: how far the norm of a quaternion may be from 1, and up to which difference that is
    rounding; the smallest and the largest moment; the largest rate.
    """
    j = cuda.grid(1)
    if j < motions.shape[0]:
        off_group, rounding, least, largest, fastest = bounds
        a, b, c = one_of(q, j), one_of(v, j), one_of(moments, j)
        norm, total = 0.0, 0.0
        for i in range(4):
            norm += float(q[a, i]) * float(q[a, i])
        norm = math.sqrt(norm)
        off = abs(norm - 1.0)
        ordinary = off <= off_group
        for i in range(4):
            motions[j, i] = q[a, i] if off <= rounding else q[a, i] / norm
        for i in range(3):
            total += moments[c, i]
        for i in range(3):
            moment, rate = moments[c, i], v[b, i]
            if is_momentum:
                rate /= moment
            motions[j, 4 + i] = rate
            ordinary = ordinary and least <= moment <= largest and 2.0 * moment <= total
            ordinary = ordinary and abs(rate) <= fastest
        if not ordinary:
            odd[0] = 1


def look(row, odd):
    """Set odd[0] where a number is not finite."""
    j = cuda.grid(1)
    if j < row.shape[0] and not abs(row[j]) < math.inf:
        odd[0] = 1


def put(row, rows, i):
    """Row i of an array (component, body)."""
    j = cuda.grid(1)
    if j < rows.shape[1]:
        rows[i, j] = row[one_of(row, j)]


def invert(moments, rows):
    """Principal moments (n, 3) and their inverses as an array (component, body)."""
    j = cuda.grid(1)
    if j < rows.shape[1]:
        for i in range(3):
            rows[i, j] = moments[j, i]
            rows[3 + i, j] = 1.0 / moments[j, i]


# --- replacements: threads may diverge, other than the lanes of a tile -----------------------------

NEAR = 0.25  # of the square of an angle: up to there nine terms of sin x / x and cos x are enough


@jit
def series(c, z):
    """c0 + c1 z + ... + c8 z^8."""
    return c[0] + z * (
        c[1]
        + z * (c[2] + z * (c[3] + z * (c[4] + z * (c[5] + z * (c[6] + z * (c[7] + z * c[8]))))))
    )


@jit
def sinc_cos_near(z):
    """`scalars.sinc_cos`, by shorter series up to half a radian."""
    if z < NEAR:
        return series(SINC, z), series(COSINE, z)
    return sinc_cos(z)


@jit
def gyroscopic_in_rounds(k, b, guess):
    """`newton.gyroscopic` by rounds of w = b - k (w2 w3, w3 w1, w1 w2) alone, and by Newton's
    method where they do not settle."""
    w = before = guess
    for _ in range(ROUNDS):
        before, w = w, sub(b, times(k, products(w)))
    left = 2 * ROUNDS
    while size(sub(w, before)) > SETTLED * size(w) and left > 0:
        before, w = w, sub(b, times(k, products(w)))
        left -= 1
    if size(sub(w, before)) <= SETTLED * size(w):
        return w, 0.0
    return polish(gyroscopic_equation, guess, (k, b), 1.0)


@jit
def local_matrix(R):
    """A 3 x 3 tuple as an array, for a user's function: a thread has no heap."""
    a = cuda.local.array((3, 3), real)
    for i in range(3):
        for j in range(3):
            a[i, j] = R[i][j]
    return a


@jit
def local_vector(v):
    """Three numbers as an array."""
    a = cuda.local.array(3, real)
    for i in range(3):
        a[i] = v[i]
    return a


# --- machine code ---------------------------------------------------------------------------------


def obstacle() -> str | None:
    """Why no GPU can be used, in a few words; None if one can."""
    try:
        from numba import cuda
    except ImportError:
        return "numba-cuda is not installed"
    try:
        if cuda.is_available():
            return None
        cuda.get_current_device()
    except Exception:  # numba-cuda has many classes of errors for a missing driver
        return "no CUDA driver could be loaded"
    return "no CUDA device was found"


def _device_function(function: Callable[..., Any]) -> Any:
    from numba import cuda

    return cuda.jit(function, device=True)


# device functions; True: in single precision
_copies: dict[bool, WeakKeyDictionary[Any, Any]] = {
    False: WeakKeyDictionary(),
    True: WeakKeyDictionary(),
}
# replacements on a GPU; later ones use the earlier
STAND_INS = (
    (fma, product_and_sum),
    *ALONE,
    (sinc_cos, sinc_cos_near),
    (gyroscopic, gyroscopic_in_rounds),
)
_kernels: dict[str, Any] = {}  # by digest: the last BOUND_LIMIT


def kernel(
    loop: Callable[..., Any], single: bool = False, arrays: tuple[Any, ...] = (), **names: Any
) -> Any:
    """The loop as a GPU kernel, with the given functions under the given names.

    `arrays` are the function that makes an array of a 3x3 matrix, and that of three numbers.
    """
    import numba
    from numba import cuda

    used = {name: value for name, value in names.items() if name in loop.__code__.co_names}
    key = digest(loop, single, *(item for pair in sorted(used.items()) for item in pair))
    made = _kernels.pop(key, None)
    if made is None:
        here = {"cuda": cuda, "real": numba.float32 if single else numba.float64}
        copies = (SinglePrecision if single else Rebinder)(_device_function, shared=_copies[single])
        for function, stand_in in STAND_INS:
            copies.shared[function] = copies(stand_in)
        for function, stand_in in zip(arrays, (local_matrix, local_vector), strict=False):
            local = copies.copy(stand_in, **here)
            # inlined, since the array is in the memory of the function that makes it
            copies.done[function] = cuda.jit(local, device=True, inline="always")
        made = cuda.jit(copies.copy(loop, **used, **here))
    while len(_kernels) >= BOUND_LIMIT:
        _kernels.pop(next(iter([*_kernels])), None)  # of a list, since other threads add to it
    _kernels[key] = made  # the latest is last
    return made


@cache
def plain(loop: Callable[..., Any]) -> Any:
    """The kernel of a loop to which nothing is bound."""
    return kernel(loop)


def launch_over(n: int, made: Any, *arguments: Any) -> None:
    """Run a kernel with a thread for each of n bodies, without numba's performance warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made[-(-n // THREADS), THREADS](*arguments)
