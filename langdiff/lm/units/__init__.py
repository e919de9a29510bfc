"""What language models predict: characters, subwords, bytes, grapheme clusters."""
