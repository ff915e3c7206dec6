"""Horovod's names over torch.distributed, for PyTorch scripts: `import horovod.torch as hvd`. Runs on Python 3.6.

Rookery offers it to runs that have no Horovod; an installed one always wins. Nothing is compiled.
"""

from horovod.runner import run

__all__ = ["run"]
__version__ = "0.28.1+rookery"
