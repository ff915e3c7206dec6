"""Where a run is, and ending it."""

import sys
import traceback
import warnings

from rookery.worker.run_files import FilesPart

__all__ = ["StatusPart", "error_data"]


class StatusPart(FilesPart):
    def get_status(self):
        return self._refresh()["status"]

    @property
    def status(self):
        """The last status that was seen."""
        return self._known("status")

    def get_detailed_status(self):
        run = self._refresh()
        return {"status": run["status"], "details": run.get("reason") or ""}

    def get_details(self):
        """The dict that v1 documented, as far as it can be told from here."""
        self._drain()
        run = self._refresh()
        details = {
            "runId": run["id"],
            "target": run.get("target") or run.get("compute"),
            "status": run["status"],
            "startTimeUtc": run.get("started_utc"),
            "properties": dict(run.get("properties") or {}),
            "inputDatasets": [],
            "outputDatasets": [],
            "runDefinition": run.get("spec"),
            "logFiles": {entry["name"]: entry["name"] for entry in self._ask(path="/logs")["logs"]},
            "submittedBy": run.get("submitted_by"),
        }
        if run.get("ended_utc"):
            details["endTimeUtc"] = run["ended_utc"]
        if run.get("error"):
            details["error"] = run["error"]
        if run.get("warnings"):
            details["warnings"] = [{"source": "Rookery", "message": text} for text in run["warnings"]]
        return details

    def start(self):
        """Say that a child runs. The run itself is started by its agent."""
        if self._is_child:
            self._sink.append(["s", None, "Running", None])

    def complete(self, _set_status=True):
        """End a run as Completed. Inside a submitted run: flush; its status is what becomes of the
        process."""
        if self._outputs:
            self.upload_folder(self._outputs_name(), self._outputs)
        if self._is_child:
            if _set_status:
                self._sink.append(["s", None, "Completed", None])
        elif self._in_run:
            self.flush()
        elif _set_status:
            self._ask("POST", "/status", body={"status": "Completed", "error": None})
            self._data = None

    def fail(self, error_details=None, error_code=None, _set_status=True):
        """End a run as Failed. Inside a submitted run: the error is recorded; the status is what becomes of
        the process."""
        error = error_data(error_details, error_code)
        if self._is_child or self._in_run:
            self._sink.append(["s", None, "Failed", error])
        elif _set_status:
            self._ask("POST", "/status", body={"status": "Failed", "error": error})
            self._data = None

    def cancel(self):
        """Ask to stop the run. From inside the run itself nothing is done: its process ends it."""
        if self._is_child:
            self._sink.append(["s", None, "Canceled", None])
        elif self._in_run:
            warnings.warn(
                "run.cancel() inside the run does nothing. End the script (sys.exit), or cancel from "
                "outside: "
                "`rookery stop {}`.".format(self.id),
                stacklevel=2,
            )
        else:
            self._data = self._ask("POST", "/cancel")

    def __enter__(self):
        return self

    def __exit__(self, exit_type, value, trace):
        if exit_type is None:
            self.complete()
        else:
            text = "".join(traceback.format_exception(exit_type, value, trace))
            error = error_data(value, None)
            error["traceback"] = text
            self._fail_with(error)
        return False

    def _fail_with(self, error):
        if self._is_child or self._in_run:
            self._sink.append(["s", None, "Failed", error])
        else:
            self._ask("POST", "/status", body={"status": "Failed", "error": error})

    def _outputs_name(self):
        import os

        return os.path.basename(os.path.abspath(str(self._outputs)))


def error_data(error_details=None, error_code=None):
    """A Cause (spec.cause) as plain data, from what v1's fail() accepts: a text, an exception, a dict,
    nothing."""
    cause = {"kind": "UserError", "summary": "The script called run.fail()."}
    if isinstance(error_details, BaseException):
        name = type(error_details).__name__
        cause["exception"] = cause["summary"] = "{}: {}".format(name, error_details)
        if error_details.__traceback__ is not None or sys.exc_info()[1] is error_details:
            lines = traceback.format_exception(type(error_details), error_details, error_details.__traceback__)
            cause["traceback"] = "".join(lines)
    elif isinstance(error_details, dict):
        cause["summary"] = str(error_details.get("message") or error_details)
    elif error_details is not None:
        cause["summary"] = str(error_details)
    if error_code is not None:
        cause["summary"] = "{}: {}".format(error_code, cause["summary"])
    return cause
