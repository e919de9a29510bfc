"""Mathematics of the models on plain arrays, with NumPy and SciPy only."""
