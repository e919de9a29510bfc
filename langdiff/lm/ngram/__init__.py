"""Character n-grams with modified Kneser-Ney smoothing; no torch."""
