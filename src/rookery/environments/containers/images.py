"""Images: found, pulled or built, once, and known by their id from then on."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rookery.environments.building.flocks import hold_lock
from rookery.environments.building.folders import cache_folder
from rookery.environments.containers.image_wish import ImageWish
from rookery.environments.containers.runtimes import ContainerPolicy, Found, caller_limits
from rookery.environments.python.uv_program import run_program
from rookery.errors import EnvironmentBuildError
from rookery.spec.container import Runtime, build_command
from rookery.spec.names import check_artifact_name

if TYPE_CHECKING:
    from rookery.record import Record

__all__ = ["BUILT_IMAGES", "Image", "Unavailable", "get_image", "image_id"]

BUILT_IMAGES = "localhost/rookery/env"
INSPECT_S = 60.0
_UNREACHABLE = re.compile(
    r"pinging container registry|no such host|dial tcp|connection refused|i/o timeout|handshake|manifest unknown|"
    r"pull access denied|unauthorized|authentication required|requested access to the resource is denied|"
    r"did not resolve to an alias|image not known|name unknown|toomanyrequests",
    re.IGNORECASE,
)


class Unavailable(Exception):
    """There is no container to be had, through no fault of the specification. Its text says why."""


@dataclass(frozen=True)
class Image:
    """id: what runs are started with. name: for people."""

    id: str
    name: str


@dataclass(frozen=True)
class Job:
    """What every step needs."""

    found: Found
    policy: ContainerPolicy
    log: Callable[[bytes], None]
    deadline: float
    timeout_s: float
    record: Record | None = None

    def run(
        self, command: Sequence[str], keep: Sequence[int] = (), started: Callable[[int], None] | None = None
    ) -> tuple[int, str]:
        """Run a command of the runtime, all its words going to the log; exit code and words."""
        loud = ["/bin/sh", "-c", 'exec "$@" >&2', "sh", *command]
        done = run_program(loud, os.environ, self.log, self.deadline, self.timeout_s, started, keep)
        return done.code, done.output

    def say(self, text: str) -> None:
        self.log(text.encode("utf-8", "replace") + b"\n")


def get_image(
    wish: ImageWish,
    found: Found,
    policy: ContainerPolicy,
    log: Callable[[bytes], None],
    deadline: float,
    timeout_s: float,
    record: Record | None = None,
) -> Image:
    """The image, pulled or built if it is not on this machine.

    Args:
        record: where build contexts are, as snapshots.

    Raises:
        Unavailable: it cannot be had: no network, no such image, no right to it.
        EnvironmentBuildError: its Dockerfile is at fault.
        UserError: its context cannot be read.
    """
    job = Job(found, policy, log, deadline, timeout_s, record)
    if wish.name:
        return _named(wish, job)
    return _built(wish, job)


def image_id(found: Found, policy: ContainerPolicy, name: str) -> str:
    """The id of an image that is on this machine; '' where it is not."""
    if found.runtime == Runtime.APPTAINER:
        return name if os.path.isfile(name) else ""
    command = [found.program, *policy.flags, "image", "inspect", "--format", "{{.Id}}", name]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=INSPECT_S, check=False, cwd="/"
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("ascii", "replace").strip() if done.returncode == 0 else ""


def _named(wish: ImageWish, job: Job) -> Image:
    full = _full_name(wish.name)
    if job.found.runtime == Runtime.APPTAINER:
        return _pulled_file(wish, full, job)
    for name in dict.fromkeys((wish.name, full)):
        found = image_id(job.found, job.policy, name)
        if found:
            return Image(found, wish.name)
    if not job.policy.pull:
        raise Unavailable("it is not on this machine, and container_pull is off")
    if full.startswith("localhost/"):
        raise Unavailable("it is not on this machine, and names under localhost/ are never pulled")
    with hold_lock("image-" + _lock_name(full), job.deadline) as held:
        found = image_id(job.found, job.policy, full)
        if found:
            return Image(found, wish.name)
        job.say(f"Pulling {full} with {job.found.runtime}")
        with _credentials(wish, full, job) as (start, end):
            command = [job.found.program, *job.policy.flags, *start, "pull", *end, full]
            code, output = job.run(command, [held.fd], held.started)
    found = image_id(job.found, job.policy, full) if code == 0 else ""
    if not found:
        raise Unavailable(f"it is not on this machine and cannot be pulled: {_reason(output)}")
    return Image(found, wish.name)


def _built(wish: ImageWish, job: Job) -> Image:
    if job.found.runtime == Runtime.APPTAINER:
        raise Unavailable("it would have to be built, which apptainer cannot do (podman and docker can)")
    digest = wish.content_hash()
    tag = f"{BUILT_IMAGES}:{digest}"
    found = image_id(job.found, job.policy, tag)
    if found:
        return Image(found, tag)
    with (
        hold_lock("image-" + digest, job.deadline) as held,
        tempfile.TemporaryDirectory(prefix="rookery-image-") as folder,
    ):
        found = image_id(job.found, job.policy, tag)
        if found:
            return Image(found, tag)
        job.say(f"Building {wish.words} with {job.found.runtime} as {tag}")
        context, dockerfile = wish.context or folder, ""
        if wish.snapshot:
            context = os.path.join(folder, "context")
            _write_snapshot(wish.snapshot, context, job.record)
        if wish.dockerfile:
            dockerfile = os.path.join(folder, "Dockerfile")
            with open(dockerfile, "w", encoding="utf-8") as f:
                f.write(wish.dockerfile)
        elif wish.dockerfile_path != "Dockerfile":
            dockerfile = wish.dockerfile_path if wish.is_git else os.path.join(context, wish.dockerfile_path)
        command = build_command(job.found.container(job.policy), tag, dockerfile, context, caller_limits())
        with _credentials(wish, wish.registry, job) as (start, end):
            place = command.index("build")
            command[place : place + 1] = [*start, "build", *end]
            code, output = job.run(command, [held.fd], held.started)
    found = image_id(job.found, job.policy, tag) if code == 0 else ""
    if found:
        return Image(found, tag)
    if _UNREACHABLE.search(_last_error(output)):  # not any line: a step may have tried to reach something too
        raise Unavailable(f"it could not be built, because what it starts from cannot be pulled: {_reason(output)}")
    raise EnvironmentBuildError(
        f"{wish.words[0].upper()}{wish.words[1:]} could not be built: {_reason(output)}. The build log has it all.",
        details={"step": "image"},
    )


def _write_snapshot(snapshot: str, folder: str, record: Record | None) -> None:
    """A build context as files. Its paths were checked when it was stored; each is looked at again."""
    if record is None:
        raise EnvironmentBuildError(f"The build context snapshot:{snapshot} cannot be read without a workspace.")
    os.makedirs(folder)
    for entry in record.snapshots.entries(snapshot):
        path = os.path.join(folder, check_artifact_name(entry["path"]))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if entry["link"] is not None:
            os.symlink(entry["link"], path)
            continue
        with record.content.open(entry["sha256"]) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target, 1024 * 1024)
        os.chmod(path, 0o755 if entry["mode"] & 0o100 else 0o644)


def _pulled_file(wish: ImageWish, full: str, job: Job) -> Image:
    """apptainer keeps images as files wherever it is told to."""
    if os.path.isfile(wish.name):
        return Image(wish.name, wish.name)
    path = os.path.join(cache_folder(), "images", _lock_name(full) + ".sif")
    if os.path.isfile(path):
        return Image(path, wish.name)
    if not job.policy.pull:
        raise Unavailable("it is not on this machine, and container_pull is off")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with hold_lock("image-" + _lock_name(full), job.deadline) as held:
        if os.path.isfile(path):
            return Image(path, wish.name)
        job.say(f"Pulling {full} with apptainer")
        part = path + ".part"
        with _credentials(wish, full, job) as (start, end):
            command = [job.found.program, *job.policy.flags, *start, "pull", "--force", *end, part, f"docker://{full}"]
            code, output = job.run(command, [held.fd], held.started)
        if code != 0 or not os.path.isfile(part):
            raise Unavailable(f"it is not on this machine and cannot be pulled: {_reason(output)}")
        os.replace(part, path)
    return Image(path, wish.name)


@contextlib.contextmanager
def _credentials(wish: ImageWish, image: str, job: Job) -> Iterator[tuple[list[str], list[str]]]:
    """Words before and after the verb that let a runtime use the registry's password, which is in a file of ours for as long
    as it is needed. Without a password whoever is logged in (`podman login`) stays so."""
    if not (wish.username and wish.password):
        yield [], []
        return
    address = wish.registry or image.partition("/")[0]
    secret = base64.b64encode(f"{wish.username}:{wish.password}".encode()).decode()
    with tempfile.TemporaryDirectory(prefix="rookery-login-") as folder:  # mode 700
        path = os.path.join(folder, "config.json")
        with open(path, "w", encoding="utf-8", opener=lambda p, flags: os.open(p, flags, 0o600)) as f:
            json.dump({"auths": {address: {"auth": secret}}}, f)
        if job.found.runtime == Runtime.DOCKER:
            yield ["--config", folder], []
        else:
            yield [], ["--authfile", path]


def _full_name(name: str) -> str:
    """With registry and tag, by docker's rules; podman has no default registry."""
    if "@" not in name and ":" not in name.rpartition("/")[2]:
        name += ":latest"
    first, slash, _ = name.partition("/")
    if slash and (first == "localhost" or "." in first or ":" in first):
        return name
    return f"docker.io/{name}" if slash else f"docker.io/library/{name}"


def _lock_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:150]


def _last_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return ([line for line in lines if re.match(r"(?i)error|fatal", line)] or lines or ["no words"])[-1]


def _reason(output: str) -> str:
    """The last complaint, without what comes before it in every line."""
    text = re.sub(r"(?i)^(error|fatal)( response from daemon)?:\s*", "", _last_error(output))
    text = re.sub(
        r"initializing source \S+: |Get \"\S+\": |creating build container: |: unable to copy from source \S+", "", text
    )
    return text[:300].rstrip(".")
