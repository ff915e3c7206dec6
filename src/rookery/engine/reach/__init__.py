"""Targets on other machines: attached, and looked at from one of their nodes. See docs/inside/link.md."""
