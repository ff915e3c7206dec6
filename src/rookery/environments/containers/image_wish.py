"""What the docker section of an environment asks for."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rookery.errors import UserError
from rookery.spec.run import EnvironmentSpec

__all__ = ["ImageWish", "read_wish"]

# v1's default. An environment that still has it was given no image by anybody; only `enabled` asks for it.
DEFAULT_IMAGE = "mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu22.04"
OURS = ("--name", "--rm", "--detach", "-d", "--entrypoint", "--pid", "--pull", "--workdir", "-w")
MAX_DOCKERFILE = 1024 * 1024
_IMAGE = re.compile(r"[A-Za-z0-9][\w.:/@-]*\Z")
_SIZE = re.compile(r"\d+[bkmgBKMG]?\Z")


@dataclass(frozen=True)
class ImageWish:
    """An image by name, or one to build from a Dockerfile or a context (`snapshot:<id>` of the workspace, a folder of this
    machine, or a git address)."""

    name: str = ""
    dockerfile: str = ""
    context: str = ""
    dockerfile_path: str = "Dockerfile"
    registry: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    arguments: tuple[str, ...] = ()
    shm_size: str = ""
    gpus: bool = True
    interpreter: str = ""

    @property
    def words(self) -> str:
        """For messages."""
        if self.name:
            return f"image '{self.name}'"
        return "the image of its Dockerfile" if self.dockerfile else f"the image of build context '{self.context}'"

    @property
    def is_git(self) -> bool:
        return bool(re.match(r"(https?|git|ssh)://|git@", self.context))

    @property
    def snapshot(self) -> str:
        """The id of the snapshot that is its context."""
        return self.context.removeprefix("snapshot:") if self.context.startswith("snapshot:") else ""

    def content_hash(self) -> str:
        """Equal for equal content, whatever the folder is called.

        Raises:
            UserError: the context cannot be read.
        """
        said = {"dockerfile": self.dockerfile, "path": self.dockerfile_path if self.context else ""}
        named = self.is_git or self.snapshot or not self.context  # a snapshot's id is the hash of its content
        said["context"] = self.context if named else _hash_folder(self.context)
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]


def read_wish(spec: EnvironmentSpec) -> ImageWish | None:
    """The wish, or None where no container was asked for: an untouched docker section never asks for one.

    Raises:
        UserError: it contradicts itself, or is not what runtimes take.
    """
    docker = spec.docker or {}
    runtime = docker.get("runtime") or {}
    context = docker.get("buildContext") or {}
    name, dockerfile = _text(docker, "baseImage"), _text(docker, "baseDockerfile")
    location = _text(context, "location")
    if not (name or dockerfile or location):
        return None
    is_default = name.startswith(DEFAULT_IMAGE)
    asked = bool(docker.get("enabled") or runtime.get("useDocker"))
    if is_default and not asked and not dockerfile and not location:
        return None
    if dockerfile or location:
        name = ""
    if name and not _IMAGE.match(name):
        raise UserError(
            f"docker.base_image={name[:100]!r} is not the name of an image. Allowed: like 'ubuntu:22.04' or 'host/path:tag'."
        )
    registry = docker.get("baseImageRegistry") or {}
    arguments = [str(a) for a in runtime.get("arguments") or docker.get("arguments") or []]
    taken = [a for a in arguments if a.partition("=")[0] in OURS]
    if taken:
        raise UserError(
            f"docker arguments: {taken[0]!r} is set by Rookery, which has to find its containers again. Leave it out."
        )
    shm_size = str(runtime.get("shmSize") or docker.get("shmSize") or "")
    if shm_size and not _SIZE.match(shm_size):
        raise UserError(f"shm_size={shm_size!r} is not a size. Allowed: like '2g' or '512m'.")
    address = _text(registry, "address").removeprefix("https://").rstrip("/")
    if address and name and not name.startswith(address + "/"):
        name = f"{address}/{name}"
    return ImageWish(
        name=name,
        dockerfile=_dockerfile_text(dockerfile),
        context=location.removeprefix("file://"),
        dockerfile_path=_text(context, "dockerfilePath") or "Dockerfile",
        registry=address,
        username=_text(registry, "username"),
        password=_text(registry, "password"),
        arguments=tuple(arguments),
        shm_size=shm_size.lower(),
        gpus=docker.get("gpuSupport") is not False,
        interpreter=_text(runtime, "interpreter"),
    )


def _text(values: Mapping[str, Any], key: str) -> str:
    return str(values.get(key) or "").strip()


def _dockerfile_text(given: str) -> str:
    """v1 takes a text or a path."""
    if given and "\n" not in given and os.path.isabs(given) and os.path.isfile(given):
        try:
            with open(given, encoding="utf-8") as f:
                return f.read(MAX_DOCKERFILE)
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"docker.base_dockerfile={given!r} cannot be read: {error}.") from error
    return given


def _hash_folder(root: str) -> str:
    if not os.path.isabs(root) or not os.path.isdir(root):
        raise UserError(
            f"docker.build_context: '{root}' is not a folder of this machine, nor the address of a git repository."
        )
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            digest.update(os.fsencode(os.path.relpath(path, root)) + b"\0")
            try:
                if os.path.islink(path):
                    digest.update(b"link" + os.fsencode(os.readlink(path)))
                else:
                    digest.update(b"x" if os.access(path, os.X_OK) else b"-")
                    digest.update(_hash_file(path))
            except OSError as error:
                raise UserError(f"docker.build_context: {path} cannot be read: {error.strerror}.") from error
    return digest.hexdigest()


def _hash_file(path: str) -> bytes:
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while data := f.read(1024 * 1024):
            digest.update(data)
    return digest.digest()
