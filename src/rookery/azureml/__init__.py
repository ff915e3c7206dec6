"""Azure ML SDK v1's module paths and spellings over our SDK: names and translation, nothing else.

The top-level `azureml` package (folder `shims/`) makes `azureml.X` the same module as `rookery.azureml.X`.
What v1 has and Rookery has not yet is a placeholder (`surface.py` lists v1's names). This file, `finder`,
`surface`, `exceptions`, `telemetry` and `_restclient` run on Python 3.6; below 3.9 everything but `Run` is a
placeholder.
"""

from rookery.azureml.finder import VERSION
from rookery.azureml.finder import install as _install

__all__ = ["VERSION"]

_install()
