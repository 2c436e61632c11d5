"""Systems of bodies: how an interaction is called from a loop, programs, and what went wrong."""
