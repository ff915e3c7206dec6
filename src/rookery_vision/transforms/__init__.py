"""What may be done to pictures, by name."""
