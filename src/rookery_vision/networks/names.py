"""The networks of the two modules, under torchvision's names."""

from __future__ import annotations

__all__ = ["DENSENETS", "NETWORKS", "RESNETS"]

DENSENETS = ("densenet121", "densenet161", "densenet169", "densenet201")
RESNETS = (
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "resnext101_32x8d",
    "wide_resnet50_2",
    "wide_resnet101_2",
)
NETWORKS = {"DenseNet": DENSENETS, "ResNet": RESNETS}
