"""Work against precision: what every method costs for the error it makes.

_compare.py   `polhode.compare`
entries.py    which methods are compared
task.py       what is to be computed
truth.py      its exact or reference solution, and errors
runner.py     one method on one task: each run gives a point
search.py     the longest step that is accurate enough
comparison.py the result
"""
