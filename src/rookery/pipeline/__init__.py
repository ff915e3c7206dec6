"""Pipelines in the keeper: graphs checked, driven step by step, and what was done already reused. See docs/inside/pipeline.md."""
