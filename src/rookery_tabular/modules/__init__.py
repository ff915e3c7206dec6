"""One file per module or family: the declaration, and one call into the rooms below."""
