"""Many bodies on one GPU: body-steps per second, and ratios to the same work in CUDA C and in JAX.

    python benchmarks/gpu.py [--bodies N] [--steps N] [--methods A,B|all] [--calls NxM,...] [--markdown FILE] [--json]

Heavy top (KE 3.5) with a random attitude and angular velocity for each body, float64 and float32,
the trajectory in registers, end states only.  A launch is timed from synchronise to synchronise
after a warm-up launch, the best of five; compile time is left out and given beside.  CUDA C: nvcc
-O3 -arch=native of nmb_top.cu, left out where there is no nvcc; JAX: a jitted fori_loop of the same
step over arrays of bodies, left out where JAX is not installed.  The last columns say how far the
GPU's end states are from those of the processor in double precision.

"call" is the same work by `polhode.ensemble`, as a user calls it, warm, the best of five: with
initial states that lie on the GPU and results that stay there, and from arrays of the host back to
arrays of the host, with the seconds that the bare transfers of these arrays take.  --calls lists the
numbers of bodies and steps for which calls are timed beside the kernel.
"""

import argparse
import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from polhode import ensemble, methods, problems, rotations
from polhode.engine.carriers.gpu import Gpu
from polhode.engine.carriers.simd_tiles import Tiles
from polhode.engine.schedule import Segment
from polhode.engine.program import build
from polhode.support.on_device import on_host, require

PROBLEM = problems.get("krysl/slow-top")
STEP = 0.0125
SEGMENT = Segment(0.0, STEP, 10**9, 10**9 * STEP)
CALLS = "200000x500,1000000x1000"
DEFAULT = "NMB,SW,VLV,LP2,MR2-231,taylor3,taylor4,LIEMID[EA],EXACT"


def motions(n):
    """Attitudes and angular velocities of n tops, the same for every contestant."""
    rng = np.random.default_rng(20)
    q = rng.normal(size=(n, 4))
    return np.concatenate(
        [q / np.linalg.norm(q, axis=1)[:, None], 2.0 * rng.normal(size=(n, 3))], axis=1
    )


def program_of(name):
    return build(methods.get(name), PROBLEM.torque(), PROBLEM.body)


def started(backend, start):
    backend.begin(STEP, 0.0, start)
    return backend


def ours(name, dtype, start, steps, repeats=5):
    """Body-steps per second of a method, seconds to compile, registers of a thread, and the end
    states."""
    program = program_of(name)
    gpu = started(Gpu(program, len(start), program.moments, program.parameters, dtype), start)
    clock = time.perf_counter()
    gpu.advance(SEGMENT, 0, 1)
    compiling = time.perf_counter() - clock
    best = np.inf
    for _ in range(repeats):
        started(gpu, start).cuda.synchronize()
        clock = time.perf_counter()
        gpu.advance(SEGMENT, 0, steps)
        gpu.cuda.synchronize()
        best = min(best, time.perf_counter() - clock)
    return len(start) * steps / best, compiling, gpu


def best_of(work, repeats=5):
    """The shortest time of a call, in seconds, after one to warm up; each ends with a
    synchronise."""
    work()
    times = []
    for _ in range(repeats):
        clock = time.perf_counter()
        work()
        times.append(time.perf_counter() - clock)
    return min(times)


def call(name, dtype, n, steps):
    """Seconds of the kernel alone, of `ensemble` with arrays on the GPU, of `ensemble` from and to
    the host, and of the transfers alone."""
    module, start = require(), motions(n)
    # as a user has them: two arrays
    q, omega = np.ascontiguousarray(start[:, :4]), np.ascontiguousarray(start[:, 4:])
    there = module.to_device(q), module.to_device(omega)
    # whole steps: the span of a run is a multiple of the step
    given = (PROBLEM.body, PROBLEM.torque(), (0.0, steps * STEP), STEP, name)

    def on_gpu():
        run = ensemble(*given, rotation0=there[0], omega0=there[1], device="cuda", dtype=dtype)
        module.synchronize()
        return run.on_device

    def from_host():
        run = ensemble(*given, rotation0=q, omega0=omega, device="cuda", dtype=dtype)
        return run.quaternion, run.omega

    def transfers():
        module.to_device(q), module.to_device(omega)
        results.copy_to_host()

    results = module.device_array((n, 7), dtype)
    speed, *_ = ours(name, dtype, start, steps)
    return {
        "method": name,
        "dtype": dtype,
        "bodies": n,
        "steps": steps,
        "kernel": n * steps / speed,
        "on the GPU": best_of(on_gpu),
        "from the host": best_of(from_host),
        "transfers": best_of(transfers),
    }


