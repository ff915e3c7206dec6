"""A trained model for ONNX Runtime, and scoring pictures with it: `open_model(folder).score([the bytes of a JPEG])`."""

from rookery_vision.onnx.scoring import PictureModel, open_model, score_picture

__all__ = ["PictureModel", "open_model", "score_picture"]
