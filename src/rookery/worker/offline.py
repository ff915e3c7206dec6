"""The stand-in outside of a run: prints what would be logged, and keeps it so that get_metrics works."""

import os
import uuid

from rookery.errors import ArtifactNotFoundError, UserError
from rookery.worker.metric_shapes import MetricTable
from rookery.worker.run import Run

__all__ = ["OfflineRun", "OfflineStore"]

_WORDS = {"m": "scalar", "l": "list", "r": "row", "t": "table"}


class OfflineRun(Run):
    """A run that nobody submitted. Its id is OfflineRun_<guid>, a child's is its parent's id, a dot and its
    name."""

    def __init__(self, run_id=None, store=None):
        run_id = run_id or "OfflineRun_{}".format(uuid.uuid4())
        self._store = store or OfflineStore(run_id)
        super(OfflineRun, self).__init__(run_id, self._store, self._store, False)

    @property
    def experiment(self):
        return None

    @property
    def parent(self):
        return self._store.parent

    def child_run(self, name=None, run_id=None, outputs=None):
        child_id = run_id or "{}.{}".format(self.id, name or uuid.uuid4())
        return super(OfflineRun, self).child_run(name, child_id, outputs)

    def cancel(self):
        self._store.append(["s", None, "Canceled", None])

    def _make_child(self, run_id):
        store = self._store.children.get(run_id)
        if store is None:
            raise UserError("Offline run {} has no child {}.".format(self.id, run_id))
        return OfflineRun(run_id, store)

    def __repr__(self):
        return "Run(Experiment: None,\nId: {},\nType: OfflineRun,\nStatus: {})".format(self.id, self.get_status())


class OfflineStore(object):
    """Sink and keeper in one, in memory: takes records, answers the few questions that a Run asks."""

    uploads = None

    def __init__(self, run_id, name="", tags=None, parent=None):
        self.run_id = run_id
        self.parent = parent
        self.children = {}
        self.files = {}
        self._table = MetricTable()
        self._run = {
            "id": run_id,
            "kind": "offline",
            "number": None,
            "experiment": None,
            "parent_id": None,
            "display_name": name,
            "description": "",
            "status": "Running",
            "reason": "",
            "tags": dict(tags or {}),
            "properties": {},
            "snapshot_id": None,
            "target": "local",
            "error": None,
            "warnings": [],
        }

    def append(self, record):
        tag = record[0]
        if tag in _WORDS:
            print("Attempted to log {} metric {}:\n{}".format(_WORDS[tag], record[2], record[3]))
            self._warn(self._table.apply(record))
        elif tag == "d":
            print("Attempted to log {} metric {}:\n{}".format(record[3], record[2], record[4]))
            self._warn(self._table.apply(record))
        elif tag == "g":
            self._run["tags"].update(record[2])
        elif tag == "-g":
            for key in record[2]:
                self._run["tags"].pop(key, None)
        elif tag == "n":
            self._run.update(record[2])
        elif tag == "c":
            self.children[record[1]] = OfflineStore(record[1], record[3], record[4], OfflineRun(self.run_id, self))
        elif tag == "s":
            self._run["status"], self._run["error"] = record[2], record[3]

    def extend(self, records):
        for record in records:
            self.append(record)

    def request(self, method, path, query=None, body=None):
        store, rest = self._find(path)
        if method == "PATCH":
            store._add_properties((body or {}).get("properties") or {})
            return store._run
        if method == "POST" and rest == "/status":
            store._run["status"], store._run["error"] = body["status"], body["error"]
            return store._run
        answers = {
            "": lambda: store._run,
            "/metrics": lambda: {"metrics": store._table.metrics()},
            "/artifacts": lambda: {"artifacts": [{"name": name} for name in sorted(store.files)]},
            "/logs": lambda: {"logs": []},
            "/children": lambda: {"runs": list(store._descendants((query or {}).get("recursive")))},
        }
        if method != "GET" or rest not in answers:
            raise UserError("This run is offline: {} {} needs a submitted run.".format(method, path))
        return answers[rest]()

    def upload(self, path, source, headers=None):
        store, rest = self._find(path)
        name = rest[len("/artifacts/") :]
        data = source if isinstance(source, bytes) else source.read()
        store.files[name] = data
        print("Attempted to upload file {} ({} bytes)".format(name, len(data)))
        return {"name": name, "size": len(data)}

    def download(self, path, target, query=None):
        store, rest = self._find(path)
        name = rest[len("/artifacts/") :]
        if name not in store.files:
            raise ArtifactNotFoundError("Offline run {} has no file {!r}.".format(store.run_id, name))
        return target.write(store.files[name])

    def _find(self, path):
        """The store that a path is about, and the rest of the path."""
        from urllib.parse import unquote

        parts = unquote(path).split("/")  # "", "runs", id, …
        found = self._by_id(parts[2]) if len(parts) > 2 and parts[1] == "runs" else None
        return found or self, "".join("/" + part for part in parts[3:])

    def _by_id(self, run_id):
        if run_id == self.run_id:
            return self
        for child in self.children.values():
            found = child._by_id(run_id)
            if found:
                return found
        return None

    def _descendants(self, recursive):
        for child in self.children.values():
            yield child._run
            if recursive:
                for run in child._descendants(True):
                    yield run

    def _add_properties(self, properties):
        for key, value in properties.items():
            if self._run["properties"].setdefault(key, value) != value:
                raise UserError("Property '{}' exists and cannot be changed: properties are written once.".format(key))

    def _warn(self, text):
        if text:
            print("{}: {}".format(os.path.basename(self.run_id), text))
