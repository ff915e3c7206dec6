"""What `env.build(ws)` and `env.get_image_details(ws)` return."""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Callable
from contextlib import closing
from typing import Any, Optional

from rookery.errors import KeeperUnavailableError
from rookery.sdk.build_output import BuildOutput, write_text
from rookery.spec.run import EnvironmentSpec

__all__ = ["DockerImageDetails", "ImageBuildDetails"]

ENDED = ("Succeeded", "Failed")


class ImageBuildDetails:
    """A build: its status (Running, Succeeded or Failed), and its log as it grows."""

    def __init__(self, environment_client: Any, location: str, _api: str = "") -> None:
        self.environment_client = environment_client
        self.build_id = location
        self._path = f"/environments/builds/{location}"
        self.log_url: Optional[str] = f"{_api}{self._path}/log"
        self._last: dict[str, Any] = {}

    @property
    def status(self) -> str:
        """Asked anew until it is over."""
        return str(self._told()["status"])

    @property
    def error(self) -> str:
        """Why it failed; empty otherwise."""
        return str(self._told()["error"] or "")

    @property
    def deviations(self) -> list[str]:
        """What differs from the specification."""
        return list((self._told()["built"] or {}).get("deviations") or [])

    def get_log(self) -> str:
        """Everything that the build has said so far."""
        text = io.BytesIO()
        while self.environment_client.download(self._path + "/log", text, query={"offset": text.tell()}):
            pass
        return text.getvalue().decode("utf-8", "replace")

    def wait_for_completion(self, show_output: bool = True) -> ImageBuildDetails:
        """Return when it is over, the log shown as it grows. A failure is told, not raised: see `status` and `error`."""
        out = sys.stdout
        if show_output:
            write_text(out, "Image Build Status: Running\n\n")
        shown = BuildOutput(out)
        try:
            self._follow(shown.take if show_output else None)
        finally:
            shown.close()
        if show_output:
            write_text(out, f"\nImage Build Status: {self.status}\n\n")
        elif self.error:
            print(f"The environment could not be built: {self.error}", file=sys.stderr)
        return self

    def _follow(self, take: Optional[Callable[[bytes], None]]) -> None:
        with closing(self.environment_client.stream(self._path + "/events")) as events:
            for event in events:
                if event.kind == "log" and take is not None:
                    data = event.data
                    take(data["text"].encode("utf-8") if "text" in data else base64.b64decode(data["base64"]))
                elif event.kind == "end":
                    return
        raise KeeperUnavailableError(f"The events of build '{self.build_id}' broke off. Wait for it again.")

    def _told(self) -> dict[str, Any]:
        if self._last.get("status") not in ENDED:
            self._last = self.environment_client.request("GET", self._path)
        return self._last

    def __repr__(self) -> str:
        return f"ImageBuildDetails(build_id={self.build_id!r}, status={self._last.get('status', 'not asked yet')!r})"


class DockerImageDetails(dict):
    """Whether an environment is built here, and where: v1's details of an image, told of a folder."""

    @classmethod
    def of(cls, spec: EnvironmentSpec, built: Optional[dict[str, Any]]) -> DockerImageDetails:
        docker = spec.docker or {}
        registry = docker.get("baseImageRegistry") or {}
        folder = built["bin_dir"].rpartition("/")[0] if built and built["bin_dir"] else None
        return cls(
            imageExistsInRegistry=built is not None,
            dockerImage={"name": docker.get("baseImage"), "registry": {"address": registry.get("address")}},
            pythonEnvironment={
                "interpreterPath": built["python"] if built else None,
                "condaEnvironmentDirectory": folder,
            },
            ingredients={"dockerfile": docker.get("baseDockerfile")},
        )

    @property
    def image_exist(self) -> bool:
        return bool(self["imageExistsInRegistry"])

    @property
    def repository(self) -> Optional[str]:
        return self["dockerImage"]["name"]

    @property
    def registry(self) -> dict[str, Any]:
        return self["dockerImage"]["registry"]

    @property
    def image(self) -> Optional[str]:
        address, name = self.registry["address"], self.repository
        return f"{address}/{name}" if address and name else name

    @property
    def interpreter_path(self) -> Optional[str]:
        return self["pythonEnvironment"]["interpreterPath"]

    @property
    def environment_path(self) -> Optional[str]:
        return self["pythonEnvironment"]["condaEnvironmentDirectory"]

    @property
    def dockerfile(self) -> Optional[str]:
        return self["ingredients"]["dockerfile"]
