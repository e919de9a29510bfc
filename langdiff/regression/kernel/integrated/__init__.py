"""Models with sizes of intents integrated out: random sizes, or one dispersion per edition."""
