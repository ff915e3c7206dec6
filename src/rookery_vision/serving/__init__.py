"""A pipeline's graph that only scores, behind an address: each request goes through its modules, in one process."""

from rookery_vision.serving.asked import BadRequest
from rookery_vision.serving.service import GraphService

__all__ = ["BadRequest", "GraphService"]
