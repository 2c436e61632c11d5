"""Advice: which method, and which step, for a motion, an error and a price of the torque.

_advise.py      `polhode.advise`
candidates.py   which methods are tried
pilot.py        short trial runs
cost.py         the cost of a run
advice.py       the recommendation and its reasons
"""
