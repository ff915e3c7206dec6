"""Networks by name, and their pretrained weights."""

from rookery_vision.networks.names import DENSENETS, NETWORKS, RESNETS

__all__ = ["DENSENETS", "NETWORKS", "RESNETS"]
