"""Bodies that the API takes, where their form can be said in types. Unknown fields are refused: they are
typing errors.
"""

from __future__ import annotations

from typing import Any, Literal, Optional, Union

from pydantic import BaseModel, ConfigDict

__all__ = [
    "ArtifactLink",
    "ArtifactLinks",
    "ComputeChange",
    "ComputeNew",
    "ComputePreempt",
    "EnvironmentLabels",
    "EnvironmentPrune",
    "EnvironmentText",
    "ExperimentChange",
    "Given",
    "ModelChange",
    "ModelNew",
    "RunChange",
    "StatusReport",
    "TokenRequest",
    "WheelNew",
    "WorkspaceChange",
]


class Given(BaseModel):
    model_config = ConfigDict(extra="forbid")

    def given(self) -> dict[str, Any]:
        """The fields that the body has, and no others."""
        return self.model_dump(exclude_unset=True)


class WorkspaceChange(Given):
    tags: Optional[dict[str, Any]] = None
    friendly_name: Optional[str] = None
    description: Optional[str] = None


class TokenRequest(Given):
    run_id: str


class ExperimentChange(Given):
    tags: dict[str, Any] = {}
    remove_tags: list[str] = []
    archived: Optional[bool] = None
    name: Optional[str] = None


class RunChange(Given):
    display_name: Optional[str] = None
    description: Optional[str] = None
    tags: dict[str, Any] = {}
    remove_tags: list[str] = []
    properties: dict[str, Any] = {}


class StatusReport(Given):
    status: str
    error: Any = None


class ArtifactLink(Given):
    name: str
    sha256: str


class ArtifactLinks(Given):
    artifacts: list[ArtifactLink]


class ComputeNew(Given):
    name: str
    spec: dict[str, Any] = {}
    check: bool = True  # of a target on other machines: look at it from one of them before it is kept


class ComputeChange(Given):
    min_nodes: Optional[int] = None
    max_nodes: Optional[int] = None
    idle_seconds_before_scaledown: Optional[int] = None
    tags: Optional[dict[str, Any]] = None
    description: Optional[str] = None


class ComputePreempt(Given):
    node: Optional[str] = None
    grace_s: Optional[float] = None
    away_s: Optional[float] = None
    force: bool = False


class EnvironmentLabels(Given):
    version: Union[int, str]
    labels: list[str]


class EnvironmentPrune(Given):
    keys: Optional[list[str]] = None
    older_than_s: float = 0.0
    dry_run: bool = False
    cache: bool = False


class EnvironmentText(Given):
    file: str
    text: str
    folder: str = ""


class WheelNew(Given):
    name: str
    sha256: str
    exist_ok: bool = False


class ModelNew(Given):
    name: str
    run_id: Optional[str] = None
    path: Optional[str] = None
    entries: Optional[list[dict[str, Any]]] = None
    is_folder: Optional[bool] = None
    tags: Optional[dict[str, Any]] = None
    properties: Optional[dict[str, Any]] = None
    description: Optional[str] = None
    framework: Optional[str] = None
    framework_version: Optional[str] = None
    datasets: Any = None
    resource: Any = None
    sample_input: Any = None
    sample_output: Any = None
    experiment: Optional[str] = None


class ModelChange(Given):
    tags: Optional[dict[str, Any]] = None
    remove_tags: list[str] = []
    properties: Optional[dict[str, Any]] = None
    description: Optional[str] = None
    framework: Optional[str] = None
    framework_version: Optional[str] = None
    datasets: Any = None
    resource: Any = None
    sample_input: Any = None
    sample_output: Any = None
    stage: Optional[Literal["None", "Staging", "Production", "Archived"]] = None
