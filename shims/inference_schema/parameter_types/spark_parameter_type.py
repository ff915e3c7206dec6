"""Spark's tables, which this package has no room for."""

__all__ = ["SparkParameterType"]


class SparkParameterType(object):
    def __init__(self, *args, **kwargs):
        raise NotImplementedError(
            "SparkParameterType needs the real package: add `inference-schema` to the environment."
        )
