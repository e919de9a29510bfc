"""Models of successes out of trials: abilities of systems, difficulties of items (random or conditioned on)."""
