"""Models whose sizes of intents are integrated out: of one distribution, or with dispersions of editions."""
