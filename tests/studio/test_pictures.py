"""The README's picture is a screenshot of this test: `make pictures` writes it to docs/pictures, a plain run to a folder of its own.

What it shows was really trained: the quickstart's script, with fewer and smaller pictures where it is only tried.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.studio.filled import settle

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BIRDS = ROOT / "examples" / "birds"
LARGEST_BYTES = 200_000
IS_WANTED = bool(os.environ.get("STUDIO_PICTURES"))
TRIED = ("--num_epochs", "2", "--picture_size", "32")
WANTED = ("--num_epochs", "10")  # as many as the quickstart has


@pytest.mark.timeout(1800 if IS_WANTED else 600)
def test_a_trained_run(studio):
    shutil.copy(BIRDS / "draw_birds.py", studio.project)
    text = (BIRDS / "pytorch_train.py").read_text()
    names = ("--experiment", "chickens-and-turkeys", "--name", "resnet18 from scratch")
    run_id = studio.run("pytorch_train.py", text, *names, arguments=WANTED if IS_WANTED else TRIED)
    studio.wait(run_id, "Completed", limit_s=1500 if IS_WANTED else 400)
    with studio.page(f"/runs/{run_id}?tab=metrics", size=(1280, 860)) as seen:
        for name in ("train_loss", "val_loss", "val_acc"):
            seen.page.locator(f"[data-chart='{name}'] canvas").first.wait_for()
        settle(seen)
        made = Path(seen.shot("studio"))
        seen.page.get_by_test_id("metrics-item-confusion_matrix").scroll_into_view_if_needed()
        seen.page.get_by_test_id("metrics-item-image").get_by_role("img").wait_for()
    assert made.read_bytes().startswith(b"\x89PNG")
    assert made.stat().st_size <= LARGEST_BYTES
    if IS_WANTED:
        shutil.copy(made, ROOT / "docs" / "pictures" / "studio.png")


def test_the_readme_shows_it():
    assert "](docs/pictures/studio.png)" in (ROOT / "README.md").read_text()
    assert (ROOT / "docs" / "pictures" / "studio.png").stat().st_size <= LARGEST_BYTES