def apart(name, dtype, n=4096, steps=200):
    """The largest angle between the GPU's attitudes and the processor's in double precision, over
    steps of a smaller ensemble."""
    start, program = motions(n), program_of(name)
    ends = []
    for backend in (
        Gpu(program, len(start), program.moments, program.parameters, dtype),
        Tiles(program, len(start), program.moments, program.parameters),
    ):
        started(backend, start).advance(SEGMENT, 0, steps)
        ends.append(on_host(backend.motions())[:, :4])
    return float(np.max(rotations.angle_between(*ends)))


def by_hand(dtype, start, steps, repeats=5):
    """Body-steps per second of the kernel in CUDA C, or None."""
    if shutil.which("nvcc") is None:
        return None
    library = Path(tempfile.gettempdir()) / "nmb_top_cuda.so"
    if not library.exists():
        source = Path(__file__).with_name("nmb_top.cu")
        subprocess.run(
            [
                "nvcc",
                "-O3",
                "-arch=native",
                "-Xcompiler",
                "-fPIC",
                "-shared",
                "-o",
                library,
                source,
            ],
            check=True,
        )
    function = getattr(ctypes.CDLL(library), "march64" if dtype == "float64" else "march32")
    function.restype = ctypes.c_double
    inertia = np.array(PROBLEM.body.moments, dtype=float)
    R, Om = rotations.matrices(start[:, :4]), start[:, 4:]
    torque = 20.0 * np.stack([-R[:, 1, 2], R[:, 0, 2], 0.0 * R[:, 0, 0]], axis=1)
    A = (np.einsum("nji,nj->ni", R, torque) - np.cross(Om, inertia * Om)) / inertia
    z = np.ascontiguousarray(np.concatenate([start, A], axis=1).T, dtype=dtype)
    best = np.inf
    for _ in range(repeats + 1):
        here = z.copy()
        seconds = function(
            ctypes.c_int(len(start)),
            ctypes.c_int(steps),
            ctypes.c_double(STEP),
            inertia.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_double(20.0),
            here.ctypes.data_as(ctypes.c_void_p),
        )
        assert seconds > 0.0, "the kernel in CUDA C failed"
        best = min(best, seconds)
    return len(start) * steps / best


