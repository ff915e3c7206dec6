"""Which of the scorers a deployment gets: an entry script, or a model that needs none."""

import os

__all__ = ["find_kind", "make_model"]

KINDS = ("onnx", "pytorch", "sklearn")
SKLEARN_FILES = (".pkl", ".pickle", ".joblib", ".sav")


def make_model(asked):
    """asked: {"script": path} or {"no_code": kind, "model_dir": folder, "threads": N or None}."""
    if asked.get("script"):
        from .script import Script

        return Script(asked["script"])
    kind, folder, threads = asked.get("no_code"), asked["model_dir"], asked.get("threads")
    if kind in ("onnx", "pytorch"):
        return _network(kind, folder, threads)
    if kind == "sklearn":
        from .sklearn_model import SklearnModel

        return SklearnModel(folder)
    raise ValueError("A deployment without an entry script is of {}, not {!r}.".format(", ".join(KINDS), kind))


def _network(kind, folder, threads):
    from .onnx_model import OnnxModel
    from .vision_model import VisionModel, find_folder

    pictures = find_folder(folder)
    if kind == "onnx":
        return (
            VisionModel(pictures, threads, lambda: OnnxModel(folder, threads))
            if pictures
            else OnnxModel(folder, threads)
        )
    if pictures:
        return VisionModel(pictures, threads)
    from .torch_model import TorchFile

    return TorchFile(find_file(folder, (".pt", ".pth", ".pt2", ".torchscript")), threads)


def find_kind(paths):
    """The kind of no-code model that these file names are; None where they tell nothing."""
    endings = {os.path.splitext(path)[1].lower() for path in paths}
    names = {os.path.basename(path) for path in paths}
    if ".onnx" in endings:
        return "onnx"
    if "state_dict.pt" in names or endings & {".pt", ".pth", ".pt2", ".torchscript"}:
        return "pytorch"
    if endings & set(SKLEARN_FILES):
        return "sklearn"
    return None


def find_file(folder, endings):
    """The one file below the folder that ends so."""
    found = []
    for here, folders, files in os.walk(folder):
        folders.sort()
        found += [os.path.join(here, name) for name in sorted(files) if name.lower().endswith(tuple(endings))]
    if len(found) != 1:
        listed = ", ".join(os.path.relpath(path, folder) for path in found[:10]) or "none"
        raise ValueError(
            "A model that is deployed without an entry script has one file {}; this one has {}. Deploy it with an "
            "InferenceConfig.".format(" or ".join(endings), listed)
        )
    return found[0]
