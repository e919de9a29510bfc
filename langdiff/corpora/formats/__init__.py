"""One module per format of corpus files, and what they share."""
