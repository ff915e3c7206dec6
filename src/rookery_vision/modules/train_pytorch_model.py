"""Train PyTorch Model; its card is in the task's folder."""

from rookery_vision.classification.module import train_pytorch_model

__all__ = ["train_pytorch_model"]
