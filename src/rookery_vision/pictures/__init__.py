"""Pictures as they come from outside: archives, folder layouts, decoding, limits against hostile input."""
