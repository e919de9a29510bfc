"""Foundations shared by all parts of the package: files, checksums, numbers, seeds, signatures and types."""
