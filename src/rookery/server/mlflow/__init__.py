"""MLflow's REST surface over the record. Nothing outside of this room knows MLflow's words."""

from rookery.server.mlflow.door import TrackingDoor

__all__ = ["TrackingDoor"]
