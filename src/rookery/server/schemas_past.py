"""Bodies of what happened elsewhere. Checked in full before the record sees them: they come from other programs' data."""

from __future__ import annotations

from typing import Annotated, Any, Optional

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["PastExperiment", "PastLoggedModel", "PastModel", "PastRun", "PastValues"]

Milliseconds = Annotated[int, Field(ge=0, lt=2**53)]
Moment = Optional[Milliseconds]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Labels = Optional[dict[str, Any]]
Text = Optional[str]


class Past(BaseModel):
    model_config = ConfigDict(extra="ignore")  # another program's data may say more


class PastExperiment(Past):
    name: str
    tags: Labels = None
    created_ms: Moment = None
    archived: Optional[bool] = None


class PastInput(Past):
    direction: str
    kind: str
    name: str
    digest: Text = None
    context: Text = None
    data: Optional[dict[str, Any]] = None


class PastRun(Past):
    run_id: str
    experiment: str
    status: str
    display_name: Text = None
    description: Text = None
    user: Text = None
    began_ms: Moment = None
    ended_ms: Moment = None
    deleted: Optional[bool] = None
    deleted_ms: Moment = None
    parent_id: Text = None
    tags: Labels = None
    params: Labels = None
    inputs: Optional[list[PastInput]] = None


class PastBlock(Past):
    """A Block of the protocol, and how many values its metric has before it."""

    name: str
    at: Annotated[int, Field(ge=0, lt=2**53)]
    n: int
    dtype: str
    values: Any
    steps: Text = None
    times: str


class PastValues(Past):
    blocks: list[PastBlock]


class PastFile(Past):
    path: str
    sha256: str


class PastModelMetric(Past):
    key: str
    value: float
    step: Optional[Whole] = None
    time_ms: Milliseconds
    run_id: Text = None
    dataset_name: Text = None
    dataset_digest: Text = None


class PastLoggedModel(Past):
    id: str
    experiment: str
    status: str
    run_id: Text = None
    name: Text = None
    model_type: Text = None
    created_ms: Moment = None
    modified_ms: Moment = None
    deleted: Optional[bool] = None
    tags: Labels = None
    params: Labels = None
    metrics: Optional[list[PastModelMetric]] = None
    files: Optional[list[PastFile]] = None


class PastVersion(Past):
    version: Annotated[int, Field(ge=1, lt=2**31)]
    created_ms: Moment = None
    modified_ms: Moment = None
    description: Text = None
    stage: Text = None
    source: Text = None
    source_link: Text = None
    tags: Labels = None
    created_by: Text = None
    run_id: Text = None
    files_of_run: Text = None
    path: Text = None
    files_of_model: Text = None
    framework: Text = None


class PastModel(Past):
    name: str
    description: Text = None
    tags: Labels = None
    created_ms: Moment = None
    modified_ms: Moment = None
    aliases: Optional[dict[str, Annotated[int, Field(ge=1, lt=2**31)]]] = None
    versions: Optional[list[PastVersion]] = None
