"""Models 1 and 2 with a dispersion for each group of editions, the intent sizes integrated out."""
