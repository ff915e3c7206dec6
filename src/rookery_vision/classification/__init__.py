"""Telling pictures apart: training and scoring. `module.py` is the card, `train.py` the program, `presets.py` its numbers."""
