"""Closed solutions on tuples: elliptic functions, the free body, the heavy top."""
