"""A trained model for ONNX Runtime."""
