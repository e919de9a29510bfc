"""The exact search, on plain arrays."""
