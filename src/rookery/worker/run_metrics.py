"""Logging metrics, and reading them back in the shapes that v1 documented."""

import time

from rookery.errors import UserError
from rookery.worker.metric_shapes import metrics_as_v1
from rookery.worker.run_base import TYPES
from rookery.worker.run_files import FilesPart
from rookery.worker.values import as_json_data, check_metric_name, check_step, plain_scalar

__all__ = ["MetricsPart"]


class MetricsPart(FilesPart):
    def __init__(self, run_id, sink, client, in_run=False):
        super(MetricsPart, self).__init__(run_id, sink, client, in_run)
        self._scalar = getattr(sink, "scalar", None) or self._append_scalar
        self._picture_time = 0

    def log(self, name, value, description="", step=None):
        """One value. The same name again makes a vector."""
        kind = type(value)
        if (kind is float or kind is int) and (step is None or type(step) is int) and type(name) is str and name:
            self._scalar(name, value, step)
            return
        check_metric_name(name)
        value, step = plain_scalar(name, value), check_step(step)
        self._sink.append(["m", None, name, value, step, time.time()])

    def log_list(self, name, value, description=""):
        """Several values at once; any iterable but a string."""
        check_metric_name(name)
        if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
            raise UserError(
                "run.log_list('{}', …) takes an iterable of values, not {}. Use run.log for one value.".format(
                    name, type(value).__name__
                )
            )
        values = [plain_scalar(name, one) for one in value]
        self._sink.append(["l", None, name, values, time.time()])

    def log_row(self, name, description=None, **kwargs):
        """One row of named columns; the same name again adds a row."""
        check_metric_name(name)
        if not kwargs:
            raise UserError(
                "run.log_row('{}') has no columns. Give them by name: run.log_row('{}', x=1, y=2).".format(name, name)
            )
        row = {}
        for column, value in kwargs.items():
            if isinstance(value, (list, tuple)):
                raise UserError(
                    "run.log_row('{}'): column '{}' holds a list. Use run.log_table for several rows.".format(
                        name, column
                    )
                )
            row[column] = plain_scalar(name, value)
        self._sink.append(["r", None, name, row, time.time()])

    def log_table(self, name, value, description=""):
        """A dict of columns, each a list; all of the same length."""
        check_metric_name(name)
        if not isinstance(value, dict):
            raise UserError(
                "run.log_table('{}', …) takes a dict of columns, not {}.".format(name, type(value).__name__)
            )
        columns = {}
        for column, values in value.items():
            many = not isinstance(values, (str, bytes, dict)) and hasattr(values, "__iter__")
            columns[str(column)] = [plain_scalar(name, one) for one in values] if many else [plain_scalar(name, values)]
        lengths = {column: len(values) for column, values in columns.items()}
        if len(set(lengths.values())) > 1:
            shown = ", ".join("{}: {}".format(column, length) for column, length in lengths.items())
            raise UserError("run.log_table('{}'): all columns must have the same length, not {}.".format(name, shown))
        self._sink.append(["t", None, name, columns, time.time()])

    def log_confusion_matrix(self, name, value, description=""):
        self._log_data(name, "confusion_matrix", value)

    def log_accuracy_table(self, name, value, description=""):
        self._log_data(name, "accuracy_table", value)

    def log_residuals(self, name, value, description=""):
        self._log_data(name, "residuals", value)

    def log_predictions(self, name, value, description=""):
        self._log_data(name, "predictions", value)

    def log_image(self, name, path=None, plot=None, description=""):
        """A picture: the path of an image file, or a matplotlib figure or pyplot. Exactly one of them."""
        check_metric_name(name)
        if (path is None) == (plot is None):
            raise UserError(
                "run.log_image('{}'): give either path or plot, not {}.".format(name, "both" if path else "neither")
            )
        artifact = self._upload_picture(path) if path is not None else self._upload_plot(name, plot)
        self._sink.append(["d", None, name, "image", {"artifact": artifact}, time.time()])

    def get_metrics(self, name=None, recursive=False, run_type=None, populate=False):
        """Values by name: one value as it is, several as a list, rows and tables as a dict of columns.

        recursive: {run id: metrics} with every descendant (of run_type, where given).
        populate: pictures as bytes and charts as data, instead of their location.
        """
        self._drain()
        mine = self._metrics_of(self._run_id, name, populate)
        if not recursive:
            return mine
        found = {self._run_id: mine}
        for child in self._ask(path="/children", query={"recursive": "true"})["runs"]:
            if run_type is None or run_type in (TYPES.get(child["kind"]), child["kind"]):
                found[child["id"]] = self._metrics_of(child["id"], name, populate)
        return found

    def _metrics_of(self, run_id, name, populate):
        from rookery.worker.http import quote_path

        answer = self._client.request("GET", "/runs/{}/metrics".format(quote_path(run_id)), query={"name": name})
        fetch = (lambda artifact: self._artifact_bytes(run_id, artifact)) if populate else None
        return metrics_as_v1(run_id, answer["metrics"], name, fetch)

    def _append_scalar(self, name, value, step):
        self._sink.append(["m", None, name, value, step, time.time()])

    def _log_data(self, name, kind, value):
        check_metric_name(name)
        self._sink.append(["d", None, name, kind, as_json_data(name, value), time.time()])

    def _upload_picture(self, path):
        from rookery.worker.artifact_names import name_for_path
        from rookery.worker.pictures import check_picture

        check_picture(path)
        artifact = name_for_path(path)
        self.upload_file(artifact, path)
        return artifact

    def _upload_plot(self, name, plot):
        from rookery.worker.pictures import plot_to_png

        # Two pictures within a second must not take each other's name.
        self._picture_time = max(int(time.time()), self._picture_time + 1)
        artifact = "{}_{}.png".format(name, self._picture_time)
        self.upload_file(artifact, plot_to_png(plot))
        return artifact
