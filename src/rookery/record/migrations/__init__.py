"""Alembic's folder: `env.py` and the revisions. Revision names are numbers that sort, so that a newer one is
recognised.
"""
