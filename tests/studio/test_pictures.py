"""The README's picture is a screenshot of this test: `make pictures` writes it to docs/pictures, a plain run to a folder of its own.

The run is real, its curves are not: a formula with noise, quick and the same each time. Its name and the caption say so.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.studio.filled import settle

ROOT = Path(__file__).parents[2]
LARGEST_BYTES = 200_000

CURVES = """
import math, os, random
from azureml.core import Run
run = Run.get_context()
chance = random.Random(7)
for epoch in range(60):
    fade = math.exp(-epoch / 14)
    for part, worse in (("train", 1.0), ("val", 1.18)):
        run.log(f"{part}/loss", 0.08 + 1.5 * fade * worse + chance.gauss(0, 0.025 * worse))
        run.log(f"{part}/acc", 0.985 - 0.5 * fade * worse + chance.gauss(0, 0.008 * worse))
print("these curves are computed, nothing was trained")
"""


def test_a_run_with_curves(studio):
    run_id = studio.run("curves.py", CURVES, "--experiment", "demo", "--name", "example curves (computed, not trained)")
    studio.wait(run_id, "Completed")
    with studio.page(f"/runs/{run_id}?tab=metrics", size=(1280, 860)) as seen:
        for name in ("train/loss", "train/acc", "val/loss"):
            seen.page.locator(f"[data-chart='{name}'] canvas").first.wait_for()
        settle(seen)
        made = Path(seen.shot("studio"))
    assert made.read_bytes().startswith(b"\x89PNG")
    assert made.stat().st_size <= LARGEST_BYTES
    if os.environ.get("STUDIO_PICTURES"):
        shutil.copy(made, ROOT / "docs" / "pictures" / "studio.png")


def test_the_readme_shows_it():
    assert "](docs/pictures/studio.png)" in (ROOT / "README.md").read_text()
    assert (ROOT / "docs" / "pictures" / "studio.png").stat().st_size <= LARGEST_BYTES
