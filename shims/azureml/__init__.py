"""The `azureml` package of Rookery: Azure ML SDK v1's names, on machines you own. Runs on Python 3.6.

`azureml.X.Y` is the module `rookery.azureml.X.Y`, the same object under both names.
"""

import importlib
import importlib.machinery
import importlib.util
import os
import sys

__all__ = ["AliasFinder"]

_HERE = os.path.dirname(os.path.abspath(__file__))
_REAL = "rookery."


def _refuse_a_merged_folder():
    """Two packages in one folder would give half of each, with errors far from their cause."""
    names = [name for name in os.listdir(_HERE) if os.path.isdir(os.path.join(_HERE, name))]
    strangers = sorted(name for name in names if name != "__pycache__")
    if strangers:
        raise ImportError(
            "{} holds Rookery's azureml and parts of Microsoft's ({}). They cannot share a folder: look with "
            "`pip list | grep -i azureml`, then `pip uninstall` rookery-azureml or Microsoft's.".format(
                _HERE, ", ".join(strangers)
            )
        )


def _require_rookery():
    try:
        importlib.import_module("rookery.azureml")
    except ImportError as error:  # raised again below without `from`: its text is in the sentence
        if not (getattr(error, "name", None) or "").startswith("rookery"):
            raise
        raise ImportError(
            "Rookery's azureml needs Rookery itself in this environment ({}): install it there, for example "
            "with `pip install <path of the Rookery checkout>`. ({})".format(sys.prefix, error)
        ) from None


class AliasFinder(object):
    """Finds `azureml.X.Y` as `rookery.azureml.X.Y`. Goes first: our own folders must not be searched a
    second time."""

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith("azureml."):
            return None
        real = importlib.util.find_spec(_REAL + fullname)
        if real is None:
            return None
        is_package = real.submodule_search_locations is not None
        loader = _AliasLoader()
        return importlib.machinery.ModuleSpec(fullname, loader, origin=real.origin, is_package=is_package)


class _AliasLoader(object):
    def create_module(self, spec):
        module = importlib.import_module(_REAL + spec.name)
        self._own = (module.__spec__, module.__loader__)
        return module

    def exec_module(self, module):
        # The import system has written the alias's spec into the module; it has been executed under its own.
        module.__spec__, module.__loader__ = self._own


_refuse_a_merged_folder()
_require_rookery()
# A package that is imported a second time (a reload, a test) finds its finder there already.
if not any(type(finder).__name__ == "AliasFinder" for finder in sys.meta_path):
    sys.meta_path.insert(0, AliasFinder())

__version__ = sys.modules["rookery.azureml"].VERSION
