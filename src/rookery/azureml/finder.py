"""Makes the modules that v1 has and we have no file for: every name in them is a placeholder. Python 3.6.

Below Python 3.9 the SDK cannot be imported, so there our own files are left aside too (but the few that say
so): what a training script needs is `Run`, and that comes from `rookery.worker`.
"""

import importlib
import importlib.machinery
import os
import sys
import types
from importlib.abc import Loader

from rookery.azureml.surface import SURFACE
from rookery.worker.placeholder import placeholder

__all__ = ["IN_RUN_ONLY", "VERSION", "SurfaceFinder", "fill", "install"]

VERSION = "1.61.0"  # the release of SDK v1 whose names these are
IN_RUN_ONLY = sys.version_info < (3, 9)
OURS = "rookery."
# Files that run on Python 3.6.
SAFE = (
    "azureml.exceptions",
    "azureml.telemetry",
    "azureml._restclient",
    "azureml.core.compute_target",
    "azureml.contrib.services",
)


def install():
    """Register the finder once: after all others, or before them where our files cannot be imported."""
    if any(isinstance(finder, SurfaceFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0 if IN_RUN_ONLY else len(sys.meta_path), SurfaceFinder())


def fill(namespace):
    """Add a placeholder for every name that v1 has in this module and the module does not define; sets
    `__all__`."""
    module = namespace["__name__"][len(OURS) :]
    for name in SURFACE[module]:
        if name not in namespace:
            namespace[name] = _value(module, name)
    namespace["__all__"] = list(SURFACE[module])


class SurfaceFinder(Loader):
    """Finds modules of SURFACE; it is its own loader."""

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith("rookery.azureml."):
            return None
        module = fullname[len(OURS) :]
        if module not in SURFACE or (IN_RUN_ONLY and module.startswith(SAFE)):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=_has_submodules(module))

    def create_module(self, spec):
        return _VirtualModule(spec.name)

    def exec_module(self, module):
        name = module.__name__[len(OURS) :]
        module.__doc__ = "{}: names of Azure ML SDK v1 that are placeholders here.".format(name)
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), *name.split(".")[1:])
        if os.path.isdir(folder):
            module.__path__ = [folder]  # a package of ours that is left aside may have a module that is not
        for each in SURFACE[name]:
            setattr(module, each, _value(name, each))
        module.__all__ = list(SURFACE[name])


class _VirtualModule(types.ModuleType):
    """A module whose submodules are imported when they are first looked at, as v1's packages import theirs
    at once."""

    def __getattr__(self, name):
        full = self.__name__ + "." + name
        if full[len(OURS) :] in SURFACE:
            return importlib.import_module(full)
        raise AttributeError("module '{}' has no attribute '{}'".format(self.__name__[len(OURS) :], name))


def _has_submodules(module):
    return any(other.startswith(module + ".") for other in SURFACE)


def _value(module, name):
    if name == "VERSION":
        return VERSION
    if name == "Run" and IN_RUN_ONLY and module in ("azureml.core", "azureml.core.run"):
        from rookery.worker.run import Run

        return Run
    if name.endswith(("Exception", "Error")):
        return _exception(name)
    return placeholder(name, module)


def _exception(name):
    """Exceptions are real, because `except SomeException:` must not fail itself."""
    from rookery.azureml import exceptions

    found = getattr(exceptions, name, None)
    if found is None:
        found = type(name, (exceptions.AzureMLException,), {"__module__": exceptions.__name__})
        setattr(exceptions, name, found)
    return found
