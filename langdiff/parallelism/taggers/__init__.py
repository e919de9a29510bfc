"""Taggers that detect rhetorical parallelism: embeddings, encoders, and a conditional random field over tags."""
