"""The arithmetic of docs/scaling.md: `python -m benchmarks.paper` prints its tables, `--measure` also what one core here does to pictures.

What goes in is listed in FIGURES with where it is from. "memory" is what the author remembers of published figures, not measured and not looked up.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from dataclasses import dataclass

__all__ = ["FIGURES", "LOADER_MS", "MACHINES", "Machine", "loader_table", "main", "step_table"]

# name: (value, unit, from where)
FIGURES: dict[str, tuple[float, str, str]] = {
    "parameters of ResNet-50": (25_557_032, "", "torchvision: sum(p.numel() for p in resnet50().parameters())"),
    "bytes of a gradient": (4, "bytes", "float32, as DDP sends it"),
    "backward's share of a step": (2 / 3, "", "memory: forward 1, backward 2"),
    "page, 8 × V100": (1670, "images/s", "the designer's own page"),
    "page, 16 × V100": (3200, "images/s", "the designer's own page"),
    "pictures of ImageNet": (1_281_167, "", "memory"),
    "bytes of a cached picture": (
        328 * 438 * 3,
        "bytes",
        "500 × 375 decoded to seven eighths, three bytes a pixel",
    ),
}
# What one core of the machine of 2026-11-16 (AMD EPYC) did to a JPEG of 500 × 375, simplejpeg; measured_ms() measures it here.
LOADER_MS = {"decode": 1.1, "crop": 0.7}


@dataclass(frozen=True)
class Machine:
    """A number of GPUs. All speeds are from memory: what such machines are reported to do, not measured."""

    name: str
    num_gpus: int
    nodes: int
    images_per_s: float  # of one GPU: ResNet-50, half precision, channels_last, had it the pictures in time
    link_gb_per_s: float  # what the slowest link of a ring moves in practice
    page_images_per_s: float  # of one GPU, on the page

    @property
    def bytes_per_step(self) -> float:
        """A ring all-reduce sends and receives 2 (N − 1) / N of the gradients."""
        gradients = FIGURES["parameters of ResNet-50"][0] * FIGURES["bytes of a gradient"][0]
        return 2 * (self.num_gpus - 1) / self.num_gpus * gradients

    @property
    def reduce_ms(self) -> float:
        return 1000 * self.bytes_per_step / (self.link_gb_per_s * 1e9)

    def step_ms(self, batch: int) -> float:
        return 1000 * batch / self.images_per_s

    def efficiency(self, batch: int) -> float:
        """What does not hide behind the backward pass makes the step longer."""
        shown_ms = max(0.0, self.reduce_ms - FIGURES["backward's share of a step"][0] * self.step_ms(batch))
        return self.step_ms(batch) / (self.step_ms(batch) + shown_ms)

    def total(self, batch: int) -> float:
        return self.num_gpus * self.images_per_s * self.efficiency(batch)


_PAGE_8, _PAGE_16 = FIGURES["page, 8 × V100"][0] / 8, FIGURES["page, 16 × V100"][0] / 16
MACHINES = (
    Machine("8 × V100, one node, NVLink", 8, 1, 780, 130, _PAGE_8),
    Machine("16 × V100, two nodes, 100 Gbit/s", 16, 2, 780, 11, _PAGE_16),
    Machine("8 × A100, one node, NVLink 3", 8, 1, 2500, 230, _PAGE_8),
)
BATCH = 128
KEPT_EDGE = 320  # 1.25 × 256: classification/pictures.py keeps so much detail for random parts of 224


def step_table() -> list[str]:
    rows = [
        "| | sent per GPU and step | all-reduce | step of 128 | hidden in backward | efficiency | images/s of all | per GPU, of the page's |"
    ]
    rows.append("|---|---|---|---|---|---|---|---|")
    for m in MACHINES:
        backward = FIGURES["backward's share of a step"][0] * m.step_ms(BATCH)
        hidden = min(1.0, backward / m.reduce_ms)
        rows.append(
            f"| {m.name} | {m.bytes_per_step / 1e6:.0f} MB | {m.reduce_ms:.1f} ms | {m.step_ms(BATCH):.0f} ms | {hidden:.0%} of it, {backward:.0f} ms "
            f"there | {m.efficiency(BATCH):.0%} | {m.total(BATCH):,.0f} | {m.total(BATCH) / m.num_gpus / m.page_images_per_s:.1f} × |"
        )
    return rows


def loader_table() -> list[str]:
    rows = ["| | images/s of a node | cores, first epoch | cores, later epochs | cache read |", "|---|---|---|---|---|"]
    first, later = sum(LOADER_MS.values()), LOADER_MS["crop"]
    for m in MACHINES:
        each = m.total(BATCH) / m.nodes
        cores = [math.ceil(each * ms / 1000) for ms in (first, later)]
        read = each * FIGURES["bytes of a cached picture"][0] / 1e9
        rows.append(f"| {m.name} | {each:,.0f} | {cores[0]} | {cores[1]} | {read:.1f} GB/s |")
    return rows


def measured_ms(times: int = 40) -> dict[str, float]:
    """The shortest of many tries, one thread: what else the machine does can only make one longer."""
    import io

    import numpy
    from PIL import Image

    from rookery_vision.classification.augment import crop_and_flip
    from rookery_vision.pictures.decode import decode

    noise = numpy.random.default_rng(0).integers(0, 255, (24, 32, 3), dtype=numpy.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).resize((500, 375)).save(stream, "JPEG", quality=90)
    data = stream.getvalue()
    whole = decode(data, KEPT_EDGE)

    def best(action) -> float:  # type: ignore[no-untyped-def]
        found = []
        for _ in range(times):
            began = time.perf_counter()
            action()
            found.append(1000 * (time.perf_counter() - began))
        return min(found)

    crops = [
        best(lambda i=i: crop_and_flip(whole, 224, numpy.random.default_rng(i))) for i in range(20)
    ]  # of many sizes
    return {"decode": best(lambda: decode(data, KEPT_EDGE)), "crop": statistics.mean(crops)}


def main() -> None:
    for name, (value, unit, source) in FIGURES.items():
        print(f"{name}: {value:,.4g} {unit} ({source})")
    print("", *step_table(), "", *loader_table(), sep="\n")
    cache = FIGURES["pictures of ImageNet"][0] * FIGURES["bytes of a cached picture"][0]
    print(f"\ncache of ImageNet: {cache / 1e9:.0f} GB")
    if "--measure" in sys.argv:
        from rookery_vision.pictures import decoders

        told = ", ".join(f"{name} {ms:.2f} ms" for name, ms in measured_ms().items())
        print(f"one core here, {decoders.chosen()}: {told}")


if __name__ == "__main__":
    main()
