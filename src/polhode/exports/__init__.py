"""Steps written out in other languages.

_export.py       `polhode.export`
module.py        what a file contains: a method for a torque, and the functions that are called from outside
header.py        the comment at its top
translate.py     from Python's source to a small typed language, ir.py: functions and statements
expressions.py   the same for expressions, with the objects that they refer to
tidy.py          what is not used is left out; where variables are declared
source.py        the source of a function
long_steps.py    the exact free motion over long times, without elliptic functions
printer.py       what the printers of all languages share
languages/       one file for each language
"""
