"""Methods written in C: a file or a library becomes a `Method`.

    void step(double h, double t, double q[4], double omega[3], const double I[3], TORQUE, void *context);
    typedef void (*TORQUE)(double t, const double q[4], const double omega[3], double torque[3], void *context);

Attitudes are unit quaternions (x, y, z, w), body to space; velocities and moments of inertia belong to
the principal axes of the body; torques to the axes of space.  The step replaces q and omega.  A method
that remembers something says how many numbers: `const int memory = 3;`.  Its functions then have one
argument more, `double *memory`, all zero at first, and `start`, with the same arguments as the step,
may fill it.  NAME_step, NAME_start and NAME_memory are the same for FILE.c:NAME.

Files of `polhode export` are read as they are.

compiler.py      finds a compiler of C, and makes a library
signatures.py    the two signatures: what C is compiled with, and the state in terms of numbers
exported.py      the structures in a file of `polhode export`
declared.py      declared facts as text
_load.py         from a file to a Method
"""

from polhode.studies.c_code._load import from_c, is_target, split
from polhode.studies.c_code.declared import read_facts, with_facts

__all__ = ["from_c", "is_target", "read_facts", "split", "with_facts"]
