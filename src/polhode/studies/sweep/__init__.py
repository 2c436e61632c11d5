"""Parameter sweeps and Monte Carlo on a cluster.

_sweep.py    `polhode.sweep` and what it returns
keys.py      which keys of a scenario can vary
axes.py      the section [sweep]: which of them vary, and over what
plan.py      the sweep as a whole: dimensions, chunks, digest
task.py      one chunk: from values to bodies to results
store.py     results in a Zarr store, chunk by chunk
cluster.py   chunks on dask.distributed
"""
