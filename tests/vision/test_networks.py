"""DenseNet and ResNet: every name, torchvision's state dicts, weights from everywhere."""

from __future__ import annotations

import os

import pytest
import torch

from rookery_vision import densenet, resnet
from rookery_vision.errors import (
    FailedToDownloadFilesError,
    InvalidModelDirectoryError,
    UnableToDeserializeModelError,
    UntrainedModelError,
)
from rookery_vision.formats.model_directory import ModelSpec, read_model_spec, read_state
from rookery_vision.networks import weights
from rookery_vision.networks.build import HEADS, build, load
from rookery_vision.networks.names import DENSENETS, RESNETS

# Parameters of the 1000-way networks, as published.
PUBLISHED = {
    "densenet121": 7978856, "densenet161": 28681000, "densenet169": 14149480, "densenet201": 20013928, "resnet18": 11689512,
    "resnet34": 21797672, "resnet50": 25557032, "resnet101": 44549160, "resnet152": 60192808, "resnext50_32x4d": 25028904,
    "resnext101_32x8d": 88791336, "wide_resnet50_2": 68883240, "wide_resnet101_2": 126886696,
}  # fmt: skip


def spec(name, **more):
    return ModelSpec("DenseNet" if name in DENSENETS else "ResNet", {"model_name": name, "pretrained": False, **more})


class TestBuild:
    @pytest.mark.parametrize("name", DENSENETS + RESNETS)
    def test_every_name_has_the_published_size(self, name):
        with torch.device("meta"):
            network = build(spec(name), 1000)
            small = build(spec(name), 7)
        assert sum(p.numel() for p in network.parameters()) == PUBLISHED[name]
        head = getattr(small, HEADS[spec(name).network])
        assert head.out_features == 7

    def test_zero_init_residual(self):
        network = build(spec("resnet18", zero_init_residual=True), 2)
        assert float(network.layer1[0].bn2.weight.detach().abs().sum()) == 0

    def test_memory_efficient_gives_the_same(self):
        torch.manual_seed(0)
        network = build(spec("densenet121", memory_efficient=True), 2).eval()
        plain = build(spec("densenet121"), 2).eval()
        plain.load_state_dict(network.state_dict())
        x = torch.randn(1, 3, 32, 32)
        with torch.no_grad():
            assert torch.equal(network(x), plain(x))

    def test_one_that_is_none_of_ours(self):
        for network, name in (("ResNet", "densenet121"), ("VGG", "vgg16")):
            with pytest.raises(InvalidModelDirectoryError, match="Supported: densenet121"):
                build(ModelSpec(network, {"model_name": name}), 2)


class TestLoad:
    def test_the_head_is_replaced_and_the_rest_is_kept(self):
        thousand = build(spec("resnet18"), 1000)
        torch.manual_seed(1)
        network = build(spec("resnet18"), 3)
        fresh = network.fc.weight.clone()
        load(network, spec("resnet18"), thousand.state_dict())
        assert torch.equal(network.fc.weight, fresh)
        assert network.fc.out_features == 3
        assert torch.equal(network.layer4[1].conv2.weight, thousand.layer4[1].conv2.weight)

    def test_another_networks_weights(self):
        with pytest.raises(InvalidModelDirectoryError, match="not those of resnet18"):
            load(build(spec("resnet18"), 2), spec("resnet18"), build(spec("resnet34"), 2).state_dict())


@pytest.fixture(scope="module")
def weights_file(tmp_path_factory):
    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("weights") / "w.pth"
    torch.save(build(spec("resnet18"), 1000).state_dict(), path)
    return str(path)


