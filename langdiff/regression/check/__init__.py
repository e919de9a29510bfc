"""How well a model fits, and how sure its order of editions is."""
