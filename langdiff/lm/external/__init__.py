"""Surprisals of external language models."""
