"""What an environment's docker section asks for."""

import pytest

from rookery.environments.containers.image_wish import read_wish
from rookery.errors import UserError
from rookery.sdk import Environment
from rookery.sdk.environment_spec import environment_spec
from rookery.sdk.run_config_elements import DockerConfiguration
from rookery.spec.run import EnvironmentSpec

ARTICLE_IMAGE = "mcr.microsoft.com/azureml/openmpi3.1.2-cuda10.1-cudnn7-ubuntu18.04"


def wish(environment, docker=None):
    return read_wish(environment_spec(environment, docker))


class TestReadWish:
    def test_an_untouched_section_asks_for_nothing(self):
        assert read_wish(EnvironmentSpec()) is None
        environment = Environment("mine")
        assert wish(environment) is None
        environment.docker.shm_size = "4g"
        assert wish(environment) is None, "says nothing of an image"
        assert wish(environment, DockerConfiguration(use_docker=True)).name.startswith(
            "mcr.microsoft.com/azureml/openmpi4"
        )

    def test_the_articles_two_lines(self):
        environment = Environment("article")
        environment.docker.enabled = True
        environment.docker.base_image = ARTICLE_IMAGE
        found = wish(environment)
        assert (found.name, found.dockerfile, found.context) == (ARTICLE_IMAGE, "", "")
        assert found.words == f"image '{ARTICLE_IMAGE}'"

    def test_an_image_is_enough(self):
        environment = Environment("mine")
        environment.docker.base_image = "ubuntu:22.04"
        environment.python.interpreter_path = "/opt/py/bin/python"
        found = wish(environment, DockerConfiguration(arguments=["--ipc=host"], shm_size="512M"))
        assert (found.name, found.arguments, found.shm_size) == ("ubuntu:22.04", ("--ipc=host",), "512m")
        assert found.interpreter == "/opt/py/bin/python"

    def test_a_registry_goes_before_the_name(self):
        environment = Environment("mine")
        environment.docker.base_image = "team/image:1"
        environment.docker.base_image_registry.address = "https://registry.example.org/"
        environment.docker.base_image_registry.username = "me"
        environment.docker.base_image_registry.password = "hidden"
        found = wish(environment)
        assert found.name == "registry.example.org/team/image:1"
        assert (found.username, found.password) == ("me", "")

    @pytest.mark.parametrize("name", ["--privileged", "a b", "x;y", "$(id)", "a\nb"])
    def test_what_is_no_image_is_refused(self, name):
        with pytest.raises(UserError, match="not the name of an image"):
            read_wish(EnvironmentSpec(docker={"baseImage": name}))

    @pytest.mark.parametrize("argument", ["--name=x", "--detach", "--entrypoint"])
    def test_arguments_that_would_lose_the_container_are_refused(self, argument):
        with pytest.raises(UserError, match=argument.partition("=")[0]):
            read_wish(EnvironmentSpec(docker={"baseImage": "x", "arguments": [argument]}))

    def test_a_size_is_a_size(self):
        with pytest.raises(UserError, match="shm_size"):
            read_wish(EnvironmentSpec(docker={"baseImage": "x", "shmSize": "2g --privileged"}))

    def test_the_password_is_not_shown(self):
        registry = {"address": "r.example.org", "username": "me", "password": "hidden"}
        found = read_wish(EnvironmentSpec(docker={"baseImage": "x", "baseImageRegistry": registry}))
        assert found.password == "hidden"
        assert "hidden" not in repr(found)


class TestContentHash:
    def test_follows_the_content_and_not_the_folder(self, tmp_path):
        hashes = []
        for name in ("one", "two"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "Dockerfile").write_text("FROM x")
            hashes.append(self._hash(str(folder)))
        assert hashes[0] == hashes[1]
        (tmp_path / "two" / "Dockerfile").chmod(0o755)
        assert self._hash(str(tmp_path / "two")) != hashes[0]

    def test_a_folder_that_is_not_there_is_named(self, tmp_path):
        with pytest.raises(UserError, match="nowhere"):
            self._hash(str(tmp_path / "nowhere"))

    def _hash(self, folder):
        return read_wish(EnvironmentSpec(docker={"buildContext": {"location": folder}})).content_hash()
