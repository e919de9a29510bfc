"""Surprisals drawn from the models, with known truth."""
