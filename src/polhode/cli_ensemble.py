"""The command `polhode ensemble`: many bodies of a scenario, a bar, a table."""

import os
import shlex

from polhode import provenance
from polhode.cli import FINE, INTERRUPTED, NUMERICAL_FAILURE, complain, print_json, print_summary, progress_bar
from polhode.ensemble import ensemble
from polhode.ensemble.dataset import FORMATS
from polhode.errors import InputError
from polhode.io import load, store
from polhode.io.many import arguments

MEANING = {"diverged": "its motion is no longer finite, or turns further in a step than a double can tell",
           "unsolved": "the equation of the step has no solution that Newton's method finds"}


def run(scenario, torque_file, n, device, dtype, threads, method, output, force, as_json):
    """Run, store, print; the exit code."""
    job = load(scenario, torque_file)
    if n is not None and n < 1:
        raise InputError(f"--n must be a whole number of bodies, at least 1, got {n}; write --n 1000")
    if output:
        store.check(output, None, force, FORMATS)
    options = arguments(job, n)
    if method is not None:
        options["method"] = method
    with progress_bar("compiling") as bar:
        try:
            result = ensemble(**options, device=device, dtype=dtype, threads=threads,
                              progress=lambda done, total: bar(done, total, f"{options['n']} bodies"))
        except KeyboardInterrupt as error:
            if not hasattr(error, "ensemble"):
                raise
            result = error.ensemble
    result.title = job.title
    provenance.note_command(_command(scenario, torque_file, n, method))
    if output:
        result.save(output, force)
    summary = result.summary() | {"output": os.fspath(output) if output else None}
    if as_json:
        print_json(summary)
    else:
        print_summary(job.title, {key: value for key, value in summary.items() if key != "failures"})
    if result.interrupted:
        complain(result.message)
        return INTERRUPTED
    if result.failures:
        first = result.failures[0]
        rest = "The others finished" if len(result.failures) < result.n else "None finished"
        complain(f"{len(result.failures)} of {result.n} bodies failed; the first is body {first.body}, in step {first.step} from "
                 f"t = {first.t:.15g}: {MEANING.get(first.reason, first.reason)}.  {rest}; take a smaller step, a slower body or "
                 "another method")
        return NUMERICAL_FAILURE
    return FINE


def _command(scenario, torque_file, n, method):
    """What says which numbers are computed; device and numbers' size stand next to it in the file."""
    chosen = {"--torque-file": torque_file, "--n": n, "--method": method}
    return shlex.join(["polhode", "ensemble", str(scenario), *(str(part) for pair in chosen.items() if pair[1] is not None
                                                              for part in pair)])
