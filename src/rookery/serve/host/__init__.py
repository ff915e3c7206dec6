"""The scoring program: runs in the model's own environment, Python 3.6 and newer, standard library only.

In the payload it is the package `_rookery_scoring`; it imports nothing of ours but itself.
"""
