"""The compiled heart: tuple algebra, the compiler front end and the time loops.  No I/O, no
objects, no SciPy."""
