"""Ours and the peer's numbers, measured in one run. `make bench`."""
