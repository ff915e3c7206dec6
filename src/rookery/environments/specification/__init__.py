"""What was asked for, read with care: conda files, requirements, pyproject, locks, curated names."""
