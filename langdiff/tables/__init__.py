"""Tables that the stages exchange, and their files: multitexts, surprisals, outcomes, effects and their origins."""
