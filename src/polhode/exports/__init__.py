"""Steps written out in other languages.

_export.py       `polhode.export`
module.py        what a file contains: a method for a torque, and the functions that are called from outside
header.py        the comment at its top; measured.py: what is measured for it; sample.py: the numbers of its example;
                 provenance.py: the command that writes the file; frozen.py: what a torque took from outside
symmetry.py      files for symmetric bodies alone; comments.py: of functions, in single precision
acting.py        torques and loads as methods see them; traced.py: those written for arrays
ir.py            a small typed language between Python and the others; trees.py: walks through it
translate.py     from Python's source to that language, function by function
statements.py    one function; expressions.py and calls.py: its expressions, with the objects they refer to
tidy.py          what is not used is left out; where variables are declared
source.py        the source of a function
long_steps.py    the exact free motion over long times, without elliptic functions
outside.py       what the user of a file calls and writes, in words
printer.py       what the printers of all languages share; phrases.py: of expressions, naming.py: of names, text.py: of lines
machine.py       machine code by LLVM; machine_functions.py writes the bodies of functions for it
prototypes.py    functions in machine code, as C sees them
fused.py         a b + c with one rounding, where there is no instruction for it
languages/       one file for each language
bundle.py        many methods and torques in one file of JavaScript, for the playground
"""
