"""Packages of conda channels, through py-rattler in a child process."""
