"""A keeper in memory that answers what the SDK asks, as docs/inside/protocol.md says. It behaves: no mock."""

from __future__ import annotations

import hashlib
import json
import re
from types import SimpleNamespace
from urllib.parse import unquote

from rookery.errors import (
    ArtifactNotFoundError,
    ConflictError,
    ExperimentNotFoundError,
    ModelNotFoundError,
    RunNotFoundError,
)
from rookery.spec.plain import to_plain
from rookery.spec.run import EnvironmentSpec, RunSpec

NOW = "2026-11-15T20:00:00.000000Z"


class FakeKeeper:
    """Client and keeper in one. `asked` has every (method, path) in order."""

    url = None

    def __init__(self):
        self.asked = []
        self.experiments, self.runs, self.events, self.logs = {}, {}, {}, {}
        self.artifacts, self.content, self.models, self.records = {}, {}, [], []
        self.workspace = {
            "id": "w",
            "name": "nest",
            "subscription_id": "s",
            "resource_group": "g",
            "location": "here",
            "tags": {},
        }
        self.page_size = 100

    # -- what a test puts in

    def add_run(self, run_id, experiment="birds", kind="script", status="Completed", **fields):
        spec = to_plain(
            RunSpec(
                run_id,
                experiment,
                kind=kind,
                script="train.py",
                arguments=("--lr", "0.1"),
                environment=EnvironmentSpec(python="/usr/bin/python3"),
                snapshot_id=fields.get("snapshot_id"),
            )
        )
        self.experiments.setdefault(experiment, self._experiment(experiment))
        self.runs[run_id] = {
            "id": run_id,
            "number": len(self.runs) + 1,
            "experiment": experiment,
            "kind": kind,
            "parent_id": None,
            "root_id": run_id,
            "display_name": "",
            "description": "",
            "status": status,
            "reason": "",
            "attempt": 1,
            "compute": "local",
            "target": "local",
            "created_utc": NOW,
            "started_utc": NOW,
            "ended_utc": NOW,
            "submitted_by": "me",
            "tags": {},
            "properties": {},
            "spec": spec,
            "error": None,
            "warnings": [],
            "snapshot_id": None,
            "phases": [],
            **fields,
        }
        self.events.setdefault(run_id, [])
        self.logs.setdefault(run_id, {})
        return self.runs[run_id]

    def add_log(self, run_id, name, data, tell=True):
        """Append to a log; `tell` is whether the stream has the event too."""
        stored = self.logs[run_id].setdefault(name, b"")
        self.logs[run_id][name] = stored + data
        if tell:
            self.add_event(run_id, "log", run=run_id, name=name, offset=len(stored), text=data.decode("utf-8"))

    def add_event(self, run_id, kind, **data):
        self.events[run_id].append(SimpleNamespace(kind=kind, seq=len(self.events[run_id]) + 1, data=data))

    # -- the client's side

    def request(self, method, path, query=None, body=None):
        self.asked.append((method, path))
        if body is not None:
            body = json.loads(json.dumps(body))
        for pattern, verbs in self._routes():
            found = re.fullmatch(pattern, path)
            if found and method in verbs:
                return verbs[method](*[unquote(part) for part in found.groups()], query or {}, body)
        raise AssertionError(f"the protocol has no {method} {path}")

    def stream(self, path, query=None, after=None):
        run_id = unquote(path.split("/")[2])

        def events():
            for event in self.events[run_id]:
                if event.seq > (after or 0):
                    yield event
            yield SimpleNamespace(kind="end", seq=0, data={})

        return events()

    def upload(self, path, source, headers=None):
        data = source if isinstance(source, bytes) else source.read()
        kind, *rest = path.strip("/").split("/", 2)
        if kind == "content":
            assert rest == [hashlib.sha256(data).hexdigest()]
            self.content[rest[0]] = data
            return {}
        run_id, name = rest[0], unquote(rest[1].split("/", 1)[1])
        self.artifacts.setdefault(run_id, {})[name] = data
        return {"name": name, "size": len(data)}

    def download(self, path, target, query=None):
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if parts[0] == "models":
            model = self._model(parts[1], int(parts[2]))
            file = next(f for f in model["files"] if f["path"] == "/".join(parts[4:]))
            return target.write(self.content[file["sha256"]])
        if parts[0] == "snapshots":
            return target.write(b"zip of " + parts[1].encode())
        store = {"logs": self.logs, "artifacts": self.artifacts}[parts[2]].get(parts[1], {})
        name = "/".join(parts[3:])
        if name not in store:
            raise ArtifactNotFoundError(f"no {name}")
        start = (query or {}).get("offset", 0)
        length = (query or {}).get("length")
        return target.write(store[name][start : None if length is None else start + length])

    # -- the keeper's side

    def _routes(self):
        return [
            (
                r"/workspace",
                {
                    "GET": lambda q, b: self.workspace,
                    "PATCH": lambda q, b: self.workspace.update(b) or self.workspace,
                },
            ),
            (r"/keeper", {"GET": lambda q, b: {"port": 4711}}),
            (r"/experiments", {"GET": self._list_experiments}),
            (
                r"/experiments/([^/]+)",
                {
                    "PUT": self._put_experiment,
                    "GET": self._get_experiment,
                    "PATCH": self._patch_experiment,
                    "DELETE": lambda name, q, b: self.experiments.pop(name),
                },
            ),
            (r"/runs", {"GET": self._list_runs, "POST": self._post_run}),
            (r"/runs/([^/]+)", {"GET": self._get_run, "PATCH": self._patch_run}),
            (r"/runs/([^/]+)/cancel", {"POST": self._cancel}),
            (
                r"/runs/([^/]+)/logs",
                {"GET": lambda r, q, b: {"logs": [{"name": n, "size": len(d)} for n, d in self.logs[r].items()]}},
            ),
            (
                r"/runs/([^/]+)/artifacts",
                {"GET": lambda r, q, b: {"artifacts": [{"name": n} for n in self.artifacts.get(r, {})]}},
            ),
            (r"/runs/([^/]+)/records", {"POST": self._post_records}),
            (r"/runs/([^/]+)/children", {"GET": self._children}),
            (r"/runs/([^/]+)/metrics", {"GET": lambda r, q, b: {"metrics": []}}),
            (
                r"/content/missing",
                {"POST": lambda q, b: {"missing": [h for h in b["sha256"] if h not in self.content]}},
            ),
            (r"/models", {"POST": self._post_model, "GET": self._list_models}),
            (r"/models/([^/]+)/([0-9]+)", {"PATCH": self._patch_model, "DELETE": self._delete_model}),
        ]

    def _experiment(self, name):
        return {
            "id": "id-" + name,
            "name": name,
            "created_utc": NOW,
            "archived_utc": None,
            "tags": {},
            "run_count": 0,
        }

    def _put_experiment(self, name, query, body):
        return self.experiments.setdefault(name, self._experiment(name))

    def _get_experiment(self, name, query, body):
        if name not in self.experiments:
            raise ExperimentNotFoundError(name)
        return self.experiments[name]

    def _list_experiments(self, query, body):
        wanted = {"active": [False], "archived": [True], "all": [False, True]}[query["view"]]
        return {"experiments": [e for e in self.experiments.values() if bool(e["archived_utc"]) in wanted]}

    def _patch_experiment(self, name, query, body):
        experiment = self._get_experiment(name, None, None)
        experiment["tags"].update(body.get("tags") or {})
        for tag in body.get("remove_tags") or []:
            experiment["tags"].pop(tag, None)
        if "archived" in body:
            experiment["archived_utc"] = NOW if body["archived"] else None
        if "name" in body:
            self.experiments[body["name"]] = self.experiments.pop(name)
            experiment["name"] = body["name"]
        return experiment

    def _post_run(self, query, body):
        return self.add_run(
            body["run_id"],
            body["experiment"],
            body["kind"],
            "NotStarted",
            spec=body,
            parent_id=body["parent_id"],
            tags=body["tags"],
            properties=body["properties"],
            snapshot_id=body["snapshot_id"],
            display_name=body["display_name"],
            ended_utc=None,
        )

    def _get_run(self, run_id, query, body):
        if run_id not in self.runs:
            raise RunNotFoundError(f"Run '{run_id}' does not exist.")
        return dict(self.runs[run_id])

    def _patch_run(self, run_id, query, body):
        have = self.runs[run_id]["properties"]
        for key, value in (body.get("properties") or {}).items():
            if have.setdefault(key, value) != value:
                raise ConflictError(key)
        return self.runs[run_id]

    def _list_runs(self, query, body):
        found = [r for r in reversed(list(self.runs.values())) if self._matches(r, query)]
        if not query.get("include_children"):
            found = [r for r in found if r["parent_id"] is None]
        start = int(query.get("cursor") or 0)
        end = start + self.page_size
        return {"runs": found[start:end], "cursor": str(end) if end < len(found) else None}

    def _matches(self, run, query):
        for key in ("experiment", "kind", "compute"):
            if key in query and run[key] != query[key]:
                return False
        if query.get("status") and run["status"] not in query["status"]:
            return False
        for key, field in (("tag", "tags"), ("property", "properties")):
            wanted = query.get(key) or []
            for pair in [wanted] if isinstance(wanted, str) else wanted:
                name, equals, value = pair.partition("=")
                if name not in run[field] or (equals and run[field][name] != value):
                    return False
        return True

    def _children(self, run_id, query, body):
        found = [r for r in self.runs.values() if r["parent_id"] == run_id and self._matches(r, query)]
        if query.get("recursive"):
            found += [grand for child in list(found) for grand in self._children(child["id"], query, None)["runs"]]
        return {"runs": found}

    def _cancel(self, run_id, query, body):
        self.runs[run_id]["status"] = "CancelRequested"
        return self.runs[run_id]

    def _post_records(self, run_id, query, body):
        for record in body["records"]:
            self.records.append((run_id, record))
            if record[0] == "g":
                self.runs[record[1] or run_id]["tags"].update(record[2])
            if record[0] == "c":
                self.add_run(
                    record[1],
                    self.runs[run_id]["experiment"],
                    "child",
                    "Running",
                    parent_id=record[2] or run_id,
                )
        return {}

    def _post_model(self, query, body):
        version = 1 + max([m["version"] for m in self.models if m["name"] == body["name"]], default=0)
        files = body.get("entries")
        if files is None:
            held = self.artifacts[body["run_id"]]
            files = []
            for name, data in held.items():
                if name == body["path"] or name.startswith(body["path"] + "/"):
                    sha256 = hashlib.sha256(data).hexdigest()
                    self.content[sha256] = data
                    parent = body["path"].rpartition("/")[0]
                    files.append(
                        {
                            "path": name[len(parent) + 1 if parent else 0 :],
                            "sha256": sha256,
                            "size": len(data),
                        }
                    )
        made = {
            "id": f"{body['name']}:{version}",
            "version": version,
            "created_utc": f"{NOW}{len(self.models):04}",
            "created_by": "me",
            "run_id": None,
            "experiment": None,
            "snapshot_id": None,
            "files": files,
            "is_folder": any("/" in f["path"] for f in files),
            **{k: v for k, v in body.items() if k not in ("entries", "path")},
        }
        self.models.append(made)
        return made

    def _list_models(self, query, body):
        found = [m for m in reversed(self.models) if self._model_matches(m, query)]
        if query.get("latest"):
            newest = {m["name"]: m for m in reversed(found)}
            found = [m for m in found if newest[m["name"]] is m]
        return {"models": found}

    def _model_matches(self, model, query):
        for key in ("name", "run_id", "framework"):
            if key in query and model[key] != query[key]:
                return False
        return self._matches(
            {**model, "status": "", "kind": ""}, {k: query[k] for k in ("tag", "property") if k in query}
        )

    def _model(self, name, version):
        for model in self.models:
            if (model["name"], model["version"]) == (name, version):
                return model
        raise ModelNotFoundError(name)

    def _patch_model(self, name, version, query, body):
        model = self._model(name, int(version))
        model["tags"].update(body.get("tags") or {})
        for tag in body.get("remove_tags") or []:
            model["tags"].pop(tag, None)
        model["properties"].update(body.get("properties") or {})
        model.update({k: v for k, v in body.items() if k in ("description", "resource")})
        return model

    def _delete_model(self, name, version, query, body):
        self.models.remove(self._model(name, int(version)))
        return {}