class TestPretrained:
    def test_from_a_file(self, weights_file, tmp_path):
        folder = resnet(str(tmp_path / "m"), model_name="resnet18", weights=weights_file)
        expected = torch.load(weights_file, weights_only=True)
        state = read_state(folder)
        assert state.keys() == expected.keys()
        assert all(torch.equal(state[n], expected[n]) for n in state)
        assert read_model_spec(folder).init_params == {
            "model_name": "resnet18",
            "pretrained": True,
            "zero_init_residual": False,
        }

    def test_from_the_torch_cache(self, weights_file, tmp_path, monkeypatch):
        monkeypatch.setenv("TORCH_HOME", str(tmp_path))
        os.makedirs(tmp_path / "hub" / "checkpoints")
        os.symlink(weights_file, tmp_path / "hub" / "checkpoints" / "resnet18-f37072fd.pth")
        assert read_state(resnet(str(tmp_path / "m"), model_name="resnet18")) is not None

    def test_without_a_network_the_error_says_how_to_provide_them(self, tmp_path, monkeypatch):
        monkeypatch.setenv("TORCH_HOME", str(tmp_path))
        monkeypatch.setattr(weights, "PAUSE_S", 0.0)
        tries = []

        def no_network(*args, **more):
            tries.append(args)
            raise OSError("Name or service not known")

        monkeypatch.setattr(torch.hub, "download_url_to_file", no_network)
        with pytest.raises(FailedToDownloadFilesError) as caught:
            resnet(str(tmp_path / "m"), model_name="resnet50")
        assert len(tries) == 3
        text = str(caught.value)
        for part in (
            "in 3 tries",
            "resnet50-11ad3fa6.pth",
            "checkpoints",
            "'Weights'",
            "model:NAME",
            "'Pretrained' to False",
        ):
            assert part in text

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(FailedToDownloadFilesError, match="does not exist"):
            resnet(str(tmp_path / "m"), model_name="resnet18", weights=str(tmp_path / "none.pth"))

    def test_rubbish_and_code_are_not_loaded(self, tmp_path):
        class Evil:
            def __reduce__(self):
                return (os.mkdir, (str(tmp_path / "harm"),))

        for name, value in (("evil.pth", {"a": Evil()}), ("list.pth", [1, 2])):
            torch.save(value, tmp_path / name)
            with pytest.raises(UnableToDeserializeModelError):
                resnet(str(tmp_path / "m" / name), model_name="resnet18", weights=str(tmp_path / name))
        assert not (tmp_path / "harm").exists()

    def test_another_networks_file_is_told_at_once(self, weights_file, tmp_path):
        with pytest.raises(InvalidModelDirectoryError):
            resnet(str(tmp_path / "m"), model_name="resnet34", weights=weights_file)

    def test_ddp_checkpoints_and_the_old_names_of_densenet(self, tmp_path):
        state = build(spec("densenet121"), 1000).state_dict()
        old = {}
        for name, value in state.items():
            for part in ("norm1", "norm2", "conv1", "conv2"):
                if "denselayer" in name:
                    name = name.replace(f".{part}.", f".{part[:-1]}.{part[-1]}.")
            old["module." + name] = value
        torch.save({"state_dict": old}, tmp_path / "w.pth")
        found = read_state(densenet(str(tmp_path / "m"), model_name="densenet121", weights=str(tmp_path / "w.pth")))
        assert found.keys() == state.keys()

    def test_a_registered_model_outside_of_a_run(self, tmp_path):
        with pytest.raises(FailedToDownloadFilesError, match="inside a run only"):
            resnet(str(tmp_path / "m"), model_name="resnet18", weights="model:birds")


class TestModelDirectory:
    def test_an_unknown_name(self, tmp_path):
        with pytest.raises(InvalidModelDirectoryError, match="Allowed: resnet18"):
            resnet(str(tmp_path / "m"), model_name="vgg16")

    def test_a_folder_that_is_none(self, image_directory):
        with pytest.raises(InvalidModelDirectoryError, match="Connect DenseNet or ResNet"):
            read_model_spec(image_directory)

    def test_another_framework(self, untrained, tmp_path):
        with open(os.path.join(untrained, "model_spec.yaml")) as f:
            text = f.read().replace("framework: pytorch", "framework: sklearn")
        (tmp_path / "model_spec.yaml").write_text(text)
        with pytest.raises(InvalidModelDirectoryError, match="'sklearn'"):
            read_model_spec(str(tmp_path))

    @pytest.mark.parametrize(
        "text", ["", "[]", "a: {", "flavor: {framework: pytorch}\ntask_type: MultiClassification\n"]
    )
    def test_a_damaged_one(self, tmp_path, text):
        (tmp_path / "model_spec.yaml").write_text(text)
        with pytest.raises(InvalidModelDirectoryError):
            read_model_spec(str(tmp_path))

    def test_an_untrained_one_where_a_trained_one_is_needed(self, untrained):
        with pytest.raises(UntrainedModelError, match="not trained yet"):
            read_model_spec(untrained, is_trained=True)
