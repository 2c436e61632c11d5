"""What is compiled, and how: tuple algebra, time loops, closed solutions, and the interface to numba."""
