"""Learning from tables: algorithms, what they are fed with, training, scoring."""
