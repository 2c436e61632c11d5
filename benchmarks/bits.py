"""Whether every method still gives the same bits.

    python benchmarks/bits.py --write before.json      # before a change
    python benchmarks/bits.py --compare before.json    # after it

Every registered method runs 60 steps, as plain Python, of four problems; the digest of the last
motion is kept.  Methods made on demand that the file knows are run too: a name in the file that is
not found any more counts as changed.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

import polhode

STEPS = 60
PROBLEMS = {  # steps at which every method finds a solution
    "krysl/free-body": 0.1,
    "krysl/slow-top": 0.01,
    "krysl/coulomb-wall": 0.005,
    "bou-rabee/stress": 0.1,
}
ON_DEMAND = (
    "newmark(0.6)",
    "taylor(5)",
    "NMB+ep",
    "RKMK4+ep",
    "AKW+ep",
    "LS+yoshida4",
    "LIEMID[EA]+yoshida4",
)


def digest(name, problem, step):
    """The digest of the motion after STEPS steps, or the error that ended the run."""
    try:
        run = polhode.problems.get(problem).integrate(
            name, step=step, t_span=(0.0, STEPS * step), every="end", compiled=False
        )
    except polhode.PolhodeError as error:
        return f"{type(error).__name__}: {str(error)[:60]}"
    motion = np.concatenate([np.ravel(run.quaternion[-1]), np.ravel(run.omega[-1])])
    return hashlib.sha256(motion.tobytes()).hexdigest()


def digests(names):
    """{"method, problem": digest}."""
    return {
        f"{name}, {problem}": digest(name, problem, step)
        for name in names
        for problem, step in PROBLEMS.items()
    }


def main():
    """Write the digests of all methods, or compare with those written before."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = options.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE")
    what.add_argument("--compare", type=Path, metavar="FILE")
    options = options.parse_args()
    names = [*polhode.methods.names(), *ON_DEMAND]
    if options.write:
        found = digests(names)
        options.write.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"{len(found)} digests of {len(names)} methods in {options.write}")
        return 0
    before = json.loads(options.compare.read_text(encoding="utf-8"))
    names = dict.fromkeys([*(key.rpartition(", ")[0] for key in before), *names])
    found = digests(names)
    new = [key for key in found if key not in before]
    changed = [key for key in before if found[key] != before[key]]
    print(f"{len(before)} compared, {len(changed)} changed, {len(new)} new")
    for key in changed:
        print("changed:", key)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
