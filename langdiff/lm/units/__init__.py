"""Units that language models predict: characters, subwords, bytes, grapheme clusters."""
