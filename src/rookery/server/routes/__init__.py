"""One file per noun. A handler decodes, calls the record or the controller, and encodes."""
