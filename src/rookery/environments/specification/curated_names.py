"""The names of curated environments, as data: each with its family and, for v1's, the versions that its name says."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CURATED", "TODAY", "Entry"]

# What a family means today. Nothing is pinned: the lock of the build says which versions it got.
TODAY: dict[str, tuple[str, ...]] = {
    "minimal": (),
    "pytorch": ("torch", "torchvision", "pillow", "matplotlib", "numpy", "future", "tensorboard", "horovod"),
    "sklearn": ("scikit-learn", "scipy", "pandas", "matplotlib", "numpy", "joblib"),
    "tensorflow": ("tensorflow", "pillow", "matplotlib", "numpy", "tensorboard", "horovod"),
    "onnx": ("onnx", "onnxruntime", "pillow", "numpy"),
    "chainer": (),
}


@dataclass(frozen=True)
class Entry:
    """literal: what pip installs for the versions in the name; empty for those that have only today's."""

    name: str
    family: str
    python: str = ""
    literal: tuple[str, ...] = ()


def _pytorch(name: str, python: str, torch: str, torchvision: str, *others: str) -> Entry:
    return Entry(name, "pytorch", python, (f"torch=={torch}", f"torchvision=={torchvision}", "pillow", *others))


def _old_pytorch(version: str, torchvision: str) -> list[Entry]:
    """AzureML-PyTorch-1.x-CPU and -GPU: Python 3.6, Horovod and TensorBoard beside it."""
    others = ("horovod==0.20.0", "tensorboard==1.14.0", "future==0.17.1")
    return [
        _pytorch(f"AzureML-PyTorch-{version}-{kind}", "3.6.2", f"{version}.0", torchvision, *others)
        for kind in ("CPU", "GPU")
    ]


def _tensorflow(name: str, python: str, version: str) -> Entry:
    return Entry(name, "tensorflow", python, (f"tensorflow=={version}", "pillow"))


def _old_tensorflow(version: str, exact: str) -> list[Entry]:
    return [_tensorflow(f"AzureML-TensorFlow-{version}-{kind}", "3.6.2", exact) for kind in ("CPU", "GPU")]


CURATED: tuple[Entry, ...] = (
    Entry("Rookery-PyTorch", "pytorch"),
    Entry("Rookery-sklearn", "sklearn"),
    Entry("Rookery-ONNX", "onnx"),
    Entry("AzureML-Minimal", "minimal"),
    Entry("AzureML-Tutorial", "sklearn"),
    *_old_pytorch("1.4", "0.5.0"),
    *_old_pytorch("1.5", "0.6.0"),
    *_old_pytorch("1.6", "0.7.0"),
    _pytorch("AzureML-pytorch-1.7-ubuntu18.04-py37-cuda11-gpu", "3.7", "1.7.1", "0.8.2"),
    _pytorch("AzureML-pytorch-1.8-ubuntu18.04-py37-cuda11-gpu", "3.7", "1.8.1", "0.9.1"),
    _pytorch("AzureML-pytorch-1.9-ubuntu18.04-py37-cuda11-gpu", "3.7", "1.9.1", "0.10.1"),
    _pytorch("AzureML-pytorch-1.10-ubuntu18.04-py38-cuda11-gpu", "3.8", "1.10.2", "0.11.3"),
    _pytorch("AzureML-ACPT-pytorch-1.11-py38-cuda11.3-gpu", "3.8", "1.11.0", "0.12.0"),
    _pytorch("AzureML-ACPT-pytorch-1.11-py38-cuda11.5-gpu", "3.8", "1.11.0", "0.12.0"),
    _pytorch("AzureML-ACPT-pytorch-1.12-py38-cuda11.6-gpu", "3.8", "1.12.1", "0.13.1"),
    _pytorch("AzureML-ACPT-pytorch-1.12-py39-cuda11.6-gpu", "3.9", "1.12.1", "0.13.1"),
    _pytorch("AzureML-ACPT-pytorch-1.13-py38-cuda11.7-gpu", "3.8", "1.13.1", "0.14.1"),
    _pytorch("azureml-acpt-pytorch-1.11-cuda11.3", "3.8", "1.11.0", "0.12.0"),
    _pytorch("azureml-acpt-pytorch-1.13-cuda11.7", "3.8", "1.13.1", "0.14.1"),
    _pytorch("azureml-acpt-pytorch-2.0-cuda11.7", "3.8", "2.0.1", "0.15.2"),
    _pytorch("azureml-acpt-pytorch-2.2-cuda12.1", "3.10", "2.2.2", "0.17.2"),
    Entry("AzureML-Scikit-learn-0.20.3", "sklearn", "3.6.2", ("scikit-learn==0.20.3", "scipy", "pandas", "joblib")),
    Entry(
        "AzureML-sklearn-0.24-ubuntu18.04-py37-cpu",
        "sklearn",
        "3.7",
        ("scikit-learn==0.24.1", "scipy", "pandas", "joblib"),
    ),
    Entry(
        "AzureML-sklearn-1.0-ubuntu20.04-py38-cpu",
        "sklearn",
        "3.8",
        ("scikit-learn==1.0.2", "scipy", "pandas", "joblib"),
    ),
    *_old_tensorflow("1.13", "1.13.2"),
    *_old_tensorflow("2.0", "2.0.4"),
    *_old_tensorflow("2.1", "2.1.4"),
    *_old_tensorflow("2.2", "2.2.3"),
    *_old_tensorflow("2.3", "2.3.4"),
    _tensorflow("AzureML-tensorflow-2.4-ubuntu18.04-py37-cuda11-gpu", "3.7", "2.4.4"),
    _tensorflow("AzureML-tensorflow-2.5-ubuntu20.04-py38-cuda11-gpu", "3.8", "2.5.3"),
    _tensorflow("AzureML-tensorflow-2.6-ubuntu20.04-py38-cuda11-gpu", "3.8", "2.6.5"),
    _tensorflow("AzureML-tensorflow-2.7-ubuntu20.04-py38-cuda11-gpu", "3.8", "2.7.4"),
    _tensorflow("azureml-tensorflow-2.11-cuda11", "3.8", "2.11.1"),
    *[
        Entry(f"AzureML-Chainer-5.1.0-{kind}", "chainer", "3.6.2", ("chainer==5.1.0", "numpy<1.17"))
        for kind in ("CPU", "GPU")
    ],
)
