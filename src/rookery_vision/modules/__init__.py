"""One file per module: its declaration. What it does is in the rooms below."""
