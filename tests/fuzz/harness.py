"""One target under atheris:  python tests/fuzz/harness.py TARGET [libFuzzer options].

It ends at an exception that is not polhode's own, after five seconds without an answer, or when
memory runs out of its limit, and leaves the input that did it in a file.
"""

import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent))
READERS = [
    "polhode.io",
    "polhode.studies.sweep.axes",
    "polhode.studies.sweep.plan",
    "polhode.rotations",
    "polhode.bodies._body",
    "polhode.engine.schedule",
    "polhode.studies.compare.entries",
    "polhode.studies.advise.cost",
    "polhode.show.play.work",
    "tomllib",
    "mutate",
]
with atheris.instrument_imports(include=READERS):
    from targets import TARGETS

LIMITS = [
    "-timeout=5",
    "-rss_limit_mb=4096",
    "-malloc_limit_mb=8192",
    "-max_len=4096",
    "-print_final_stats=1",
    "-verbosity=0",
]


def main():
    target, seeds, _ = TARGETS[sys.argv[1]]
    with tempfile.TemporaryDirectory(prefix="polhode-corpus-") as corpus:
        for number, seed in enumerate(seeds()):
            (Path(corpus) / str(number)).write_bytes(seed)
        atheris.Setup([sys.argv[0], *LIMITS, *sys.argv[2:], corpus], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
