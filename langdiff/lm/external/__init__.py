"""Surprisals that come from elsewhere: other models, and compressors."""
