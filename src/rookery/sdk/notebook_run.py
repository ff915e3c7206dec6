"""NotebookRunConfig and NotebookRunnerStep: a notebook as a run, and as a step of a pipeline."""

from __future__ import annotations

import json
import os
import shlex
from typing import Any, Optional

from rookery.errors import UnsupportedError, UserError
from rookery.sdk.pipeline_data import PipelineData
from rookery.sdk.pipeline_steps import CommandStep
from rookery.sdk.script_run_config import ScriptRunConfig

__all__ = ["NotebookRunConfig", "NotebookRunnerStep"]


class NotebookRunConfig(ScriptRunConfig):
    """A notebook of `source_directory`, run from its first cell to its last; `outputs/` has it with what it printed.

    The environment needs nbclient and ipykernel. `parameters` are set in a cell of their own, after the one that is tagged
    `parameters`, or before all others; data (`dataset.as_mount()`) comes as its path.
    """

    def __init__(
        self,
        source_directory: str,
        notebook: str,
        output_notebook: Optional[str] = None,
        parameters: Optional[dict[str, Any]] = None,
        handler: Any = None,
        run_config: Any = None,
        _telemetry_values: Any = None,
    ) -> None:
        if handler is not None:
            raise UnsupportedError(
                "NotebookRunConfig(handler=…) is not available in Rookery: nbclient runs the cells. Leave it out."
            )
        if not os.path.isfile(os.path.join(source_directory, notebook)):
            raise UserError(f"There is no notebook '{notebook}' in '{source_directory}'. Give its path relative to it.")
        self.notebook, self.parameters = notebook, dict(parameters or {})
        name = output_notebook or os.path.basename(notebook)
        self.output_notebook = name if name.startswith("outputs/") else f"outputs/{name}"
        words = _words(self, shlex.quote(self.output_notebook))
        super().__init__(source_directory, command=words, run_config=run_config)


class NotebookRunnerStep(CommandStep):
    """A notebook as a step. Its parameters may be PipelineParameters."""

    def __init__(
        self,
        name: Optional[str] = None,
        notebook_run_config: Optional[NotebookRunConfig] = None,
        runconfig_pipeline_params: Optional[dict[str, Any]] = None,
        compute_target: Any = None,
        params: Optional[dict[str, Any]] = None,
        inputs: Optional[list[Any]] = None,
        outputs: Optional[list[Any]] = None,
        allow_reuse: bool = True,
        version: Optional[str] = None,
        output_notebook_pipeline_data_name: Optional[str] = None,
    ) -> None:
        config = notebook_run_config
        if not isinstance(config, NotebookRunConfig):
            raise UserError(f"notebook_run_config is {type(config).__name__}. Give a NotebookRunConfig.")
        output: Any = shlex.quote(config.output_notebook)
        made = list(outputs or [])
        if output_notebook_pipeline_data_name:
            output = PipelineData(output_notebook_pipeline_data_name)
            made.append(output)
        super().__init__(
            _words(config, output), name or config.notebook, compute_target, config.run_config, runconfig_pipeline_params,
            inputs, made, params, config.source_directory, allow_reuse, version,
        )  # fmt: skip


def _words(config: NotebookRunConfig, output: Any) -> list[Any]:
    """The command line in a shell's words; data and parameters of a pipeline stay what they are."""
    words: list[Any] = ["python", "-m", "rookery.worker.notebook", shlex.quote(config.notebook), "--output", output]
    for name, value in config.parameters.items():
        words += ["--parameter", shlex.quote(str(name))]
        try:
            words.append(shlex.quote(json.dumps(value)))
        except TypeError:
            words.append(value)
    return words
