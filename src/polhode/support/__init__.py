"""What every layer above uses: limits, memory, file names, provenance, principal axes."""
