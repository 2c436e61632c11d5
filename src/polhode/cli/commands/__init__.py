"""The commands, one module each.

A module is a command when it is in this package: it has a function of its own name with the
arguments, options, help and body, and GROUP, the heading under which `polhode --help` lists it.
At the top it imports only what is quick; the library is imported inside the function.
"""