def by_jax(dtype, start, steps, repeats=3):
    """Body-steps per second of NMB written with jax.numpy over arrays (component, body), or
    None."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    I, h = [float(moment) for moment in PROBLEM.body.moments], STEP

    def cross(a, b):
        return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]

    def step(_, state):
        q, Om, A = state[:4], state[4:7], state[7:]
        W = [Om[i] + 0.5 * h * A[i] for i in range(3)]
        x = [h * w for w in W]
        th = jnp.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + 1e-30)
        s, c = jnp.sin(0.5 * th) / th, jnp.cos(0.5 * th)
        a, b, d = (s * y for y in x)
        n = (
            q[3] * a + q[0] * c + q[1] * d - q[2] * b,
            q[3] * b + q[1] * c + q[2] * a - q[0] * d,
            q[3] * d + q[2] * c + q[0] * b - q[1] * a,
            q[3] * c - q[0] * a - q[1] * b - q[2] * d,
        )
        f = 1.5 - 0.5 * sum(y * y for y in n)
        q0, q1, q2, q3 = (f * y for y in n)
        R13, R23 = 2 * (q0 * q2 + q1 * q3), 2 * (q1 * q2 - q0 * q3)
        t0, t1 = -20.0 * R23, 20.0 * R13
        T = (
            (1 - 2 * (q1 * q1 + q2 * q2)) * t0 + 2 * (q0 * q1 + q2 * q3) * t1,
            2 * (q0 * q1 - q2 * q3) * t0 + (1 - 2 * (q0 * q0 + q2 * q2)) * t1,
            R13 * t0 + R23 * t1,
        )
        for _ in range(3):
            w = [W[i] + 0.5 * h * A[i] for i in range(3)]
            Iw = [I[i] * w[i] for i in range(3)]
            F = [I[i] * A[i] + g - T[i] for i, g in enumerate(cross(w, Iw))]
            k = 0.5 * h
            r0 = (I[0], k * (-w[2] * I[1] + Iw[2]), k * (w[1] * I[2] - Iw[1]))
            r1 = (k * (w[2] * I[0] - Iw[2]), I[1], k * (-w[0] * I[2] + Iw[0]))
            r2 = (k * (-w[1] * I[0] + Iw[1]), k * (w[0] * I[1] - Iw[0]), I[2])
            p, u, r = cross(r1, r2), cross(r2, r0), cross(r0, r1)
            e = 1.0 / (r0[0] * p[0] + r0[1] * p[1] + r0[2] * p[2])
            A = [A[i] - e * (p[i] * F[0] + u[i] * F[1] + r[i] * F[2]) for i in range(3)]
        return (q0, q1, q2, q3, *(W[i] + 0.5 * h * A[i] for i in range(3)), *A)

    state = tuple(
        jnp.asarray(row, dtype=dtype)
        for row in np.concatenate([start, np.zeros((len(start), 3))], axis=1).T
    )
    march = jax.jit(lambda state: jax.lax.fori_loop(0, steps, step, state))
    jax.block_until_ready(march(state))
    best = np.inf
    for _ in range(repeats):
        clock = time.perf_counter()
        jax.block_until_ready(march(state))
        best = min(best, time.perf_counter() - clock)
    return len(start) * steps / best


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--bodies", type=int, default=2**20)
    options.add_argument("--steps", type=int, default=2000)
    options.add_argument("--methods", default=DEFAULT)
    options.add_argument("--calls", default=CALLS)
    options.add_argument("--markdown", type=Path)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    names = methods.names() if given.methods == "all" else given.methods.split(",")
    start, rows, peers = motions(given.bodies), [], {}
    for dtype in ("float64", "float32"):
        for peer, measure in (("CUDA C", by_hand), ("JAX", by_jax)):
            peers[peer, dtype] = measure(dtype, start, given.steps)
    for name in names:
        row = {"method": name}
        for dtype in ("float64", "float32"):
            try:
                speed, compiling, gpu = ours(name, dtype, start, given.steps)
            except Exception as error:
                row[dtype] = None
                print(f"{name} {dtype}: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            row.update(
                {
                    dtype: speed,
                    f"compile {dtype}": compiling,
                    f"failed {dtype}": len(gpu.failures()),
                    f"apart {dtype}": apart(name, dtype),
                }
            )
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    sizes = [tuple(map(int, size.split("x"))) for size in given.calls.split(",") if size]
    calls = [call("NMB", dtype, *size) for size in sizes for dtype in ("float64", "float32")]
    text = table(rows, peers, given) + table_of_calls(calls)
    found = {
        "peers": {" ".join(key): value for key, value in peers.items()},
        "rows": rows,
        "calls": calls,
    }
    print(json.dumps(found) if given.json else text)
    if given.markdown:
        given.markdown.write_text(text + "\n")


def table_of_calls(calls):
    lines = [
        "",
        "",
        "| call of ensemble, NMB | kernel ms | arrays on the GPU ms | of the kernel's rate | host to host ms | transfers ms |",
        "|---|---|---|---|---|---|",
    ]
    for one in calls:
        kernel, there, host, moved = (
            1e3 * one[name] for name in ("kernel", "on the GPU", "from the host", "transfers")
        )
        lines.append(
            f"| {one['bodies']} x {one['steps']}, {one['dtype']} | {kernel:.2f} | {there:.2f} | {kernel / there:.2f} "
            f"| {host:.2f} | {moved:.2f} |"
        )
    return "\n".join(lines)


def table(rows, peers, given):
    def speed(value):
        return "-" if value is None else f"{value / 1e9:.1f}"

    def ratio(ours, theirs):
        return "-" if not ours or not theirs else f"{ours / theirs:.2f}"

    lines = [
        f"{given.bodies} heavy tops x {given.steps} steps, G body-steps/s",
        "",
        "| method | float64 | float32 | compile s | apart float64 | apart float32 |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['method']} | {speed(row.get('float64'))} | {speed(row.get('float32'))} "
            f"| {row.get('compile float64', 0.0):.1f} | {row.get('apart float64', np.nan):.1e} "
            f"| {row.get('apart float32', np.nan):.1e} |"
        )
    for peer in ("CUDA C", "JAX"):
        lines.append(
            f"| NMB in {peer} | {speed(peers[peer, 'float64'])} | {speed(peers[peer, 'float32'])} | | | |"
        )
    nmb = next((row for row in rows if row["method"] == "NMB"), {})
    lines += [
        "",
        *(
            f"NMB is {ratio(nmb.get('float64'), peers[peer, 'float64'])} (float64) and "
            f"{ratio(nmb.get('float32'), peers[peer, 'float32'])} (float32) of {peer}."
            for peer in ("CUDA C", "JAX")
        ),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
