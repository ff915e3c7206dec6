"""A new user makes the bird pipeline: nine modules dragged, connected and set, submitted, watched, looked at. In a real browser, for real."""

from __future__ import annotations

import pytest

from rookery.testing.modules_env import ensure_modules_python
from tests.studio.designing import board_of

pytestmark = pytest.mark.slow

# The module of the palette, the id that its node gets, where it is dropped.
NINE = (
    ("convert_to_image_directory", "convert_to_image_directory", (150, 60)),
    ("split_image_directory", "split_image_directory", (450, 60)),
    ("init_image_transformation", "init_image_transformation", (150, 200)),
    ("apply_image_transformation", "apply_image_transformation", (450, 200)),
    ("apply_image_transformation", "apply_image_transformation_2", (150, 340)),
    ("resnet", "resnet", (450, 340)),
    ("train_pytorch_model", "train_pytorch_model", (150, 480)),
    ("score_image_model", "score_image_model", (450, 480)),
    ("evaluate_model", "evaluate_model", (150, 620)),
)
LINES = (
    ("hens_and_turkeys", "data", "convert_to_image_directory", "input_dataset"),
    ("convert_to_image_directory", "output_image_directory", "split_image_directory", "input_image_directory"),
    (
        "init_image_transformation",
        "output_image_transformation",
        "apply_image_transformation",
        "input_image_transformation",
    ),
    ("split_image_directory", "output_image_directory1", "apply_image_transformation", "input_image_directory"),
    (
        "init_image_transformation",
        "output_image_transformation",
        "apply_image_transformation_2",
        "input_image_transformation",
    ),
    ("split_image_directory", "output_image_directory2", "apply_image_transformation_2", "input_image_directory"),
    ("resnet", "untrained_model", "train_pytorch_model", "untrained_model"),
    ("apply_image_transformation", "output_image_directory", "train_pytorch_model", "training_dataset"),
    ("apply_image_transformation_2", "output_image_directory", "train_pytorch_model", "validation_dataset"),
    ("train_pytorch_model", "trained_model", "score_image_model", "trained_model"),
    ("apply_image_transformation_2", "output_image_directory", "score_image_model", "dataset"),
    ("score_image_model", "scored_dataset", "evaluate_model", "scored_dataset"),
)
# Small pictures and few of them: what is tested is the way through, not the model.
SETTINGS = {
    "split_image_directory": {"fraction": 0.7},
    "init_image_transformation": {"size": 32, "crop_size": 32},
    "apply_image_transformation": {"mode": "For training"},
    "apply_image_transformation_2": {"mode": "For inference"},
    "resnet": {"model_name": "resnet18", "pretrained": False},
    "train_pytorch_model": {"epochs": 1, "batch_size": 4},
}


@pytest.fixture(scope="module")
def birds(studio, tmp_path_factory):
    """A folder of drawn birds, registered; the interpreter of the modules can do all of them."""
    pillow = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("drawn") / "hens and turkeys"
    for category, shade in (("hens", 200), ("turkeys", 60)):
        (folder / category).mkdir(parents=True)
        for number in range(8):
            picture = pillow.new("RGB", (40, 40), (shade, 8 * number, 255 - shade))
            picture.save(folder / category / f"{number}.png")
    studio.variables["ROOKERY_MODULES_PYTHON"] = ensure_modules_python()
    studio.cli("keeper", "stop", check=False)
    studio.cli("data", "add", "hens and turkeys", str(folder))
    return folder


