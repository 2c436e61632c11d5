"""Object files for any processor that LLVM knows, to be linked with a program in C, C++, Rust ..."""

from polhode.exports.machine import Machine


class Language(Machine):
    """An object file."""
