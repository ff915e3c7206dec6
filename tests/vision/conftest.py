"""Small real pictures: the quickstart's birds, drawn by its own code, and the directories that the modules make of them."""

from __future__ import annotations

import importlib.util
import os

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture(scope="session", autouse=True)
def own_probes(tmp_path_factory):
    """What is fastest here is found out once for all tests: neither the machine's answers are touched, nor do two tests differ."""
    folder = str(tmp_path_factory.mktemp("probes"))
    with pytest.MonkeyPatch.context() as patch:  # for what is made once; every test gets it again below
        patch.setenv("ROOKERY_VISION_PROBES", folder)
        yield folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch, own_probes):
    """Decoded pictures go to the test's own folder; one thread, because the machine has few."""
    monkeypatch.setenv("ROOKERY_VISION_PROBES", own_probes)
    monkeypatch.setenv("ROOKERY_VISION_CACHE", str(tmp_path / "decoded"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def draw_birds():
    spec = importlib.util.spec_from_file_location(
        "draw_birds", os.path.join(ROOT, "examples", "birds", "draw_birds.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def birds(draw_birds, tmp_path_factory):
    """`chickens` and `turkeys`, 12 JPEGs of 40 × 40 each."""
    folder = tmp_path_factory.mktemp("birds of a feather")
    draw_birds.make_birds(str(folder), train=12, val=0, size=40)
    return str(folder / "train")


@pytest.fixture(scope="session")
def image_directory(birds, tmp_path_factory):
    from rookery_vision import convert_to_image_directory

    return convert_to_image_directory(birds, str(tmp_path_factory.mktemp("converted") / "all"))


@pytest.fixture(scope="session")
def parts(image_directory, tmp_path_factory):
    """(16 pictures to train, 8 to validate)"""
    from rookery_vision import split_image_directory

    folder = tmp_path_factory.mktemp("split")
    return split_image_directory(image_directory, str(folder / "a"), str(folder / "b"), fraction=2 / 3)


@pytest.fixture(scope="session")
def untrained(tmp_path_factory):
    from rookery_vision import resnet

    return resnet(str(tmp_path_factory.mktemp("net") / "net"), model_name="resnet18", pretrained=False)


@pytest.fixture(scope="session")
def one_thread():
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def trained(untrained, parts, one_thread, tmp_path_factory):
    """A model that was trained for two short epochs."""
    from rookery_vision import train_pytorch_model

    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROOKERY_VISION_CACHE", str(folder / "decoded"))
        return train_pytorch_model(
            untrained, *parts, str(folder / "model"), epochs=2, batch_size=8, learning_rate=0.01, image_size=32
        )


@pytest.fixture
def in_a_run(tmp_path, monkeypatch):
    """This process believes to be a rank of a run: what it logs is in the journal that the fixture gives."""
    from rookery.worker import context, read_journal

    folder = tmp_path / "run"
    for name in ("journal", "uploads", "resume"):
        (folder / name).mkdir(parents=True)
    variables = {
        "ROOKERY_RUN_ID": "run_1",
        "ROOKERY_AGENT_SOCKET": str(folder / "nobody.sock"),
        "ROOKERY_JOURNAL_DIR": str(folder / "journal"),
        "ROOKERY_UPLOADS_DIR": str(folder / "uploads"),
        "ROOKERY_RESUME_DIR": str(folder / "resume"),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(context, "_current", {})

    class Recorded:
        resume = folder / "resume"

        @staticmethod
        def records():
            found = []
            for path in sorted((folder / "journal").iterdir()):
                found += read_journal(str(path))[0]
            return found

        @staticmethod
        def uploads():
            return {r[2]: str(folder / "uploads" / r[3]) for r in Recorded.records() if r[0] == "u"}

    return Recorded
