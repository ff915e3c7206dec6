from __future__ import annotations

from rookery.azureml.telemetry import set_diagnostics_collection
from rookery.azureml.widgets import RunDetails


class Experiment:
    name = "birds"


class Run:
    id = "birds_1_0"
    experiment = Experiment()

    def get_status(self):
        return "Running"

    def get_portal_url(self):
        return "http://127.0.0.1:1/runs/birds_1_0"


class TestRunDetails:
    def test_show_says_what_the_run_is_doing(self, capsys):
        RunDetails(Run()).show()
        said = capsys.readouterr().out
        for text in ("birds_1_0", "birds", "Running", "http://127.0.0.1:1/"):
            assert text in said


class TestTelemetry:
    def test_is_accepted(self):
        assert set_diagnostics_collection(send_diagnostics=True, verbosity=10) is None
