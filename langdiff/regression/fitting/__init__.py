"""From a table and options to a fit: sizes of intents fitted or integrated out, and standard errors."""
