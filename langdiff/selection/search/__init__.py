"""Exact search on arrays."""
