"""Offers our packages and shims (NAMES) to a process of a run, only where the name is not found elsewhere.

Stands alone (the payload's `first` folder holds a copy). Where part of Microsoft's family is installed it is
wholly theirs (`azureml.core` is there) or wholly ours (only other parts are), never a merged namespace;
ROOKERY_AZUREML=ours|theirs overrides, and one line on stderr says which.
"""

import os
import sys

# importlib.machinery costs milliseconds where nothing else needs it; this is where it takes the class from.
from _frozen_importlib_external import PathFinder

__all__ = ["OfferFinder", "OursFirstFinder", "choose_azureml", "install"]

NAMES = ("rookery", "rookery_vision", "rookery_tabular", "azureml", "horovod", "inference_schema")
SAID = "ROOKERY_AZUREML_SAID"


def install(folder):
    """Offer the packages in `folder`."""
    if not any(isinstance(finder, OfferFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, OursFirstFinder(folder))
        sys.meta_path.append(OfferFinder(folder))


class OfferFinder(object):
    """Goes last: it is asked only when nobody else knows the name."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in NAMES or (fullname == "azureml" and choose_azureml()[0] == "theirs"):
            return None
        return PathFinder.find_spec(fullname, [self.folder])


class OursFirstFinder(object):
    """Goes first, and only has a say where Microsoft's family is there in part: then `azureml` is ours."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "azureml" or path is not None:
            return None
        choice, why = choose_azureml()
        if why:
            _say(choice, why)
        if choice != "ours":
            return None
        return PathFinder.find_spec("azureml", [self.folder])


def choose_azureml():
    """('ours' | 'theirs' | 'offered', why): why is empty where none of Microsoft's packages is there."""
    wish = os.environ.get("ROOKERY_AZUREML", "").strip().lower()
    core, part = _installed()
    if core:
        if wish == "ours":
            return "ours", "azureml.core is in {}, ROOKERY_AZUREML=ours".format(core)
        return "theirs", "azureml.core is in {}".format(core)
    if wish == "theirs":
        return "theirs", "ROOKERY_AZUREML=theirs"
    if part:
        return "ours", "{} has parts of azureml, but not azureml.core".format(part)
    return "offered", ""


def _installed():
    """Folders of the path that hold azureml.core, and any other part of azureml."""
    core = part = None
    for entry in sys.path:
        folder = os.path.join(entry or os.curdir, "azureml")
        if not os.path.isdir(folder) or _is_ours(folder):
            continue
        if os.path.isdir(os.path.join(folder, "core")) or os.path.isfile(os.path.join(folder, "core.py")):
            core = core or entry
        part = part or entry
    return core, part


def _is_ours(folder):
    """Our shim, installed on request: an ordinary package, to be found the ordinary way."""
    try:
        with open(os.path.join(folder, "__init__.py"), "rb") as f:
            return b"rookery" in f.read(4096).lower()
    except OSError:
        return False


def _say(choice, why):
    if os.environ.get(SAID):
        return
    os.environ[SAID] = "1"  # child processes need not say it again
    whose = "Rookery's" if choice == "ours" else "the one installed in the environment"
    try:
        sys.stderr.write(
            "rookery: `azureml` is {} ({}). Set ROOKERY_AZUREML=ours or theirs to choose.\n".format(whose, why)
        )
    except Exception:
        pass
