"""How sure difficulties are, how many intents they need, and which cells are outliers."""
