"""What a file may be, told by its name; its bytes have the last word when it is shown."""

from __future__ import annotations

__all__ = ["kind_of"]

_KINDS = {
    "image": ("png", "jpg", "jpeg", "gif", "webp", "bmp"),
    "table": ("csv", "tsv", "jsonl", "ndjson", "parquet"),
    "json": ("json", "ipynb", "geojson"),
    "onnx": ("onnx",),
    "none": (
        "pt", "pth", "bin", "safetensors", "ckpt", "pkl", "pickle", "npy", "npz", "h5", "zip", "gz", "tar", "tgz", "xz", "zst",
        "so", "whl", "mp4", "mp3", "wav", "pdf", "joblib", "pb", "tflite", "sqlite", "db",
    ),
}  # fmt: skip
_BY_ENDING = {ending: kind for kind, endings in _KINDS.items() for ending in endings}


def kind_of(name: str) -> str:
    """text, json, table, image, onnx, or none; text for every ending that is not known."""
    last = name.rpartition("/")[2]
    if last.startswith("events.out.tfevents"):
        return "none"
    return _BY_ENDING.get(last.rpartition(".")[2].lower(), "text") if "." in last else "text"
