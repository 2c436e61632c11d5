"""Methods as a paper ran or wrote them, where that is not how one would: for the reproduction of its
tables and figures.  They are in the registry under the papers' names."""
