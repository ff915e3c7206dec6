"""What a client of the designer's vision service needs: pictures read, transformed as in training, and sent as PNG.

The designer's guide for callers imports these names from `azureml.studio`. Pillow and torchvision are imported when they are used.
"""

from __future__ import annotations

import io
import os
from typing import Any, Optional

from rookery.errors import UserError

__all__ = ["IMG_EXTS", "ImageTransformationDirectory", "image_from_file", "image_to_bytes"]

IMG_EXTS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def image_from_file(path: Any) -> Any:
    """A picture file as a Pillow image in RGB."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(os.fspath(path)) as image:
            return image.convert("RGB")
    except UnidentifiedImageError as error:
        raise UserError(f"{path} is no picture that can be read. Allowed: {', '.join(IMG_EXTS)}.") from error


def image_to_bytes(image: Any) -> bytes:
    """A Pillow image as the bytes of a PNG file, which is what the service takes (in base64)."""
    target = io.BytesIO()
    image.save(target, format="PNG")
    return target.getvalue()


class ImageTransformationDirectory:
    """A chain of torchvision's transforms by name: `create(transforms=[("Resize", 256), ("CenterCrop", 224)])`."""

    def __init__(self, transforms: Any) -> None:
        self.transforms = [_pair(each) for each in transforms or ()]

    @classmethod
    def create(cls, transforms: Any = None, **kwargs: Any) -> ImageTransformationDirectory:
        return cls(transforms)

    @property
    def torch_transform(self) -> Any:
        """The chain, from picture to picture."""
        from rookery.worker import torchvision_hook

        torchvision_hook.install()  # its public build does not import beside a CPU torch by itself
        from torchvision import transforms

        steps = []
        for name, options in self.transforms:
            made: Optional[Any] = getattr(transforms, name, None)
            if made is None or name.startswith("_"):
                raise UserError(f"There is no transform {name!r}. See torchvision.transforms for those there are.")
            steps.append(made(**options) if isinstance(options, dict) else made(*_several(options)))
        return transforms.Compose(steps)


def _pair(given: Any) -> tuple[str, Any]:
    if isinstance(given, str):
        return given, {}
    try:
        name, options = given
    except (TypeError, ValueError):
        raise UserError(f"{given!r} is no transform. Give ('Resize', 256), or ('ColorJitter', {{}}).") from None
    return str(name), options


def _several(options: Any) -> tuple[Any, ...]:
    """One value, or a list of them. A pair of numbers for `Resize` is one value: ("Resize", [(64, 64)])."""
    return tuple(options) if isinstance(options, list) else (options,)
