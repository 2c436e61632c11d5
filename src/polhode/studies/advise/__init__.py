"""Advice: which method, and which step, for a motion, an error and a price of the torque.

_advise.py      `polhode.advise`
candidates.py   which methods are tried
pilot.py        pilot runs
cost.py         what a run costs
advice.py       the recommendation and why
"""
