"""What every part of the package shares: files, checksums, numbers, seeds, signatures and types."""
