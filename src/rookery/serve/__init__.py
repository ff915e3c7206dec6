"""Models behind an address: the manager in the keeper, fronts, and the program that scores (docs/inside/serve.md)."""
