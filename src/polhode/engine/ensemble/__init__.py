"""What ensembles need besides a run of one body: input as arrays, statistics, quantities of
motions, error estimates."""
