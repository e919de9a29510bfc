"""Jobs, one per edition and language model, each with a folder of its results."""
