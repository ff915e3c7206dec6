"""Types of a scoring function's arguments, made from samples."""
