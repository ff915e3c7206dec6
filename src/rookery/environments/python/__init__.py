"""Interpreters and the Python index: which are installed, which is chosen, what pip is configured to use, uv."""
