"""All targets under atheris, one after the other:  python tests/fuzz/run.py [INPUTS [TARGET ...]].

INPUTS is how many there are in all, a million by default; TARGETS says which share each target
gets.  Prints a table; the exit code is 1 if a target found something, and what it found stays in
the folder polhode-fuzz.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
FOUND = Path("polhode-fuzz")


def share(name, runs):
    """Run one target: (inputs, seconds, what it said if it ended early)."""
    began, options = (
        time.monotonic(),
        [f"-runs={runs}", f"-artifact_prefix={FOUND}/{name}-", "-seed=1"],
    )
    # in memory, if possible
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if Path("/dev/shm").is_dir() else None
    ) as folder:
        done = subprocess.run(
            [sys.executable, HERE / "harness.py", name, *options],
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | {"TMPDIR": folder},
        )
    counted = re.search(r"number_of_executed_units: (\d+)", done.stderr + done.stdout)
    trouble = "" if done.returncode == 0 else done.stdout[-2000:] + done.stderr[-600:]
    return int(counted[1]) if counted else 0, time.monotonic() - began, trouble


def main():
    sys.path.insert(0, str(HERE))
    from targets import TARGETS

    FOUND.mkdir(exist_ok=True)
    total, weights = (
        int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6,
        sum(weight for *_, weight in TARGETS.values()),
    )
    inputs, elapsed, failed = 0, 0.0, 0
    for name in sys.argv[2:] or TARGETS:
        count, seconds, trouble = share(name, -(-total * TARGETS[name][2] // weights))
        inputs, elapsed, failed = inputs + count, elapsed + seconds, failed + bool(trouble)
        print(
            f"{name:12} {count:9d} inputs {seconds:7.0f} s  {'FAILED' if trouble else 'fine'}",
            flush=True,
        )
        if trouble:
            print(trouble, flush=True)
    print(f"{'all':12} {inputs:9d} inputs {elapsed:7.0f} s  {failed} targets failed")
    if not failed:
        FOUND.rmdir()
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
