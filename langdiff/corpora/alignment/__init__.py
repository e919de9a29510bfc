"""Check that the texts of an intent say the same in all editions: their lengths, and which texts are equal."""
