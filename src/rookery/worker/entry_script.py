"""`azureml_user.parallel_run`, which entry scripts of a ParallelRunStep find there and nobody else. Python 3.6."""

import logging
import os
import sys
import types

__all__ = ["EntryScript", "offer"]

PACKAGE, MODULE = "azureml_user", "azureml_user.parallel_run"
LOGS = os.path.join("logs", "user", "entry_script_log")
_here = {}  # type: dict


class EntryScript(object):
    """What the entry script may ask for: `logger`, `output_dir`, `log_dir`. All objects in a process are alike."""

    @property
    def logger(self):
        """Writes to a file of the run's logs, one for each process; as much as the `logging_level` of the ParallelRunConfig says."""
        return _here["logger"]

    @property
    def output_dir(self):
        """The folder of the step's output; without one the run's own `outputs`."""
        return _here["output_dir"]

    @property
    def log_dir(self):
        """The folder that `logger` writes to."""
        return _here["log_dir"]


def offer(output_dir, level, process):
    """In every process, before its script is loaded: the module can be imported.

    Args:
        output_dir: of the step; empty: it has none.
        level: the name of a level of `logging`.
        process: which of the step's processes this is, from 0.
    """
    work = os.getcwd()
    log_dir = os.path.join(work, LOGS, os.environ.get("ROOKERY_NODE") or "0")
    _here.update(log_dir=log_dir, output_dir=output_dir or _folder(os.path.join(work, "outputs")))
    _here["logger"] = _logger(log_dir, level, process)
    package, module = types.ModuleType(PACKAGE), types.ModuleType(MODULE)
    package.__path__ = []
    package.parallel_run = module  # type: ignore[attr-defined]
    module.EntryScript = EntryScript  # type: ignore[attr-defined]
    sys.modules[PACKAGE], sys.modules[MODULE] = package, module


def _logger(folder, level, process):
    made = logging.getLogger("azureml_user.parallel_run.entry_script")
    try:
        path = os.path.join(_folder(folder), "process%03d.log.txt" % process)
        handler = logging.FileHandler(path, encoding="utf-8")  # type: logging.Handler
    except OSError:  # nowhere to write: it is said where prints are
        handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s|%(levelname)s|%(process)d|%(message)s"))
    for old in list(made.handlers):
        made.removeHandler(old)
    made.addHandler(handler)
    made.propagate = False
    made.setLevel(getattr(logging, str(level).upper(), logging.INFO))
    return made


def _folder(path):
    os.makedirs(path, exist_ok=True)  # several processes make it at once
    return path
