"""Running Slurm's commands: sbatch, srun, squeue, scontrol, scancel, sinfo."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Optional

from rookery.errors import ComputeError
from rookery.spec.engine_options import SlurmOptions

__all__ = ["Commands", "SlurmAway", "SlurmRefused"]

TIMEOUT_S = 30.0
# slurmctld does not answer, or munge does not: it says nothing about what was asked, so it is asked again.
_AWAY = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Connection refused|Connection timed out|connect failure|"
    r"Zero Bytes|Communication connection failure|Communication shutdown|Transport endpoint|slurmctld.*not respond|"
    r"temporarily unavailable|Unable to establish controller|Munge|[Aa]uthentication|I/O error|backup controller|"
    r"Slurm backup|Error reading.*message|Insane message|in standby",
)
_PREFIX = re.compile(r"^(?:sbatch|srun|squeue|scontrol|scancel|sinfo): (?:error: |fatal: )?", re.MULTILINE)
# What a keeper that is itself inside a run, or inside a job of Slurm, must not hand on.
_DROPPED = ("AZUREML_", "ROOKERY_", "MLFLOW_", "SLURM_", "SBATCH_", "SRUN_", "SQUEUE_", "SCANCEL_", "SINFO_", "PMI_")
_DROPPED_NAMES = frozenset(
    {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}
)


class SlurmAway(Exception):
    """Slurm did not answer; nothing is known about what was asked."""


class SlurmRefused(Exception):
    """Slurm answered that it will not, in these words."""


class Commands:
    """Slurm's commands on this machine. Thread-safe."""

    def __init__(self, options: SlurmOptions) -> None:
        self._bin, self._conf = options.bin, options.conf
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def check(self) -> None:
        """Whether they are there.

        Raises:
            ComputeError: names the first that is missing.
        """
        for name in ("sbatch", "squeue", "scontrol", "scancel", "srun"):
            self._path(name)

    def run(self, name: str, *arguments: str, text: str = "", timeout_s: float = TIMEOUT_S) -> str:
        """What a command prints.

        Raises:
            SlurmAway: no answer.
            SlurmRefused: it failed; its own words.
            ComputeError: there is no such command here.
        """
        code, output, errors = self.call([name, *arguments], text, timeout_s)
        if code is None:
            raise SlurmAway(f"`{name}` did not answer within {timeout_s:.0f} s")
        if code == 0:
            return output
        words = tidy(errors) or tidy(output) or f"`{name}` ended with exit code {code}"
        raise (SlurmAway if _AWAY.search(words) or code < 0 else SlurmRefused)(words)

    def call(self, command: Sequence[str], text: str, timeout_s: float) -> tuple[Optional[int], str, str]:
        """Exit code (None: killed after the time was up), stdout, stderr."""
        try:
            process = subprocess.Popen(
                [self._path(command[0]), *command[1:]],
                env=self.environment(os.environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise ComputeError(f"`{command[0]}` cannot be started: {error.strerror or error}.") from error
        with self._lock:
            self._running.add(process)
            if self._stopped and command[0] == "squeue":
                process.kill()
        try:
            output, errors = process.communicate(text, timeout_s)
            return process.returncode, output, errors
        except subprocess.TimeoutExpired:
            process.terminate()  # srun takes its job along when it is asked to
            try:
                process.communicate(timeout=1.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            return None, "", ""
        finally:
            with self._lock:
                self._running.discard(process)

    def stop(self) -> None:
        """Wait for no answer any more. What was sent off (sbatch) is left to its end."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                if isinstance(process.args, list) and os.path.basename(str(process.args[0])) == "squeue":
                    process.kill()

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """What commands, and through sbatch the job, get of this process's variables."""
        kept = {k: v for k, v in variables.items() if not k.startswith(_DROPPED) and k not in _DROPPED_NAMES}
        conf = self._conf or variables.get("SLURM_CONF", "")
        # Times and numbers as the manual shows them, whatever the user's own settings are.
        return {**kept, **({"SLURM_CONF": conf} if conf else {}), "SLURM_TIME_FORMAT": "standard"}

    def _path(self, name: str) -> str:
        found = shutil.which(name, path=self._bin or None)
        if found:
            return found
        where = f"in the folder {self._bin!r} (option bin)" if self._bin else "on the keeper's PATH"
        raise ComputeError(
            f"Slurm's command `{name}` is not {where}. Run the keeper on a machine from which jobs can be submitted, or "
            "give the folder of Slurm's commands as bin."
        )


def tidy(words: str) -> str:
    """What a command said, without its own name before every line."""
    lines = [line.strip() for line in _PREFIX.sub("", words).splitlines()]
    return "; ".join(line for line in lines if line)
