"""One reader per file format, and what formats share."""
