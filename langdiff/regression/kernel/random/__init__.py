"""Random intents: the sizes of intents have a distribution, which is estimated, and are integrated out."""
