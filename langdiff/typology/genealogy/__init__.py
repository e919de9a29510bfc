"""Family trees of languages, and where languages are spoken."""
