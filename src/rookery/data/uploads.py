"""A folder or a zip from a browser or a client becomes a version of a data set: all of it, or nothing."""

from __future__ import annotations

import contextlib
import secrets
import time
from typing import Any

from rookery.data.resolve import resolver_of
from rookery.errors import DataError, RookeryError
from rookery.record import Record
from rookery.spec.data_definition import check_data_name
from rookery.spec.names import check_artifact_name
from rookery.stores import Store

__all__ = ["Upload"]


class Upload:
    """One upload: a place of its own on a datastore until `register` makes it a version, or `discard` clears it."""

    def __init__(self, record: Record, name: str, datastore: str = "") -> None:
        self.name = check_data_name(name)
        self._record = record
        self._datastore = datastore or record.datastores.default()
        self.store: Store = resolver_of(record).store(self._datastore)
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        self.prefix = check_artifact_name(f"uploads/{self.name}/{stamp}-{secrets.token_hex(4)}")

    def register(self, created_by: str, description: str = "", tags: Any = None) -> dict[str, Any]:
        """The new version. A single folder at the top (what a dropped folder or a zipped one has) is not part of it."""
        try:
            found = list(self.store.files(self.prefix))
        except DataError:
            found = []  # nothing came
        if not any(not file.is_folder for file in found):
            raise DataError("The upload holds no file.")
        tops = {file.path[len(self.prefix) + 1 :].partition("/") for file in found}
        names = {top[0] for top in tops}
        is_wrapped = len(names) == 1 and all(slash for _, slash, _ in tops)
        path = f"{self.prefix}/{names.pop()}" if is_wrapped else self.prefix
        definition = {"kind": "file", "sources": [{"datastore": self._datastore, "path": path}]}
        saved = self._record.datasets.save(definition, created_by)
        manifest = resolver_of(self._record).resolve(saved["definition"])
        body = {
            "name": self.name,
            "definition_id": saved["id"],
            "description": description,
            "tags": tags or {},
            "create_new_version": True,
        }
        return self._record.datasets.register(body, manifest, created_by)

    def discard(self) -> None:
        """Removes what has been written."""
        with contextlib.suppress(RookeryError):
            for file in list(self.store.files(self.prefix)):
                if not file.is_folder:
                    self.store.remove(file.path)
