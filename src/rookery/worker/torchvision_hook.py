"""Lets torchvision import beside a torch that its compiled operators do not fit (a CUDA build beside a CPU
torch).

Stands alone (the payload's `first` folder holds a copy). Costs nothing until `torchvision` is imported.
Then, only if its compiled operators do not load, the two schemas that its Python code asks for are declared;
models,
transforms, fx and roi_align work, `ops.nms`, detection models and `io.decode_*` stay unavailable.
"""

import os
import sys

__all__ = ["TorchvisionFinder", "declare_where_missing", "install"]

_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_kept = []  # type: ignore[var-annotated]  # a Library that is collected takes its operators with it


def install():
    """Put the finder on sys.meta_path, once."""
    if not any(_is_ours(finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, TorchvisionFinder())


class TorchvisionFinder(object):
    """Finds what the others find, and prepares torch just before torchvision's code runs."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "torchvision":
            return None
        for finder in sys.meta_path:
            if _is_ours(finder) or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _PreparingLoader(spec.loader)  # type: ignore[assignment]
                return spec
        return None


def _is_ours(finder):
    """By name: in a run there are two copies of this module, the payload's and the package's."""
    return type(finder).__name__ == TorchvisionFinder.__name__


class _PreparingLoader(object):
    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        # From here on everything looks as if we had never been there.
        module.__spec__.loader = module.__loader__ = self._loader
        try:
            declare_where_missing(os.path.dirname(module.__spec__.origin))
        except Exception as error:
            sys.stderr.write("rookery: torchvision could not be prepared: {}\n".format(error))
        self._loader.exec_module(module)


def declare_where_missing(folder):
    """Declare the schemas unless a compiled library in torchvision's `folder` loads. Returns whether it
    did."""
    import torch

    if not hasattr(torch, "library") or _operators_load(torch, folder):
        return False
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(name + _SCHEMA)
    _kept.append(library)
    return True


def _operators_load(torch, folder):
    names = [n for n in sorted(os.listdir(folder)) if n.startswith("_C") and n.endswith((".so", ".pyd", ".dylib"))]
    for name in names:
        try:
            torch.ops.load_library(os.path.join(folder, name))
            return True
        except OSError:
            continue
    return False
