"""What many bodies need beside a run of one: their input as arrays, statistics, and quantities of
motions."""
