"""Tables exchanged between stages, and their files: multitexts, surprisals, outcomes, effects and provenance."""
