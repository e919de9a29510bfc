"""The mathematics of the models on plain arrays: NumPy and SciPy only."""
