"""Files as they can be shown: a head of a text or a table, what a picture or a model is. Never the whole file, never anything active."""

from __future__ import annotations

from rookery.server.preview.files import preview_file
from rookery.server.preview.kinds import kind_of
from rookery.server.preview.pictures import picture_type
from rookery.server.preview.tree import folder_of

__all__ = ["folder_of", "kind_of", "picture_type", "preview_file"]
