"""One job per edition and language model, with a folder that keeps what it gave."""
