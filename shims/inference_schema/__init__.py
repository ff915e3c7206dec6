"""The `inference_schema` package for scoring scripts whose environment lacks it: Rookery's own, the same names. Runs on Python 3.6.

Offered to scoring processes only where the name is not found elsewhere.
"""

__version__ = "1.8.0"
