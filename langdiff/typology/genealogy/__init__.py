"""Family trees of languages, and their places."""
