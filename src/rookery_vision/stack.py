"""torch and torchvision, imported in one place: torchvision's public build does not import beside a CPU torch by itself."""

from __future__ import annotations

from rookery.worker import torchvision_hook

torchvision_hook.install()

import torch  # noqa: E402
import torchvision  # noqa: E402
from torchvision import models  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

__all__ = ["models", "torch", "torchvision", "v2"]
