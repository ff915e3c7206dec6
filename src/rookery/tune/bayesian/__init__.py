"""Bayesian sampling: Optuna in a process of its own, so that neither it nor NumPy is in the keeper."""
