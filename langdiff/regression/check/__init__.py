"""How well a model fits, and how certain its order of editions is."""
