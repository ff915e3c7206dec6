"""The record of a workspace: one object per keeper, a part per topic."""

from __future__ import annotations

import os

from rookery.record.artifacts import Artifacts
from rookery.record.audit import Audit
from rookery.record.bell import Bell
from rookery.record.builds import EnvironmentBuilds
from rookery.record.collect import Collector
from rookery.record.compute import ComputeTargets
from rookery.record.content import Content
from rookery.record.database import Database
from rookery.record.datasets import Datasets
from rookery.record.datastores import Datastores
from rookery.record.drafts import Drafts
from rookery.record.ended_sessions import EndedSessions
from rookery.record.endpoints import Endpoints
from rookery.record.environments import Environments
from rookery.record.events import Events
from rookery.record.experiments import Experiments
from rookery.record.external import External
from rookery.record.facets import Facets
from rookery.record.facts import WorkspaceFacts
from rookery.record.inputs import Inputs
from rookery.record.intake import Intake
from rookery.record.journals import Journals
from rookery.record.leftovers import Leftovers
from rookery.record.log_index import LogLines
from rookery.record.logged_models import LoggedModels
from rookery.record.logs import Logs
from rookery.record.loose_files import LooseFiles
from rookery.record.manifests import Manifests
from rookery.record.metrics import Metrics
from rookery.record.model_names import ModelNames
from rookery.record.models import Models
from rookery.record.modules import CustomModules
from rookery.record.numbers import Numbers
from rookery.record.partials import Partials
from rookery.record.past import Past
from rookery.record.past_models import PastModels
from rookery.record.people import People
from rookery.record.pipelines import PipelineSteps
from rookery.record.published import PublishedPipelines
from rookery.record.run_data import RunData
from rookery.record.run_table import RunTable
from rookery.record.runs import Runs
from rookery.record.samples import Samples
from rookery.record.schedules import Schedules
from rookery.record.search import Search
from rookery.record.secrets import Secrets
from rookery.record.series import Series
from rookery.record.snapshots import Snapshots
from rookery.record.storage import storage_errors
from rookery.record.tokens import Tokens, read_or_make
from rookery.record.traces import Traces
from rookery.record.trials import Trials
from rookery.record.upgrade import upgrade
from rookery.record.webhooks import Webhooks
from rookery.record.wheels import Wheels
from rookery.settings import get_setting
from rookery.spec.paths import WorkspacePaths

__all__ = ["Record"]


class Record:
    """What happened in a workspace.

    Promises: thread-safe; what a method returned from is committed; whoever waits on `bell` is rung after the
    commit, never
    before; errors of the disk are StorageError; a database of a newer version is VersionMismatchError and
    stays untouched.
    """

    def __init__(self, paths: WorkspacePaths) -> None:
        self.paths = paths
        with storage_errors(paths.root):
            for folder in (paths.keeper, paths.content, paths.logs):
                os.makedirs(folder, mode=0o700, exist_ok=True)
        self.bell = Bell()
        self.database = Database(paths.database, self.bell, get_setting("database_url", paths.root))
        try:
            upgrade(self.database, paths.backups)
            self._secret = read_or_make(paths.secret)
            owner_token = read_or_make(paths.token, text=True).decode("ascii").strip()
        except BaseException:
            self.database.close()
            raise
        self.tokens = Tokens(self._secret, owner_token, get_setting("run_token_hours", paths.root))
        self.facts = WorkspaceFacts(self.database)
        self.experiments = Experiments(self.database)
        self.secrets = Secrets(self.database, self._secret)
        self.environments = Environments(self.database, self.secrets)
        self.builds = EnvironmentBuilds(self.database, paths)
        stale_s = get_setting("external_stale_s", paths.root)
        self.runs = Runs(self.database, self.environments, self.secrets, stale_s)
        self.events = Events(self.database)
        self.journals = Journals(self.database)
        self.metrics = Metrics(self.database)
        self.logs = Logs(self.database, paths)
        self.log_lines = LogLines(self.logs, paths)
        self.content = Content(self.database, paths.content, get_setting("artifact_root", paths.root))
        self.partials = Partials(self.content)
        self.wheels = Wheels(self.content, paths)
        self.artifacts = Artifacts(self.database)
        self.snapshots = Snapshots(self.database)
        self.models = Models(self.database)
        self.datastores = Datastores(self.database, self.secrets, paths)
        self.datasets = Datasets(self.database)
        self.manifests = Manifests(self.database)
        self.run_data = RunData(self.database)
        self.pipeline_steps = PipelineSteps(self.database)
        self.drafts = Drafts(self.database)
        self.published = PublishedPipelines(self.database)
        self.schedules = Schedules(self.database)
        self.custom_modules = CustomModules(self.database)
        self.compute = ComputeTargets(self.database)
        self.samples = Samples(self.database)
        self.external = External(self.database)
        self.intake = Intake(self.external, self.database.is_sqlite)
        self.search = Search(self.database)
        self.table = RunTable(self.database, stale_s)
        self.facets = Facets(self.database)
        self.series = Series(self.database)
        self.inputs = Inputs(self.database)
        self.logged_models = LoggedModels(self.database)
        self.model_names = ModelNames(self.database)
        self.loose_files = LooseFiles(self.database)
        self.traces = Traces(self.database)
        self.trials = Trials(self.database)
        self.numbers = Numbers(self.database)
        self.past = Past(self.database)
        self.past_models = PastModels(self.database)
        self.endpoints = Endpoints(self.database, self.secrets)
        self.people = People(self.database)
        self.ended_sessions = EndedSessions(self.database)
        self.audit = Audit(self.database, get_setting("audit_rows", paths.root))
        self.webhooks = Webhooks(self.database, self._secret)

        self.collector = Collector(
            self.database,
            self.content,
            self.snapshots,
            Leftovers(self.database, paths),
            get_setting("deleted_run_days", paths.root),
        )

    def secret(self) -> bytes:
        """The 32 bytes that sign tokens."""
        return self._secret

    def close(self) -> None:
        """Closes every connection; the record cannot be used after."""
        self.intake.close()
        self.audit.close()
        self.database.close()
