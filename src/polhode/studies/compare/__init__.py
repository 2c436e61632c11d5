"""Work against precision: what every method costs for the error it makes.

_compare.py   `polhode.compare`
entries.py    which methods are compared
truth.py      a motion to be computed, and the truth about it
runner.py     one method on one task: a run becomes a point
search.py     the longest step that is accurate enough
comparison.py what was found
"""
