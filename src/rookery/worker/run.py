"""`Run`: the surface of a run that needs nothing but a sink for records and a client to ask.

The SDK's Run is a subclass (and adds what needs a newer Python); on Python 3.6 to 3.8 this is what a script
gets.
"""

import sys

from rookery.errors import UnsupportedError
from rookery.worker.run_base import TYPES
from rookery.worker.run_children import ChildrenPart
from rookery.worker.run_data import InputDatasets, OutputDatasets
from rookery.worker.run_metrics import MetricsPart
from rookery.worker.run_record import RecordPart
from rookery.worker.run_status import StatusPart

__all__ = ["ExperimentName", "Run", "SubmittedRun"]


class Run(MetricsPart, RecordPart, StatusPart, ChildrenPart):
    """One run.

    Subclasses may override the hooks `_make_child(run_id)`, `_make_model(data)`, and for `get_context` the
    class methods `_from_context(context)` and `_offline()`.
    """

    def __init__(self, run_id, sink, client, in_run=False):
        super(Run, self).__init__(run_id, sink, client, in_run)

    @classmethod
    def get_context(cls, allow_offline=True, used_for_context_manager=False, **kwargs):
        """The run that this process belongs to; the same object every time.

        Outside of a run: an offline stand-in that prints, or RunEnvironmentError with allow_offline=False.
        """
        from rookery.worker.context import current_run

        return current_run(cls, allow_offline)

    @classmethod
    def _from_context(cls, context):
        run = SubmittedRun(context.run_id, context.sink(), context.client(), True)
        run._experiment_name = context.experiment
        return run

    @classmethod
    def _offline(cls):
        from rookery.worker.offline import OfflineRun

        return OfflineRun()

    @property
    def name(self):
        return self._known("display_name") or self.id

    @property
    def type(self):
        return TYPES.get(self._known("kind"))

    @property
    def number(self):
        return self._known("number")

    @property
    def experiment(self):
        return ExperimentName(self._experiment())

    @property
    def parent(self):
        """The parent run, or None."""
        parent_id = self._known("parent_id")
        return self._make_child(parent_id) if parent_id else None

    def get_snapshot_id(self):
        return self._known("snapshot_id")

    @property
    def input_datasets(self):
        """name → path of what the run was given; in mode direct the id of the data set."""
        return InputDatasets()

    @property
    def output_datasets(self):
        """name → folder that the run is to fill."""
        return OutputDatasets()

    def __repr__(self):
        return "Run(Experiment: {},\nId: {},\nType: {},\nStatus: {})".format(
            self._experiment(), self.id, self.type, self.get_status()
        )

    def _experiment(self):
        return self._known("experiment")


class SubmittedRun(Run):
    """The run of this process, as its agent told it."""

    _experiment_name = None

    def _experiment(self):
        return self._experiment_name or self._known("experiment")


class ExperimentName(object):
    """An experiment of which only the name is known here."""

    def __init__(self, name):
        self.name = name

    @property
    def workspace(self):
        raise UnsupportedError(
            "run.experiment.workspace needs Python 3.9 or newer; this run's environment has {}.{}. Use a newer one "
            "(python=3.9 or higher), or pass what the script needs as arguments.".format(*sys.version_info[:2])
        )

    def __repr__(self):
        return "Experiment(Name: {})".format(self.name)

    def __str__(self):
        return str(self.name)
