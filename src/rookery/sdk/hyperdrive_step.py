"""HyperDriveStep: a search for hyperparameters as a step of a pipeline."""

from __future__ import annotations

import json
from typing import Any, Optional

from rookery.errors import UserError
from rookery.sdk.hyperdrive_config import HyperDriveConfig
from rookery.sdk.hyperdrive_run import HyperDriveRun
from rookery.sdk.pipeline_steps import PipelineStep
from rookery.spec.pipeline import NodeKind
from rookery.spec.plain import to_plain

__all__ = ["HyperDriveStep", "HyperDriveStepRun"]


class HyperDriveStep(PipelineStep):
    """Its children are runs below the step's own run; what they write is not an output of the step."""

    def __init__(
        self,
        name: str,
        hyperdrive_config: HyperDriveConfig,
        estimator_entry_script_arguments: Optional[list[Any]] = None,
        inputs: Optional[list[Any]] = None,
        outputs: Optional[list[Any]] = None,
        metrics_output: Any = None,
        allow_reuse: bool = True,
        version: Optional[str] = None,
    ) -> None:
        if not isinstance(hyperdrive_config, HyperDriveConfig):
            raise UserError(f"hyperdrive_config is {type(hyperdrive_config).__name__}. Give a HyperDriveConfig.")
        if metrics_output is not None or outputs:
            raise UserError(
                "Outputs of a HyperDriveStep (outputs, metrics_output) are not available: its children's metrics and files are "
                "in their runs. Read them in a step after it: HyperDriveStepRun(run.find_step_run(name)[0]).get_metrics()."
            )
        self._config = hyperdrive_config.script_run_config()
        arguments = estimator_entry_script_arguments
        super().__init__(name, inputs, outputs, arguments if arguments is not None else self._config.arguments)
        self._hyperdrive_config, self._regenerate = hyperdrive_config, not allow_reuse

    def node(self, build: Any) -> dict[str, Any]:
        import copy

        config = copy.copy(self._config)
        config.arguments = []
        node: dict[str, Any] = build.script_node(self, config)
        node["kind"] = NodeKind.TUNE
        node["run"]["plan"] = json.loads(json.dumps(to_plain(self._hyperdrive_config.plan())))
        return node


class HyperDriveStepRun(HyperDriveRun):
    """The HyperDriveRun of a step."""

    def __init__(self, step_run: Any) -> None:
        super().__init__(step_run.experiment, step_run._worked_id)