@pytest.mark.timeout(
    900
)  # nine programs one after the other, four of which import torch: on a loaded machine that takes minutes
def test_the_bird_pipeline_from_an_empty_canvas_to_its_scored_table(studio, birds):
    with board_of(studio) as board:
        page = board.page
        page.get_by_test_id("designer-new").click()
        page.get_by_test_id("designer-name").fill("birds")
        page.get_by_test_id("designer-palette").get_by_test_id("tab-data").click()
        board.drag("data:hens and turkeys", 450, 620)
        board.node("hens_and_turkeys").wait_for()
        page.get_by_test_id("designer-palette").get_by_test_id("tab-modules").click()
        for what, node, (x, y) in NINE:
            board.drag(f"module:{what}", x, y)
            board.node(node).wait_for()
        board.close_pane()
        board.lay_out()
        for line in LINES:
            board.connect(*line)
        for node, values in SETTINGS.items():
            board.choose(node)
            for parameter, value in values.items():
                board.set(parameter, value)
        board.close_pane()
        board.lay_out()
        saved = board.saved()["graph"]
        wanted = {}
        for source, output, target, given in LINES:
            wanted.setdefault(target, {})[given] = {"node": source, "port": output}
        assert {key: node["inputs"] for key, node in saved["nodes"].items() if node.get("inputs")} == wanted
        assert {key: saved["nodes"][key]["parameters"] for key in SETTINGS} == SETTINGS
        page.get_by_test_id("designer-problems-open").wait_for(state="detached")
        board.seen.shot("designer-made")

        run_id = board.submit("birds")
        page.locator(
            "[data-testid=designer-node][data-status=Running], [data-testid=designer-node][data-status=Completed]"
        ).first.wait_for()
        ran = board.wait_over(run_id, "Completed")
        assert {step["status"] for step in ran["steps"].values()} == {"Completed"}
        board.until(
            lambda: page.locator("[data-testid=designer-node][data-status=Completed]").count() == 9,
            "nine modules are done",
        )
        board.seen.shot("designer-ran")

        board.choose("train_pytorch_model")
        page.get_by_test_id("tab-metrics").click()
        page.get_by_test_id("run-metrics").get_by_text("Best top-1 validation accuracy").wait_for()
        board.choose("score_image_model")
        page.get_by_test_id("tab-outputs").click()
        table = page.get_by_test_id("file-table")
        table.get_by_text("Scored Labels").first.wait_for()
        table.get_by_text("Scored Probabilities_hens").first.wait_for()
        board.seen.shot("designer-scored")
        board.choose("split_image_directory")
        picture = page.get_by_test_id("designer-pictures").locator("img").first
        board.until(
            lambda: picture.evaluate("image => image.naturalWidth") == 40, "a picture of the first output is shown"
        )
        board.seen.shot("designer-pictures")

        # From the training pipeline to one that only scores, and to an endpoint of its model.
        board.close_pane()
        page.get_by_label("More", exact=True).click()
        page.get_by_role("menuitem", name="Deploy the trained model").click()
        page.get_by_test_id("designer-deploy").click()
        page.get_by_test_id("endpoints-deploy-go").wait_for()
        assert [each["name"] for each in board.ask("/model-names")["models"]] == ["birds"]
        dialog = page.get_by_role("dialog")
        board.until(lambda: "birds" in dialog.inner_text(), "the model is not offered")
        board.seen.open(f"{studio.base}/designer/runs/{run_id}")
        page.get_by_label("More", exact=True).click()
        page.get_by_role("menuitem", name="Make a real-time inference pipeline").click()
        page.get_by_test_id("designer-palette-item").first.wait_for()
        nodes = board.saved()["graph"]["nodes"]
        assert "train_pytorch_model" not in {node.get("module") for node in nodes.values()}
        assert "score_image_model" in {node.get("module") for node in nodes.values()}
        board.seen.shot("designer-inference")

        # The pipeline itself behind an address; that it answers as in training is tests/pipeline/test_serving.py's.
        page.get_by_label("More", exact=True).click()
        page.get_by_role("menuitem", name="Deploy as an endpoint").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name of the endpoint").fill("birds-scored")
        page.get_by_test_id("designer-deploy-pipeline").click()
        page.get_by_test_id("endpoint-head").get_by_text("birds-scored").first.wait_for()
        made = board.ask("/endpoints/birds-scored")
        assert made["versions"][0]["inference"]["entry_script"] == "score.py"
        assert made["properties"]["training_run"] == run_id
        # From another page: that of the endpoint would ask for what is gone, and the browser note it.
        board.seen.open(f"{studio.base}/designer")
        page.get_by_test_id("designer-new").wait_for()
        board.ask("/endpoints/birds-scored", "DELETE")
