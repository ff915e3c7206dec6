"""Rookery trains PyTorch models at scale on machines you own.

Importing it is light: the SDK is loaded when one of its names is first used. This file runs on Python 3.6
too, where a module has no `__getattr__`: there only `__version__` and the submodules exist.
"""

__version__ = "0.1.0"

# The names of `rookery.sdk` and `rookery.errors` that are reached as `rookery.<name>`.
_SDK = (
    "AmlCompute",
    "ComputeTarget",
    "Dataset",
    "Datastore",
    "Environment",
    "Experiment",
    "InferenceConfig",
    "LocalWebservice",
    "Model",
    "OutputFileDatasetConfig",
    "RayCompute",
    "RemoteCompute",
    "Run",
    "RunConfiguration",
    "ScriptRunConfig",
    "SlurmCompute",
    "Webservice",
    "Workspace",
)
_ERRORS = ("RookeryError", "RunFailedError", "UserError")

__all__ = [*sorted(_SDK + _ERRORS), "__version__"]


def __getattr__(name):
    import importlib

    room = "sdk" if name in _SDK else "errors" if name in _ERRORS else None
    if room is None:
        known = ", ".join(__all__)
        raise AttributeError("module 'rookery' has no attribute {!r}. It has: {}.".format(name, known))
    value = getattr(importlib.import_module("rookery." + room), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(__all__))
